/* SPDX-License-Identifier: Apache-2.0 */
/* The state that applying records needs: see apply.h. */
#ifndef PERFRING_APPLIER_H
#define PERFRING_APPLIER_H

#include "backend-perfring/unwinding.h"
#include "core/sources/source.h"
#include "core/tasks/tasks.h"

struct source_env;
struct kernel_code;
struct switching;
struct deferred;

/* The number of exited tasks whose ids are kept. The place of a task is its tid modulo this number. */
#define RECENT_EXITS 256

/** struct exited_task - from its PERF_RECORD_EXIT; ids -1: it is outside our pid namespace; 0: there is none. */
struct exited_task {
	pid_t pid, tid;
	char comm[COMM_LEN];
};

/** struct applied_ring - state of the records of one ring. */
struct applied_ring {
	struct exited_task exit; /* the task that exited last on this CPU */
	uint64_t throttled_at;   /* since when the kernel takes no samples here; 0: it does */
	bool gap;                /* see switching_gap_begins() */
	struct {
		bool seen;        /* the BPF program has seen the switch, so both backends count it */
		unsigned int set; /* in this set */
		uint64_t ns;      /* at this time */
		pid_t next;       /* the thread that comes */
		/* The last thread that had its EXIT record here, or came to this CPU after its EXIT record */
		pid_t gone;
		pid_t unnamed; /* the last thread that was preempted here after the kernel had removed its pid */
		pid_t left;    /* the thread that leaves, if the switch has a sample; else 0 */
	} at_switch; /* @gone and @unnamed outlive a switch; its note, its sample and its records set the others */
	struct {
		uint32_t id;    /* the thread that is on this CPU by sched:sched_switch; 0: not known, or idle */
		uint64_t since; /* when it came */
	} stay;
	uint64_t since; /* when its event was opened again during the run: earlier throttling ended then; 0: it was not
			 */
};

/** struct sample_lead - facts about a record that it does not contain. */
struct sample_lead {
	struct sample_note note; /* if there was no note, only @note.set is valid */
	bool noted;              /* there was a note */
	enum event_kind kind;    /* of its event */
};

/**
 * struct applier - state of applying records.
 * @rings: one entry for each ring
 * @exits: of all CPUs
 * @stats: of the whole backend, one for each of sink.sets; the code that reads rings, and the code that applies
 * records, add to them
 * @set:   of @stats, for records other than samples
 * @unwinding: of user stacks; NULL: use the kernel's callchains
 * @switching: of off-CPU intervals; NULL: these are not counted
 * @deferred: samples that wait for their user stacks; NULL: none waits, and these stacks are missing
 * @kernel_code: tells the idle task from tasks outside our pid namespace; NULL: there are no such tasks, or the samples
 * are of a recording
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
