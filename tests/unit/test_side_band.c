// SPDX-License-Identifier: Apache-2.0
/*
 * Side-band events, which record tasks and mappings apart from the samples. A copy of /proc lists threads, one of /sys
 * CPUs, and this program's own syscall() and ioctl() replace libc's. Its opendir() and readdir() list threads by their
 * ids. They list threads created meanwhile only the next time, unless @at_once is set.
 */
#include "core/events/cpus.h"
#include "core/events/events.h"
#include "core/events/followed.h"
#include "core/events/side_band.h"
#include "core/events/watch.h"
#include "core/tasks/command.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>

enum { MAX_FDS = 512, CPUS = 3 };

#define RECORD_IDS (PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU)
#define WATERMARK  (32 << 10)

/* The answer for opening the event of thread @tid (-1: any) on CPU @cpu (-1: any). @code 0: no such answer. */
struct answer {
	pid_t tid;
	int cpu, code;
};

/* A thread that is created when the event of @after is opened on CPU @cpu. */
struct birth {
	pid_t after;
	int cpu;
	pid_t pid, tid;
};

static struct {
	int no_dummy; /* the kernel's answer if it has no dummy event; 0: it has one */
	bool no_clockid, no_mmap2;
	int tries;
	bool cpus_refused;        /* events of CPUs are refused until one of this process was tried */
	struct answer answers[4]; /* for side-band events */
	struct answer main;       /* for other events */
	int nr_targets, full;     /* after so many events of threads, answer @full */
	struct birth births[8];
	bool endless; /* whenever a thread has its events, a new one without events is created */
	bool at_once; /* a new thread is in the list that is being read */
	pid_t newest;
	int passes;
	rlim_t limit;        /* limit for descriptors; 0: unchanged */
	bool no_limit;       /* the limit cannot be read */
	pid_t refused_ioctl; /* events of this thread (-1: of whole CPUs) can be neither enabled nor disabled */
} kernel;

/* For each descriptor: the owner of the event. */
static struct {
	bool used, side, enabled;
	int cpu;
	pid_t pid;
	struct perf_event_attr attr;
} events[MAX_FDS];

static char *dir;
static struct host host;
static struct request req;
static struct events ev;
static unsigned int fds_before;

/* ---- the kernel's lists of threads */

static struct {
	DIR *dir;
	pid_t pid;
	pid_t last, newest; /* the last thread listed, and the newest at the beginning */
} listing;

static struct {
	pid_t pid, tid;
} threads[1024];
static size_t nr_threads;

DIR *opendir(const char *path)
{
	static DIR *(*next)(const char *);
	size_t len = strlen(path);
	DIR *d;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "opendir");
	d = next(path);
	if (d == listing.dir)
		listing.dir = NULL;
	if (!d || !dir || strncmp(path, dir, strlen(dir)) || len < 5 || strcmp(path + len - 5, "/task"))
		return d;
	listing.dir = d;
	listing.pid = (pid_t)strtol(path + strlen(dir) + 1, NULL, 10);
	listing.last = 0;
	listing.newest = kernel.at_once ? INT_MAX : kernel.newest;
	kernel.passes++;
	return d;
}

struct dirent *readdir(DIR *d)
{
	static struct dirent *(*next)(DIR *);
	static struct dirent found;
	pid_t id, least = 0;
	size_t i;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "readdir");
	if (listing.dir != d)
		return next(d);
	for (i = 0; i < nr_threads; i++) {
		id = threads[i].tid;
		if (threads[i].pid == listing.pid && id > listing.last && id <= listing.newest &&
		    (!least || id < least))
			least = id;
	}
	snprintf(found.d_name, sizeof(found.d_name), "%d", least);
	listing.last = least;
	return least ? &found : NULL;
}

static bool is_known(pid_t pid)
{
	size_t i;

	for (i = 0; i < nr_threads; i++)
		if (threads[i].pid == pid)
			return true;
	return false;
}

/* Only their ids are read: a file for each would take long. */
static void add_thread(pid_t pid, pid_t tid)
{
	char name[64];

	snprintf(name, sizeof(name), "%d/task/%d", pid, tid);
	if (!is_known(pid))
		unit_write(dir, name, "", 0);
	ck_assert_uint_lt(nr_threads, ARRAY_SIZE(threads));
	threads[nr_threads].pid = pid;
	threads[nr_threads++].tid = tid;
	if (tid > kernel.newest)
		kernel.newest = tid;
}

/* ---- the kernel's events */

static int answer_to(const struct answer *a, pid_t pid, int cpu)
{
	return a->code && (a->tid == -1 ? pid > 0 : a->tid == pid) && (a->cpu == -1 || a->cpu == cpu) ? a->code : 0;
}

/* The whole CPU has no thread: table rows use this. */
#define WHOLE (-2)

static int answer_to_side(pid_t pid, int cpu)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < ARRAY_SIZE(kernel.answers) && !rc; i++)
		rc = answer_to(&kernel.answers[i], pid < 0 ? WHOLE : pid, cpu);
	if (!rc && pid > 0 && kernel.nr_targets-- <= 0)
		rc = kernel.full;
	return rc;
}

static void give_birth(pid_t tid, int cpu)
{
	const struct birth *b;

	if (kernel.endless && cpu == CPUS - 1)
		add_thread(100, tid + 1);
	for (b = kernel.births; b < kernel.births + ARRAY_SIZE(kernel.births); b++)
		if (b->after == tid && b->cpu == cpu)
			add_thread(b->pid, b->tid);
}

