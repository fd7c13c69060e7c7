/* SPDX-License-Identifier: Apache-2.0 */
/* The state of source_rings: two rings for each struct event_place, and one queue for the records of all rings. */
#ifndef PERFRING_RINGS_H
#define PERFRING_RINGS_H

#include "backend-perfring/queue.h"
#include "backend-perfring/ring/ring.h"
#include "core/sources/source.h"

/** struct lost - how many records the events of one place have lost (PERF_FORMAT_LOST), for each kind of event. */
struct lost {
	uint64_t by[EVENT_KINDS];
};

/** struct cpu_rings - the rings of one place: source.rings[i] belongs to events.places[i]. */
struct cpu_rings {
	const struct source *source; /* the source that it is part of */
	struct ring samples, side;
	struct event_id {
		uint64_t id;
		enum event_kind kind;
	} * ids; /* of the events of other kinds than events.leads that write to @samples, ascending */
	size_t nr_ids;
	struct lost lost;        /* at the last lost_count(), or at attach() */
	uint64_t lost_side;      /* of @side, at the last lost_count_side(), or at attach() */
	struct sample_note note; /* about the next sample, if @noted */
	bool noted;
	uint64_t latest;         /* latest time of the records that were read from @samples */
	uint64_t lost_when_full; /* lost_sum() when @samples last had room again after it was full */
};

struct source {
	const struct source_env *env;
	struct blocks *blocks; /* for all rings */
	struct cpu_rings *rings;
	struct queue queue;
	bool started;
	size_t kept_most;      /* the most bytes that waited in memory at the end of a rings_fetch() */
	bool told_of_all;      /* the reader has noticed side_band_tell_of_all() */
	bool refresh;          /* read the names of all threads again, at most once a second */
	uint64_t refreshed_at; /* when that was done last; 0: do it at once */
	bool starting;         /* samples do not count yet */
	struct unseen *unseen; /* NULL: a BPF program counts, or processes need no reading at their first sample */
};

/* True if a BPF program counts: the rings have only what it passes on, and records about tasks and mappings. */
static inline bool rings_in_kernel(const struct source *b)
{
	return b->env->nr_counters;
}

/* The statistics for records that no BPF program has assigned to a set of rows (sink.sets). */
static inline struct stats *rings_stats(struct source *b)
{
	return &b->queue.applier.stats[b->queue.applier.set];
}

/* ---- map.c: map the rings of one place; all of its events write to them */

/**
 * rings_map() - map those rings of place @i that have an open event. If not enough memory may be locked, try smaller
 * rings. Before the run has begun, the places below @i get the smaller rings, too. Return: 0 or -errno, described.
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
 * rings_mark_gap() - add a RECORD_GAP to the queue: switches of place @i may have been lost at @time. The kernel
 * reports lost records only in front of the next record that fits into the ring, and that record may come late. Until
 * then, a thread that came back and left again would seem to have been off CPU all the time. Return: 0 or -ENOMEM.
 */
int rings_mark_gap(struct source *b, uint32_t i, uint64_t time, enum record_gap what);

/* ---- admit.c: which records belong to this run */

/**
 * rings_admit() - assign a record to a set of rows, and a note to the sample behind it. Add a sample to the statistics,
 * unless it is of a time before or after the run.
 * @side: the record is from the ring for tasks and mappings
 * @rc: of decode_record()
 * Return: true: apply the record; false: it is damaged, of a type that is not used, outside the run, too late for its
 * set, a repetition, or a note about a sample.
 */
bool rings_admit(struct source *b, bool side, int rc, struct incoming *in);

/* ---- lost.c: lost records, by the reports in the rings and by the counts of the events */

/**
 * lost_now() - how many records were lost so far by the events of place @i that write to the ring for samples.
 * lost_side_now(): the same for the other ring. Both return 0 before 6.0, where the kernel does not count them.
 */
struct lost lost_now(const struct source *b, size_t i);
uint64_t lost_side_now(const struct source *b, size_t i);

uint64_t lost_sum(const struct lost *l);

/**
 * lost_told() - a ring of place @i reports that @records were lost before its next record. They are added to the
 * statistics here only before 6.0: since then, lost_count() does that. @side: it is the ring for tasks and mappings
 */
void lost_told(struct source *b, uint32_t i, bool side, uint64_t records);

/**
 * lost_side_band() - @records about names and mappings were lost; 0: how many is not known, or they are counted
 * elsewhere. Names will be read again.
 */
void lost_side_band(struct source *b, uint64_t records);

/**
 * lost_count() - add to the statistics how many records place @i has lost since the last call. The reports in the ring
 * are not enough: the kernel writes one only in front of the next record that fits, and at the very end none follows.
 * lost_count_side(): the same for the other ring.
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
 * ---- unseen.c: find the first sample of each process early. The process may exit soon, and before that, its mappings,
 * or the records about them, have to be read, and its files opened. The ring thread (core/session/ring_thread.h) only
 * finds these samples, in rings_look(); the reader does the rest.
 */

/** unseen_new() - @filter: of processes; it outlives the result. Return: NULL: no memory. */
struct unseen *unseen_new(const struct host *h, const struct filter *filter);
void unseen_delete(struct unseen *u);

/** unseen_begin() - note which processes exist now: no record will have their mappings. */
void unseen_begin(struct unseen *u, const struct host *h);

/** unseen_take() - true if @pid existed at unseen_begin(); once for each process. Called by the reader. */
bool unseen_take(struct unseen *u, pid_t pid);

/** unseen_next() - the next process whose first sample rings_look() has found; 0: none. Called by the reader. */
pid_t unseen_next(struct unseen *u);

/** rings_learn() - process @pid has a sample: if unseen_take() returns true, read its mappings. */
void rings_learn(struct source *b, pid_t pid);

/** rings_look() - see source_ops.look. */
int rings_look(struct source *b);

/*
 * ---- refresh.c: add the current names of threads as RECORD_NAME to the records of the rings. Needed after records
 * were lost, and after a CPU came online, whose records are missing until its event is open: a thread that was made or
 * renamed meanwhile would keep a wrong name.
 */

/** refresh_read() - add the names of all threads, each with the time of reading. Before 4.1: none. 0 or -ENOMEM. */
int refresh_read(struct queue *q);

#endif
