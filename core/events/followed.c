// SPDX-License-Identifier: Apache-2.0
#include "core/events/followed.h"

#include "core/base/err.h"
#include "core/base/intern.h"
#include "core/base/printable.h"
#include "core/events/event.h"
#include "core/events/perf_events.h"
#include "core/events/side_band.h"
#include "core/host/causes.h"
#include "core/tasks/comm.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#define MAX_PASSES 16 /* over the threads; each but the last has found new ones */

/* Descriptors that stay free for later: files of /proc and of processes. At most a quarter of all. */
#define KEPT_FDS 32

#define END_TRIES 200 /* of 5 ms: to free the memory of a process that is exiting may take a second */

/*
 * A process whose threads are being followed. Threads that it creates inherit no events up to the id @none_until, and
 * all events after the id @all_from. Ids are given out in ascending order.
 */
struct process {
	pid_t pid;
	pid_t none_until, all_from;
	bool mixed; /* it is not known what one of its threads inherited, nor what this thread passes on */
};

static const struct intern_kind tid_kind = { sizeof(pid_t), 0, sizeof(pid_t), NULL, NULL };
static const struct intern_kind process_kind = INTERN_BYTES(struct process, pid);

enum inherited { INHERITED_NOTHING, INHERITED_ALL, INHERITED_PERHAPS };

struct followed {
	const struct host *host;
	bool of_user; /* every process of @uid */
	uid_t uid;
	unsigned int pass;

	struct intern_table tids; /* threads that have events, inherited them, or were refused */
	struct intern_table processes;

	/* The newest id at the start and at the last look. @counting: both are known, and ids did not wrap around. */
	pid_t first, last;
	bool counting;

	int end_fd;           /* descriptors from here on stay free for later */
	int full;             /* -EMFILE, -ENFILE: there is no room for another thread; 0: there is room */
	size_t nr_open;       /* threads with events */
	size_t nr_refused;    /* threads of the user that may not be sampled */
	size_t nr_no_room;    /* left out for lack of room; each pass counts anew */
	size_t nr_unsure;     /* created while the events of their creator were opened; each pass counts anew */
	bool have_ended;      /* the targets, before their events could be opened */
	struct err no_events; /* why the last thread without events has none; code 0: all have some */
};

/* Open events of a thread on one CPU that no place owns yet; -1: none. */
struct opened {
	struct joined_event of[MEASURED_NR];
	int side;
};

/* The state of one pass over the threads. */
struct walk {
	struct events *ev;
	struct followed *f;
	const struct cpu_list *online;
	struct cpu_list present; /* CPUs on which events are opened, online or not */
	struct err *err;
	struct opened *opened; /* one for each place, of the thread whose events are being opened */
	pid_t pid;             /* process whose threads are being looked at; 0: none yet */
	size_t process;        /* its index in @f->processes */
	bool wanted;
	pid_t before; /* the newest id when this process was entered */
};

struct followed *followed_new(const struct events *ev)
{
	struct followed *f = calloc(1, sizeof(*f));

	if (f)
		*f = (struct followed){
			.host = ev->request->host,
			.of_user = !ev->request->command && !ev->request->filter.nr,
			.uid = getuid(),
		};
	return f;
}

/* Forget the results of an earlier followed_open(). */
static void forget(struct followed *f)
{
	intern_release(&f->tids);
	intern_release(&f->processes);
	*f = (struct followed){ .host = f->host, .of_user = f->of_user, .uid = f->uid };
}

void followed_free(struct followed *f)
{
	if (f)
		forget(f);
	free(f);
}

static bool is_known(const struct followed *f, pid_t tid)
{
	return intern_find(&f->tids, &tid_kind, &tid);
}

static int know(struct followed *f, pid_t tid)
{
	bool is_new;

	return intern(&f->tids, &tid_kind, &tid, &is_new) ? 0 : -ENOMEM;
}

/* NULL: no thread of this process was looked at. */
static struct process *find_process(const struct followed *f, pid_t pid)
{
	return intern_find(&f->processes, &process_kind, &pid);
}