/* Only a test whether such an event can be opened: of this process, on any CPU. */
static int try(int cpu)
{
	ck_assert_int_eq(cpu, -1);
	kernel.tries++;
	return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static int open_event(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int fd, rc = fake_is_dummy(attr) ? answer_to_side(pid, cpu)
					 : answer_to(&kernel.main, pid < 0 ? WHOLE : pid, cpu);

	if (rc)
		return fake_refuse(rc);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	ck_assert_int_lt(fd, MAX_FDS);
	events[fd].used = true;
	events[fd].side = fake_is_dummy(attr);
	events[fd].enabled = !attr->disabled;
	events[fd].cpu = cpu;
	events[fd].pid = pid;
	events[fd].attr = *attr;
	if (fake_is_dummy(attr) && pid > 0)
		give_birth(pid, cpu);
	return fd;
}

int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	if (fake_is_dummy(attr) && kernel.no_dummy)
		return fake_refuse(kernel.no_dummy);
	if (kernel.cpus_refused && pid < 0 && !kernel.tries)
		return fake_refuse(-EACCES);
	if ((kernel.no_clockid && attr->use_clockid) || (kernel.no_mmap2 && attr->mmap2))
		return fake_refuse(-EINVAL);
	return pid ? open_event(attr, pid, cpu) : try(cpu);
}

int fake_event_ioctl(int fd, unsigned long request, uint64_t *id)
{
	ck_assert(events[fd].used);
	if (request == PERF_EVENT_IOC_ID) {
		*id = 7000 + (uint64_t)fd;
		return 0;
	}
	ck_assert(request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE);
	if (events[fd].side && kernel.refused_ioctl && kernel.refused_ioctl == events[fd].pid)
		return fake_refuse(-EIO);
	events[fd].enabled = request == PERF_EVENT_IOC_ENABLE;
	return 0;
}

/* The limit may be more than this process may have. */
int getrlimit(__rlimit_resource_t resource, struct rlimit *rl)
{
	if (resource == RLIMIT_NOFILE && kernel.no_limit)
		return fake_refuse(-EFAULT);
	if (prlimit(0, resource, NULL, rl))
		return -1;
	if (resource == RLIMIT_NOFILE && kernel.limit)
		rl->rlim_cur = kernel.limit;
	return 0;
}

/* ---- a run */

static void setup(void)
{
	memset(&kernel, 0, sizeof(kernel));
	unit_limit_files(MAX_FDS);
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	req = (struct request){ .host = &host, .sampling = { event_default(), 49, 0 }, .asked = 125 };
	ev = (struct events){ .request = &req };
	memset(events, 0, sizeof(events));
	memset(&listing, 0, sizeof(listing));
	nr_threads = 0;
	kernel.nr_targets = MAX_FDS;
	fake_list_cpus(dir, "possible", "0-2\n");
	fake_list_cpus(dir, "present", "0-2\n");
	fake_list_cpus(dir, "online", "0-2\n");
	fds_before = unit_open_fds();
}

static void teardown(void)
{
	events_close(&ev);
	followed_free(ev.followed);
	command_free(req.command);
	watch_free(ev.watch);
	ck_assert_uint_eq(unit_open_fds(), fds_before);
	unit_rmdir(dir);
	dir = NULL;
}

static void open_all(bool with_notes)
{
	struct err err = { 0 };

	ck_assert_msg(events_open(&ev, with_notes, &err) == 0, "%s", err.msg);
}

static struct event_place *event_of(int cpu)
{
	size_t i;

	for (i = 0; i < ev.nr_places; i++)
		if (ev.places[i].cpu == cpu)
			return &ev.places[i];
	ck_abort_msg("no place for CPU %d", cpu);
}

static const struct perf_event_attr *attr_of(int fd)
{
	ck_assert_int_ge(fcntl(fd, F_GETFD), 0);
	ck_assert(events[fd].used);
	return &events[fd].attr;
}

static pid_t pids[] = { 100, 200, 300 };

/* Targets as with -p: two threads for each process. */
static void ask_for(size_t nr)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		add_thread(pids[i], pids[i]);
		add_thread(pids[i], pids[i] + 1);
	}
	req.filter.ids = pids;
	req.filter.nr = nr;
}

/* A command, which is recognized by its process tree: whole CPUs are sampled. */
static void ask_for_command(void)
{
	char name[] = "true", *argv[] = { name, NULL };
	struct err err;

	req.command = command_start(argv, &err);
	ck_assert_ptr_nonnull(req.command);
	req.filter.tree = (struct descendants *)dir; /* any value */
}

#define ALL_THREADS "100 101 200 201 300 301"

/* The threads whose events record on the CPU of @e, "100 200", in the order in which they were opened. */
static const char *targets_of(const struct event_place *e)
{
	static char text[1024];
	size_t i, used = 0;

	text[0] = 0;
	for (i = 0; i < e->side.nr_more; i++) {
		int fd = e->side.more[i];

		attr_of(fd);
		ck_assert(events[fd].side);
		ck_assert_int_eq(events[fd].cpu, e->cpu);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", used ? " " : "", events[fd].pid);
	}
	return text;
}

/* Check the event of the whole CPU: it records everything, or the rest. */
static void assert_whole(const struct event_place *e, bool everything)
{
	const struct perf_event_attr *a = attr_of(e->side.fd);

	ck_assert(events[e->side.fd].side);
	ck_assert_int_eq(events[e->side.fd].cpu, e->cpu);
	ck_assert_int_eq(events[e->side.fd].pid, -1);
	ck_assert_uint_eq(a->mmap, everything);
	ck_assert_uint_eq(a->mmap2, everything);
	ck_assert_uint_eq(a->inherit, 0);
	if (!everything)
		return;
	ck_assert_uint_eq(a->comm, 1);
	ck_assert_uint_eq(a->comm_exec, 1);
	ck_assert_uint_eq(a->task, 1);
}

/* On each CPU these threads have events, or with NULL the CPU's event records everything. No other event is open. */
static void assert_told(const char *targets)
{
	unsigned int fds = fds_before;
	size_t i;

	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];

		ck_assert_str_eq(targets_of(e), targets ? targets : "");
		assert_whole(e, !targets);
		fds += 2 + (unsigned int)e->side.nr_more;
	}
	ck_assert_int_eq(ev.side_of_targets, targets != NULL);
	ck_assert_uint_eq(fake_event_fds(&ev), fds);
}

/* ---- does the kernel have such an event? */

/* If the event does not exist or is not permitted, the sampling event records everything. */
static const struct {
	int no_dummy;
	bool no_room, with_pids;
} without[] = {
	{ -EINVAL, false, false }, { -EINVAL, false, true }, { -ENOENT, false, false }, { -EACCES, false, true },
	{ -EPERM, false, false },  { -EMFILE, false, true }, { -ENOMEM, false, false }, { 0, true, false },
	{ 0, true, true },         { -EINVAL, true, true },
};

