/* SPDX-License-Identifier: Apache-2.0 */
/* Which unwinders walk the stacks of a run: our own, libunwind, or one after the other, whose stacks are compared. */
#ifndef PERFRING_UNWINDERS_H
#define PERFRING_UNWINDERS_H

#include "core/request/options.h"
#include "core/rows/stats.h"
#include "unwind/unwind.h"
#include "unwind/unwinders.h"

#include <sys/types.h>

struct unwinders;

/** struct unwinders_sample - what both get of a sample. All is borrowed. */
struct unwinders_sample {
	pid_t pid;
	const struct unwind_regs *regs;
	const struct unwind_memory *memory;
	const struct unwind_copy *copy; /* the same memory */
	const struct unwind_mappings *mappings;
	const struct unwind_files *files;
};

/**
 * unwinders_new() - as @mode has it: UNWIND_BY_LIBUNWIND, UNWIND_BY_BOTH, or ours alone.
 * @notes: where differences and failures are noted; borrowed
 * Return: NULL: no memory.
 */
struct unwinders *unwinders_new(enum unwind_mode mode, struct unwinders_notes *notes);
void unwinders_free(struct unwinders *u);

/**
 * unwinders_walk() - the whole stack of one sample, as unwind_walk(): libunwind's, if it alone is asked for, else ours.
 * @stats: what a comparison came to, and stacks on which libunwind failed, are counted here
 */
void unwinders_walk(struct unwinders *u, const struct unwinders_sample *s, struct unwind_result *out,
		    struct stats *stats);

#endif
