/* SPDX-License-Identifier: Apache-2.0 */
/* Two unwinders' walks of the same stack, compared frame by frame. */
#ifndef UNWIND_COMPARE_H
#define UNWIND_COMPARE_H

#include "unwind/unwind.h"
#include "unwind/unwinders.h"

/**
 * unwind_compare() - do they have the same addresses, and if not, why?
 * @ours:   of unwind_walk(), with @left
 * @theirs: of libunwinder_walk(), with @left
 * @first:  out: the first frame that is not the same, in one of them, or in both
 *
 * A difference is explained by the way in which the frame in front of the first different one was left:
 * - popped: with us by a register that is taken to have been popped, and libunwind's stack ends with this frame;
 * - signal, entry: both found no rules for its code, and we know the code by its bytes;
 * - guessed: both found no rules for its code, and neither knows it by its bytes; or its frame is found by a stack
 *   pointer that follows from such a guess, of which libunwind knows no more than that some was pushed;
 * - made: we have rules of code that is in no file, and libunwind has none;
 * - not above: by rules, and our stack ends with it because the caller's frame would not be above.
 * Return: of enum unwinders_found.
 */
enum unwinders_found unwind_compare(const struct unwind_result *ours, const struct unwind_result *theirs,
				    size_t *first);

#endif
