/* SPDX-License-Identifier: Apache-2.0 */
/* --unwind: how user stacks are walked. */
#ifndef UNWIND_MODE_H
#define UNWIND_MODE_H

#include <stdbool.h>

/**
 * enum unwind_mode - how user stacks are walked.
 * UNWIND_AUTO: by unwind rules, and by frame pointers if these are proven to give the same; by frame pointers alone for
 *              off-CPU time, or if stack copies cost too much or are not possible. For a recording, by unwind rules if
 *              it has stack copies
 * UNWIND_BY_RULES: by our own unwinder; UNWIND_BY_BOTH: by that and by libunwind, and compare the results
 */
enum unwind_mode { UNWIND_AUTO, UNWIND_BY_FP, UNWIND_BY_RULES, UNWIND_BY_LIBUNWIND, UNWIND_BY_BOTH };

/** unwind_name() - the name, as for --unwind. */
const char *unwind_name(enum unwind_mode mode);

/** unwind_mode_of() - find the mode called @name. Return: false: there is none. */
bool unwind_mode_of(const char *name, enum unwind_mode *out);

/** unwind_needs_copies() - true if @mode needs a stack copy with each sample. */
bool unwind_needs_copies(enum unwind_mode mode);

/** unwind_has_libunwind() - true if the program was built with libunwind. */
bool unwind_has_libunwind(void);

/** unwind_needs_libunwind() - true if @mode uses libunwind. */
bool unwind_needs_libunwind(enum unwind_mode mode);

#endif
