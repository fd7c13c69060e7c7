/* SPDX-License-Identifier: Apache-2.0 */
/* Compare two unwinders' walks of the same stack, frame by frame. */
#ifndef UNWIND_COMPARE_H
#define UNWIND_COMPARE_H

#include "unwind/unwind.h"
#include "unwind/unwinders.h"

/**
 * unwind_compare() - compare the addresses of two walks; if they differ, find the cause.
 * @ours:   of unwind_walk(), with @left
 * @theirs: of libunwinder_walk(), with @left
 * @first:  out: index of the first frame that differs, or that only one of them has; if there is none, the number of
 *          frames
 *
 * A difference is explained by the way in which both left the last equal frame, which is "the frame" below. The first
 * case that fits is returned:
 * - popped: we used a register that we assume to have been popped, and libunwind's stack ends with the frame;
 * - signal, entry: both found no rules for its code, and we know the code by its bytes;
 * - guessed: both found no rules for its code, and we do not know the code by its bytes;
 * - made: we have rules of code that is in no file, and libunwind has none;
 * - guessed: we left it by a stack pointer that may be wrong, because an earlier frame was left by its frame pointer;
 * - not above: our stack ends with the frame, because its caller's frame would not be above it.
 */
enum unwinders_found unwind_compare(const struct unwind_result *ours, const struct unwind_result *theirs,
				    size_t *first);

#endif