/* The newest id; 0: not known. */
static pid_t newest_id(struct followed *f)
{
	pid_t now = f->counting ? proc_newest(f->host) : 0;

	f->counting = now && now >= f->last;
	f->last = now;
	return f->counting ? now : 0;
}

/*
 * Return what thread @tid has inherited from @maker, the process that created it. @maker is NULL if it is not followed,
 * or is gone.
 */
static enum inherited inherits(struct followed *f, const struct process *maker, pid_t tid)
{
	pid_t now;

	if (tid <= f->first && (f->counting || !f->pass))
		return INHERITED_NOTHING;
	now = newest_id(f);
	if (!now) /* without ids, the threads that the first pass finds count as old */
		return f->pass || f->first ? INHERITED_PERHAPS : INHERITED_NOTHING;
	if (tid > now) /* created before the ids wrapped around */
		return INHERITED_NOTHING;
	if (!maker)
		return INHERITED_PERHAPS;
	if (tid <= maker->none_until)
		return INHERITED_NOTHING;
	return tid > maker->all_from ? INHERITED_ALL : INHERITED_PERHAPS;
}

/* Add a process that is not in the table yet. NULL: no memory. */
static struct process *add_process(struct followed *f, pid_t pid, enum inherited has)
{
	bool is_new;
	struct process *p = intern(&f->processes, &process_kind, &pid, &is_new);

	if (p) {
		p->none_until = has == INHERITED_NOTHING ? INT_MAX : 0;
		p->all_from = has == INHERITED_ALL ? 0 : INT_MAX;
	}
	return p;
}

/* Describe the refusal. Print the name of the process safely: another user chose it. */
static int refuse(const struct walk *w, const char *kind, pid_t id)
{
	char comm[COMM_LEN], name[NAME_SHOWN + 1];
	struct err why = *w->err;

	if (!proc_comm(w->f->host, id, id, comm) && *comm)
		err_set(w->err, why.code, "%s %d (%s) may not be sampled: %s", kind, id, name_shown(comm, name),
			why.msg);
	else
		err_set(w->err, why.code, "%s %d may not be sampled: %s", kind, id, why.msg);
	return why.code;
}

/* Close @fd if it is so high that it has to stay free for later. Return: @fd or -EMFILE. */
static int fitting(const struct walk *w, int fd)
{
	if (fd < w->f->end_fd)
		return fd;
	close(fd);
	return -EMFILE;
}

/* Return: 0 or -errno; -ENODEV: the CPU has gone meanwhile. */
static int open_kind_on(struct walk *w, const struct event_place *e, enum event_kind kind, pid_t tid,
			struct opened *out)
{
	int fd = fitting(w, event_open(w->ev, e, kind, tid));

	if (fd == -ENODEV)
		return fd;
	if (fd < 0)
		return event_refused(w->ev, e, kind, tid, fd, w->err);
	out->of[kind] = (struct joined_event){ .fd = fd, .kind = kind };
	return kind == w->ev->leads ? 0 : event_id(fd, e->cpu, &out->of[kind].id, w->err);
}

/* Return: as open_kind_on(). */
static int open_side_on(struct walk *w, const struct event_place *e, pid_t tid, struct opened *out)
{
	int fd = fitting(w, side_band_open_thread(w->ev, e, tid));

	if (fd < 0)
		return fd == -ENODEV ? fd : event_refused(w->ev, e, w->ev->leads, tid, fd, w->err);
	out->side = fd;
	return 0;
}

static void close_opened(struct opened *o)
{
	int *const fds[] = { &o->of[EVENT_SAMPLES].fd, &o->of[EVENT_SWITCHES].fd, &o->side };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(fds); i++) {
		if (*fds[i] >= 0)
			close(*fds[i]);
		*fds[i] = -1;
	}
}

/*
 * @out: left empty if the CPU has gone meanwhile
 * Return: 0 or -errno.
 */
