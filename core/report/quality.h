/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many user stacks of a report are incomplete or lack names, task by task: the basis for advice.
 *
 * The numbers are sums of the values of rows that have a user stack, or lack one that they should have; in the unit of
 * the rows, before division by a printed unit.
 */
#ifndef CORE_REPORT_QUALITY_H
#define CORE_REPORT_QUALITY_H

#include "core/base/intern.h"
#include "core/rows/rows.h"

#include <stdbool.h>
#include <stdint.h>

struct symbol;

/** struct task_key - identifies a task: in another one, the same user address may have a different name. */
struct task_key {
	char comm[COMM_LEN];
	int32_t pid;
};

/**
 * enum frame_lack - why a user frame has no name.
 * LACKS_NOTHING: it has one, or belongs to the vDSO or the like ("[vdso]"), or its address was reused (FRAME_REUSED)
 * LACKS_SYMBOLS: it is in a file, which has no symbol for it
 * LACKS_MAP:     it is in memory without a file, or of memfd_create(2): code that was made at run time
 * LACKS_MAPPING: the address has no known mapping. If code has no frame pointers, a walk by frame pointers may find any
 *                numbers as callers
 */
enum frame_lack { LACKS_NOTHING, LACKS_SYMBOLS, LACKS_MAP, LACKS_MAPPING, LACKS_NR };

/**
 * enum frame_trait - facts about a user frame, in one number: its enum frame_lack in the bits FRAME_LACK, and others.
 * FRAME_OF_LIBC: it is in the C library, which calls main() and the first function of each thread
 * FRAME_ASKED:   whether FRAME_CALLED holds was looked up
 * FRAME_CALLED:  the unwind rules of its file say that its function has a caller
 * FRAME_REUSED:  its address showed different files, see struct symbol
 */
enum frame_trait { FRAME_LACK = 3, FRAME_OF_LIBC = 4, FRAME_ASKED = 8, FRAME_CALLED = 16, FRAME_REUSED = 32 };

/** frame_traits() - the traits of a frame with this symbol, without FRAME_CALLED. */
unsigned int frame_traits(const struct symbol *sym);

/** enum stack_flaw - FLAW_INCOMPLETE: the caller of its outermost frame is missing. */
enum stack_flaw { FLAW_INCOMPLETE, FLAW_NO_SYMBOLS, FLAW_NO_MAP, FLAW_NR };

/**
 * struct stack_quality - of the frames of one user stack. All zeros: of none.
 * @lacks: how many frames have each enum frame_lack, see frames_lacking()
 * @leaf:  traits of the innermost frame
 * @start: how many of the frames without symbols are start code, which runs before main() or before a thread's first
 *         function. Start code is the unbroken run of the C library's frames at the root end. The outermost frame
 *         belongs to it, too, if it calls a frame of the C library: it is _start
 * @begun: a frame that is not of the start has been added
 * @reused: a frame with FRAME_REUSED has been added
 */
struct stack_quality {
	uint64_t lacks;
	unsigned int leaf, start;
	bool begun, reused;
};

/* Four counters of 16 bits, enough for the frames of any stack: so counting a frame costs one addition. */
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

/** stack_quality_add() - add a frame of a stack, root first. */
static inline void stack_quality_add(struct stack_quality *q, unsigned int traits)
{
	if (!q->begun)
		stack_quality_start(q, traits);
	q->lacks += frame_lacks(traits);
	q->reused |= (traits & FRAME_REUSED) != 0;
	q->leaf = traits;
}

/**
 * stack_quality_names() - a stack lacks names if its innermost frame does, or at least half of its frames. Callers with
 * LACKS_MAPPING do not count, nor does the start: most C libraries are stripped, so threads with short stacks would
 * lack names although their program has all of its names. Return: 0, or the bit of FLAW_NO_SYMBOLS or FLAW_NO_MAP: what
 * the innermost frame lacks; if it has a name, what most of the frames without names lack.
 */
unsigned int stack_quality_names(const struct stack_quality *q);

/**
 * struct stack_end - the root end of a user stack.
 * @outermost: traits of that frame, with FRAME_CALLED if it is known to have a caller; @next: of the frame that it
 *             called; of itself if it is the only frame
 * @leaf:      of the innermost frame
 */
struct stack_end {
	unsigned int outermost, next, leaf;
};

/**
 * stack_end_is_missing() - true if a stack that was walked by frame pointers lacks callers. False if it lacks only the
 * C library's code before main(): many distributions build it without frame pointers.
 */
bool stack_end_is_missing(const struct stack_end *end);

/**
 * struct quality - sums of values; UINT64_MAX: they do not fit.
 * @all:    of rows that have a user stack or should have one
 * @flawed: of rows with a flaw, each once
 * @times:  samples or intervals in @all
 */
struct quality {
	uint64_t all, flawed, by_flaw[FLAW_NR], times;
};

/** quality_count() - add a row. @flaws: bits 1 << enum stack_flaw */
void quality_count(struct quality *q, unsigned int flaws, uint64_t value, uint64_t times);
/** quality_add() - add all numbers of @more. */
void quality_add(struct quality *q, const struct quality *more);

/** struct task_quality - an entry of struct report_quality. */
struct task_quality {
	struct task_key key;
	struct quality of;
};

/**
 * struct report_quality - the quality of one report, task by task. All zeros is valid and empty.
 * @by_fp: stacks were walked by frame pointers: check whether they are complete
 */
struct report_quality {
	bool by_fp;
	struct intern_table tasks; /* struct task_quality */
};

/** report_quality_add() - add @of to the numbers of @task. Return: 0 or -ENOMEM. */
int report_quality_add(struct report_quality *q, const struct task_key *task, const struct quality *of);

/** report_quality_find() - the numbers of @task, valid until the next one is added; NULL: none. */
const struct task_quality *report_quality_find(const struct report_quality *q, const struct task_key *task);

void report_quality_release(struct report_quality *q);

#endif
