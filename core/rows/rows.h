/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one aggregation table: a row for each key, with a value that adds up.
 *
 * Tasks and stacks are interned, so that memory grows with the number of distinct stacks and rows, never with the
 * number of samples; adding to a row costs a few hash probes. Not thread safe.
 */
#ifndef CORE_ROWS_ROWS_H
#define CORE_ROWS_ROWS_H

#include "core/rows/frame.h"
#include "core/tasks/tasks.h"

#include <stdbool.h>
#include <stdint.h>

struct rows;

enum stack_state {
	STACK_NONE,   /* the sample has no such stack, or it was not asked for */
	STACK_TAKEN,  /* frames hold it */
	STACK_MISSED, /* it exists, but could not be taken */
};

/**
 * struct stack - one side of a sample's stack.
 * @frames:    leaf first, no PERF_CONTEXT_ markers, no zeros; only user addresses may be exact
 * @nr:        0 unless STACK_TAKEN
 * @truncated: callers beyond the last frame were cut by a depth or copy limit
 */
struct stack {
	const frame_t *frames;
	uint32_t nr;
	enum stack_state state;
	bool truncated;
};

/** enum row_group - bits: the parts of a row's key that a run can ask for. The others are in all keys. */
enum row_group {
	GROUP_TID = 1,
};

/**
 * struct row_key - what tells rows apart. A part that rows are not grouped by is zero in all of them.
 * @comm:   of the thread, as the kernel has it; may hold any byte. What follows the first zero is ignored, and the last
 *          byte counts as zero
 * @pid:    process (tgid)
 * @cgroup: id of the cgroup
 * @event:  place of the event among those that are sampled
 * @image:  what the user stack's addresses show, see tasks_image(); 0: not known
 */
struct row_key {
	char comm[COMM_LEN];
	pid_t pid, tid;
	uint64_t cgroup;
	uint32_t event, image;
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
	uint64_t times; /* how many samples, or intervals off the CPU, its value is of */
};

/** rows_new() - an empty table, to be freed. NULL: no memory. */
struct rows *rows_new(void);
void rows_free(struct rows *t);

/**
 * rows_add() - add to the row of @key, which is made if there is none. Sums that do not fit stay UINT64_MAX.
 * @key:   its stacks are copied; they may be those of a row of @t
 * @value: number of samples; of intervals off the CPU, nanoseconds
 * @times: of how many samples or intervals
 * Return: 0; -ENOMEM with the rows unchanged; -E2BIG beyond 2^32 - 2 rows or stacks.
 */
int rows_add(struct rows *t, const struct row_key *key, uint64_t value, uint64_t times);

/** rows_find() - the row of @key; HASH_NONE: there is none. */
uint32_t rows_find(const struct rows *t, const struct row_key *key);

/** rows_last() - the row that the last rows_add() which returned 0 added to. */
uint32_t rows_last(const struct rows *t);

/** rows_nr() - rows so far; rows_get() takes 0 .. that - 1, in order of first appearance. */
size_t rows_nr(const struct rows *t);
void rows_get(const struct rows *t, size_t i, struct row *out);

/** rows_nr_stacks() - distinct stacks of either side so far. */
size_t rows_nr_stacks(const struct rows *t);

/** rows_total() - sum of all values, or UINT64_MAX; rows_times(): how many samples or intervals these are of. */
uint64_t rows_total(const struct rows *t);
uint64_t rows_times(const struct rows *t);

#endif
