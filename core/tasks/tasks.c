// SPDX-License-Identifier: Apache-2.0
/* Records of processes and threads, and when to forget them. */
#include "core/tasks/tasks.h"

#include "core/base/clock.h"
#include "core/tasks/proc.h"
#include "core/tasks/tasks_state.h"

#include <errno.h>
#include <stdlib.h>

/*
 * What is read from /proc is later than what the records have told so far: they are applied in the order of their
 * times, but some tenths of a second after the kernel wrote them. So each reading is kept with its time, and the
 * records that come later and are older than that say what it was worth:
 *
 * - COMM of an exec, mappings read: the kernel gives the process its new, empty address space, writes the record, then
 *   maps the program. A reading that was over by then has nothing of the new program. One that was not may be of the
 *   new one, or of both (before 3.18 one reading could go from one address space to the other). So the time at which it
 *   ended decides, and the image is not known: its addresses are not looked up in it, nor in the new program. The same
 *   where nothing had been read by then, if the name is known that its rows have.
 * - EXIT of a process: what was read afterwards is nothing, or another process with its number. FORK: what was read of
 *   that number may be the child as it was later, or a process before it. Not known, as above. After its EXIT nothing
 *   of a task is read any more.
 * - FORK of a process whose parent was read later: the child has what was read, and when an exec of the parent makes
 *   that void, it is void for the child, too; the child is then read itself.
 * - MMAP2: applied, though it may be what the reading has already. Had the reading something newer in that range, its
 *   record comes, too. Leaving it out would lose what was mapped at the time of the samples that follow and unmapped
 *   before the reading. What was there before it, and what munmap(2) took away, no record tells.
 * - COMM, name read: the name is another from here on. The samples before were counted under the one that was read,
 *   which was later than they, and the one they had is nowhere to be found.
 *
 * Where the times of the events are of an unknown clock (before 4.1) every reading is believed.
 */

#define MAX_MAPPINGS    (4u << 20) /* of all images, 32 bytes each; what is mapped beyond is not known */
#define FORGET_MAPPINGS (256u << 10)
#define FORGET_FILES    16384

/* Is the record that is applied older than a reading that ended at @read_ns? */
static bool is_older(const struct tasks *t, uint64_t read_ns)
{
	return t->processes.event_ns && t->processes.event_ns <= read_ns;
}

static void forget_later(struct tasks *t)
{
	size_t left = t->processes.mappings.max - t->processes.mappings.used;

	t->forget_exited = t->processes.nr_exited + TASKS_MAX_EXITED;
	t->forget_files = t->files.table.nr + FORGET_FILES;
	/* Near the end of the budget: before it is used up, which it never is to the last. */
	t->forget_mappings = t->processes.mappings.used + (left < FORGET_MAPPINGS ? left / 2 + 1 : FORGET_MAPPINGS);
}

struct tasks *tasks_new(const struct host *host)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->host = host;
	t->began_ns = now_ns();
	t->processes.mappings.max = MAX_MAPPINGS;
	forget_later(t);
	return t;
}

void tasks_free(struct tasks *t)
{
	if (!t)
		return;
	processes_release(&t->processes);
	threads_release(&t->threads);
	known_files_release(&t->files);
	strings_release(&t->cgroups);
	free(t);
}

void tasks_at(struct tasks *t, uint64_t ns)
{
	t->processes.event_ns = ns;
}

/* The record that is applied ends what @p was, or began after that: what was read of it later was something else. */
static void doubt_reading(const struct tasks *t, struct process *p)
{
	struct image *im = process_newest(p);

	if (im && im->reading && im->reading->pid == p->entry.id && is_older(t, im->reading->end_ns))
		im->reading->late = true;
}

/*
 * @p has a new program, and the mappings of the one it had, called @comm, were never read. They are not to be looked
 * for in the new one.
 */
static int leave_unread(struct tasks *t, struct process *p, const char *comm)
{
	if (p->learned || (!process_newest(p) && process_add_image(&t->processes, p, comm, NULL)))
		return p->learned ? 0 : -ENOMEM;
	return image_begin_reading(process_newest(p), p->entry.id) ? 0 : -ENOMEM;
}

