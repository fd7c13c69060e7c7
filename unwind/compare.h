/* SPDX-License-Identifier: Apache-2.0 */
/* Two unwinders' walks of the same stack, compared frame by frame. */
#ifndef UNWIND_COMPARE_H
#define UNWIND_COMPARE_H

#include "unwind/unwind.h"
#include "unwind/unwinders.h"

/**
 * unwind_compare() - compare the addresses of two walks; if they differ, find the cause.
 * @ours:   of unwind_walk(), with @left
 * @theirs: of libunwinder_walk(), with @left
 * @first:  out: the first frame that is not the same, in one of them, or in both
 *
 * The way in which both left the frame in front of the first different one explains a difference:
 * - popped: we used a register that we assume to have been popped, and libunwind's stack ends with this frame;
 * - signal, entry: both found no rules for its code, and we know the code by its bytes;
 * - guessed: both found no rules for its code, and neither knows it by its bytes; or its frame is found by a stack
 *   pointer that follows from such a guess, while libunwind knows only that something was pushed;
 * - made: we have rules of code that is in no file, and libunwind has none;
 * - not above: by rules, and our stack ends with it because the caller's frame would not be above.
 */
enum unwinders_found unwind_compare(const struct unwind_result *ours, const struct unwind_result *theirs,
				    size_t *first);

#endif