static int open_on(struct walk *w, const struct event_place *e, pid_t tid, struct opened *out)
{
	enum event_kind kind;
	int rc = 0;

	for (kind = 0; kind < MEASURED_NR && !rc; kind++)
		if (events_measure(w->ev, kind))
			rc = open_kind_on(w, e, kind, tid, out);
	if (!rc && w->ev->apart)
		rc = open_side_on(w, e, tid, out);
	if (rc != -ENODEV)
		return rc;
	close_opened(out);
	return 0;
}

static int keep_side(struct side_band *s, struct opened *opened)
{
	if (s->fd < 0)
		s->fd = opened->side;
	else if (side_band_join(s, opened->side))
		return -ENOMEM;
	opened->side = -1;
	return 0;
}

static int keep_event(struct event_place *e, struct opened *opened)
{
	size_t i;

	for (i = 0; i < MEASURED_NR; i++) {
		if (opened->of[i].fd < 0)
			continue;
		if (e->fd < 0)
			e->fd = opened->of[i].fd;
		else if (event_join(e, &opened->of[i]))
			return -ENOMEM;
		opened->of[i].fd = -1;
	}
	return opened->side < 0 ? 0 : keep_side(&e->side, opened);
}

/* True if events are to be opened on @cpu. An event of a thread does not need an online CPU. */
static bool is_there(const struct walk *w, int cpu)
{
	return cpu_list_has(w->online, cpu) || cpu_list_has(&w->present, cpu);
}

/* Open the events of @tid on each CPU, or none. Return: 0 or -errno. */
static int open_thread(struct walk *w, pid_t tid)
{
	struct events *ev = w->ev;
	size_t i;
	int rc = 0;

	for (i = 0; i < ev->nr_places; i++) {
		struct opened *o = &w->opened[i];

		*o = (struct opened){ { { .fd = -1 }, { .fd = -1 } }, -1 };
		if (!rc && is_there(w, ev->places[i].cpu))
			rc = open_on(w, &ev->places[i], tid, o);
	}
	for (i = 0; i < ev->nr_places; i++) {
		struct opened *o = &w->opened[i];

		if (!rc && keep_event(&ev->places[i], o))
			rc = err_sys(w->err, -ENOMEM, "cannot remember the events of thread %d", tid);
		close_opened(o);
	}
	w->f->nr_open += !rc;
	return rc;
}

static bool is_refusal(int code)
{
	return code == -EACCES || code == -EPERM;
}

/* Close the events of CPUs that are offline: threads need the descriptors more. Return: false: there were none. */
static bool give_up_offline(struct walk *w)
{
	bool any = false;
	size_t i;

	for (i = 0; i < w->ev->nr_places; i++) {
		struct event_place *e = &w->ev->places[i];

		if (cpu_list_has(w->online, e->cpu) || !cpu_list_has(&w->present, e->cpu))
			continue;
		event_close(e);
		any = true;
	}
	cpu_list_release(&w->present);
	return any;
}

/* Return: 0: the thread is followed, or need not be; -errno: described, and the pass ends. */
static int follow(struct walk *w, pid_t tid)
{
	struct followed *f = w->f;
	int rc;

	if (f->full) {
		f->nr_no_room++;
		return 0;
	}
	rc = open_thread(w, tid);
	if (descriptors_ran_out(rc) && give_up_offline(w))
		rc = open_thread(w, tid);
	if (rc)
		f->no_events = *w->err;
	if (descriptors_ran_out(rc)) {
		f->full = rc;
		f->nr_no_room++;
		return 0;
	}
	f->nr_refused += f->of_user && is_refusal(rc);
	return rc == -ESRCH || (f->of_user && is_refusal(rc)) ? 0 : rc;
}

static struct process *entered(const struct walk *w)
{
	return (struct process *)w->f->processes.v + w->process;
}

/* While a thread's events are being opened, it is not known what threads of this process inherit. */
static void begin_opening(const struct walk *w)
{
	struct process *p = entered(w);

	if (p->none_until > w->before)
		p->none_until = w->before;
	p->all_from = INT_MAX;
}

/* The process is done. If all of its threads have events, threads created from now on inherit them. */
static void leave_process(const struct walk *w)
{
	struct process *p;

	if (!w->pid || !w->wanted)
		return;
	p = entered(w);
	if (p->all_from == INT_MAX && p->none_until < INT_MAX && !p->mixed)
		p->all_from = newest_id(w->f);
}

