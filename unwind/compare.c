// SPDX-License-Identifier: Apache-2.0
#include "unwind/compare.h"

/* libunwind's process leaves out a last address that is no user address, see step() in libunwinder_serve.c. */
static size_t nr_user(const struct unwind_result *r)
{
	return r->nr > 1 && (r->ips[r->nr - 1] & ~UNWIND_EXACT) >> ARCH_USER_BITS ? r->nr - 1 : r->nr;
}

static bool is_different(const struct unwind_result *a, const struct unwind_result *b, size_t i)
{
	return i >= nr_user(a) || i >= nr_user(b) || a->ips[i] != b->ips[i];
}

/* @last: the last frame that is the same; both have it. */
static enum unwinders_found explain(const struct unwind_result *ours, const struct unwind_result *theirs, size_t last)
{
	unsigned int we = ours->left[last], they = theirs->left[last];

	if (we & UNWIND_LEFT_POPPED && theirs->nr == last + 1)
		return UNWINDERS_POPPED;
	if (we & they & UNWIND_LEFT_NO_RULES) {
		if (we & UNWIND_LEFT_SIGNAL)
			return UNWINDERS_SIGNAL;
		return we & UNWIND_LEFT_ENTRY ? UNWINDERS_ENTRY : UNWINDERS_GUESSED;
	}
	if (we & UNWIND_LEFT_MADE && they & UNWIND_LEFT_NO_RULES)
		return UNWINDERS_MADE;
	if (we & UNWIND_LEFT_GUESSED)
		return UNWINDERS_GUESSED;
	if (we & UNWIND_LEFT_NOT_ABOVE && ours->nr == last + 1)
		return UNWINDERS_NOT_ABOVE;
	return UNWINDERS_DIFFERENT;
}

enum unwinders_found unwind_compare(const struct unwind_result *ours, const struct unwind_result *theirs, size_t *first)
{
	size_t i = 0;

	while (!is_different(ours, theirs, i))
		i++;
	*first = i;
	if (i == nr_user(ours) && i == nr_user(theirs))
		return UNWINDERS_EQUAL;
	return i ? explain(ours, theirs, i - 1) : UNWINDERS_DIFFERENT;
}