START_TEST(test_without)
{
	size_t i;

	if (without[_i].with_pids)
		ask_for(3);
	kernel.no_dummy = without[_i].no_dummy;
	ev.no_room_apart = without[_i].no_room;
	ev.apart = ev.side_of_targets = true; /* from another backend that was tried */
	open_all(true);
	ck_assert(!ev.apart && !ev.side_of_targets);
	ck_assert_int_eq(kernel.tries, 0);
	ck_assert_uint_eq(ev.rings.side, 0);
	ck_assert_mem_eq(&ev.attrs[EVENT_SIDE_BAND], events_attr(&ev), sizeof(*events_attr(&ev)));
	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];
		const struct perf_event_attr *a = attr_of(e->fd);

		ck_assert(a->mmap && a->mmap2 && a->comm && a->comm_exec && a->task);
		ck_assert_int_eq(e->side.fd, -1);
		ck_assert_uint_eq(e->side.nr_more, 0);
	}
	ck_assert(!side_band_outgrows_rings(&ev));
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 2 * CPUS); /* with notes */
}
END_TEST

/*
 * @_i: bit 0: with notes; bit 1: with a switch event; bit 2: with namespaces; bit 3: events of CPUs are refused until
 * one of a thread was tried
 */
START_TEST(test_with)
{
	const struct perf_event_attr *a;
	size_t i;

	req.off_cpu.wanted = _i & 2;
	req.filter.mntns = _i & 4 ? 7 : 0;
	kernel.cpus_refused = _i & 8;
	open_all(_i & 1);
	ck_assert(ev.apart && !ev.side_of_targets);
	ck_assert_int_eq(kernel.tries, kernel.cpus_refused);
	ck_assert_uint_gt(ev.rings.side, 0);
	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];

		a = attr_of(e->fd);
		ck_assert(!a->mmap && !a->mmap2 && !a->comm && !a->comm_exec && !a->task && !a->namespaces);
		assert_whole(e, true);
		ck_assert_uint_eq(e->side.nr_more, 0);
		a = attr_of(e->side.fd);
		ck_assert_uint_eq(a->sample_type, (attr_of(e->fd)->sample_type & RECORD_IDS) | PERF_SAMPLE_IDENTIFIER);
		ck_assert_uint_eq(a->sample_period, 0);
		ck_assert_uint_eq(a->freq, 0);
		ck_assert_uint_eq(a->sample_id_all, 1);
		ck_assert_uint_eq(a->disabled, 1);
		ck_assert_uint_eq(a->exclude_kernel, 1);
		ck_assert_uint_eq(a->exclude_hv, 1);
		ck_assert_uint_eq(a->enable_on_exec, 0);
		ck_assert_uint_eq(a->namespaces, !!(_i & 4));
		ck_assert_uint_eq(a->ksymbol, 1);
		ck_assert_uint_eq(attr_of(e->fd)->ksymbol, 0);
		ck_assert_uint_eq(a->read_format, attr_of(e->fd)->read_format);
		ck_assert_uint_eq(a->clockid, attr_of(e->fd)->clockid);
		ck_assert_uint_eq(a->wakeup_watermark, ev.rings.side / 2 < WATERMARK ? ev.rings.side / 2 : WATERMARK);
	}
	ck_assert(!ev.attrs[EVENT_SWITCHES].mmap && !ev.attrs[EVENT_SWITCHES].comm && !ev.attrs[EVENT_SWITCHES].task);
	ck_assert_mem_eq(&ev.attrs[EVENT_SIDE_BAND], attr_of(event_of(2)->side.fd), sizeof(ev.attrs[EVENT_SIDE_BAND]));
}
END_TEST

/* Attributes that the kernel refused in the test are not requested again; both kinds have the same clock. */
START_TEST(test_old_kernel)
{
	kernel.no_clockid = true;
	kernel.no_mmap2 = _i;
	ask_for(1);
	open_all(true);
	ck_assert(ev.apart && ev.side_of_targets);
	ck_assert_uint_eq(events_attr(&ev)->use_clockid, 0);
	ck_assert_uint_eq(ev.attrs[EVENT_SIDE_BAND].use_clockid, 0);
	ck_assert_uint_eq(attr_of(event_of(1)->side.fd)->use_clockid, 0);
	ck_assert_uint_eq(attr_of(event_of(1)->side.more[0])->use_clockid, 0);
	ck_assert_uint_eq(attr_of(event_of(1)->side.more[0])->mmap, 1);
	ck_assert_uint_eq(attr_of(event_of(1)->side.more[0])->mmap2, !_i);
}
END_TEST

/* A reader that has made the rings smaller must be woken earlier. */
static const struct {
	size_t side;
	bool outgrows;
} smaller[] = { { 4 << 10, true },   { 32 << 10, true },  { 63 << 10, true },
		{ 64 << 10, false }, { 65 << 10, false }, { 1 << 20, false } };

START_TEST(test_outgrows)
{
	ev.rings = (struct ring_sizes){ .samples = 1 << 20, .side = 1 << 20 };
	open_all(false);
	ck_assert_uint_eq(ev.attrs[EVENT_SIDE_BAND].wakeup_watermark, WATERMARK);
	ev.rings.side = smaller[_i].side;
	ck_assert_int_eq(side_band_outgrows_rings(&ev), smaller[_i].outgrows);
	ck_assert_int_eq(events_outgrow_rings(&ev), smaller[_i].outgrows);
	events_close(&ev);
	open_all(false);
	ck_assert_uint_eq(attr_of(event_of(0)->side.fd)->wakeup_watermark,
			  smaller[_i].outgrows ? smaller[_i].side / 2 : WATERMARK);
	ck_assert(!side_band_outgrows_rings(&ev));
	ev.apart = false;
	ev.rings.side = 0;
	ck_assert(!side_band_outgrows_rings(&ev));
}
END_TEST

/* ---- which events record if only some threads are wanted */

