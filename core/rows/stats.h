/* SPDX-License-Identifier: Apache-2.0 */
/* What became of each sample and of each interval off the CPU: the statistics that have to balance. */
#ifndef CORE_ROWS_STATS_H
#define CORE_ROWS_STATS_H

#include "unwind/unwinders.h"

#include <stdint.h>

/** enum unwound - how the unwinding of user stacks ended; a place in stats.unwound. */
enum unwound {
	UNWOUND_ROOT,      /* with the outermost frame */
	UNWOUND_TRUNCATED, /* the copy of the stack, or the limit for frames, does not reach further */
	UNWOUND_NO_RULES,  /* nothing says where the caller's frame is */
	UNWOUND_BAD,       /* memory that cannot be read, damaged rules, frames that do not advance */
	UNWOUND_UNKNOWN,   /* a register is needed that the kernel did not report */
	UNWOUND_PROBED,    /* at a uretprobe, which has replaced the return address */
	UNWOUND_KERNEL, /* as the kernel walked it: of 32-bit or dying tasks, or without registers, a copy, or mappings
			 */
	UNWOUND_NR,
};

/**
 * struct stats - what became of every sample: taken = counted_kernel + counted_ring + filtered + lost.
 *
 * Each term is counted where it happens: each backend of a run adds its own, the run adds what follows from them. They
 * are those of one interval, or of the whole run.
 * The one thing that nobody sees: a kernel runs no BPF program while the same CPU is inside another one or changes a
 * BPF map (bpf_prog_active), and drops the sample.
 */
struct stats {
	uint64_t taken;            /* samples the kernel handed over */
	uint64_t counted_kernel;   /* counted by the BPF program */
	uint64_t counted_ring;     /* counted in user space from a ring */
	uint64_t filtered;         /* not asked for: idle, other processes */
	uint64_t hidden;           /* of these: the mount namespaces of their tasks may not be read */
	uint64_t idle;             /* of the idle task, wanted or not */
	uint64_t lost;             /* see session_stats() */
	uint64_t passed;           /* passed on by the BPF program, for one of the reasons below, of these: */
	uint64_t spilled_filtered; /* filtered in user space */
	/* Why a program passed on what it was to count, samples and intervals off the CPU: */
	uint64_t spilled_stack;       /* no room for the stack, or another one has its place */
	uint64_t spilled_count;       /* no room in the count table */
	uint64_t spilled_unwind;      /* the user's part is unwound in user space */
	uint64_t spilled_tree;        /* it did not know whether the process is of the command */
	uint64_t spilled_number;      /* it could not tell the task's pid in our pid namespace */
	uint64_t unwound[UNWOUND_NR]; /* user stacks that were unwound in user space, by how that ended */
	uint64_t proved;              /* of counted_kernel: the frame pointers of the user stack are proved, */
	uint64_t admitted;            /* and how many stacks are: the program counts samples with them from then on, */
	uint64_t withdrawn;           /* and of these, not any more: their process has changed what it maps */
	uint64_t deferred;            /* samples whose user stacks the kernel deferred, */
	uint64_t deferred_missed;     /* and that are without: no record of it came */
	/* --unwind=libunwind and both: */
	uint64_t unwinders[UNWINDERS_NR]; /* stacks that both unwinders have walked, by what comparing them came to */
	uint64_t libunwind_failed;        /* stacks on which libunwind failed; with both they are not compared */
	uint64_t ring_samples;            /* samples read from the rings */
	uint64_t bad_samples;             /* of these: refused by the decoder */
	uint64_t lost_records; /* for which a ring had no room: samples, notes, and those about tasks and mappings */
	uint64_t lost_here; /* of these: on CPUs that sample; without notes and switches, if the kernel tells which */
	uint64_t lost_side_band;    /* of these: about tasks and mappings, where these have rings of their own */
	uint64_t lost_notes;        /* of these: see counter_ops.note; 0 before 6.0, which does not tell them apart */
	uint64_t lost_switch_notes; /* the same: see counter_ops.switch_note */
	uint64_t ring_records;      /* read from the rings, of any kind */
	uint64_t ring_bytes;        /* of these; unused room for stacks is none */
	uint64_t late_records;      /* applied out of time order: they came after the window they belong to */
	uint64_t backward_records;  /* of switches, with an earlier time than the one before in their ring */
	uint64_t late_samples;  /* of an interval that had been reported, so not counted; a part of those lost there */
	uint64_t bad_records;   /* refused by the decoder; nothing of them was used */
	uint64_t dead_tasks;    /* samples of dying tasks, without ids: given to the last that exited on their CPU */
	uint64_t outside;       /* samples of tasks outside this pid namespace */
	uint64_t throttled;     /* PERF_RECORD_THROTTLE: the kernel stopped sampling on a CPU for a while */
	uint64_t started;       /* threads and processes that were made, as the rings tell */
	uint64_t throttled_ns;  /* until PERF_RECORD_UNTHROTTLE, of all CPUs */
	uint64_t count_entries; /* used of the in-kernel table of counts */
	uint64_t stack_entries; /* used of the in-kernel table of stacks */

	/*
	 * Of intervals off the CPU (switches.h), instead of the samples above, or beside them: begun = charged +
	 * filtered + open + lost, over the whole run. Those that have not ended stay open from one interval of the
	 * report to the next.
	 */
	uint64_t intervals_begun;    /* in the kernel, where a program counts there: also those it passed on */
	uint64_t intervals_charged;  /* are in the rows */
	uint64_t intervals_filtered; /* not asked for: other threads, other states, too short or too long */
	uint64_t intervals_open;     /* at the end of the run */
	uint64_t intervals_lost;
	uint64_t intervals_no_slot; /* of these: there were more threads than the program in the kernel has room for */
	uint64_t intervals_passed; /* that the program in the kernel passed on: when they began, or, with spilled_count,
				    * when they were over; not in its intervals_charged, but the reader's */
	uint64_t intervals_received; /* of which the reader got to know that they did */
	uint64_t switches_unsampled; /* of which the ring told without a sample: the stacks are missed */
	/* With both backends, of those that the reader adds up beside the program: */
	uint64_t intervals_seen;       /* that began, */
	uint64_t intervals_unended;    /* whose end it did not see, */
	uint64_t intervals_gone;       /* that it gave up, because records of some ring were lost */
	uint64_t reopened;             /* events of CPUs that came back: what happened there before nobody counted */
	uint64_t intervals_disordered; /* whose end was earlier than their begin, by the clocks of two CPUs */
	uint64_t clocks_apart;         /* switches that both backends count, whose clocks were read too far apart */
};

/** stats_add() - add each number of @more to @to. */
void stats_add(struct stats *to, const struct stats *more);

#endif
