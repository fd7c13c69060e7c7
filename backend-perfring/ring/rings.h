/* SPDX-License-Identifier: Apache-2.0 */
/* What the source of live records has: two rings for each place of the events, and the queue of their records. */
#ifndef PERFRING_RINGS_H
#define PERFRING_RINGS_H

#include "backend-perfring/queue.h"
#include "backend-perfring/ring/ring.h"
#include "core/sources/source.h"

/** struct lost - records that the events of one place have lost, by PERF_FORMAT_LOST. */
struct lost {
	uint64_t samples, switches, notes[NOTED_NR];
};

/** struct cpu_rings - of the place of events.places with the same number. */
struct cpu_rings {
	const struct source *source; /* that it is of */
	struct ring samples, side;
	uint64_t *switch_ids; /* of its events at switches, ascending */
	size_t nr_switch_ids;
	struct lost lost;        /* when they were asked last */
	uint64_t lost_side;      /* the same of @side */
	struct sample_note note; /* of the sample that comes next */
	bool noted;
	uint64_t latest;         /* time of a record that was read from @samples */
	uint64_t lost_when_full; /* records, by PERF_FORMAT_LOST */
};

struct source {
	const struct source_env *env;
	struct blocks *blocks; /* of all rings */
	struct cpu_rings *rings;
	struct queue queue;
	bool started;
	size_t kept_most;      /* bytes that waited, seen by rings_fetch() */
	bool told_of_all;      /* see side_band_tell_of_all() */
	bool refresh;          /* names are to be read anew, */
	uint64_t refreshed_at; /* but not as often as records get lost */
	bool starting;         /* samples do not count yet */
	struct unseen *unseen; /* NULL: a program in the kernel tells */
};

/* Is there a program in the kernel that counts, and passes on the rest? */
static inline bool rings_in_kernel(const struct source *b)
{
	return b->env->nr_counters;
}

/* Of what is read, if no program in the kernel tells to which set it belongs. */
static inline struct stats *rings_stats(struct source *b)
{
	return &b->queue.applier.stats[b->queue.applier.set];
}

/* ---- map.c: the rings of one place are mapped, and joined by all events that write to them */

/**
 * rings_map() - those of place @i whose events are open. Where memory may not be locked for all rings, smaller ones are
 * tried: in a run that has not begun, for all places up to @i. Return: 0 or -errno, described.
 */
int rings_map(struct source *b, size_t i, struct err *err);

/** rings_unmap() - free what @s has; it is empty then. */
void rings_unmap(struct cpu_rings *s);

/** rings_is_switch() - is @id of an event at switches? */
bool rings_is_switch(const struct cpu_rings *s, uint64_t id);

/* ---- reading.c: records go to the queue, if they belong to this run */

/** rings_pack() - a ring_pack_fn of a ring for samples. @ctx: its struct cpu_rings */
size_t rings_pack(void *ctx, const struct perf_event_header *record, size_t size, void *to);

/** rings_read() - what is there in all rings now. Return: 0 or -errno, described. */
int rings_read(struct source *b, struct err *err);

/** rings_read_place() - the same of place @i alone. */
int rings_read_place(struct source *b, uint32_t i, struct err *err);

/**
 * rings_mark_gap() - switches of place @i may have been lost. The ring tells of them in front of the next record that
 * has room, which may take long, and until then nobody knows: a thread that came back and left again would seem to have
 * been away all the time. Return: 0 or -ENOMEM.
 */
int rings_mark_gap(struct source *b, uint32_t i, uint64_t time, enum record_gap what);

/* ---- lost.c: records that were lost, as the rings tell and as the events count */

/**
 * lost_now() - what the events of place @i that write to the ring for samples have lost so far. lost_side_now(): the
 * same of the other ring. Before 6.0 that is not known: 0.
 */
struct lost lost_now(const struct source *b, size_t i);
uint64_t lost_side_now(const struct source *b, size_t i);

uint64_t lost_sum(const struct lost *l);

/** lost_told() - a ring of place @i says that @records were lost before the next one. @side: which */
void lost_told(struct source *b, uint32_t i, bool side, uint64_t records);

/**
 * lost_side_band() - @records about names and mappings were lost; 0: it is not known how many. Names are read anew.
 */
void lost_side_band(struct source *b, uint64_t records);

/**
 * lost_count() - add to the statistics what place @i has lost since it was asked last: a ring tells of lost records in
 * front of the next one that fits, which never comes for those at the very end. lost_count_side(): the same of the
 * other ring.
 */
void lost_count(struct source *b, uint32_t i);
void lost_count_side(struct source *b, uint32_t i);

/** lost_count_all(), lost_count_all_side() - of all places. */
void lost_count_all(struct source *b);
void lost_count_all_side(struct source *b);

/* ---- fetch.c: another thread empties the rings into memory, while the reader works */

/** rings_fetch() - see source_ops.fetch. */
int rings_fetch(struct source *b, struct err *err);

/*
 * ---- unseen.c: processes that were there when the run began. No record has their mappings, so they are read when the
 * process has its first sample, before it can exit. The ring thread looks for such samples often, and does no more.
 */

/** unseen_new() - of a host with such process ids. Return: NULL: no memory. */
struct unseen *unseen_new(const struct host *h);
void unseen_delete(struct unseen *u);

/** unseen_begin() - no process has been seen that exist now and that @filter may select. */
void unseen_begin(struct unseen *u, const struct host *h, const struct filter *filter);

/** unseen_take() - true once for each unseen process. By any thread. */
bool unseen_take(struct unseen *u, pid_t pid);

/** unseen_next() - the next process that rings_look() has found; 0: there is none. By the reader. */
pid_t unseen_next(struct unseen *u);

/** rings_look() - see source_ops.look. */
int rings_look(struct source *b);

/*
 * ---- refresh.c: what the threads are called now, as RECORD_NAME among the records of the rings. When a CPU comes
 * online, nobody keeps its records until its event is open: a thread that was made or renamed there would have a wrong
 * name from then on.
 */

/** refresh_read() - add the names of all threads, each with the time it was read at. Return: 0 or -ENOMEM. */
int refresh_read(struct queue *q);

#endif