/* The reader of samples needs to know exits and forks; a BPF program finds them itself. */
static const struct {
	bool command, with_notes, both;
	unsigned int task, comm; /* attributes of the CPU's event */
} readers[] = {
	{ false, false, false, 1, 0 }, { false, true, false, 0, 0 }, { false, true, true, 1, 0 },
	{ false, false, true, 1, 0 },  { true, false, false, 1, 1 }, { true, true, false, 1, 1 },
	{ true, true, true, 1, 1 },
};

START_TEST(test_targets)
{
	bool command = readers[_i].command;
	const struct perf_event_attr *a;
	size_t i, j;

	if (command)
		ask_for_command();
	else
		ask_for(3);
	req.both = readers[_i].both;
	req.filter.mntns = 7;
	open_all(readers[_i].with_notes);
	ck_assert(ev.apart && ev.side_of_targets);
	for (i = 0; i < CPUS; i++) {
		const struct event_place *e = event_of((int)i);

		assert_whole(e, false);
		a = attr_of(e->side.fd);
		ck_assert_uint_eq(a->task, readers[_i].task);
		ck_assert_uint_eq(e->side.tasks_id, a->task ? 7000 + (uint64_t)e->side.fd : 0);
		ck_assert_uint_eq(a->comm, readers[_i].comm);
		ck_assert_uint_eq(a->comm_exec, readers[_i].comm);
		ck_assert_uint_eq(a->namespaces, 0);
		ck_assert_uint_eq(a->ksymbol, 1); /* BPF programs that others load matter, too */
		ck_assert_uint_eq(a->disabled, 1);
		ck_assert_uint_eq(a->exclude_kernel, 1);
		if (!command)
			ck_assert_str_eq(targets_of(e), ALL_THREADS);
		ck_assert_uint_eq(e->side.nr_more, command ? 1 : 6);
		for (j = 0; j < e->side.nr_more; j++) {
			a = attr_of(e->side.more[j]);
			ck_assert_int_eq(events[e->side.more[j]].cpu, e->cpu);
			if (command)
				ck_assert_int_eq(events[e->side.more[j]].pid, command_pid(req.command));
			ck_assert_uint_eq(a->inherit, 1);
			ck_assert_uint_eq(a->enable_on_exec, 0);
			ck_assert_uint_eq(a->disabled, 1);
			ck_assert_uint_eq(a->exclude_kernel, 1);
			ck_assert(a->mmap && a->mmap2 && a->namespaces && !a->ksymbol);
			ck_assert_uint_eq(a->task, !command);
			ck_assert_uint_eq(a->comm, !command);
			ck_assert_uint_eq(a->comm_exec, !command);
			ck_assert_uint_eq(a->sample_type,
					  (attr_of(e->fd)->sample_type & RECORD_IDS) | PERF_SAMPLE_IDENTIFIER);
			ck_assert_uint_eq(a->wakeup_watermark, ev.attrs[EVENT_SIDE_BAND].wakeup_watermark);
		}
		ck_assert_uint_eq(attr_of(e->fd)->inherit, 0);
	}
	/* a decoder has to expect all of them */
	ck_assert(ev.attrs[EVENT_SIDE_BAND].mmap && ev.attrs[EVENT_SIDE_BAND].comm && ev.attrs[EVENT_SIDE_BAND].task);
}
END_TEST

/* A /proc of another PID namespace has other ids. The id of the command is known without it. */
START_TEST(test_foreign)
{
	host.foreign = true;
	ask_for(_i ? 0 : 3);
	if (_i)
		ask_for_command();
	open_all(false);
	if (_i)
		ck_assert_int_eq(events[event_of(0)->side.more[0]].pid, command_pid(req.command));
	else
		assert_told(NULL);
	ck_assert_int_eq(ev.side_of_targets, _i);
	ck_assert_int_eq(kernel.passes, 0);
}
END_TEST

/*
 * No target, targets that do not exist, and threads that share a process: each thread once, and all threads of its
 * process.
 */
static const struct {
	pid_t ids[3];
	size_t nr;
	const char *targets; /* NULL: none */
} asked[] = {
	{ { 0 }, 0, NULL },
	{ { 777 }, 1, NULL },
	{ { 777, 778, 779 }, 3, NULL },
	{ { 100, 777 }, 2, "100 101" },
	{ { 777, 778, 900 }, 3, "900" },
	{ { 100 }, 1, "100 101" },
	{ { 100, 101 }, 2, "100 101" },
	{ { 101 }, 1, "100 101" },
	{ { 100, 300 }, 2, "100 101 300 301" },
};

START_TEST(test_asked)
{
	ask_for(0);
	/* As in /proc: the directory of a thread lists the threads of its process, too. */
	add_thread(101, 100);
	add_thread(101, 101);
	unit_write(dir, "778/task/nonsense/stat", "", 0);
	add_thread(900, 900);
	req.filter.ids = asked[_i].ids;
	req.filter.nr = asked[_i].nr;
	open_all(false);
	assert_told(asked[_i].targets);
}
END_TEST

/* Without a list of the present CPUs, it is unknown where to open events: the event of each CPU records everything. */
static const char *const no_lists[] = { "", "nonsense", "2-0\n", "0-99999\n" };

START_TEST(test_no_list)
{
	ask_for(3);
	fake_list_cpus(dir, "present", no_lists[_i]);
	open_all(false);
	assert_told(NULL);
}
END_TEST

/* ---- failures */

