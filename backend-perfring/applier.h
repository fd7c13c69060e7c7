/* SPDX-License-Identifier: Apache-2.0 */
/* What is remembered of the records that were applied: see apply.h. */
#ifndef PERFRING_APPLIER_H
#define PERFRING_APPLIER_H

#include "backend-perfring/unwinding.h"
#include "core/sources/source.h"
#include "core/tasks/tasks.h"

struct source_env;
struct kernel_code;
struct switching;
struct deferred;

/* Of so many tasks that have exited the ids are known; each has a place by its tid. */
#define RECENT_EXITS 256

/** struct exited_task - what its PERF_RECORD_EXIT told; ids -1: it is outside our pid namespace; 0: there is none. */
struct exited_task {
	pid_t pid, tid;
	char comm[COMM_LEN];
};

/** struct applied_ring - what has to be remembered of the records of one ring. */
struct applied_ring {
	struct exited_task exit; /* that exited last on this CPU */
	uint64_t throttled_at;   /* since when the kernel does not sample here; 0: it does */
	bool gap;                /* see switching_gap_begins() */
	struct {
		bool seen;        /* by the program in the kernel, of which both backends count what it has seen, */
		unsigned int set; /* in this set, */
		uint64_t ns;      /* then */
		pid_t next;       /* who comes, */
		pid_t gone;       /* the last thread that told its exit here, or came here after that, */
		pid_t unnamed;    /* the last one that was preempted here when the pid tables had it no more */
		pid_t left;       /* the thread that leaves, if there was a sample of that; else 0 */
	} at_switch;              /* that is on its way: a note, a sample, a record of who leaves, one of who comes */
	struct {
		uint32_t id;    /* the thread that is on this CPU, as sched:sched_switch tells; 0: not known, or idle */
		uint64_t since; /* when it came */
	} stay;
	uint64_t since; /* when its event was opened, after the run began: an older one is throttled no more */
};

/** enum sample_kind - what a PERF_RECORD_SAMPLE is, by the event that it is of; or any record, by its ring. */
enum sample_kind {
	OF_SAMPLE, /* of events.attr, and counts as a sample */
	OF_SWITCH, /* of events.switch_attr */
	OF_NOTE,   /* of events.notes_attr[NOTED_SAMPLES], about the one that comes next */
	OF_SWITCH_NOTE,
	OF_SIDE_BAND, /* no sample: of events.side_attr, from a ring of its own */
};

/** struct sample_lead - what a record does not say itself. */
struct sample_lead {
	struct sample_note note; /* without a note only @note.set counts */
	bool noted;              /* there was one */
	enum sample_kind kind;
};

/**
 * struct applier
 * @rings: one entry for each ring
 * @exits: of all CPUs
 * @stats: of the whole backend, for each of sink.sets: what is read and what is applied
 * @set:   of @stats, for records that are no samples
 * @unwinding: of user stacks; NULL: they are as the kernel walked them
 * @switching: of intervals off the CPU; NULL: samples are counted
 * @deferred: samples that wait for their user stacks; NULL: none waits, these stacks are missed
 * @kernel_code: tells the idle task from those outside our pid namespace; NULL: there are none
 */
struct applier {
	const struct source_env *env;
	struct applied_ring *rings;
	struct exited_task exits[RECENT_EXITS];
	struct stats stats[2];
	unsigned int set;
	struct unwinding *unwinding;
	struct switching *switching;
	struct deferred *deferred;
	struct kernel_code *kernel_code;
};

#endif
