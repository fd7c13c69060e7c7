// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/refresh.h"

#include "core/base/clock.h"
#include "core/events/cpus.h"
#include "core/rows/compare.h"
#include "core/sources/source.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <string.h>

#define RECORD_NAME 0 /* no type of the kernel's */

struct name {
	uint64_t time;
	pid_t pid, tid; /* 0: that was the last one */
	char comm[COMM_LEN];
};

struct reading {
	struct order *order;
	const struct host *host;
};

static int add(struct order *o, const struct name *n)
{
	const struct perf_event_header header = { .type = RECORD_NAME, .size = sizeof(header) };
	const struct order_item item = {
		.lead_size = sizeof(*n), .lead = n, .record = &header, .size = sizeof(header)
	};

	return order_add(o, n->time, &item);
}

/* The time is from before the reading: a renaming meanwhile has a record that comes after this one. */
static int read_name(void *ctx, pid_t pid, pid_t tid)
{
	const struct reading *rd = ctx;
	struct name n = { .time = now_ns(), .pid = pid, .tid = tid };

	if (!proc_lives(rd->host, pid, tid) || proc_comm(rd->host, pid, tid, n.comm))
		return 0;
	return add(rd->order, &n);
}

int refresh_read(struct order *o, const struct source_env *env)
{
	struct reading rd = { o, env->request->host };

	if (!env->events->attr.use_clockid) /* before 4.1 the records' times are of another clock */
		return 0;
	if (proc_processes(env->request->host, read_name, &rd) == -ENOMEM)
		return -ENOMEM;
	return add(o, &(struct name){ .time = now_ns() });
}

bool refresh_is(const struct order_item *item)
{
	return item->record->type == RECORD_NAME && item->lead_size == sizeof(struct name);
}

int refresh_apply(const struct source_env *env, const struct order_item *item)
{
	const struct name *n = item->lead;

	tasks_at(env->sink->tasks, n->time);
	if (n->tid)
		return tasks_refresh(env->sink->tasks, n->pid, n->tid, n->comm);
	/* That was the last one. */
	tasks_read_anew(env->sink->tasks);
	sink_gap(env->sink, events_cpu_is_away(env->events));
	return 0;
}