static const struct {
	struct answer answers[4];
	const char *targets; /* NULL: each CPU's event records everything */
} ways[] = {
	/* gone */
	{ { { 100, -1, -ESRCH } }, "101 200 201 300 301" },
	{ { { 301, -1, -ESRCH } }, "100 101 200 201 300" },
	{ { { 100, -1, -ESRCH }, { 101, -1, -ESRCH }, { 300, -1, -ESRCH } }, "200 201 301" },
	/* one that may not be sampled: the first, the last, or on one CPU only */
	{ { { 100, -1, -EACCES } }, NULL },
	{ { { 301, -1, -EACCES } }, NULL },
	{ { { 100, -1, -EPERM } }, NULL },
	{ { { 301, -1, -EPERM } }, NULL },
	{ { { -1, -1, -EACCES } }, NULL },
	{ { { 100, 2, -EACCES } }, NULL },
	{ { { 301, 2, -EPERM } }, NULL },
	{ { { 200, 1, -EACCES } }, NULL },
	/* one has ended, and then another is refused */
	{ { { 100, -1, -ESRCH }, { 301, -1, -EACCES } }, NULL },
	{ { { 101, -1, -ESRCH }, { 300, 1, -EPERM }, { 301, -1, -ESRCH } }, NULL },
	/* no descriptors, or another error */
	{ { { 100, 0, -EMFILE } }, NULL },
	{ { { 301, 2, -EMFILE } }, NULL },
	{ { { 201, 1, -ENFILE } }, NULL },
	{ { { 201, -1, -EINVAL } }, NULL },
	{ { { 201, -1, -EBUSY } }, NULL },
	{ { { 201, -1, -EOPNOTSUPP } }, NULL },
	{ { { 201, 2, -ENODEV } }, NULL },
};

START_TEST(test_in_the_way)
{
	ask_for(3);
	memcpy(kernel.answers, ways[_i].answers, sizeof(kernel.answers));
	open_all(false);
	assert_told(ways[_i].targets);
	/* Another backend may succeed. */
	events_close(&ev);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
	memset(kernel.answers, 0, sizeof(kernel.answers));
	open_all(false);
	assert_told(ALL_THREADS);
}
END_TEST

/* A thread that ends between two CPUs: its event is closed with the others. */
START_TEST(test_ends_between)
{
	ask_for(3);
	kernel.answers[0] = (struct answer){ 200, 1, -ESRCH };
	open_all(false);
	ck_assert(ev.side_of_targets);
	ck_assert_str_eq(targets_of(event_of(0)), ALL_THREADS);
	ck_assert_str_eq(targets_of(event_of(1)), "100 101 201 300 301");
	ck_assert_uint_le(event_of(2)->side.nr_more, 6);
	assert_whole(event_of(1), false);
}
END_TEST

/* All targets have ended, also the command: then the events of the CPUs record. */
START_TEST(test_all_gone)
{
	size_t i;

	if (_i)
		ask_for_command();
	else
		ask_for(3);
	kernel.answers[0] = (struct answer){ -1, -1, -ESRCH };
	open_all(false);
	for (i = 0; i < ev.nr_places; i++) {
		ck_assert_uint_eq(ev.places[i].side.nr_more, 0);
		assert_whole(&ev.places[i], true);
	}
}
END_TEST

/* The command may not be sampled, like a program with more privileges. */
START_TEST(test_command_refused)
{
	static const int codes[] = { -EACCES, -EPERM, -EMFILE, -EINVAL };
	unsigned int fds;
	size_t i;

	ask_for_command();
	fds = fake_event_fds(&ev);
	kernel.answers[0] = (struct answer){ -1, _i / 4 ? 2 : -1, codes[_i % 4] };
	open_all(false);
	ck_assert(!ev.side_of_targets);
	for (i = 0; i < ev.nr_places; i++) {
		ck_assert_uint_eq(ev.places[i].side.nr_more, 0);
		assert_whole(&ev.places[i], true);
	}
	ck_assert_uint_eq(fake_event_fds(&ev), fds + 2 * CPUS);
}
END_TEST

/* So many descriptors are left for threads, and 18 events are wanted. */
START_TEST(test_full)
{
	static const int codes[] = { -EMFILE, -ENFILE };

	ask_for(3);
	kernel.nr_targets = _i / 2;
	kernel.full = codes[_i % 2];
	open_all(false);
	assert_told(_i / 2 < 18 ? NULL : ALL_THREADS);
}
END_TEST

/*
 * Other uses need 64 descriptors and six for each CPU. Half of the rest is for threads: 40 threads on three CPUs need
 * 120 events.
 */
static const struct {
	rlim_t limit;
	bool fits;
} limits[] = { { 1, false },   { 82, false }, { 83, false }, { 240, false },
	       { 321, false }, { 322, true }, { 323, true }, { 500, true } };

START_TEST(test_limit)
{
	pid_t tid;
	size_t i;

	for (tid = 1000; tid < 1040; tid++)
		add_thread(1000, tid);
	ask_for(1);
	pids[0] = 1000;
	kernel.limit = limits[_i].limit;
	open_all(false);
	pids[0] = 100;
	ck_assert_int_eq(ev.side_of_targets, limits[_i].fits);
	for (i = 0; i < ev.nr_places; i++) {
		ck_assert_uint_eq(ev.places[i].side.nr_more, limits[_i].fits ? 40 : 0);
		assert_whole(&ev.places[i], !limits[_i].fits);
	}
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 2 * CPUS + (limits[_i].fits ? 120 : 0));
}
END_TEST

/*
 * However many descriptors there are, a run has at most so many events of threads, and at most so many CPUs. All
 * threads but two end before they have their events.
 */
static const struct {
	const char *present;
	pid_t nr;
	bool fits;
} crowds[] = {
	{ "0-31\n", 2, true },       { "0-31\n", 512, true }, /* 16384 */
	{ "0-31\n", 513, false },    { "0-30,32\n", 513, false }, { "0-32\n", 2, false },
	{ "0-31,1000\n", 2, false }, { "0-65535\n", 2, false },
};

START_TEST(test_crowd)
{
	static const rlim_t enough[] = { 2 * 16384 + 6 * 33 + 64, RLIM_INFINITY, 0 };
	size_t nr = ARRAY_SIZE(enough), row = (size_t)_i / nr;
	pid_t tid;

	kernel.limit = enough[(size_t)_i % nr];
	kernel.no_limit = !kernel.limit;
	ask_for(1);
	for (tid = 102; tid < 100 + crowds[row].nr; tid++)
		add_thread(100, tid);
	kernel.nr_targets = 2 * CPUS;
	kernel.full = -ESRCH;
	fake_list_cpus(dir, "present", crowds[row].present);
	open_all(false);
	assert_told(crowds[row].fits ? "100 101" : NULL);
}
END_TEST

/* ---- threads created meanwhile */

