/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --backend=both of offcputime: the same intervals off the CPU, as the program in the kernel and the ring's reader have
 * added them up.
 *
 * Each reads the clock for itself, one just after the other, at both ends of an interval: so their times differ a
 * little. Nothing else may: the same rows, of as many intervals. But what the ring did not tell, because it was full or
 * its CPU away, the program has alone: such intervals are missed, and are no difference. And where the ring told of a
 * switch without a sample, it has the interval in a row without stacks, the program in another.
 */
#ifndef CORE_ROWS_COMPARE_INTERVALS_H
#define CORE_ROWS_COMPARE_INTERVALS_H

#include "core/rows/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_APART_NS  1000 /* that far the two may see one interval */
#define INTERVALS_EXAMPLES 10

/** struct compared_intervals - rows; those of no intervals are not there. */
struct compared_intervals {
	uint64_t rows;         /* in both, */
	uint64_t other_times;  /* of these: of another number of intervals; */
	uint64_t other_time;   /* of as many, whose times are too far apart */
	uint64_t only_program; /* in one of them: not among @rows */
	uint64_t only_ring;
	uint64_t unsampled; /* intervals that the ring has without stacks; their rows count as equal */
	uint64_t stretched; /* rows of as many, or less, which are longer for the ring: it has one instead of two */
	uint64_t missed; /* intervals that the program alone has, since records were lost; their rows count as equal */
	uint64_t apart_ns; /* the most, for each interval of a row, rounded up; of rows of as many intervals */
	size_t nr_examples;
	char examples[INTERVALS_EXAMPLES][256]; /* rows that are different, or in one of them: a line each */
};

/** struct intervals_lost - what may be missing on the ring's side. */
struct intervals_lost {
	uint64_t unseen;    /* so many intervals; where more are missing, none is explained by that */
	uint64_t unsampled; /* the stacks of so many; the same */
};

/**
 * compare_intervals() - by contents: stacks have other numbers in each table. In time linear in what they hold.
 * Return: 0; -ENOMEM.
 */
int compare_intervals(const struct rows *program, const struct rows *ring, const struct intervals_lost *lost,
		      struct compared_intervals *out);

/** compared_equal() - is there no such row? */
bool compared_equal(const struct compared_intervals *c);

#endif