/*
 * It is not known what this thread has, nor what the threads that it creates inherit. The kernel does not record which
 * thread of a process created another one.
 */
static void doubt(struct walk *w)
{
	struct process *p = entered(w);

	p->mixed = true;
	p->all_from = INT_MAX;
	w->f->nr_unsure++;
}

static int enter_process(struct walk *w, pid_t pid)
{
	struct followed *f = w->f;
	struct process *p = find_process(f, pid);
	pid_t parent = 0;
	uid_t uid = f->uid;

	w->pid = pid;
	w->wanted = !f->of_user || (!proc_owner(f->host, pid, &uid, &parent) && uid == f->uid);
	if (!w->wanted)
		return 0;
	w->before = newest_id(f);
	/* A subreaper that has become the parent (PR_SET_CHILD_SUBREAPER) looks like the creator. */
	if (!p)
		p = add_process(f, pid, inherits(f, find_process(f, parent), pid));
	if (!p)
		return err_sys(w->err, -ENOMEM, "cannot remember process %d", pid);
	w->process = (size_t)(p - (struct process *)f->processes.v);
	return 0;
}

/* Callback of proc_threads(). */
static int see_thread(void *ctx, pid_t pid, pid_t tid)
{
	struct walk *w = ctx;
	struct followed *f = w->f;
	enum inherited has;
	int rc = 0;

	if (pid != w->pid) {
		leave_process(w);
		rc = enter_process(w, pid);
	}
	if (rc || !w->wanted || is_known(f, tid))
		return rc;
	has = inherits(f, entered(w), tid);
	if (has == INHERITED_PERHAPS)
		doubt(w);
	if (has == INHERITED_NOTHING) {
		begin_opening(w);
		rc = follow(w, tid);
	}
	if (!rc && has != INHERITED_PERHAPS && !f->full && know(f, tid))
		rc = err_sys(w->err, -ENOMEM, "cannot remember thread %d", tid);
	return rc;
}

static int open_listed(struct walk *w, const pid_t *tids, size_t nr, const char *kind)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++) {
		rc = follow(w, tids[i]);
		/* If the calling thread itself may not be sampled, no other thread may: report the error as it is. */
		if (kind && tids[i] && is_refusal(rc))
			rc = refuse(w, kind, tids[i]);
	}
	return rc;
}

static int open_processes(struct walk *w, const pid_t *pids, size_t nr)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++) {
		rc = proc_threads(w->f->host, pids[i], see_thread, w);
		if (is_refusal(rc))
			rc = refuse(w, "process", pids[i]);
	}
	return rc;
}

static int open_pass(struct walk *w)
{
	const struct filter *only = &w->ev->request->filter;
	pid_t pid;
	int rc;

	w->pid = 0;
	w->f->nr_no_room = w->f->nr_unsure = 0;
	if (w->ev->request->command) {
		pid = command_pid(w->ev->request->command);
		return open_listed(w, &pid, 1, NULL);
	}
	if (only->by_tid)
		return open_listed(w, only->ids, only->nr, "thread");
	if (only->nr)
		rc = open_processes(w, only->ids, only->nr);
	else
		rc = proc_processes(w->f->host, see_thread, w);
	if (rc && !w->err->code)
		err_sys(w->err, rc, "cannot list the processes");
	leave_process(w);
	return rc;
}

/* Repeat, to find threads that are created while events are opened. */
static int open_passes(struct walk *w)
{
	struct followed *f = w->f;
	bool once = w->ev->request->command || w->ev->request->filter.by_tid;
	size_t before;
	int rc;

	do {
		before = f->nr_open;
		rc = open_pass(w);
	} while (!rc && !once && f->nr_open > before && ++f->pass < MAX_PASSES);
	return rc;
}

static void limit_fds(struct followed *f)
{
	struct rlimit rl;

	f->end_fd = INT_MAX;
	if (!getrlimit(RLIMIT_NOFILE, &rl) && rl.rlim_cur < INT_MAX)
		f->end_fd = (int)(rl.rlim_cur - (rl.rlim_cur / 4 < KEPT_FDS ? rl.rlim_cur / 4 : KEPT_FDS));
}

