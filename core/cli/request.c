// SPDX-License-Identifier: Apache-2.0
#include "core/cli/backends.h"
#include "core/cli/request.h"

#include <string.h>

static struct filter filter_of(const struct options *o)
{
	struct filter f = o->filter;

	f.ids = o->pids;
	f.nr = o->nr_pids;
	f.by_cpu = o->cpu >= 0;
	f.cpu = f.by_cpu ? (uint32_t)o->cpu : 0;
	f.threads = o->user_threads     ? FILTER_USER_THREADS
		    : o->kernel_threads ? FILTER_KERNEL_THREADS
					: FILTER_ANY_THREADS;
	f.by_state = o->state_mask >= 0;
	f.state_mask = f.by_state ? (uint64_t)o->state_mask : 0;
	return f;
}

struct request request_of(const struct options *o, const struct host *host)
{
	return (struct request){
		.host = host,
		.sampling = o->sampling,
		.off_cpu = o->off_cpu,
		.filter = filter_of(o),
		.groups = o->groups,
		.input = { o->input, o->input_copy, o->event_name },
		.duration_ns = o->duration_ns,
		.interval_ns = o->interval_ns,
		.backend = o->backend,
		.both = o->backend && !strcmp(o->backend, WAY_BOTH),
		.unwind = o->unwind,
		.dump_asked = o->dump_bytes,
		.tables = o->tables,
		.debug_dir = o->debug_dir,
		.symfs = o->symfs,
		.keeps_cgroups = o->wants_cgroups,
		.counts_entries = o->stats,
		.writes_file = o->output,
	};
}

struct session *request_session(const struct options *o, const struct host *host)
{
	const struct request request = request_of(o, host);

	return session_new(&request, o->input ? ways_recorded : ways_here);
}