/* The program that @p had under the name @old gives way to another. @told: every mapping of that is told of. */
static int renew_process(struct tasks *t, struct process *p, const char *old, const char *comm, bool told)
{
	if (*old && leave_unread(t, p, old))
		return -ENOMEM;
	doubt_reading(t, p);
	/* An exec in another thread has ended the leader, and takes its number. */
	process_set_exited(&t->processes, p, false);
	p->shown = p->memory = 0;
	p->inherits = false;
	p->learned = p->executed = told;
	p->anew = false;
	if (process_add_image(&t->processes, p, comm, NULL))
		return -ENOMEM;
	/* Until it is read, its addresses are not looked for in the old program. */
	return told || image_begin_reading(process_newest(p), p->entry.id) ? 0 : -ENOMEM;
}

int tasks_comm(struct tasks *t, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	const struct thread *th = threads_find(&t->threads, tid);
	char old[COMM_LEN] = "";
	struct process *p;

	if (th && th->named)
		comm_set(old, th->comm);
	if (exec)
		threads_end_group(&t->threads, pid);
	if (threads_rename(&t->threads, pid, tid, comm, 0))
		return -ENOMEM;
	p = pid == tid && !exec ? processes_find(&t->processes, pid) : NULL;
	if (p && process_newest(p) && !*process_newest(p)->comm)
		comm_set(process_newest(p)->comm, comm);
	if (!exec)
		return 0;
	p = processes_get(&t->processes, pid);
	return p ? renew_process(t, p, old, comm, true) : -ENOMEM;
}

int tasks_refresh(struct tasks *t, pid_t pid, pid_t tid, const char *comm)
{
	const struct thread *th = threads_find(&t->threads, tid);
	struct process *p = pid == tid ? processes_find(&t->processes, pid) : NULL;
	bool known = th && (th->named || th->dead);
	char old[COMM_LEN] = "", new[COMM_LEN];

	comm_set(new, comm);
	if (th && th->named)
		comm_set(old, th->comm);
	if (known && !th->dead && thread_process(th) == pid && !memcmp(old, new, COMM_LEN))
		return 0;
	if (threads_rename(&t->threads, pid, tid, new, 0))
		return -ENOMEM;
	return p && (known || p->exited) ? renew_process(t, p, old, new, false) : 0;
}

/*
 * Does @child keep the name that /proc told of it, instead of taking @parent's? Not what was read before it was born,
 * and not where @parent's name is certain: a later one is told. Else both were read later than this record, and its own
 * is the better guess.
 */
static bool keeps_name(const struct tasks *t, const struct thread *child, const struct thread *parent)
{
	if (!child->read_ns || child->dead)
		return false;
	if (!t->processes.event_ns)
		return true;
	return is_older(t, child->read_ns) && (!parent || (parent->read_ns && is_older(t, parent->read_ns)));
}

static int fork_process(struct tasks *t, pid_t pid, pid_t ppid, const char *comm, bool exec)
{
	int rc = tasks_learn(t, ppid);
	struct process *p = processes_get(&t->processes, pid), *parent = processes_find(&t->processes, ppid);
	struct image *from = parent && !exec ? process_newest(parent) : NULL;

	if (rc || !p)
		return -ENOMEM;
	doubt_reading(t, p);
	/* A process that is born now was not there before its name was read: rows that have it are of later images. */
	if (image_is_late(process_newest(p)) && process_newest(p)->comm_ns && is_older(t, process_newest(p)->comm_ns))
		comm_set(process_newest(p)->comm, "");
	process_set_exited(&t->processes, p, false); /* the pid may be used again */
	p->parent = ppid;
	p->shown = p->memory = 0;
	p->anew = p->executed = false;
	p->learned = ppid > 0; /* of a parent outside our pid namespace nothing is known */
	/* Of another program the name is still to come. */
	if (process_add_image(&t->processes, p, exec ? "" : comm, from))
		return -ENOMEM;
	process_newest(p)->forked = true;
	p->inherits = from != NULL;
	/* A child of vfork(2) has executed its program by now, or will end so. */
	if (from && t->host && proc_share_memory(pid, ppid))
		processes_share(p, parent);
	return 0;
}

