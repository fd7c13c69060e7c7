// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/filter.h"

#include "core/host/ids.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/comm.h"
#include "core/tasks/descendants.h"
#include "core/tasks/pinned.h"
#include "core/tasks/proc.h"

#include <string.h>

bool filter_match(const struct filter *f, pid_t pid, pid_t tid, const char *comm)
{
	if (tid == 0 && !f->idle)
		return false;
	if (f->nr && !ids_has(f->ids, f->nr, f->by_tid ? tid : pid))
		return false;
	if (f->tree && !descendants_has(f->tree, pid))
		return false;
	return !f->comm || !strncmp(f->comm, comm, COMM_LEN);
}

int filter_pids(const struct filter *f, const struct host *h, int (*fn)(void *ctx, pid_t pid), void *ctx)
{
	size_t i;
	int rc = 0;

	if (!f->nr || f->by_tid)
		return proc_pids(h, fn, ctx);
	for (i = 0; i < f->nr && !rc; i++)
		rc = fn(ctx, f->ids[i]);
	return rc;
}

bool filter_match_cpu(const struct filter *f, uint32_t cpu)
{
	return !f->by_cpu || cpu == f->cpu;
}

bool filter_match_thread(const struct filter *f, bool has_user)
{
	return f->threads == FILTER_ANY_THREADS || has_user == (f->threads == FILTER_USER_THREADS);
}

bool filter_match_state(const struct filter *f, bool could_run, uint64_t waits)
{
	if (!f->by_state)
		return true;
	return f->state_mask ? !could_run && waits & f->state_mask : could_run;
}

bool filter_by_cgroup(const struct filter *f)
{
	return f->cgroup || f->cgroup_ids;
}

bool filter_by_mntns(const struct filter *f)
{
	return f->mntns || f->mntns_ids;
}

bool filter_by_more_than_ids(const struct filter *f)
{
	return f->comm || filter_by_mntns(f) || filter_by_cgroup(f);
}

bool filter_match_cgroup(const struct filter *f, uint64_t cgroup, uint64_t time, bool *unsure)
{
	if (f->cgroup && !cgroup_has(f->cgroup, cgroup))
		return false;
	return !f->cgroup_ids || (cgroup && pinned_has(f->cgroup_ids, cgroup, time, unsure));
}

bool filter_match_mntns(const struct filter *f, uint64_t mntns, uint64_t time, bool *unsure)
{
	if (f->mntns && mntns != f->mntns)
		return false;
	return !f->mntns_ids || (mntns && pinned_has(f->mntns_ids, mntns, time, unsure));
}