static const struct {
	struct birth births[4];
	struct answer answer; /* for one of them */
	bool at_once;
	int passes;
	const char *targets; /* of process 100; NULL: each CPU's event records everything */
} comings[] = {
	{ { { 0 } }, { 0 }, false, 2, "100 101" },
	/* while the first or the last event is opened */
	{ { { 100, 0, 100, 1500 } }, { 0 }, false, 3, "100 101 1500" },
	{ { { 101, 2, 100, 1500 } }, { 0 }, false, 3, "100 101 1500" },
	{ { { 100, 1, 100, 1500 }, { 100, 1, 100, 1501 }, { 101, 1, 100, 1502 } },
	  { 0 },
	  false,
	  3,
	  "100 101 1500 1501 1502" },
	/* by a thread that was created meanwhile itself */
	{ { { 100, 1, 100, 1500 }, { 1500, 1, 100, 1501 } }, { 0 }, false, 4, "100 101 1500 1501" },
	{ { { 100, 1, 100, 1500 }, { 1500, 1, 100, 1501 }, { 1501, 1, 100, 1502 } },
	  { 0 },
	  false,
	  5,
	  "100 101 1500 1501 1502" },
	/* with an id below the known ones, which are sorted for the next pass */
	{ { { 101, 1, 100, 50 }, { 50, 1, 100, 20 } }, { 0 }, true, 4, "100 101 50 20" },
	/* listed at once, and then again */
	{ { { 100, 1, 100, 1500 }, { 1500, 1, 100, 1501 } }, { 0 }, true, 2, "100 101 1500 1501" },
	/* not of our processes */
	{ { { 100, 1, 200, 250 }, { 100, 1, 900, 900 } }, { 0 }, false, 2, "100 101" },
	/* ended before it is looked at; it was new nevertheless */
	{ { { 100, 1, 100, 1500 } }, { 1500, -1, -ESRCH }, false, 3, "100 101" },
	/* may not be sampled, or no descriptor is left */
	{ { { 100, 1, 100, 1500 } }, { 1500, -1, -EACCES }, false, 2, NULL },
	{ { { 100, 1, 100, 1500 } }, { 1500, 2, -EPERM }, false, 2, NULL },
	{ { { 100, 1, 100, 1500 } }, { 1500, 1, -EMFILE }, false, 2, NULL },
	{ { { 100, 1, 100, 1500 }, { 1500, 1, 100, 1501 } }, { 1501, 2, -EMFILE }, false, 3, NULL },
	{ { { 100, 1, 100, 1500 } }, { 1500, -1, -EACCES }, true, 1, NULL },
};

START_TEST(test_coming)
{
	ask_for(1);
	memcpy(kernel.births, comings[_i].births, sizeof(comings[_i].births));
	kernel.answers[0] = comings[_i].answer;
	kernel.at_once = comings[_i].at_once;
	open_all(false);
	ck_assert_int_eq(kernel.passes, comings[_i].passes);
	assert_told(comings[_i].targets);
}
END_TEST

/* There is always another thread: the passes end. */
START_TEST(test_endless)
{
	ask_for(0);
	add_thread(100, 102);
	req.filter.nr = 1;
	kernel.endless = true;
	kernel.newest = 102; /* 103 comes with the next pass, and so on */
	open_all(false);
	ck_assert_int_eq(kernel.passes, 16);
	assert_told("100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117");
}
END_TEST

/* Threads come faster than the list is read. Only the limit of descriptors ends it. */
START_TEST(test_endless_list)
{
	ask_for(1);
	kernel.endless = kernel.at_once = true;
	open_all(false);
	ck_assert_int_eq(kernel.passes, 1);
	assert_told(NULL);
	ck_assert_uint_gt(kernel.newest, 100 + MAX_FDS / 2 / CPUS - 2);
}
END_TEST

/* ---- CPUs */

/* Threads may come to CPUs that are offline now; CPUs that are never present have no event. */
START_TEST(test_offline)
{
	ask_for(1);
	fake_list_cpus(dir, "possible", "0-4\n");
	fake_list_cpus(dir, "present", "0-3\n");
	fake_list_cpus(dir, "online", "0-2\n");
	open_all(false);
	assert_whole(event_of(2), false);
	ck_assert_str_eq(targets_of(event_of(3)), "100 101");
	ck_assert_int_eq(event_of(3)->side.fd, -1);
	ck_assert_int_eq(event_of(3)->fd, -1);
	ck_assert_int_eq(event_of(4)->side.fd, -1);
	ck_assert_uint_eq(event_of(4)->side.nr_more, 0);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 3 * 2 + 4 * 2);
}
END_TEST

/*
 * A CPU that goes offline between its two events, or before, counts as offline. Any other error ends the opening, and
 * nothing stays open.
 */
static const struct {
	bool with_pids;
	struct answer answer;
	int main; /* the answer for the other event on CPU 1 */
	int rc;
	const char *says;
} refused[] = {
	{ false, { WHOLE, 1, -ENODEV }, 0, 0, NULL },
	{ true, { WHOLE, 1, -ENODEV }, 0, 0, NULL },
	{ false, { 0 }, -ENODEV, 0, NULL },
	{ true, { 0 }, -ENODEV, 0, NULL },
	{ false, { WHOLE, -1, -ENODEV }, 0, -ENODEV, "on any CPU" },
	{ true, { WHOLE, -1, -ENODEV }, 0, -ENODEV, "on any CPU" },
	{ false, { WHOLE, 0, -EACCES }, 0, -EACCES, "for tasks and mappings on CPU 0: Permission denied" },
	{ true, { WHOLE, 0, -EACCES }, 0, -EACCES, "for tasks and mappings on CPU 0: Permission denied" },
	{ false, { WHOLE, 2, -EMFILE }, 0, -EMFILE, "for tasks and mappings on CPU 2: Too many open files" },
	{ true, { WHOLE, 2, -EMFILE }, 0, -EMFILE, "for tasks and mappings on CPU 2: Too many open files" },
	{ true, { WHOLE, 1, -ENOMEM }, 0, -ENOMEM, "for tasks and mappings on CPU 1: Cannot allocate memory" },
	{ true, { 0 }, -EACCES, -EACCES, "cannot open perf event 'cpu-clock' on CPU 1: Permission denied" },
};

