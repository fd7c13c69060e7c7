// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/apply.h"

#include "core/callchain.h"
#include "core/capture.h"

#include <stdio.h>
#include <string.h>

/*
 * A task that is dying has left the pid tables before its last samples, which say -1 for both ids: it is the one whose
 * EXIT record was the last on this CPU.
 */
static bool revive(struct applier *a, uint32_t ring, pid_t *pid, pid_t *tid, char *comm)
{
	const struct last_exit *e = &a->exits[ring];

	a->books.dead_tasks++;
	if (!e->tid)
		return false;
	*pid = e->pid;
	*tid = e->tid;
	memcpy(comm, e->comm, COMM_LEN);
	return true;
}

/* The ids are those of our pid namespace; a task outside has 0 there, like the idle task, which has no user stack. */
static void outside(struct applier *a, pid_t *pid, pid_t *tid, char *comm)
{
	a->books.outside++;
	*pid = *tid = -1;
	memset(comm, 0, COMM_LEN);
	memcpy(comm, "[outside]", sizeof("[outside]"));
}

static void name_task(struct applier *a, const struct record *r, char *comm)
{
	memset(comm, 0, COMM_LEN);
	if (r->tid)
		tasks_name(a->cap->tasks, r->pid, r->tid, comm);
	else
		snprintf(comm, COMM_LEN, "swapper/%u", r->cpu); /* as the kernel calls its idle tasks */
}

static int apply_sample(struct applier *a, uint32_t ring, const struct record *r)
{
	const struct options *o = a->cap->options;
	struct stack kernel, user;
	pid_t pid = r->pid, tid = r->tid;
	char comm[COMM_LEN];
	bool named = tid < 0 && revive(a, ring, &pid, &tid, comm);
	int rc = 0;

	callchain_split(r->sample.ips, r->sample.nr, &kernel, &user);
	if (!tid && user.state != STACK_NONE) {
		outside(a, &pid, &tid, comm);
		named = true;
	}
	if (!filter_match(&a->cap->filter, pid, tid)) {
		a->books.filtered++;
		return 0;
	}
	if (!named)
		name_task(a, r, comm);
	if (o->user_only)
		kernel = (struct stack){ .state = STACK_NONE };
	if (o->kernel_only)
		user = (struct stack){ .state = STACK_NONE };
	callchain_limit(a->cap->asked, &kernel, &user);
	if (user.nr)
		rc = tasks_learn(a->cap->tasks, pid); /* while the process lives */
	if (!rc)
		rc = stacks_add(a->cap->stacks, comm, pid, &kernel, &user, 1);
	if (!rc)
		a->books.counted_ring++;
	return rc;
}

static int apply_exit(struct applier *a, uint32_t ring, const struct record *r)
{
	struct last_exit *e = &a->exits[ring];

	e->pid = r->pid;
	e->tid = r->tid;
	tasks_name(a->cap->tasks, r->pid, r->tid, e->comm);
	return tasks_exit(a->cap->tasks, r->pid, r->tid);
}

static int apply_mmap(struct applier *a, const struct record *r)
{
	struct mapping m = { r->mmap.start, r->mmap.start + r->mmap.len, r->mmap.pgoff, NULL };

	return tasks_mmap(a->cap->tasks, r->pid, &m, r->mmap.path, r->mmap.maj, r->mmap.min, r->mmap.ino);
}

int apply_record(struct applier *a, uint32_t ring, const struct record *r)
{
	switch (r->type) {
	case PERF_RECORD_SAMPLE:
		return apply_sample(a, ring, r);
	case PERF_RECORD_COMM:
		return tasks_comm(a->cap->tasks, r->pid, r->tid, r->comm.name, r->comm.exec);
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		return apply_mmap(a, r);
	case PERF_RECORD_FORK:
		return tasks_fork(a->cap->tasks, r->pid, r->tid, r->fork.ppid, r->fork.ptid);
	case PERF_RECORD_EXIT:
		return apply_exit(a, ring, r);
	case PERF_RECORD_THROTTLE:
		a->books.throttled++;
		return 0;
	default:
		return 0;
	}
}
