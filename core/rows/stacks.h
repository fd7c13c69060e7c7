/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one aggregation table: (comm, pid, kernel stack, user stack) -> value.
 *
 * Stacks are interned, so that memory grows with the number of distinct stacks and rows, never with the number of
 * samples; adding a row costs a few hash probes. Not thread safe.
 */
#ifndef CORE_ROWS_STACKS_H
#define CORE_ROWS_STACKS_H

#include "core/arch/arch.h"
#include "core/tasks/tasks.h"

#include <stdbool.h>
#include <stdint.h>

struct stacks;

enum stack_state {
	STACK_NONE,   /* the sample has no such stack, or it was not asked for */
	STACK_TAKEN,  /* frames hold it */
	STACK_MISSED, /* it exists, but could not be taken */
};

/*
 * Set in a user address behind the leaf that is no return address, because a signal interrupted the function there: it
 * is looked up as it is.
 */
#define STACK_EXACT (1ULL << 62)

static inline bool stack_is_exact(uint64_t addr)
{
	return addr >> ARCH_USER_BITS == STACK_EXACT >> ARCH_USER_BITS;
}

/**
 * struct stack - one side of a sample's stack.
 * @frames:    addresses, leaf first, no PERF_CONTEXT_ markers, no zeros; of the user's side perhaps with STACK_EXACT
 * @nr:        0 unless STACK_TAKEN
 * @truncated: callers beyond the last frame were cut by a depth or copy limit
 */
struct stack {
	const uint64_t *frames;
	uint32_t nr;
	enum stack_state state;
	bool truncated;
};

/** struct stack_row - a row; the stacks are borrowed until the next stacks_add() or stacks_free(). */
struct stack_row {
	char comm[COMM_LEN]; /* as the kernel has it, zero padded; may hold any byte */
	pid_t pid;           /* process (tgid) */
	struct stack kernel, user;
	uint32_t kernel_id, user_id; /* equal ids: the same stack; below stacks_nr_stacks() */
	uint64_t value;
	uint64_t times; /* how many samples, or intervals off the CPU, its value is of */
};

struct stacks *stacks_new(void);
void stacks_free(struct stacks *t);

/**
 * stacks_add() - add @value to the row of these four; a sum that does not fit stays UINT64_MAX.
 * @comm: COMM_LEN bytes; what follows the first zero is ignored, and the last byte counts as zero
 * Return: 0; -ENOMEM with the table unchanged but for interned stacks; -E2BIG beyond 2^32 - 2 rows or stacks.
 */
int stacks_add(struct stacks *t, const char *comm, pid_t pid, const struct stack *kernel, const struct stack *user,
	       uint64_t value);

/** stacks_add_times() - the same of a @value that is the sum of so many; stacks_add() has one for each of its value. */
int stacks_add_times(struct stacks *t, const char *comm, pid_t pid, const struct stack *kernel,
		     const struct stack *user, uint64_t value, uint64_t times);

/** stacks_last() - the row that the last stacks_add() which returned 0 added to. */
uint32_t stacks_last(const struct stacks *t);

/** stacks_nr_rows() - rows so far; stacks_row() takes 0 .. that - 1, in order of first appearance. */
size_t stacks_nr_rows(const struct stacks *t);
void stacks_row(const struct stacks *t, size_t i, struct stack_row *out);

/** stacks_nr_stacks() - distinct stacks of either side so far. */
size_t stacks_nr_stacks(const struct stacks *t);

/** stacks_total() - sum of all values, or UINT64_MAX. */
uint64_t stacks_total(const struct stacks *t);

#endif