START_TEST(test_refused)
{
	struct err err = { 0 };
	const struct event_place *e;

	if (refused[_i].with_pids)
		ask_for(1);
	kernel.answers[0] = refused[_i].answer;
	kernel.main = (struct answer){ WHOLE, 1, refused[_i].main };
	ck_assert_int_eq(events_open(&ev, false, &err), refused[_i].rc);
	if (refused[_i].rc) {
		ck_assert_msg(strstr(err.msg, refused[_i].says), "%s", err.msg);
		ck_assert_uint_eq(fake_event_fds(&ev), fds_before);
		return;
	}
	e = event_of(1);
	ck_assert_int_eq(e->fd, -1);
	ck_assert_int_eq(e->side.fd, -1);
	ck_assert_str_eq(targets_of(e), refused[_i].with_pids ? "100 101" : "");
	assert_whole(event_of(0), !refused[_i].with_pids);
	assert_whole(event_of(2), !refused[_i].with_pids);
	ck_assert_uint_eq(ev.nr_cpus, 2);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 4 + (refused[_i].with_pids ? 6 : 0));
}
END_TEST

static void assert_enabled(const struct side_band *s, bool enabled)
{
	size_t i;

	if (s->fd >= 0)
		ck_assert_int_eq(events[s->fd].enabled, enabled);
	for (i = 0; i < s->nr_more; i++)
		ck_assert_int_eq(events[s->more[i]].enabled, enabled);
}

static int nr_attached, attach_answer, nr_detached;

static int attach(void *c, size_t i, struct err *err)
{
	nr_attached++;
	attr_of(ev.places[i].side.fd);
	ck_assert(!events[ev.places[i].side.fd].enabled); /* not enabled yet */
	(void)c;
	return attach_answer ? err_sys(err, attach_answer, "cannot map") : 0;
}

static int detach(void *c, size_t i, struct err *err)
{
	(void)err;
	nr_detached++;
	attr_of(ev.places[i].side.fd); /* still open, and disabled */
	assert_enabled(&ev.places[i].side, false);
	(void)c;
	return 0;
}

static const struct events_hooks hooks = { attach, detach, NULL };

static int follow(const char *online, uint64_t now)
{
	struct err err;

	fake_list_cpus(dir, "online", online);
	return events_follow_cpus(&ev, now, &hooks, &err);
}

/* The events of threads stay open when their CPU goes, and share the ring of the new event. */
START_TEST(test_goes_and_comes)
{
	struct err err = { 0 };
	struct side_band *s;
	int more[2];
	uint64_t t;

	nr_attached = nr_detached = attach_answer = 0;
	ask_for(1);
	open_all(_i);
	ck_assert_int_eq(events_enable(&ev, &err), 0);
	t = event_of(2)->looked_at;
	events_begin(&ev, t);
	s = &event_of(1)->side;
	memcpy(more, s->more, sizeof(more));
	ck_assert_int_eq(follow("0,2\n", t + 1), 1);
	ck_assert_int_eq(nr_detached, 1);
	ck_assert_int_eq(s->fd, -1);
	ck_assert_str_eq(targets_of(event_of(1)), "100 101");
	ck_assert_mem_eq(s->more, more, sizeof(more));
	assert_enabled(&event_of(0)->side, true);
	/* it does not come back at once */
	kernel.answers[0] = (struct answer){ WHOLE, 1, -ENODEV };
	ck_assert_int_eq(follow("0-2\n", t + 2), 0);
	kernel.answers[0].code = -EMFILE;
	ck_assert_int_eq(follow("0-2\n", t + 3), 0);
	ck_assert_int_eq(ev.refused.code, -EMFILE);
	ck_assert_int_eq(nr_attached, 0);
	kernel.answers[0].code = 0;
	attach_answer = -EPERM;
	ck_assert_int_eq(follow("0-2\n", t + 4), 0);
	attach_answer = 0;
	kernel.refused_ioctl = 101;
	ck_assert_int_eq(follow("0-2\n", t + 5), 0);
	kernel.refused_ioctl = 0;
	ck_assert_int_eq(s->fd, -1);
	ck_assert_int_eq(event_of(1)->fd, -1);
	ck_assert_mem_eq(s->more, more, sizeof(more));
	ck_assert_int_eq(follow("0-2\n", t + 6), 1);
	ck_assert_int_eq(nr_attached, 3);
	ck_assert_mem_eq(s->more, more, sizeof(more));
	ck_assert_str_eq(targets_of(event_of(1)), "100 101");
	assert_whole(event_of(1), false);
	assert_enabled(s, true);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + CPUS * (4 + (unsigned int)_i));
}
END_TEST

/* ---- all events of a CPU */

/* All events are enabled and disabled, or an error is reported. */
static const struct {
	pid_t refused; /* -1: the event of the CPU */
	bool left;     /* the CPU has gone */
	int rc;
} tellings[] = {
	{ 0, false, 0 },      { 0, true, 0 },       { -1, true, 0 },     { 777, false, 0 },    { -1, false, -EIO },
	{ 100, false, -EIO }, { 101, false, -EIO }, { 201, true, -EIO }, { 301, false, -EIO }, { 301, true, -EIO },
};

START_TEST(test_tell)
{
	struct err err = { 0 };
	struct side_band *s;

	ask_for(3);
	open_all(false);
	s = &event_of(0)->side;
	assert_enabled(s, false);
	if (tellings[_i].left)
		side_band_leave(s);
	ck_assert_int_eq(side_band_tell(s, PERF_EVENT_IOC_ENABLE), 0);
	assert_enabled(s, true);
	ck_assert_int_eq(side_band_tell(s, PERF_EVENT_IOC_DISABLE), 0);
	assert_enabled(s, false);
	kernel.refused_ioctl = tellings[_i].refused;
	ck_assert_int_eq(side_band_tell(s, PERF_EVENT_IOC_ENABLE), tellings[_i].rc);
	if (!tellings[_i].rc)
		assert_enabled(s, true);
	ck_assert_int_eq(side_band_tell(s, PERF_EVENT_IOC_DISABLE), tellings[_i].rc);
	if (!tellings[_i].rc || tellings[_i].left)
		return;
	ck_assert_int_eq(events_enable(&ev, &err), tellings[_i].rc);
	ck_assert_str_eq(err.msg, "cannot enable the perf event of CPU 0: Input/output error");
	ck_assert_int_eq(events_disable(&ev, &err), tellings[_i].rc);
	ck_assert_str_eq(err.msg, "cannot disable the perf event of CPU 0: Input/output error");
}
END_TEST

