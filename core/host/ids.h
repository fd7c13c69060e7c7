/* SPDX-License-Identifier: Apache-2.0 */
/* Sorted arrays of pids and tids. */
#ifndef CORE_HOST_IDS_H
#define CORE_HOST_IDS_H

#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

static inline int ids_compare(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

static inline void ids_sort(pid_t *ids, size_t nr)
{
	if (nr)
		qsort(ids, nr, sizeof(*ids), ids_compare);
}

/** ids_has() - true if @id is in @ids, which are sorted ascending. */
static inline bool ids_has(const pid_t *ids, size_t nr, pid_t id)
{
	return nr && bsearch(&id, ids, nr, sizeof(*ids), ids_compare);
}

#endif
