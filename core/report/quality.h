/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How much of a report has user stacks that are incomplete or without names, task by task: what advice is given by.
 *
 * Counted are values as they are printed (before they are divided by a unit), of rows that have a user stack.
 */
#ifndef CORE_REPORT_QUALITY_H
#define CORE_REPORT_QUALITY_H

#include "core/base/intern.h"
#include "core/rows/rows.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol;

/** struct task_key - a task: what user addresses are named by. */
struct task_key {
	char comm[COMM_LEN];
	int32_t pid;
};

/**
 * enum frame_lack - why a user frame has no name.
 * LACKS_NOTHING: it has one, or belongs to the vDSO, or its address was reused (FRAME_REUSED)
 * LACKS_SYMBOLS: it is in a file, which has no symbol for it
 * LACKS_MAP:     it is in memory without a file: code that was made at run time
 * LACKS_MAPPING: nothing is known of the address. Where a stack was walked by frame pointers that are none, callers
 *                may be any numbers
 */
enum frame_lack { LACKS_NOTHING, LACKS_SYMBOLS, LACKS_MAP, LACKS_MAPPING, LACKS_NR };

/**
 * enum frame_trait - what a user frame has beside its enum frame_lack, in one number.
 * FRAME_OF_LIBC: it is in the C library, in which main() and the first function of each thread have their callers
 * FRAME_ASKED:   FRAME_CALLED is known
 * FRAME_CALLED:  the unwind rules of its file say that its function has a caller
 * FRAME_REUSED:  its address showed different files, see struct symbol
 */
enum frame_trait { FRAME_LACK = 3, FRAME_OF_LIBC = 4, FRAME_ASKED = 8, FRAME_CALLED = 16, FRAME_REUSED = 32 };

/** frame_traits() - of a frame of this symbol, but for FRAME_CALLED. */
unsigned int frame_traits(const struct symbol *sym);

/** enum stack_flaw - FLAW_INCOMPLETE: the caller of its outermost frame is missing. */
enum stack_flaw { FLAW_INCOMPLETE, FLAW_NO_SYMBOLS, FLAW_NO_MAP, FLAW_NR };

/**
 * struct stack_quality - of the frames of one user stack. All zeros: of none.
 * @lacks: how many have each enum frame_lack, see frames_lacking()
 * @leaf:  traits of the innermost
 * @start: of those that lack symbols, how many are what the C library does before main() or a thread's first function:
 *         its frames at the root end, and _start, which calls the first of them
 * @begun: a frame that is not of the start has been added
 * @reused: a frame with FRAME_REUSED has been added
 */
struct stack_quality {
	uint64_t lacks;
	unsigned int leaf, start;
	bool begun, reused;
};

/* Four counts of 16 bits, which suffice for the frames of a record: each frame of a report costs one addition. */
static inline uint64_t frame_lacks(unsigned int traits)
{
	return 1ULL << 16 * (traits & FRAME_LACK);
}

static inline unsigned int frames_lacking(uint64_t lacks, enum frame_lack lack)
{
	return lacks >> 16 * lack & 0xffff;
}

/* See struct stack_quality.start. */
void stack_quality_start(struct stack_quality *q, unsigned int traits);

/** stack_quality_add() - one more frame of a stack, whose root comes first. */
static inline void stack_quality_add(struct stack_quality *q, unsigned int traits)
{
	if (!q->begun)
		stack_quality_start(q, traits);
	q->lacks += frame_lacks(traits);
	q->reused |= (traits & FRAME_REUSED) != 0;
	q->leaf = traits;
}

/**
 * stack_quality_names() - a stack is without names if its innermost frame is, or at least half of its frames. Callers
 * with LACKS_MAPPING do not count, nor does the start: most C libraries are stripped, and shallow threads of a program
 * with all its names would lack them.
 * Return: 0, or the bit of FLAW_NO_SYMBOLS or FLAW_NO_MAP: by the innermost frame, else by what more frames lack.
 */
unsigned int stack_quality_names(const struct stack_quality *q);

/**
 * struct stack_end - the root end of a user stack.
 * @outermost: traits of that frame, with FRAME_CALLED where that holds; @next: of the frame that it called, or its own
 * @leaf:      of the innermost
 */
struct stack_end {
	unsigned int outermost, next, leaf;
};

/**
 * stack_end_is_missing() - does a stack that was walked by frame pointers lack callers? Not if all that is missing is
 * what the C library does before it calls main(): many distributions build it without frame pointers.
 */
bool stack_end_is_missing(const struct stack_end *end);

/**
 * struct quality - sums of values; UINT64_MAX: they do not fit.
 * @all:    of rows with a user stack
 * @flawed: of those with a flaw, each once
 * @times:  samples or intervals of @all
 */
struct quality {
	uint64_t all, flawed, by_flaw[FLAW_NR], times;
};

/** quality_count() - one more row. @flaws: bits 1 << enum stack_flaw */
void quality_count(struct quality *q, unsigned int flaws, uint64_t value, uint64_t times);
/** quality_add() - all of @more. */
void quality_add(struct quality *q, const struct quality *more);

/** struct task_quality - an entry of struct report_quality. */
struct task_quality {
	struct task_key key;
	struct quality of;
};

/**
 * struct report_quality - of one report, task by task. All zeros is valid and empty.
 * @by_fp: stacks were walked by frame pointers: report whether they are complete
 */
struct report_quality {
	bool by_fp;
	struct intern_table tasks; /* struct task_quality */
};

/** report_quality_add() - Return: 0 or -ENOMEM. */
int report_quality_add(struct report_quality *q, const struct task_key *task, const struct quality *of);

/** report_quality_find() - what is counted of @task, until the next one is added; NULL: nothing. */
const struct task_quality *report_quality_find(const struct report_quality *q, const struct task_key *task);

void report_quality_release(struct report_quality *q);

#endif
