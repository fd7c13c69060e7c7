// SPDX-License-Identifier: Apache-2.0
#include "core/filter.h"

#include <stdlib.h>

static int compare_ids(const void *a, const void *b)
{
	pid_t x = *(const pid_t *)a, y = *(const pid_t *)b;

	return (x > y) - (x < y);
}

bool filter_match(const struct filter *f, pid_t pid, pid_t tid)
{
	pid_t id = f->by_tid ? tid : pid;

	if (tid == 0 && !f->idle)
		return false;
	return !f->nr || bsearch(&id, f->ids, f->nr, sizeof(*f->ids), compare_ids);
}
