// SPDX-License-Identifier: Apache-2.0
#include "core/filter.h"

#include "core/cgroup.h"
#include "core/ids.h"
#include "core/tasks.h"

#include <string.h>

bool filter_match(const struct filter *f, pid_t pid, pid_t tid, const char *comm)
{
	if (tid == 0 && !f->idle)
		return false;
	if (f->nr && !ids_has(f->ids, f->nr, f->by_tid ? tid : pid))
		return false;
	return !f->comm || !strncmp(f->comm, comm, COMM_LEN);
}

bool filter_match_cgroup(const struct filter *f, uint64_t cgroup)
{
	return !f->cgroup || cgroup_has(f->cgroup, cgroup);
}

bool filter_match_mntns(const struct filter *f, uint64_t mntns)
{
	return !f->mntns || f->mntns == mntns;
}
