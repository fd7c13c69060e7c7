// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/base/clock.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <string.h>

static int add_comm(struct queue *q, uint64_t time, pid_t pid, pid_t tid, const char *comm)
{
	struct incoming *in = queue_take(q, COMM_LEN);

	if (!in)
		return -ENOMEM;
	memcpy(in->bytes, comm, COMM_LEN);
	in->lead.kind = EVENT_SIDE_BAND;
	in->record = (struct record){
		.type = RECORD_NAME, .time = time, .pid = pid, .tid = tid, .comm.name = (const char *)in->bytes
	};
	return queue_add(q, in);
}

/* Take the time before reading: a thread that is renamed meanwhile has a record that comes after this one. */
static int read_name(void *ctx, pid_t pid, pid_t tid)
{
	struct queue *q = ctx;
	const struct host *host = q->applier.env->request->host;
	char comm[COMM_LEN] = "";
	uint64_t time = now_ns();

	if (!proc_lives(host, pid, tid) || proc_comm(host, pid, tid, comm))
		return 0;
	return add_comm(q, time, pid, tid, comm);
}

int refresh_read(struct queue *q)
{
	const struct source_env *env = q->applier.env;

	if (!events_attr(env->events)->use_clockid) /* before 4.1 the records have times of another clock */
		return 0;
	if (proc_processes(env->request->host, read_name, q) == -ENOMEM)
		return -ENOMEM;
	return add_comm(q, now_ns(), 0, 0, (char[COMM_LEN]){ "" });
}
