// SPDX-License-Identifier: Apache-2.0
#include "core/request/request.h"

/* The processes of a command begin during the run. Without user stacks, only the cgroup of a process is of use. */
bool request_wants_first(const struct request *r)
{
	return !r->filter.tree && (!r->filter.no_user || r->options->wants_cgroups);
}

struct filter request_filter(const struct options *o)
{
	return (struct filter){
		.ids = o->pids,
		.nr = o->nr_pids,
		.by_tid = o->by_tid,
		.idle = o->include_idle,
		.comm = o->comm,
		.by_cpu = o->cpu >= 0,
		.cpu = o->cpu >= 0 ? (uint32_t)o->cpu : 0,
		.no_kernel = o->user_only,
		.no_user = o->kernel_only,
		.threads = o->user_threads     ? FILTER_USER_THREADS
			   : o->kernel_threads ? FILTER_KERNEL_THREADS
					       : FILTER_ANY_THREADS,
		.by_state = o->state_mask >= 0,
		.state_mask = o->state_mask >= 0 ? (uint64_t)o->state_mask : 0,
	};
}
