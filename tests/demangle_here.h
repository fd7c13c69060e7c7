/* SPDX-License-Identifier: Apache-2.0 */
/* For reports of names that are harmless: demangled without a worker process, a few a call. */
#ifndef TESTS_DEMANGLE_HERE_H
#define TESTS_DEMANGLE_HERE_H

#include "core/symbols/demangle.h"

#include <stdlib.h>

/* As report_names.demangle. */
static inline int demangle_here(void *ctx, const char *const *names, size_t nr, const char **out)
{
	static char readable[16][DEMANGLED_MAX];
	size_t i;

	(void)ctx;
	for (i = 0; i < nr; i++) {
		if (i >= sizeof(readable) / sizeof(readable[0]))
			abort();
		out[i] = demangle(names[i], readable[i], sizeof(readable[i])) ? readable[i] : NULL;
	}
	return 0;
}

#endif
