// SPDX-License-Identifier: Apache-2.0
#include "core/events/side_band.h"

#include "compat/perf_open.h"
#include "core/base/grow.h"
#include "core/host/ids.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

/*
 * Limits for events on wanted threads. The kernel looks at all events of a thread for each mapping, and a new thread
 * gets copies of them. So use them only for some hundred threads, and only on hosts where a new thread does not cost an
 * event on each of hundreds of CPUs.
 */
#define TARGET_EVENTS 16384
#define TARGET_CPUS   32
#define MAX_PASSES    16 /* passes over the threads; each but the last has found new ones */

/* Each record has these fields if samples have them; whole() adds the id of the event that wrote the record. */
#define RECORD_IDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)

static uint32_t fitting_wakeup(const struct events *ev)
{
	return ring_wakeup(ev->rings.side, RING_WAKEUP_BYTES);
}

bool side_band_outgrows_rings(const struct events *ev)
{
	return ev->apart && ev->attrs[EVENT_SIDE_BAND].wakeup_watermark > fitting_wakeup(ev);
}

/*
 * Test whether the kernel has such events. Try an event of a CPU first. An event of this task may be opened without
 * privileges, but the first event of any task costs 10 ms and more: the kernel patches the scheduler's code and waits
 * for all CPUs (kernel/events/core.c, account_event()).
 */
