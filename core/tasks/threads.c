// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/threads.h"

#include <errno.h>

/* The known live threads of a process, without its leader. The group is freed when its last thread leaves it. */
struct thread_group {
	struct pid_entry entry; /* the process's pid */
	struct thread *first;
};

struct thread *threads_find(const struct threads *ts, pid_t tid)
{
	return pid_table_find(&ts->all, tid);
}

struct thread *threads_get(struct threads *ts, pid_t tid)
{
	return pid_table_get(&ts->all, tid, sizeof(struct thread));
}

static void leave_group(struct threads *ts, struct thread *th)
{
	struct thread_group *g = th->group;

	if (!g)
		return;
	if (th->prev)
		th->prev->next = th->next;
	else
		g->first = th->next;
	if (th->next)
		th->next->prev = th->prev;
	th->prev = th->next = NULL;
	th->group = NULL;
	if (!g->first)
		pid_table_delete(&ts->groups, &g->entry);
}

pid_t thread_process(const struct thread *th)
{
	return th->group ? th->group->entry.id : th->entry.id;
}

int threads_set_alive(struct threads *ts, struct thread *th, pid_t pid)
{
	struct thread_group *g;

	th->dead = false;
	if (thread_process(th) == pid)
		return 0;
	leave_group(ts, th);
	if (th->entry.id == pid)
		return 0;
	g = pid_table_get(&ts->groups, pid, sizeof(*g));
	if (!g)
		return -ENOMEM;
	th->group = g;
	th->next = g->first;
	if (th->next)
		th->next->prev = th;
	g->first = th;
	return 0;
}

void threads_set_dead(struct threads *ts, struct thread *th)
{
	struct thread *oldest = threads_find(ts, ts->dead[ts->next_dead]);

	leave_group(ts, th);
	th->dead = true;
	th->dead_at = ts->next_dead;
	/* If its number was reused, @oldest may have died once more since: then it is at another index of the queue. */
	if (oldest && oldest != th && oldest->dead && oldest->dead_at == ts->next_dead)
		pid_table_delete(&ts->all, &oldest->entry);
	ts->dead[ts->next_dead] = th->entry.id;
	ts->next_dead = (ts->next_dead + 1) % THREADS_MAX_DEAD;
}

int threads_rename(struct threads *ts, pid_t pid, pid_t tid, const char *comm, uint64_t read_ns)
{
	struct thread *th = threads_get(ts, tid);

	if (!th || threads_set_alive(ts, th, pid))
		return -ENOMEM;
	th->named = true;
	th->read_ns = read_ns;
	comm_set(th->comm, comm);
	return 0;
}

/* A thread of @pid other than the leader; NULL: none is known. */
static struct thread *first_of(const struct threads *ts, pid_t pid)
{
	const struct thread_group *g = pid_table_find(&ts->groups, pid);

	return g ? g->first : NULL;
}

uint64_t threads_mntns(const struct threads *ts, pid_t pid)
{
	const struct thread *th = first_of(ts, pid);

	while (th && !th->mntns)
		th = th->next;
	return th ? th->mntns : 0;
}

void threads_end_group(struct threads *ts, pid_t pid)
{
	struct thread *leader = threads_find(ts, pid), *th = first_of(ts, pid), *next;

	if (leader && !leader->mntns)
		leader->mntns = threads_mntns(ts, pid);
	for (; th; th = next) {
		next = th->next; /* not freed below: only dead threads are */
		threads_set_dead(ts, th);
	}
}

const struct thread *threads_successor(const struct threads *ts, const struct thread *leader)
{
	const struct thread *th = leader->dead ? first_of(ts, leader->entry.id) : NULL;

	return th && !th->next && th->named ? th : NULL;
}

void threads_release(struct threads *ts)
{
	pid_table_release(&ts->all);
	pid_table_release(&ts->groups);
}
