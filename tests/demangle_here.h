/* SPDX-License-Identifier: Apache-2.0 */
/* Demangle without a worker process, for reports with harmless names. */
#ifndef TESTS_DEMANGLE_HERE_H
#define TESTS_DEMANGLE_HERE_H

#include "core/symbols/demangle.h"

#include <stdlib.h>
#include <string.h>

/* As report_names.demangle. Keeps the last 4096 answers. */
static inline int demangle_here(void *ctx, const char *const *names, size_t nr, const char **out)
{
	static char *kept[4096];
	static size_t nr_kept;
	char readable[DEMANGLED_MAX];
	size_t i;

	(void)ctx;
	for (i = 0; i < nr; i++) {
		char **at = &kept[nr_kept % (sizeof(kept) / sizeof(kept[0]))];

		out[i] = NULL;
		if (!demangle(names[i], readable, sizeof(readable)))
			continue;
		free(*at);
		out[i] = *at = strdup(readable);
		nr_kept++;
	}
	return 0;
}

#endif
