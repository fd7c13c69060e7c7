/* SPDX-License-Identifier: Apache-2.0 */
/* Where whoever counts puts its rows, and what it learns of tasks. */
#ifndef CORE_ROWS_SINK_H
#define CORE_ROWS_SINK_H

#include "core/rows/compare.h"
#include "core/rows/rows.h"
#include "core/tasks/tasks.h"
#include "unwind/unwinders.h"

/** struct row_set - what is counted within one interval. */
struct row_set {
	struct rows *samples;   /* values are their numbers */
	struct rows *intervals; /* off the CPU: values are nanoseconds */

	/* The same as the ring alone shows them; NULL without --backend=both, and where they are not asked for. */
	struct compare *compare;
	struct rows *ring_intervals;
};

/**
 * struct sink_cfg - @filter: whose rows; with --backend=both: @compares samples, and @adds the ring's intervals.
 * @group: enum row_group
 */
struct sink_cfg {
	const struct filter *filter;
	unsigned int group;
	bool compares, adds;
};

/** struct sink - moments are of CLOCK_MONOTONIC. */
struct sink {
	struct row_set sets[2];
	unsigned int set, ended; /* of @sets: where is counted now, and the interval that has ended */
	struct tasks *tasks;
	struct frame_names names;            /* of the frames in all rows */
	struct kernel_ranges *kernel_ranges; /* and of those of the kernel that are no addresses; owned; NULL: none */
	bool gap;                            /* see sink_gap() */
	struct unwinders_notes unwinders;

	uint64_t began_ns;               /* the first moment a sample could count; 0: it has not come */
	uint64_t started_ns, stopped_ns; /* of the interval that ended */
	uint64_t over_ns;                /* the run is over since; 0: it is not */
};

/** sink_empty() - make set @i an empty one. @c: how the sets of this run are made. Return: 0 or -ENOMEM. */
int sink_empty(struct sink *s, unsigned int i, const struct sink_cfg *c);
void sink_release(struct sink *s);

/**
 * sink_gap() - @missing: records about tasks may be missing from now on, a CPU has gone offline or come; false: every
 * CPU is back, and everything was looked up anew.
 */
void sink_gap(struct sink *s, bool missing);

/** sink_missed() - such records were lost, nobody knows when: so a gap began some time ago. */
void sink_missed(struct sink *s);

#endif
