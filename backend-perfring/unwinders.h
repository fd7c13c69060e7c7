/* SPDX-License-Identifier: Apache-2.0 */
/* The unwinders of a run: our own, libunwind, or both, whose stacks are compared. */
#ifndef PERFRING_UNWINDERS_H
#define PERFRING_UNWINDERS_H

#include "core/rows/stats.h"
#include "unwind/mode.h"
#include "unwind/unwind.h"
#include "unwind/unwinders.h"

#include <sys/types.h>

struct unwinders;

/** struct unwinders_sample - the input of both. Everything is borrowed. */
struct unwinders_sample {
	pid_t pid;
	const struct unwind_regs *regs;
	const struct unwind_memory *memory;
	const struct unwind_copy *copy; /* the same memory */
	const struct unwind_mappings *mappings;
	const struct unwind_files *files;
};

/**
 * unwinders_new() - by @mode: UNWIND_BY_LIBUNWIND, UNWIND_BY_BOTH, or ours alone.
 * @notes: filled with differences and failures; borrowed
 * Return: NULL: no memory.
 */
struct unwinders *unwinders_new(enum unwind_mode mode, struct unwinders_notes *notes);
void unwinders_free(struct unwinders *u);

/**
 * unwinders_walk() - the whole stack of one sample, as unwind_walk(): with UNWIND_BY_LIBUNWIND that of libunwind, else
 * ours.
 * @stats: counts the results of comparisons, and stacks on which libunwind failed
 */
void unwinders_walk(struct unwinders *u, const struct unwinders_sample *s, struct unwind_result *out,
		    struct stats *stats);

#endif