START_TEST(test_leave_and_close)
{
	struct side_band *s;
	int fd;

	ask_for(3);
	open_all(false);
	s = &event_of(1)->side;
	fd = s->fd;
	side_band_leave(s);
	ck_assert_int_eq(s->fd, -1);
	ck_assert_int_eq(fcntl(fd, F_GETFD), -1);
	ck_assert_str_eq(targets_of(event_of(1)), ALL_THREADS);
	side_band_leave(s); /* again: no descriptor that is used again is closed */
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + CPUS * (2 + 6) - 1);
	side_band_close(s);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + CPUS * (2 + 6) - 7);
	side_band_close(s);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + CPUS * (2 + 6) - 7);
	ck_assert_int_eq(s->fd, -1);
	ck_assert_uint_eq(s->nr_more, 0);
	ck_assert_ptr_null(s->more);
	side_band_close(&event_of(2)->side); /* with the event of the whole CPU */
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + CPUS * (2 + 6) - 14);
	ck_assert_int_eq(side_band_tell(s, PERF_EVENT_IOC_ENABLE), 0);
}
END_TEST

START_TEST(test_join)
{
	struct side_band s = { .fd = -1 };
	size_t i;

	for (i = 0; i < 100; i++)
		ck_assert_int_eq(side_band_join(&s, open("/dev/null", O_RDONLY | O_CLOEXEC)), 0);
	ck_assert_uint_eq(s.nr_more, 100);
	ck_assert_int_eq(s.fd, -1);
	for (i = 1; i < s.nr_more; i++)
		ck_assert_int_ne(s.more[i], s.more[i - 1]);
	ck_assert_uint_eq(fake_event_fds(&ev), fds_before + 100);
	side_band_close(&s);
}
END_TEST

/* ---- threads that are followed */

/*
 * Side-band events of threads follow the sampling events: inherited with -p, not with -L, and enabled by its exec for a
 * command.
 */
static const struct {
	bool by_tid, command;
	size_t nr; /* threads */
} followed[] = { { false, false, 6 }, { true, false, 3 }, { false, true, 1 } };

START_TEST(test_followed)
{
	const struct perf_event_attr *a;
	unsigned int fds;
	size_t i, j;

	ask_for(3);
	if (followed[_i].command)
		ask_for_command();
	req.filter.by_tid = followed[_i].by_tid;
	ev.followed = followed_new(&ev);
	ck_assert_ptr_nonnull(ev.followed);
	fds = fake_event_fds(&ev);
	open_all(false);
	for (i = 0; i < ev.nr_places; i++) {
		const struct side_band *s = &ev.places[i].side;

		ck_assert_uint_eq(1 + s->nr_more, followed[_i].nr);
		for (j = 0; j <= s->nr_more; j++) {
			int fd = j ? s->more[j - 1] : s->fd;

			a = attr_of(fd);
			ck_assert(events[fd].side);
			ck_assert_int_gt(events[fd].pid, 0);
			ck_assert_int_eq(events[fd].cpu, ev.places[i].cpu);
			ck_assert_uint_eq(a->inherit, !followed[_i].by_tid);
			ck_assert_uint_eq(a->enable_on_exec, followed[_i].command);
			ck_assert(a->mmap && a->mmap2 && a->comm && a->comm_exec && a->task);
			ck_assert_uint_eq(a->sample_type, (attr_of(ev.places[i].fd)->sample_type & RECORD_IDS) |
								  PERF_SAMPLE_IDENTIFIER);
		}
		ck_assert_uint_eq(attr_of(ev.places[i].fd)->mmap, 0);
	}
	ck_assert_uint_eq(fake_event_fds(&ev), fds + CPUS * 2 * followed[_i].nr);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("side_band");
	TCase *tc = tcase_create("side_band");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_without, 0, ARRAY_SIZE(without));
	tcase_add_loop_test(tc, test_with, 0, 16);
	tcase_add_loop_test(tc, test_old_kernel, 0, 2);
	tcase_add_loop_test(tc, test_outgrows, 0, ARRAY_SIZE(smaller));
	tcase_add_loop_test(tc, test_targets, 0, ARRAY_SIZE(readers));
	tcase_add_loop_test(tc, test_foreign, 0, 2);
	tcase_add_loop_test(tc, test_asked, 0, ARRAY_SIZE(asked));
	tcase_add_loop_test(tc, test_no_list, 0, ARRAY_SIZE(no_lists));
	tcase_add_loop_test(tc, test_in_the_way, 0, ARRAY_SIZE(ways));
	tcase_add_test(tc, test_ends_between);
	tcase_add_loop_test(tc, test_all_gone, 0, 2);
	tcase_add_loop_test(tc, test_command_refused, 0, 8);
	tcase_add_loop_test(tc, test_full, 0, 38);
	tcase_add_loop_test(tc, test_limit, 0, ARRAY_SIZE(limits));
	tcase_add_loop_test(tc, test_crowd, 0, 3 * ARRAY_SIZE(crowds));
	tcase_add_loop_test(tc, test_coming, 0, ARRAY_SIZE(comings));
	tcase_add_test(tc, test_endless);
	tcase_add_test(tc, test_endless_list);
	tcase_add_test(tc, test_offline);
	tcase_add_loop_test(tc, test_refused, 0, ARRAY_SIZE(refused));
	tcase_add_loop_test(tc, test_goes_and_comes, 0, 2);
	tcase_add_loop_test(tc, test_tell, 0, ARRAY_SIZE(tellings));
	tcase_add_test(tc, test_leave_and_close);
	tcase_add_test(tc, test_join);
	tcase_add_loop_test(tc, test_followed, 0, ARRAY_SIZE(followed));
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
