// SPDX-License-Identifier: Apache-2.0
/* Names and mount namespaces of threads: from records, else from /proc. */
#include "core/base/clock.h"
#include "core/tasks/filter.h"
#include "core/tasks/proc.h"
#include "core/tasks/tasks.h"
#include "core/tasks/tasks_state.h"

#include <errno.h>
#include <stdio.h>

int tasks_read_name(struct tasks *t, pid_t pid, pid_t tid)
{
	struct thread *th = threads_find(&t->threads, tid);
	char comm[COMM_LEN];

	if (!t->host || (th && (th->named || th->dead)) || proc_comm(t->host, pid, tid, comm))
		return 0;
	return threads_rename(&t->threads, pid, tid, comm, now_ns());
}

const struct thread *tasks_named_thread(struct tasks *t, pid_t pid, pid_t tid)
{
	const struct thread *th = threads_find(&t->threads, tid);

	if (!th || !th->named) {
		tasks_read_name(t, pid, tid);
		th = threads_find(&t->threads, tid);
	}
	return th && th->named ? th : NULL;
}

void tasks_name(struct tasks *t, pid_t pid, pid_t tid, char *comm)
{
	const struct thread *th = pid == tid ? threads_find(&t->threads, tid) : NULL;

	if (th)
		th = threads_successor(&t->threads, th);
	if (!th)
		th = tasks_named_thread(t, pid, tid);
	if (!th)
		th = tasks_named_thread(t, pid, pid);
	memset(comm, 0, COMM_LEN);
	if (th)
		memcpy(comm, th->comm, COMM_LEN);
	else
		snprintf(comm, COMM_LEN, ":%d", tid);
}

int tasks_namespaces(struct tasks *t, pid_t pid, pid_t tid, uint64_t mntns)
{
	struct thread *th = threads_get(&t->threads, tid);

	if (!th || (!th->dead && threads_set_alive(&t->threads, th, pid)))
		return -ENOMEM;
	th->mntns = mntns;
	return 0;
}

uint64_t tasks_mntns(struct tasks *t, pid_t pid, pid_t tid)
{
	struct thread *th = threads_find(&t->threads, tid);

	if (!th) {
		tasks_read_name(t, pid, tid);
		th = threads_find(&t->threads, tid);
	}
	if (th && !th->mntns && !th->dead && !th->hidden && t->host)
		th->hidden = proc_mntns(t->host, pid, tid, &th->mntns) == -EACCES;
	if (th && !th->mntns && pid == tid)
		th->mntns = threads_mntns(&t->threads, pid);
	return th ? th->mntns : 0;
}

bool tasks_mntns_hidden(const struct tasks *t, pid_t tid)
{
	const struct thread *th = threads_find(&t->threads, tid);

	return th && th->hidden && !th->mntns;
}

static int read_name(void *ctx, pid_t pid, pid_t tid)
{
	return tasks_read_name(ctx, pid, tid);
}

static int read_both(void *ctx, pid_t pid, pid_t tid)
{
	int rc = tasks_read_name(ctx, pid, tid);

	if (!rc)
		tasks_mntns(ctx, pid, tid);
	return rc;
}

int tasks_snapshot(struct tasks *t, const struct filter *filter)
{
	int (*read)(void *ctx, pid_t pid, pid_t tid) = filter_by_mntns(filter) ? read_both : read_name;
	size_t i;
	int rc = 0;

	if (!filter->nr)
		return proc_processes(t->host, read, t);
	for (i = 0; i < filter->nr && !rc; i++)
		rc = filter->by_tid ? read(t, filter->ids[i], filter->ids[i])
				    : proc_threads(t->host, filter->ids[i], read, t);
	return rc;
}
