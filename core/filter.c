// SPDX-License-Identifier: Apache-2.0
#include "core/filter.h"

#include "core/ids.h"

bool filter_match(const struct filter *f, pid_t pid, pid_t tid)
{
	if (tid == 0 && !f->idle)
		return false;
	return !f->nr || ids_has(f->ids, f->nr, f->by_tid ? tid : pid);
}
