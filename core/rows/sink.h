/* SPDX-License-Identifier: Apache-2.0 */
/* The tables into which backends put rows and facts about tasks. */
#ifndef CORE_ROWS_SINK_H
#define CORE_ROWS_SINK_H

#include "core/base/err.h"
#include "core/rows/compare.h"
#include "core/rows/rows.h"
#include "core/tasks/tasks.h"
#include "unwind/unwinders.h"

/** struct row_set - the rows of one interval of the report. */
struct row_set {
	struct rows *samples;   /* values are numbers of samples */
	struct rows *intervals; /* intervals off the CPU: values are nanoseconds */

	/* Only with --backend=both, otherwise NULL. */
	struct compare *compare;     /* of the samples */
	struct rows *ring_intervals; /* the intervals off the CPU that the reader of the rings has seen */
};

/**
 * struct sink_cfg - how to make the row sets of a run.
 * @filter: tasks that are counted
 * @compares, @adds: with --backend=both: compare samples; add up the ring's intervals
 */
struct sink_cfg {
	const struct filter *filter;
	bool compares, adds;
};

/** struct sink - the row sets and tasks of a run. Times are CLOCK_MONOTONIC. */
struct sink {
	struct row_set sets[2];
	unsigned int set, ended; /* indexes in @sets: the current interval, and the one that has ended */
	struct tasks *tasks;
	struct frame_names names;            /* of the frames in all rows */
	struct kernel_ranges *kernel_ranges; /* kernel code that came or went during the run; owned; NULL: none */
	bool gap;                            /* see sink_gap() */
	struct unwinders_notes unwinders;
	struct err first_refused; /* why a BPF program cannot report the first sample of a process; code 0: it can */

	uint64_t began_ns;               /* the first moment at which a sample could count; 0: not reached yet */
	uint64_t started_ns, stopped_ns; /* for the interval that ended */
	uint64_t over_ns;                /* when the run ended; 0: it has not */
};

/** sink_empty() - replace set @i by an empty one, made by @c. Return: 0 or -ENOMEM. */
int sink_empty(struct sink *s, unsigned int i, const struct sink_cfg *c);
void sink_release(struct sink *s);

/**
 * sink_gap() - note whether records about tasks may be @missing from now on: a CPU has gone offline or come online.
 * False: no CPU that was sampled is offline, and all tasks were looked up again.
 */
void sink_gap(struct sink *s, bool missing);

/** sink_missed() - note that records about tasks were lost before now: begin a gap that includes that time. */
void sink_missed(struct sink *s);

#endif