static void begin(struct followed *f)
{
	forget(f);
	limit_fds(f);
	f->counting = true;
	f->first = newest_id(f);
}

static bool have_ended(const struct followed *f, const struct filter *only)
{
	size_t i = 0;

	while (i < only->nr && proc_ended(f->host, only->ids[i], !only->by_tid, 0))
		i++;
	return only->nr && i == only->nr;
}

/*
 * No thread has events. If the kernel says that those of the targets are exiting, soon the targets have ended, or have
 * other threads.
 */
static int await_end(struct walk *w)
{
	const struct timespec a_little = { .tv_nsec = 5 * 1000 * 1000 };
	const struct filter *only = &w->ev->request->filter;
	struct followed *f = w->f;
	int rc = 0, i;

	for (i = 0; i < END_TRIES && !rc && !f->nr_open; i++) {
		f->have_ended = have_ended(f, only);
		if (f->have_ended)
			f->nr_no_room = f->nr_unsure = 0;
		if (f->have_ended || !only->nr || f->no_events.code != -ESRCH)
			return 0;
		nanosleep(&a_little, NULL);
		begin(f);
		rc = open_passes(w);
	}
	return rc;
}

static int tell_none(const struct followed *f, struct err *err)
{
	if (!f->no_events.code)
		return err_set(err, -ESRCH, "there is no thread to sample");
	*err = f->no_events;
	return err->code;
}

/* Describe how many threads are left out, and why. */
static void tell_unfollowed(const struct followed *f, const struct host *host, struct err *why)
{
	size_t out = f->nr_no_room + f->nr_unsure;
	struct cause cause;

	why->code = 0;
	if (!out)
		return;
	cause_of_files(host, f->full, &cause);
	if (!f->full)
		err_set(why, -EAGAIN, "%zu of %zu threads are not followed: they were created while events were opened",
			out, f->nr_open + out);
	else
		cause_err(why, f->full, &cause, "%zu of %zu threads are not followed", out, f->nr_open + out);
}

int followed_open(struct events *ev, const struct cpu_list *online, struct err *err)
{
	struct followed *f = ev->followed;
	struct walk w = { .ev = ev, .f = f, .online = online, .err = err };
	size_t i;
	int rc;

	if (ev->request->host->foreign && !ev->request->command && !ev->request->filter.by_tid)
		return err_set(
			err, -ENOENT,
			"cannot list threads: /proc is of another PID namespace (mount a /proc of this namespace, "
			"or use --tid)");
	w.opened = calloc(ev->nr_places, sizeof(*w.opened));
	if (!w.opened)
		return err_sys(err, -ENOMEM, "cannot remember %zu events", ev->nr_places);
	begin(f);
	/* A BPF program has room for notes only on CPUs that are online. */
	if (!ev->has_notes && host_present_cpus(ev->request->host, &w.present, err))
		w.present = (struct cpu_list){ 0 };
	err->code = 0;
	rc = open_passes(&w);
	if (!rc && !f->nr_open)
		rc = await_end(&w);
	for (i = 0; i < ev->nr_places; i++)
		ev->places[i].waits = ev->places[i].fd >= 0 && !cpu_list_has(online, ev->places[i].cpu);
	free(w.opened);
	cpu_list_release(&w.present);
	if (!rc && !f->nr_open && !f->have_ended)
		rc = tell_none(f, err);
	if (!rc)
		err->code = 0;
	tell_unfollowed(f, ev->request->host, &ev->unfollowed);
	return rc;
}

bool followed_have_ended(const struct followed *f)
{
	return f->have_ended;
}

void followed_describe(const struct followed *f, char *buf, size_t size)
{
	int used = snprintf(buf, size, "threads followed: %zu", f->nr_open);

	if (f->nr_refused && used > 0 && (size_t)used < size)
		snprintf(buf + used, size - (size_t)used, ", of this user that may not be: %zu", f->nr_refused);
}
