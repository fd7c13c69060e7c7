/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --backend=both of offcputime: compare the intervals off the CPU that the BPF program and the ring's reader have added
 * up.
 *
 * Each side reads the clock at both ends of an interval, one side just after the other, so the times differ a little.
 * Otherwise they must have the same rows with the same number of intervals. There are four exceptions, which are no
 * differences. If a ring was full or a CPU offline, only the program has the interval: it is missed. If the reader
 * missed both switches between two intervals, it has one long interval instead: the row is stretched. If, besides, the
 * program lost the first of the two, only the reader has an interval with these stacks: it is surplus. If the ring has
 * a switch without a sample, its interval is in a row without stacks, and the program's in another row.
 */
#ifndef CORE_ROWS_COMPARE_INTERVALS_H
#define CORE_ROWS_COMPARE_INTERVALS_H

#include "core/rows/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INTERVAL_APART_NS  1000 /* the two times of one interval may differ by so much */
#define INTERVALS_EXAMPLES 10

/** struct compared_intervals - numbers of rows, unless a member says otherwise; rows without intervals do not count. */
struct compared_intervals {
	uint64_t rows;         /* on both sides, or on one side because of @missed, @unsampled or @surplus */
	uint64_t other_times;  /* of these: rows with different numbers of intervals */
	uint64_t other_time;   /* rows with the same number, whose times are too far apart */
	uint64_t only_program; /* on one side only; not in @rows */
	uint64_t only_ring;
	uint64_t unsampled; /* intervals without stacks on the ring's side; their rows count as equal */
	/*
	 * Rows in which the ring's side has no more intervals than the program's, but a longer time: it has one
	 * interval instead of two
	 */
	uint64_t stretched;
	/*
	 * Intervals that the ring's side lacks in a row, including those that it has without stacks in another row
	 * (@unsampled); the rows that lack them count as equal
	 */
	uint64_t missed;
	/*
	 * Intervals that the program's side lacks in a row, because it lost the first of two that are one in the ring;
	 * the rows that have them count as equal
	 */
	uint64_t surplus;
	/* The largest time difference per interval, rounded up, of rows with equal numbers of intervals that no
	 * exception explains */
	uint64_t apart_ns;
	size_t nr_examples;
	char examples[INTERVALS_EXAMPLES][256]; /* a line for each row that differs, or is on one side only */
};

/**
 * struct intervals_lost - limits for the exceptions above. If one limit is exceeded, they do not hold: each difference
 * counts.
 */
struct intervals_lost {
	uint64_t unseen;    /* intervals that the ring's side did not see */
	uint64_t unsampled; /* intervals whose stacks it lacks */
	uint64_t surplus;   /* intervals that it may have, although the program lost them */
};

/**
 * compare_intervals() - compare rows by contents, because stacks have different numbers in each table. Takes time
 * linear in the contents.
 * Return: 0; -ENOMEM.
 */
int compare_intervals(const struct rows *program, const struct rows *ring, const struct intervals_lost *lost,
		      struct compared_intervals *out);

/** compared_equal() - true if no row differs. */
bool compared_equal(const struct compared_intervals *c);

#endif
