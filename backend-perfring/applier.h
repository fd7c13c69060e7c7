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
		/* The last thread whose EXIT record is in this ring, or that ran on this CPU after its EXIT record */
		pid_t gone;
		pid_t unnamed; /* the last thread that was preempted here after the kernel had removed its pid */
		pid_t left;    /* the thread that leaves, if the switch has a sample; else 0 */
	} at_switch;           /* of one switch; but @gone and @unnamed are kept from one to the next */
	struct {
		uint32_t id;    /* the thread that is on this CPU by sched:sched_switch; 0: not known, or idle */
		uint64_t since; /* when it came */
	} stay;
	/* When the event of this ring was opened again, which ended throttling; 0: never, or the time is not known */
	uint64_t since;
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
 * @set:   the one of @stats to which records other than samples are added now
 * @unwinding: of user stacks; NULL: use the kernel's callchains
 * @switching: of off-CPU intervals; NULL: these are not counted
 * @deferred: samples that wait for their user stacks; NULL: none waits, and these stacks are missing
 * @kernel_code: tells the idle task from tasks outside our pid namespace; NULL: we are in the first pid namespace, or
 * the samples are of a recording
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
