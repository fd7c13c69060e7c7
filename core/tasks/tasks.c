// SPDX-License-Identifier: Apache-2.0
/* Records of processes and threads, and when to forget them. */
#include "core/tasks/tasks.h"

#include "core/base/clock.h"
#include "core/tasks/proc.h"
#include "core/tasks/tasks_state.h"

#include <errno.h>
#include <stdlib.h>

/*
 * /proc shows a later state than the records so far: records are applied in the order of their times, but some tenths
 * of a second after the kernel wrote them. So each reading is kept with its time. Later, records come that are older
 * than the reading, and show whether it can be believed:
 *
 * - COMM of an exec, mappings read: the kernel gives the process its new, empty address space, writes the record, then
 *   maps the program. A reading that was over by then has nothing of the new program. Any other reading may be of the
 *   new program, or of both (before 3.18, one reading could continue in the new address space). So the time at which it
 *   ended decides. If it is late, the image of the old program is unknown: addresses of the old program are looked up
 *   neither in it nor in the new program. The same holds if nothing had been read by then, and the name under which the
 *   old program's rows were counted is known.
 * - EXIT of a process: a later reading is empty, or of another process with the same number. FORK: a later reading of
 *   the child's number may be of the child at a later time, or of an earlier process with that number. The image is
 *   unknown, as above. After its EXIT a task is not read any more.
 * - FORK of a process whose parent was read later: the child inherits the reading. If an exec of the parent makes the
 *   reading invalid, it is invalid for the child, too, and the child is read itself.
 * - MMAP2: applied, though the reading may have that mapping already. If the reading has a newer mapping in that range,
 *   its record will come, too. Without this, we would lose a file that was mapped at the time of the samples that
 *   follow and unmapped before the reading. No record says which mapping was there before, or what munmap(2) removed.
 * - COMM, name read: the name changes from here on. The samples before it were counted under the name that was read,
 *   which is later. The name that they really had is lost.
 * - Mappings read anew, because records were lost: if that shows no new code, it leaves the earlier reading in force,
 *   however late it was itself. If the process has ended meanwhile, code that it mapped in between is unknown, and code
 *   that it replaced keeps its name, even by an exec without a record, as if the EXIT had been applied before.
 *
 * If the events have times of an unknown clock (before 4.1), every reading is believed.
 */

#define MAX_MAPPINGS    (4u << 20)   /* of all images, 32 bytes each; further ones are dropped */
#define FORGET_MAPPINGS (256u << 10) /* tasks_forget() is due after so many more */
#define FORGET_FILES    16384

/* Return true if the current record is older than a reading that ended at @read_ns. */
static bool is_older(const struct tasks *t, uint64_t read_ns)
{
	return t->processes.event_ns && t->processes.event_ns <= read_ns;
}

static void forget_later(struct tasks *t)
{
	size_t left = t->processes.mappings.max - t->processes.mappings.used;

	t->forget_exited = t->processes.nr_exited + TASKS_MAX_EXITED;
	t->forget_files = t->files.table.nr + FORGET_FILES;
	/* Near the limit, be due before it is reached: it is never quite used up. */
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

/*
 * The current record ends the newest image of @p (exec, exit), or begins another process with its number (fork): a
 * reading that ended later may be of something else.
 */
static void doubt_reading(const struct tasks *t, struct process *p)
{
	struct image *im = process_newest(p);

	if (im && im->reading && im->reading->pid == p->entry.id && is_older(t, im->reading->end_ns))
		im->reading->late = true;
}

/*
 * @p has a new program. If the mappings of the old one, which had the name @comm, were never read, its addresses must
 * not be looked up in the new one.
 */
static int leave_unread(struct tasks *t, struct process *p, const char *comm)
{
	if (p->learned || (!process_newest(p) && process_add_image(&t->processes, p, comm, NULL)))
		return p->learned ? 0 : -ENOMEM;
	return image_begin_reading(process_newest(p), p->entry.id) ? 0 : -ENOMEM;
}

/* @p had the name @old, and has a new program now. @told: there will be a record of each mapping of the new one. */
static int renew_process(struct tasks *t, struct process *p, const char *old, const char *comm, bool told)
{
	if (*old && leave_unread(t, p, old))
		return -ENOMEM;
	doubt_reading(t, p);
	/* The process lives: if another thread called exec, the leader has ended, and the thread has its number. */
	process_set_exited(&t->processes, p, false);
	p->shown = 0;
	p->memory = 0;
	p->inherits = false;
	p->learned = p->executed = told;
	p->anew = false;
	if (process_add_image(&t->processes, p, comm, NULL))
		return -ENOMEM;
	/* Until it is read, do not look up its addresses in the old program. */
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
 * Return true if @child keeps its name from /proc, instead of taking @parent's. It does not if the name was read before
 * the thread was made, or if @parent's name is certain: then a later name will have a record. Otherwise both names were
 * read later than this record, and the child's own is the better guess.
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
	/* The name was read after this fork: rows with that name belong to later images. */
	if (image_is_late(process_newest(p)) && process_newest(p)->comm_ns && is_older(t, process_newest(p)->comm_ns))
		comm_set(process_newest(p)->comm, "");
	process_set_exited(&t->processes, p, false); /* the pid may have been reused */
	p->parent = ppid;
	p->shown = 0;
	p->memory = 0;
	p->anew = p->executed = false;
	p->learned = ppid > 0; /* the mappings of a parent outside our pid namespace are not known */
	/* After an exec, its name is still to come. */
	if (process_add_image(&t->processes, p, exec ? "" : comm, from))
		return -ENOMEM;
	process_newest(p)->forked = true;
	p->inherits = from != NULL;
	/* A child of vfork(2) shares memory only until its exec, which ends this: see renew_process(). */
	if (from && t->host && proc_share_memory(t->host, pid, ppid))
		processes_share(&t->processes, p, parent);
	return 0;
}

/*
 * Since 6.3 the kernel names its threads when it makes them, without a COMM record. Threads that have ended before we
 * can read /proc have the name of the thread that makes them all, which is pid 2.
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

	/* Reused numbers may form a cycle. */
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

	/* Backwards: the entry that moves to a freed one's place has been visited. */
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
