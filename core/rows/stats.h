/* SPDX-License-Identifier: Apache-2.0 */
/* Statistics about each sample and each interval off the CPU. The two equations below have to hold. */
#ifndef CORE_ROWS_STATS_H
#define CORE_ROWS_STATS_H

#include "unwind/unwinders.h"

#include <stdint.h>

/** enum unwound - how the unwinding of a user stack ended; an index into stats.unwound. */
enum unwound {
	UNWOUND_ROOT,      /* with the outermost frame */
	UNWOUND_TRUNCATED, /* the copy of the stack, or the limit for frames, does not reach further */
	UNWOUND_NO_RULES,  /* nothing says where the caller's frame is */
	UNWOUND_BAD,       /* memory that cannot be read, damaged rules, frames that do not advance */
	UNWOUND_UNKNOWN,   /* a register is needed that the kernel did not report */
	UNWOUND_PROBED,    /* at a uretprobe, which has replaced the return address, or at code that a uprobe moved */
	/* As the kernel walked it: of 32-bit or dying tasks, or because registers, a copy or mappings are missing */
	UNWOUND_KERNEL,
	UNWOUND_NR,
};

/**
 * struct stats - what happened to every sample: taken = counted_kernel + counted_ring + filtered + lost.
 *
 * Each backend of a run adds the terms that it counts. The session works out @lost, and @taken if there is no BPF
 * program. A struct holds the numbers of one interval of the report (-i), or of the whole run. One loss is invisible: a
 * kernel runs no BPF program while the same CPU is inside another one or changes a BPF map (bpf_prog_active), and drops
 * the sample.
 */
struct stats {
	uint64_t taken;            /* samples that the kernel took, including those that were lost */
	uint64_t counted_kernel;   /* counted by the BPF program */
	uint64_t counted_ring;     /* counted in user space from a ring */
	uint64_t filtered;         /* not requested: idle, other processes */
	uint64_t hidden;           /* of these: the mount namespaces of their tasks are not readable */
	uint64_t idle;             /* of the idle task, wanted or not */
	uint64_t lost;             /* see session_stats() */
	uint64_t passed;           /* passed on by the BPF program to the reader, for one of the reasons below */
	uint64_t spilled_filtered; /* of these: filtered in user space */
	/* Why a BPF program passed on samples and intervals off the CPU that it was to count: */
	uint64_t spilled_stack;       /* no room for the stack, or another stack has its slot */
	uint64_t spilled_count;       /* no room in the count table */
	uint64_t spilled_unwind;      /* the user stack is unwound in user space */
	uint64_t spilled_tree;        /* the program did not know whether the process descends from the command */
	uint64_t spilled_number;      /* the program could not find the task's pid in our PID namespace */
	uint64_t unwound[UNWOUND_NR]; /* user stacks unwound in user space, by result */
	uint64_t proved;              /* of counted_kernel: samples whose user stack is proven (core/sources/notes.h) */
	uint64_t admitted;            /* number of proven stacks: the program counts samples with them from then on */
	uint64_t withdrawn;           /* of these: not valid any more, because mappings have or may have changed */
	uint64_t deferred;            /* samples whose user stack the kernel deferred */
	uint64_t deferred_missed;     /* of these: no record with the stack came */
	/* --unwind=libunwind and both: */
	uint64_t unwinders[UNWINDERS_NR]; /* stacks that both unwinders walked, by the result of the comparison */
	uint64_t libunwind_failed;        /* stacks on which libunwind failed; with "both" these are not compared */
	uint64_t ring_samples;            /* samples read from the rings */
	uint64_t bad_samples;             /* of these: refused by the decoder */
	uint64_t lost_records;            /* records that a ring had no room for: samples, switches, notes, side band */
	/*
	 * The part of lost_records on sampled CPUs, without lost_side_band. Live, since 6.0, only those of the event
	 * that has the ring (events.leads): without notes, and if there are samples, without switches.
	 */
	uint64_t lost_here;
	uint64_t lost_side_band;    /* of lost_records: about tasks and mappings, if these have rings of their own */
	uint64_t lost_notes;        /* of lost_records: see counter_ops.note; 0 before 6.0: not told apart there */
	uint64_t lost_switch_notes; /* of lost_records: see counter_ops.switch_note; 0 before 6.0 */
	uint64_t ring_records;      /* records of any kind read from the rings */
	uint64_t ring_bytes;        /* bytes of these, without the unused part of stack copies */
	uint64_t late_records;      /* records applied out of time order: a later one had been applied before */
	uint64_t backward_records;  /* switch records with an earlier time than the one before them in their ring */
	uint64_t late_samples;      /* came after their report was finished: not in its rows, but lost */
	uint64_t bad_records;       /* refused by the decoder and not used at all */
	/* Samples of dying tasks, without ids: assigned to the last task that exited on their CPU, if one is known */
	uint64_t dead_tasks;
	uint64_t outside;       /* samples of tasks outside this PID namespace */
	uint64_t throttled;     /* PERF_RECORD_THROTTLE: the kernel stopped sampling on a CPU for a while */
	uint64_t started;       /* threads and processes created, by the records in the rings */
	uint64_t throttled_ns;  /* sum over the CPUs of the times until PERF_RECORD_UNTHROTTLE */
	uint64_t count_entries; /* used entries of the in-kernel table of counts */
	uint64_t stack_entries; /* used entries of the in-kernel table of stacks */

	/*
	 * Intervals off the CPU (switches.h), instead of the samples above, or beside them: begun = charged + filtered
	 * + open + lost, over the whole run. Intervals that have not ended stay open from one interval of the report to
	 * the next.
	 */
	/* Seen in the kernel if a BPF program counts there, including those that it passed on */
	uint64_t intervals_begun;
	uint64_t intervals_charged;  /* in the rows */
	uint64_t intervals_filtered; /* not requested: other threads, other states, too short or too long */
	uint64_t intervals_open;     /* at the end of the run */
	uint64_t intervals_lost;
	uint64_t intervals_no_slot; /* of these: the BPF program had no room for so many threads */
	/*
	 * Passed on by the BPF program when they began or, with spilled_count, when they were over. The reader adds
	 * them to intervals_charged; the program does not
	 */
	uint64_t intervals_passed;
	uint64_t intervals_received; /* of these: the reader received them */
	uint64_t switches_unseen;    /* switches for which the kernel ran no BPF program */
	uint64_t switches_unsampled; /* switches that the ring has without a sample: their stacks are missed */
	/* The next three: with both backends, the intervals that the reader adds up beside the program */
	uint64_t intervals_seen;       /* began */
	uint64_t intervals_unended;    /* of these: the reader did not see the end */
	uint64_t intervals_gone;       /* others of intervals_seen: given up, because records of a ring were lost */
	uint64_t reopened;             /* events of CPUs that came online: until then, nothing was counted there */
	uint64_t intervals_disordered; /* whose end is before their beginning, by the clocks of two CPUs */
	uint64_t clocks_apart;         /* switches that both backends count with times too far apart */
};

/** stats_add() - add each number of @more to @to. */
void stats_add(struct stats *to, const struct stats *more);

#endif
