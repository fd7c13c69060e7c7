/* SPDX-License-Identifier: Apache-2.0 */
/* --unwind=both: results of comparing the stacks of the two unwinders, and examples of differences. */
#ifndef UNWIND_UNWINDERS_H
#define UNWIND_UNWINDERS_H

#include "core/base/err.h"

#include <stddef.h>
#include <stdint.h>

/**
 * enum unwinders_found - how the stack of libunwind differs from ours; an index of stats.unwinders.
 *
 * All but the first and the last are explained differences: doc/unwinding.md describes each case, unwind/compare.h has
 * the rule that recognizes it.
 */
enum unwinders_found {
	UNWINDERS_EQUAL,
	UNWINDERS_POPPED,  /* in an epilogue, libunwind looks for popped registers below the stack pointer */
	UNWINDERS_SIGNAL,  /* libunwind does not know that code without rules is within a signal trampoline */
	UNWINDERS_ENTRY,   /* libunwind does not know code without rules that we know (UNWIND_LEFT_ENTRY in unwind.h) */
	UNWINDERS_GUESSED, /* no rules for the frame; or our stack pointer may be wrong (UNWIND_LEFT_GUESSED) */
	UNWINDERS_MADE,    /* libunwind gets the rules of files only, not those of a jitdump */
	UNWINDERS_NOT_ABOVE, /* libunwind goes on to a frame that would not be above the one it came from */
	UNWINDERS_DIFFERENT, /* not explained */
	UNWINDERS_NR,
};

#define UNWINDERS_EXAMPLES 8
#define UNWINDERS_TEXT     600

/**
 * struct unwinders_notes - for a whole run; all zeros: nothing.
 * @examples: @nr lines about differences that are not explained
 * @failed:   why libunwind has unwound only the first frame of some stacks; code 0: it has unwound all
 * @nr_faults: stacks for which there was no memory, or a file could not be read (see faults.h)
 * @fault:    the error code of the last of these
 */
struct unwinders_notes {
	char examples[UNWINDERS_EXAMPLES][UNWINDERS_TEXT];
	size_t nr;
	struct err failed;
	uint64_t nr_faults;
	int fault;
};

#endif
