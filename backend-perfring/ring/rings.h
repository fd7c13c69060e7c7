/* SPDX-License-Identifier: Apache-2.0 */
/* The state of the source of live records: two rings for each place of the events, and the queue of their records. */
#ifndef PERFRING_RINGS_H
#define PERFRING_RINGS_H

#include "backend-perfring/queue.h"
#include "backend-perfring/ring/ring.h"
#include "core/sources/source.h"

/** struct lost - records that the events of one place have lost, by PERF_FORMAT_LOST. */
struct lost {
	uint64_t by[EVENT_KINDS];
};

/** struct cpu_rings - the rings of the place in events.places with the same number. */
struct cpu_rings {
	const struct source *source; /* the source that it is part of */
	struct ring samples, side;
	struct event_id {
		uint64_t id;
		enum event_kind kind;
	} * ids; /* of its events of other kinds than that of the ring, ascending */
	size_t nr_ids;
	struct lost lost;        /* at the last check */
	uint64_t lost_side;      /* the same of @side */
	struct sample_note note; /* of the next sample */
	bool noted;
	uint64_t latest;         /* latest time of the records that were read from @samples */
	uint64_t lost_when_full; /* records, by PERF_FORMAT_LOST */
};

struct source {
	const struct source_env *env;
	struct blocks *blocks; /* for all rings */
	struct cpu_rings *rings;
	struct queue queue;
	bool started;
	size_t kept_most;      /* most bytes that waited, as rings_fetch() saw */
	bool told_of_all;      /* see side_band_tell_of_all() */
	bool refresh;          /* names should be read again, */
	uint64_t refreshed_at; /* but less often than records get lost */
	bool starting;         /* samples do not count yet */
	struct unseen *unseen; /* NULL: a program in the kernel tells */
};

/* True if a BPF program counts, and passes on the rest. */
static inline bool rings_in_kernel(const struct source *b)
{
	return b->env->nr_counters;
}

/* The stats for records that a BPF program does not assign to a set. */
static inline struct stats *rings_stats(struct source *b)
{
	return &b->queue.applier.stats[b->queue.applier.set];
}

/* ---- map.c: map the rings of one place; all of its events write to them */

/**
 * rings_map() - map the rings of place @i whose events are open. If not enough memory may be locked, try smaller rings:
 * before the run has begun, for all places up to @i. Return: 0 or -errno, described.
 */
int rings_map(struct source *b, size_t i, struct err *err);

/** rings_unmap() - free all rings of @s; it is empty then. */
void rings_unmap(struct cpu_rings *s);

/** rings_kind() - the kind of the event with @id, whose records are in the ring for samples of @s. */
enum event_kind rings_kind(const struct source *b, const struct cpu_rings *s, uint64_t id);

/* ---- reading.c: records of the rings are decoded, and go to the queue if they are admitted */

/** rings_pack() - a ring_pack_fn of a ring for samples. @ctx: its struct cpu_rings */
size_t rings_pack(void *ctx, const struct perf_event_header *record, size_t size, void *to);

/** rings_read() - read all records that are in the rings now. Return: 0 or -errno, described. */
int rings_read(struct source *b, struct err *err);

/** rings_read_place() - the same for place @i alone. */
int rings_read_place(struct source *b, uint32_t i, struct err *err);

/**
 * rings_mark_gap() - switches of place @i may have been lost. The kernel reports lost records in front of the next
 * record that fits into the ring, which may take long. Until then, a thread that came back and left again would seem to
 * have been off CPU all the time. Return: 0 or -ENOMEM.
 */
int rings_mark_gap(struct source *b, uint32_t i, uint64_t time, enum record_gap what);

/* ---- admit.c: which records belong to this run */

/**
 * rings_admit() - assign a record to a set of rows, and a sample to the note in front of it. Count it, unless it is of
 * a time before or after the run.
 * @side: it is from the ring for tasks and mappings
 * @rc: of decode_record()
 * Return: true: apply it; false: it is damaged, outside the run, too late for its set, a repetition, or such a note.
 */
bool rings_admit(struct source *b, bool side, int rc, struct incoming *in);

/* ---- lost.c: lost records, by the reports in the rings and by the counts of the events */

/**
 * lost_now() - how many records were lost so far by the events of place @i that write to the ring for samples.
 * lost_side_now(): the same for the other ring. Unknown before 6.0: then 0.
 */
struct lost lost_now(const struct source *b, size_t i);
uint64_t lost_side_now(const struct source *b, size_t i);

uint64_t lost_sum(const struct lost *l);

/** lost_told() - a ring of place @i reports that @records were lost before the next one. @side: which ring */
void lost_told(struct source *b, uint32_t i, bool side, uint64_t records);

/**
 * lost_side_band() - @records about names and mappings were lost; 0: unknown how many. Names will be read again.
 */
void lost_side_band(struct source *b, uint64_t records);

/**
 * lost_count() - add the records that place @i has lost since the last call to the statistics: the kernel reports lost
 * records in front of the next one that fits, which never comes at the very end. lost_count_side(): the same for the
 * other ring.
 */
void lost_count(struct source *b, uint32_t i);
void lost_count_side(struct source *b, uint32_t i);

/** lost_count_all(), lost_count_all_side() - the same for all places. */
void lost_count_all(struct source *b);
void lost_count_all_side(struct source *b);

/* ---- fetch.c: another thread empties the rings into memory while the reader works */

/** rings_fetch() - see source_ops.fetch. */
int rings_fetch(struct source *b, struct err *err);

/*
 * ---- unseen.c: the first sample of each process. The process may exit soon: its mappings, or the records about them,
 * have to be read before, and its files opened. The ring thread looks for such samples often, and does no more.
 */

/** unseen_new() - @filter: of processes; it outlives the result. Return: NULL: no memory. */
struct unseen *unseen_new(const struct host *h, const struct filter *filter);
void unseen_delete(struct unseen *u);

/** unseen_begin() - no record will have the mappings of the processes that exist now. */
void unseen_begin(struct unseen *u, const struct host *h);

/** unseen_take() - true if @pid existed then; once for each process. By the reader. */
bool unseen_take(struct unseen *u, pid_t pid);

/** unseen_next() - the next process whose first sample rings_look() has found; 0: there is none. By the reader. */
pid_t unseen_next(struct unseen *u);

/** rings_learn() - process @pid has a sample: if unseen_take() says so, read its mappings. */
void rings_learn(struct source *b, pid_t pid);

/** rings_look() - see source_ops.look. */
int rings_look(struct source *b);

/*
 * ---- refresh.c: add the current names of threads as RECORD_NAME to the records of the rings. When a CPU comes online,
 * its records are missing until its event is open: a thread that was made or renamed there would have a wrong name from
 * then on.
 */

/** refresh_read() - add the names of all threads, each with the time when it was read. Return: 0 or -ENOMEM. */
int refresh_read(struct queue *q);

#endif
