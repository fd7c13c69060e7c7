/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The aggregation table: one row for each key, with a value that adds up.
 *
 * Tasks and stacks are interned, so that memory grows with the number of distinct stacks and rows, never with the
 * number of samples. Adding to a row costs a few hash probes. Not thread safe.
 */
#ifndef CORE_ROWS_ROWS_H
#define CORE_ROWS_ROWS_H

#include "core/rows/frame.h"
#include "core/tasks/tasks.h"

#include <stdbool.h>
#include <stdint.h>

struct rows;

enum stack_state {
	STACK_NONE,   /* the sample has no such stack, or it was not requested */
	STACK_TAKEN,  /* the frames are in @frames */
	STACK_MISSED, /* it exists, but could not be taken */
};

/**
 * struct stack - one side of a sample's stack.
 * @frames:    leaf first, no PERF_CONTEXT_ markers, no zeros; only user addresses may have FRAME_EXACT
 * @nr:        0 unless STACK_TAKEN
 * @truncated: callers beyond the last frame were cut by a depth or copy limit
 */
struct stack {
	const frame_t *frames;
	uint32_t nr;
	enum stack_state state;
	bool truncated;
};

/**
 * struct row_key - rows with equal keys are one row.
 * @comm:   of the thread, as the kernel has it; may hold any byte. Bytes after the first zero are ignored, and the last
 *          byte counts as zero
 * @pid:    process (tgid)
 * @image:  what the user stack's addresses show, see tasks_image(); 0: not known
 */
struct row_key {
	char comm[COMM_LEN];
	pid_t pid;
	uint32_t image;
	struct stack kernel, user;
};

/**
 * struct row - a row of a table.
 * @key: its comm is zero padded, its stacks are borrowed until the next rows_add() or rows_free()
 */
struct row {
	struct row_key key;
	uint32_t kernel_id, user_id; /* equal ids: the same stack; below rows_nr_stacks() */
	uint64_t value;
	uint64_t times; /* number of samples, or of intervals off the CPU, that make up the value */
};

/** rows_new() - make an empty table; the caller frees it. NULL: no memory. */
struct rows *rows_new(void);
void rows_free(struct rows *t);

/**
 * rows_add() - add to the row of @key, which is created if needed. Sums that do not fit stay UINT64_MAX.
 * @key:   its stacks are copied; they may be those of a row of @t
 * @value: number of samples; for intervals off the CPU, nanoseconds
 * @times: number of samples or intervals
 * Return: 0; -ENOMEM with the rows unchanged; -E2BIG beyond 2^32 - 2 rows, stacks or tasks.
 */
int rows_add(struct rows *t, const struct row_key *key, uint64_t value, uint64_t times);

/** rows_find() - index of the row of @key; HASH_NONE: there is none. */
uint32_t rows_find(const struct rows *t, const struct row_key *key);

/** rows_last() - index of the row to which the last successful rows_add() added. */
uint32_t rows_last(const struct rows *t);

/** rows_nr() - number of rows; rows_get() takes an index below that, in order of first appearance. */
size_t rows_nr(const struct rows *t);
void rows_get(const struct rows *t, size_t i, struct row *out);

/** rows_nr_stacks() - number of distinct stacks, kernel and user. */
size_t rows_nr_stacks(const struct rows *t);

/** rows_total() - sum of all values, or UINT64_MAX; rows_times(): number of samples or intervals in it. */
uint64_t rows_total(const struct rows *t);
uint64_t rows_times(const struct rows *t);

#endif
