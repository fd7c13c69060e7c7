// SPDX-License-Identifier: Apache-2.0
#include "unwind/compare.h"

static bool is_different(const struct unwind_result *a, const struct unwind_result *b, size_t i)
{
	return i >= a->nr || i >= b->nr || a->ips[i] != b->ips[i];
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

	while ((i < ours->nr || i < theirs->nr) && !is_different(ours, theirs, i))
		i++;
	*first = i;
	if (i == ours->nr && i == theirs->nr)
		return UNWINDERS_EQUAL;
	return i ? explain(ours, theirs, i - 1) : UNWINDERS_DIFFERENT;
}