/*
 * Since 6.3 the kernel gives its threads their names when it makes them, and no COMM record tells of it. Those that are
 * gone when /proc is asked are called as the thread that makes them all, which is pid 2.
 */
static bool makes_kernel_threads(pid_t pid, const struct thread *th)
{
	return pid == 2 && th && !strcmp(th->comm, "kthreadd");
}

int tasks_fork(struct tasks *t, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid, bool exec)
{
	const struct thread *parent = tasks_named_thread(t, ppid, ptid);
	struct thread *child = threads_get(&t->threads, tid);
	char comm[COMM_LEN] = "";

	if (!child)
		return -ENOMEM;
	if (!keeps_name(t, child, parent)) {
		child->named = child->dead = false;
		child->read_ns = 0;
		child->mntns = parent ? parent->mntns : 0;
		child->hidden = false;
		if (makes_kernel_threads(ppid, parent))
			tasks_read_name(t, pid, tid);
		if (!child->named && parent) {
			child->named = true;
			comm_set(child->comm, parent->comm);
		}
	}
	if (threads_set_alive(&t->threads, child, pid))
		return -ENOMEM;
	if (child->named)
		comm_set(comm, child->comm);
	return pid == ppid ? 0 : fork_process(t, pid, ppid, comm, exec);
}

int tasks_exit(struct tasks *t, pid_t pid, pid_t tid)
{
	struct thread *th = threads_get(&t->threads, tid);
	struct process *p;

	if (!th)
		return -ENOMEM;
	if (!th->dead)
		threads_set_dead(&t->threads, th);
	p = pid != tid ? processes_find(&t->processes, pid) : NULL;
	if (p && p->shown == tid)
		p->shown = 0;
	if (pid != tid)
		return 0;
	p = processes_get(&t->processes, pid);
	if (!p)
		return -ENOMEM;
	doubt_reading(t, p);
	process_set_exited(&t->processes, p, true);
	return 0;
}

size_t tasks_lineage(const struct tasks *t, pid_t pid, pid_t *pids, size_t max)
{
	const struct process *p;
	size_t nr = 0, i = 0;

	/* Numbers that are used again may lead back. */
	while (pid > 0 && nr < max && i == nr) {
		pids[nr++] = pid;
		p = processes_find(&t->processes, pid);
		pid = p ? p->parent : 0;
		for (i = 0; i < nr && pids[i] != pid; i++)
			;
	}
	for (i = 0; i < nr; i++) {
		p = processes_find(&t->processes, pids[i]);
		if (p && p->shown)
			pids[i] = p->shown;
	}
	if (nr < max)
		pids[nr] = 0;
	return nr;
}

uint64_t tasks_forgotten(const struct tasks *t)
{
	return t->files.forgotten;
}

bool tasks_forget_due(const struct tasks *t)
{
	return t->processes.nr_exited >= t->forget_exited || t->files.table.nr >= t->forget_files ||
	       t->processes.mappings.used >= t->forget_mappings;
}

void tasks_forget(struct tasks *t, bool (*keep)(void *ctx, pid_t pid), void *ctx)
{
	const struct pid_table *all = &t->processes.all;
	size_t i, k;

	/* Backwards: the entry that takes a freed one's place has been looked at. */
	for (i = pid_table_nr(all); i-- > 0;) {
		struct process *p = pid_table_at(all, i);

		if (p->exited && !keep(ctx, p->entry.id)) {
			processes_delete(&t->processes, p);
			continue;
		}
		for (k = 0; k < p->nr_images; k++)
			known_files_mark(&t->files, p->images[k].maps);
	}
	known_files_sweep(&t->files);
	forget_later(t);
}