static bool can_open(struct perf_event_attr *a)
{
	int fd = perf_open(a, -1, 0);

	if (fd < 0)
		fd = perf_open(a, 0, -1);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

void side_band_begin(struct events *ev)
{
	struct perf_event_attr *a = &ev->attrs[EVENT_SIDE_BAND];

	*a = (struct perf_event_attr){
		.size = sizeof(*a),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_DUMMY,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.namespaces = filter_by_mntns(&ev->request->filter),
		.ksymbol = events_want_kernel_code(ev),
		.exclude_kernel = 1, /* for users who cannot sample the kernel; the event never fires */
		.exclude_hv = 1,
		.watermark = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	ev->apart = !ev->no_room_apart && can_open(a);
}

/* The attributes that record everything. */
static struct perf_event_attr whole(struct events *ev)
{
	struct perf_event_attr *a = &ev->attrs[EVENT_SIDE_BAND];

	a->sample_type = (events_attr(ev)->sample_type & RECORD_IDS) | PERF_SAMPLE_IDENTIFIER;
	a->wakeup_watermark = fitting_wakeup(ev);
	return *a;
}

/*
 * Reduce the event of the CPU if events of the wanted threads record the rest. If the reader counts, EXIT of all tasks
 * stays, because the reader knows a dying task only by that. For a command, FORK stays, because it shows the
 * command's descendants, even if one of them has lost its events by executing a program with more privileges.
 */
static void leave_to_targets(struct perf_event_attr *a, const struct events *ev)
{
	a->mmap = a->mmap2 = a->namespaces = 0;
	a->task = events_reader_counts(ev) || ev->request->filter.tree;
	a->comm = a->comm_exec = ev->request->filter.tree != NULL;
}

int side_band_open(struct events *ev, struct event_place *e, struct err *err)
{
	struct perf_event_attr a = whole(ev);
	int fd;

	if (e->side.nr_more && !ev->side_of_all)
		leave_to_targets(&a, ev);
	fd = perf_open(&a, -1, e->cpu);
	if (fd == -ENODEV)
		return -ENODEV;
	if (fd < 0)
		return err_sys(err, fd, "cannot open the perf event for tasks and mappings on CPU %d", e->cpu);
	e->side.fd = fd;
	e->side.tasks_id = 0;
	if (a.task && ioctl(fd, PERF_EVENT_IOC_ID, &e->side.tasks_id))
		e->side.tasks_id = 0; /* then records that are written twice for targets are not recognized */
	return 0;
}

/*
 * Open an event for the records that the event of the CPU leaves out. It records mappings, so the kernel writes FORK
 * and EXIT records to it, too.
 */
static int open_rest(struct events *ev, struct event_place *e)
{
	struct perf_event_attr a = whole(ev);
	int fd, rc = 0;

	a.task = a.ksymbol = 0;
	a.comm = a.comm_exec = !ev->request->filter.tree;
	fd = perf_open(&a, -1, e->cpu);
	if (fd < 0)
		return fd;
	if (ioctl(fd, PERF_EVENT_IOC_SET_OUTPUT, e->side.fd) || ioctl(fd, PERF_EVENT_IOC_ENABLE, 0))
		rc = -errno;
	if (!rc)
		rc = side_band_join(&e->side, fd);
	if (rc)
		close(fd);
	else if (!e->side.tasks_id && ioctl(fd, PERF_EVENT_IOC_ID, &e->side.tasks_id))
		e->side.tasks_id = 0;
	return rc;
}

void side_band_tell_of_all(struct events *ev)
{
	size_t i;

	if (!ev->side_of_targets || ev->side_of_all)
		return;
	ev->side_of_all = true;
	for (i = 0; i < ev->nr_places; i++)
		if (ev->places[i].side.fd >= 0)
			open_rest(ev, &ev->places[i]);
}

int side_band_open_thread(struct events *ev, const struct event_place *e, pid_t tid)
{
	struct perf_event_attr a = whole(ev);

	a.inherit = events_attr(ev)->inherit;
	a.enable_on_exec = events_attr(ev)->enable_on_exec;
	return perf_open(&a, tid, e->cpu);
}

int side_band_join(struct side_band *s, int fd)
{
	int *more = grow(s->more, &s->cap_more, s->nr_more, 1, sizeof(*more));

	if (!more)
		return -ENOMEM;
	s->more = more;
	s->more[s->nr_more++] = fd;
	return 0;
}

int side_band_tell(const struct side_band *s, unsigned long request)
{
	size_t i;

	if (s->fd >= 0 && ioctl(s->fd, request, 0))
		return -errno;
	for (i = 0; i < s->nr_more; i++)
		if (ioctl(s->more[i], request, 0))
			return -errno;
	return 0;
}

void side_band_leave(struct side_band *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
	s->tasks_id = 0;
}

void side_band_close(struct side_band *s)
{
	side_band_leave(s);
	while (s->nr_more)
		close(s->more[--s->nr_more]);
	free(s->more);
	*s = (struct side_band){ .fd = -1 };
}

/* ---- events on the wanted threads */

struct targets {
	struct events *ev;
	struct cpu_list present;
	pid_t *tids;
	size_t nr, cap_tids;
	size_t nr_sorted; /* of @tids: those of earlier passes */
	size_t nr_events, max_events;
};

/* The other events of each CPU, and files, need descriptors, too. */
#define OTHERS_PER_CPU 6
#define OTHERS         64

static size_t max_events(size_t cpus)
{
	size_t others = OTHERS_PER_CPU * cpus + OTHERS;
	struct rlimit rl;

	if (getrlimit(RLIMIT_NOFILE, &rl) || rl.rlim_cur >= 2 * TARGET_EVENTS + others)
		return TARGET_EVENTS;
	return rl.rlim_cur > others ? (size_t)(rl.rlim_cur - others) / 2 : 0;
}

/* Return: 0; -errno */
static int open_target(struct targets *t, struct event_place *e, pid_t tid)
{
	struct perf_event_attr a = whole(t->ev);
	int fd;

	a.inherit = 1;
	a.ksymbol = 0; /* the event of the CPU records this, whichever task loads a BPF program */
	a.task = !t->ev->request->filter.tree;
	a.comm = a.comm_exec = !t->ev->request->filter.tree;
	fd = perf_open(&a, tid, e->cpu);
	if (fd < 0)
		return fd;
	if (side_band_join(&e->side, fd)) {
		close(fd);
		return -ENOMEM;
	}
	return 0;
}

static bool is_known(const struct targets *t, pid_t tid)
{
	size_t i;

	for (i = t->nr_sorted; i < t->nr; i++)
		if (t->tids[i] == tid)
			return true;
	return ids_has(t->tids, t->nr_sorted, tid);
}

/* Callback of proc_threads(). Skip a thread that ends meanwhile. */
static int find_target(void *ctx, pid_t pid, pid_t tid)
{
	struct targets *t = ctx;
	pid_t *tids;
	size_t i;
	int rc = 0;

	(void)pid;
	if (is_known(t, tid))
		return 0;
	tids = grow(t->tids, &t->cap_tids, t->nr, 1, sizeof(*tids));
	if (!tids)
		return -ENOMEM;
	t->tids = tids;
	tids[t->nr++] = tid;
	t->nr_events += t->present.nr;
	if (t->nr_events > t->max_events)
		return -EMFILE;
	for (i = 0; i < t->ev->nr_places && !rc; i++)
		if (cpu_list_has(&t->present, t->ev->places[i].cpu))
			rc = open_target(t, &t->ev->places[i], tid);
	return rc == -ESRCH ? 0 : rc;
}

static int find_all(struct targets *t)
{
	const struct filter *f = &t->ev->request->filter;
	size_t i;
	int rc = 0;

	if (t->ev->request->command)
		return find_target(t, 0, command_pid(t->ev->request->command));
	/*
	 * List the whole process, also for a single thread: a mapping that another thread of the process makes is
	 * shared.
	 */
	for (i = 0; i < f->nr && !rc; i++)
		rc = proc_threads(t->ev->request->host, f->ids[i], find_target, t);
	return rc == -ESRCH || rc == -ENOENT ? 0 : rc;
}

/*
 * A thread that is created while its creator's events are being opened may have only some of them: it gets its own,
 * too.
 */
static int find_passes(struct targets *t)
{
	size_t before, passes = 0;
	int rc;

	do {
		before = t->nr;
		rc = find_all(t);
		ids_sort(t->tids, t->nr);
		t->nr_sorted = t->nr;
	} while (!rc && !t->ev->request->command && t->nr > before && ++passes < MAX_PASSES);
	return rc;
}

static bool any_target(const struct events *ev)
{
	size_t i;

	for (i = 0; i < ev->nr_places; i++)
		if (ev->places[i].side.nr_more)
			return true;
	return false;
}

/* Errors are ignored: then the event of each CPU records all tasks. */
void side_band_find_targets(struct events *ev)
{
	struct targets t = { .ev = ev };
	struct err ignored;
	size_t i;
	int rc;

	ev->side_of_targets = ev->side_of_all = false;
	if (!ev->apart || (!ev->request->command && (!ev->request->filter.nr || ev->request->host->foreign)))
		return;
	rc = host_present_cpus(ev->request->host, &t.present, &ignored);
	t.max_events = max_events(t.present.nr);
	if (!rc)
		rc = t.present.nr <= TARGET_CPUS ? find_passes(&t) : -EMFILE;
	ev->side_of_targets = !rc && any_target(ev);
	for (i = 0; i < ev->nr_places && !ev->side_of_targets; i++)
		side_band_close(&ev->places[i].side);
	free(t.tids);
	cpu_list_release(&t.present);
}
