// SPDX-License-Identifier: Apache-2.0
#include "unwind/mode.h"

#include "core/base/err.h"

#include <string.h>

static const char *const unwind_names[] = {
	[UNWIND_AUTO] = "auto",
	[UNWIND_BY_FP] = "fp",
	[UNWIND_BY_RULES] = "dwarf",
	[UNWIND_BY_LIBUNWIND] = "libunwind",
	[UNWIND_BY_BOTH] = "both",
};

const char *unwind_name(enum unwind_mode mode)
{
	return unwind_names[mode];
}

bool unwind_mode_of(const char *name, enum unwind_mode *out)
{
	size_t i = 0;

	while (i < ARRAY_SIZE(unwind_names) && strcmp(unwind_names[i], name) != 0)
		i++;
	*out = (enum unwind_mode)i;
	return i < ARRAY_SIZE(unwind_names);
}

bool unwind_needs_copies(enum unwind_mode mode)
{
	return mode == UNWIND_BY_RULES || unwind_needs_libunwind(mode);
}

bool unwind_has_libunwind(void)
{
#ifdef HAVE_LIBUNWIND
	return true;
#else
	return false;
#endif
}

bool unwind_needs_libunwind(enum unwind_mode mode)
{
	return mode == UNWIND_BY_LIBUNWIND || mode == UNWIND_BY_BOTH;
}
