// SPDX-License-Identifier: Apache-2.0
/*
 * Followed threads. A copy of /proc lists threads, and this program's own syscall() replaces libc's: it opens the
 * events, and meanwhile creates threads. Its readdir() lists threads as /proc does: by id, including those that are
 * created meanwhile.
 */
#include "core/events/cpus.h"
#include "core/events/events.h"
#include "core/events/followed.h"
#include "core/events/watch.h"
#include "core/host/ids.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <time.h>

enum { MAX_FDS = 256, MAX_OPENED = 4096, CPUS = 3 };

#define OTHERS 12345 /* a user id that is not ours */

/* A thread that is created when the event of @after is opened on CPU @cpu. */
struct birth {
	pid_t after;
	int cpu;
	pid_t pid, tid, parent;
};

static struct {
	pid_t foreign[8], gone[8];
	int exiting; /* after so many waits @then applies to thread 100, which was exiting; 0: never */
	enum { THEN_ENDED = 1, THEN_OTHERS, THEN_REUSED } then;
	int waits;
	int nr_fds; /* so many events can be opened; then the answer is @full */
	int full;
	bool endless; /* whenever a thread has its events, a new one without events is created */
	int offline;  /* CPU whose events are refused; -1: none */
	pid_t foreign_switches[8], gone_switches[8]; /* their switch event is refused */
	int offline_switches;                        /* CPU that goes offline between its two events */
	bool has_dummy;                              /* since 3.12 */
	int id_answer;
	struct birth births[8];
	pid_t newest; /* 0: not known */
	struct {
		pid_t tid;
		int cpu, fd;
		bool switches;
	} opened[MAX_OPENED];
	size_t nr_opened;
} kernel;

/* The directories that are being listed, and the last id listed in each. */
static struct {
	DIR *dir;
	long last;
} listings[2];
static bool listing;

struct dirent *readdir(DIR *d)
{
	static struct dirent *(*next)(DIR *);
	static struct dirent found[2];
	size_t i = listings[0].dir == d || (listings[1].dir != d && !listings[0].dir) ? 0 : 1;
	struct dirent *e;
	long id, least = 0;

	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "readdir");
	if (!listing)
		return next(d);
	listings[i].dir = d;
	rewinddir(d);
	while ((e = next(d))) {
		id = strtol(e->d_name, NULL, 10);
		if (id <= listings[i].last || (least && id > least))
			continue;
		least = id;
		found[i] = *e;
	}
	listings[i].last = least;
	if (!least)
		listings[i].dir = NULL;
	return least ? &found[i] : NULL;
}

static char *dir;
static struct host host;
static struct request req;
static struct events ev;
static unsigned int fds_before;
static int nr_attached, attached, attach_answer; /* for CPUs that come online */

static void put(const char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(const char *text, const char *fmt, ...)
{
	char name[128];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(name, sizeof(name), fmt, ap);
	va_end(ap);
	unit_write(dir, name, text, strlen(text));
}

static void tell_newest(pid_t tid)
{
	char text[64];

	kernel.newest = tid;
	snprintf(text, sizeof(text), "0.20 0.18 0.12 1/80 %d\n", tid);
	if (tid)
		put(text, "loadavg");
	else
		put("", "loadavg");
}

static void add_thread(pid_t pid, pid_t tid, pid_t parent, uid_t uid)
{
	char text[256];

	put("", "%d/task/%d/stat", pid, tid);
	if (pid != tid)
		return;
	snprintf(text, sizeof(text), "Name:\ta\\nUid:\t9\nUmask:\t0022\nPid:\t%d\nPPid:\t%d\nUid:\t%u\t8\t8\t8\n", pid,
		 parent, uid);
	put(text, "%d/status", pid);
}

static void add_ours(pid_t pid)
{
	add_thread(pid, pid, 1, getuid());
}

static bool is_in(const pid_t *list, pid_t tid)
{
	size_t i;

	for (i = 0; i < 8; i++)
		if (list[i] && list[i] == tid)
			return true;
	return false;
}

static void tell_state(pid_t pid, char state)
{
	char text[128];

	snprintf(text, sizeof(text), "%d (a) %c 1 0 0 0 0 0 0 0 0 0 0 0 0 0 20 0 1 0 77 0 0\n", pid, state);
	put(text, "%d/stat", pid);
}

/* The wait for processes that are exiting. */
int nanosleep(const struct timespec *ts, struct timespec *left)
{
	(void)ts;
	(void)left;
	if (++kernel.waits != kernel.exiting)
		return 0;
	if (kernel.then == THEN_ENDED)
		tell_state(100, 'Z');
	else if (kernel.then == THEN_OTHERS)
		add_thread(100, 101, 1, getuid());
	else
		kernel.foreign[0] = 100, kernel.gone[0] = 0;
	return 0;
}

static void give_birth(pid_t tid, int cpu)
{
	const struct birth *b;

	if (kernel.endless && cpu == CPUS - 1)
		add_ours(tid + 1);
	for (b = kernel.births; b < kernel.births + ARRAY_SIZE(kernel.births); b++) {
		if (b->after != tid || b->cpu != cpu)
			continue;
		add_thread(b->pid, b->tid, b->parent, getuid());
		/* Threads that appear late in the list are not the newest; below 1000, ids have wrapped around. */
		if (kernel.newest && (b->tid > kernel.newest || b->tid < 1000))
			tell_newest(b->tid);
	}
}

static bool of_switches(const struct perf_event_attr *attr)
{
	return attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_CONTEXT_SWITCHES;
}

/* A closed descriptor may be used again. */
static void note_opened(pid_t tid, int cpu, int fd, bool switches)
{
	size_t i;

	for (i = 0; i < kernel.nr_opened; i++)
		if (kernel.opened[i].fd == fd)
			kernel.opened[i].fd = -1;
	ck_assert_uint_lt(kernel.nr_opened, MAX_OPENED);
	kernel.opened[kernel.nr_opened].tid = tid;
	kernel.opened[kernel.nr_opened].cpu = cpu;
	kernel.opened[kernel.nr_opened].switches = switches;
	kernel.opened[kernel.nr_opened++].fd = fd;
}

#define ID_OF(fd) (7000 + (uint64_t)(fd))

int fake_event_ioctl(int fd, unsigned long request, uint64_t *id)
{
	ck_assert_uint_eq(request, PERF_EVENT_IOC_ID);
	if (kernel.id_answer)
		return fake_refuse(kernel.id_answer);
	*id = ID_OF(fd);
	return 0;
}

int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	bool switches;
	int fd;

	if (fake_is_dummy(attr) && !kernel.has_dummy)
		return fake_refuse(-EINVAL);
	switches = of_switches(attr);
	if (is_in(kernel.gone, pid) || (switches && is_in(kernel.gone_switches, pid)))
		return fake_refuse(-ESRCH);
	if (is_in(kernel.foreign, pid) || (switches && is_in(kernel.foreign_switches, pid)))
		return fake_refuse(-EACCES);
	if (cpu >= 0 && (cpu == kernel.offline || (switches && cpu == kernel.offline_switches)))
		return fake_refuse(-ENODEV);
	if (kernel.nr_fds-- <= 0)
		return fake_refuse(kernel.full);
	fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return fd;
	note_opened(pid, cpu, fd, switches);
	give_birth(pid, cpu);
	return fd;
}

static void setup(void)
{
	unit_limit_files(MAX_FDS);
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	req = (struct request){ .host = &host, .sampling = { event_default(), 49, 0 }, .asked = 125 };
	ev = (struct events){ .request = &req };
	memset(&kernel, 0, sizeof(kernel));
	kernel.nr_fds = MAX_OPENED;
	kernel.offline = kernel.offline_switches = -1;
	fake_list_cpus(dir, "possible", "0-2\n");
	fake_list_cpus(dir, "online", "0-2\n");
	tell_newest(1000);
	nr_attached = attach_answer = 0;
	fds_before = unit_open_fds();
}

static void teardown(void)
{
	events_close(&ev);
	followed_free(ev.followed);
	watch_free(ev.watch);
	ck_assert_uint_eq(unit_open_fds(), fds_before);
	unit_rmdir(dir);
}

static int follow(struct err *err)
{
	int rc;

	ev.followed = followed_new(&ev);
	ck_assert_ptr_nonnull(ev.followed);
	*err = (struct err){ 0 };
	listing = true;
	rc = events_open(&ev, false, err);
	listing = false;
	memset(listings, 0, sizeof(listings));
	ck_assert_int_eq(err->code, rc);
	return rc;
}

/* The threads with open events, "100 200". Check that each has all its events on all CPUs that are online. */
static const char *with_events(void)
{
	static char text[4096];
	pid_t tids[MAX_OPENED];
	size_t i, nr = 0, used = 0, per_thread = CPUS;

	if (kernel.offline >= 0 || kernel.offline_switches >= 0)
		per_thread--;
	per_thread *= 1 + req.off_cpu.wanted + kernel.has_dummy;
	for (i = 0; i < kernel.nr_opened; i++)
		if (fcntl(kernel.opened[i].fd, F_GETFD) >= 0)
			tids[nr++] = kernel.opened[i].tid;
	ids_sort(tids, nr);
	text[0] = 0;
	for (i = 0; i < nr; i += per_thread) {
		ck_assert_uint_le(i + per_thread, nr);
		ck_assert_int_eq(tids[i], tids[i + per_thread - 1]);
		ck_assert(!i || tids[i] != tids[i - 1]);
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%d", used ? " " : "", tids[i]);
	}
	return text;
}

/* ---- all of this user */

START_TEST(test_user)
{
	char text[128];
	struct err err;
	size_t i;

	add_ours(100);
	add_thread(100, 101, 0, 0);
	add_ours(200);
	add_ours(300);
	add_thread(400, 400, 1, OTHERS);
	put("", "500/task/500/stat"); /* ended: it has no status */
	put("Name:\tx\nUid:\t\n", "600/status");
	put("", "600/task/600/stat");
	kernel.foreign[0] = 200;
	kernel.gone[0] = 300;
	kernel.offline = _i % 2 ? 1 : -1;
	kernel.has_dummy = _i / 2 % 2;
	req.off_cpu.wanted = _i / 4;
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_str_eq(with_events(), "100 101");
	ck_assert_int_eq(ev.apart, kernel.has_dummy);
	for (i = 0; i < ev.nr_places; i++)
		ck_assert_int_eq(ev.places[i].side.fd >= 0, kernel.has_dummy && ev.places[i].fd >= 0);
	ck_assert_uint_eq(ev.nr_cpus, _i % 2 ? 2 : 3);
	ck_assert_uint_eq(events_attr(&ev)->inherit, 1);
	ck_assert_int_eq(ev.unfollowed.code, 0);
	ck_assert_int_eq(ev.user_only.code, 0);
	followed_describe(ev.followed, text, sizeof(text));
	ck_assert_str_eq(text, "threads followed: 2, of this user that may not be: 1");
}
END_TEST

START_TEST(test_nobody)
{
	struct err err;

	if (_i) {
		add_ours(100);
		kernel.foreign[0] = 100;
	}
	ck_assert_int_eq(follow(&err), _i ? -EACCES : -ESRCH);
	ck_assert_str_eq(err.msg, _i ? "cannot open perf event 'cpu-clock' of thread 100 on CPU 0: Permission denied"
				     : "there is no thread to sample");
}
END_TEST

/* A target that is exiting when its events are to be opened has ended soon, or has other threads. */
static const struct {
	int exiting, then; /* as in kernel */
	bool had_ended, by_tid;
	size_t nr_pids;
	int rc;
	const char *with_events;
	bool ended;
	int waits;
} exits[] = {
	{ 0, 0, true, false, 1, 0, "", true, 0 },
	{ 0, 0, true, true, 1, 0, "", true, 0 },
	{ 3, THEN_ENDED, false, false, 1, 0, "", true, 3 },
	{ 3, THEN_ENDED, false, true, 1, 0, "", true, 3 },
	{ 3, THEN_OTHERS, false, false, 1, 0, "101", false, 3 },
	{ 3, THEN_REUSED, false, false, 1, -EACCES, "", false, 3 },
	{ 0, 0, false, false, 1, -ESRCH, "", false, 200 },
	{ 0, 0, false, true, 1, -ESRCH, "", false, 200 },
	/* of two, one does not end */
	{ 0, 0, true, false, 2, -ESRCH, "", false, 200 },
};

START_TEST(test_exiting)
{
	const struct events_hooks hooks = { 0 };
	const pid_t ids[] = { 100, 200 };
	struct err err;

	add_ours(100);
	add_ours(200);
	tell_state(100, exits[_i].had_ended ? 'Z' : 'R');
	tell_state(200, 'R');
	memcpy(kernel.gone, ids, sizeof(ids));
	kernel.exiting = exits[_i].exiting;
	kernel.then = exits[_i].then;
	req.filter.ids = ids;
	req.filter.nr = exits[_i].nr_pids;
	req.filter.by_tid = exits[_i].by_tid;
	ck_assert_msg(follow(&err) == exits[_i].rc, "%s", err.msg);
	ck_assert_str_eq(with_events(), exits[_i].with_events);
	ck_assert_int_eq(followed_have_ended(ev.followed), exits[_i].ended);
	ck_assert_int_eq(kernel.waits, exits[_i].waits);
	if (exits[_i].rc == -ESRCH)
		ck_assert_ptr_nonnull(strstr(err.msg, "00 on CPU 0: No such process"));
	if (exits[_i].ended) /* no CPU was offline when the run began */
		ck_assert_int_eq(events_follow_cpus(&ev, 0, &hooks, &err), 0);
	ck_assert_int_eq(ev.refused.code, 0);
	ck_assert_int_eq(ev.unfollowed.code, 0);
}
END_TEST

/* Ids in a /proc of another PID namespace are different; -L does not need /proc. */
static const struct {
	size_t nr_pids;
	bool by_tid;
	const char *with_events; /* NULL: it fails */
} abroad[] = { { 0, false, NULL }, { 1, false, NULL }, { 1, true, "100" } };

START_TEST(test_foreign)
{
	pid_t pid = 100;
	struct err err;

	add_ours(100);
	host.foreign = true;
	req.filter.ids = &pid;
	req.filter.nr = abroad[_i].nr_pids;
	req.filter.by_tid = abroad[_i].by_tid;
	ck_assert_int_eq(follow(&err), abroad[_i].with_events ? 0 : -ENOENT);
	ck_assert_str_eq(with_events(), abroad[_i].with_events ? abroad[_i].with_events : "");
	if (err.code)
		ck_assert_str_eq(
			err.msg,
			"cannot list threads: /proc is of another PID namespace (mount a /proc of this namespace, "
			"or use --tid)");
}
END_TEST

/* ---- threads that are created meanwhile */

static const struct {
	pid_t newest; /* newest id before that; 0: not known */
	pid_t parent; /* parent of process 200; process 100 exists beside it */
	struct birth births[4];
	const char *with_events;
	unsigned int unsure, all;
} comings[] = {
	/* created by a thread without events yet: it inherits none, and gets its own */
	{ 1000, 1, { { 100, 1, 200, 1001, 0 } }, "100 200 1001", 0, 0 },
	{ 1000, 1, { { 100, 1, 1001, 1001, 200 } }, "100 200 1001", 0, 0 },
	/* by a thread with some of its events: unknown */
	{ 1000, 1, { { 200, 1, 200, 1001, 0 } }, "100 200", 1, 3 },
	{ 1000, 1, { { 200, 1, 1001, 1001, 200 } }, "100 200", 1, 3 },
	{ 1000, 1, { { 200, 1, 1001, 1001, 200 }, { 200, 1, 1001, 1002, 0 } }, "100 200", 2, 4 },
	/* by a thread with all its events: it inherits all */
	{ 1000, 1, { { 200, 1, 100, 1001, 0 } }, "100 200", 0, 0 },
	{ 1000, 1, { { 200, 1, 1001, 1001, 100 } }, "100 200", 0, 0 },
	{ 1000, 1, { { 200, 1, 1001, 1001, 100 }, { 200, 1, 1001, 1002, 0 } }, "100 200", 0, 0 },
	{ 1000, 1, { { 200, 1, 1001, 1001, 100 }, { 200, 1, 1002, 1002, 1001 } }, "100 200", 0, 0 },
	/* by a thread of a process where some threads have all, and one is unknown */
	{ 1000,
	  1,
	  { { 100, 1, 1001, 1001, 200 }, { 200, 1, 200, 1002, 0 }, { 1001, 1, 200, 1003, 0 } },
	  "100 200 1001",
	  2,
	  5 },
	{ 1000,
	  1,
	  { { 100, 1, 1001, 1001, 200 }, { 200, 1, 200, 1002, 0 }, { 1001, 1, 1003, 1003, 200 } },
	  "100 200 1001",
	  2,
	  5 },
	{ 1000,
	  1,
	  { { 100, 1, 1001, 1001, 200 }, { 200, 1, 1002, 1002, 200 }, { 1001, 1, 1002, 1003, 0 } },
	  "100 200 1001",
	  2,
	  5 },
	/* by a thread that is unknown or gone */
	{ 1000, 1, { { 200, 1, 1001, 1001, 1 } }, "100 200", 1, 3 },
	{ 1000, 1, { { 200, 1, 1001, 1001, 777 } }, "100 200", 1, 3 },
	/* while the events of a thread created meanwhile are opened */
	{ 1000, 1, { { 100, 1, 200, 1001, 0 }, { 1001, 1, 200, 1002, 0 } }, "100 200 1001", 1, 4 },
	{ 1000, 1, { { 100, 1, 1001, 1001, 200 }, { 1001, 1, 1001, 1002, 0 } }, "100 200 1001", 1, 4 },
	/* by a thread that appeared late */
	{ 1005, 1, { { 200, 1, 100, 1001, 0 }, { 1001, 1, 100, 1007, 0 } }, "100 200 1001", 1, 4 },
	/* ids wrapped around long ago: these threads are old */
	{ 50, 1, { { 0 } }, "100 200", 0, 0 },
	{ 150, 100, { { 0 } }, "100 200", 0, 0 },
	/* or wrap around now: unknown */
	{ 1000, 1, { { 200, 1, 100, 50, 0 } }, "100 200", 1, 3 },
	{ 1000, 1, { { 200, 0, 200, 1001, 0 }, { 200, 1, 100, 50, 0 } }, "100 200", 2, 4 },
	/* the newest id is unknown: threads found by the first look get events, later ones do not */
	{ 0, 1, { { 0 } }, "100 200", 0, 0 },
	{ 0, 1, { { 200, 1, 100, 101, 0 } }, "100 200", 1, 3 },
	{ 0, 1, { { 200, 1, 1001, 1001, 100 } }, "100 200 1001", 0, 0 },
};

static void assert_unfollowed(unsigned int out, unsigned int all)
{
	char text[128];

	ck_assert_int_eq(ev.unfollowed.code, out ? -EAGAIN : 0);
	snprintf(text, sizeof(text), "%u of %u threads are not followed: they were created while events were opened",
		 out, all);
	if (out)
		ck_assert_str_eq(ev.unfollowed.msg, text);
}

START_TEST(test_coming)
{
	struct err err;

	add_ours(100);
	add_thread(200, 200, comings[_i].parent, getuid());
	memcpy(kernel.births, comings[_i].births, sizeof(comings[_i].births));
	tell_newest(comings[_i].newest);
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_str_eq(with_events(), comings[_i].with_events);
	assert_unfollowed(comings[_i].unsure, comings[_i].all);
}
END_TEST

/* There is always another thread: the passes end. */
START_TEST(test_endless)
{
	struct err err;

	add_ours(100);
	kernel.endless = true;
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_uint_gt(kernel.nr_opened, CPUS);
}
END_TEST

/* ---- -p and -L */

static pid_t pids[] = { 100, 200, 300 };

static void ask_for(bool by_tid)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pids); i++) {
		add_thread(pids[i], pids[i], 1, OTHERS); /* the kernel decides whether these may be sampled */
		add_thread(pids[i], pids[i] + 1, 0, 0);
		tell_state(pids[i], 'R');
	}
	add_ours(400);
	req.filter.ids = pids;
	req.filter.nr = ARRAY_SIZE(pids);
	req.filter.by_tid = by_tid;
}

static const struct {
	bool by_tid;
	pid_t foreign[8], gone[8];
	const char *comm;        /* name of 200; NULL: not known */
	const char *with_events; /* NULL: it fails */
	int rc;
	const char *says; /* the message of the error */
} chosen[] = {
	{ false, { 0 }, { 0 }, "x", "100 101 200 201 300 301", 0, NULL },
	{ true, { 0 }, { 0 }, "x", "100 200 300", 0, NULL },
	{ false, { 0 }, { 100, 101, 300 }, "x", "200 201 301", 0, NULL },
	{ true, { 0 }, { 100, 300 }, "x", "200", 0, NULL },
	{ false, { 400 }, { 0 }, "x", "100 101 200 201 300 301", 0, NULL },
	{ false,
	  { 0 },
	  { 100, 101, 200, 201, 300, 301 },
	  "x",
	  NULL,
	  -ESRCH,
	  "cannot open perf event 'cpu-clock' of "
	  "thread 301 on CPU 0: No such process" },
	{ false,
	  { 200 },
	  { 0 },
	  "x y\n",
	  NULL,
	  -EACCES,
	  "process 200 (x y) may not be sampled: cannot open perf event "
	  "'cpu-clock' of thread 200 on CPU 0: Permission denied" },
	{ false,
	  { 201 },
	  { 0 },
	  "\x1b[2J\xff\n",
	  NULL,
	  -EACCES,
	  "process 200 (?[2J?) may not be sampled: cannot open "
	  "perf event 'cpu-clock' of thread 201 on CPU 0: Permission denied" },
	{ false,
	  { 201 },
	  { 200 },
	  NULL,
	  NULL,
	  -EACCES,
	  "process 200 may not be sampled: cannot open perf event "
	  "'cpu-clock' of thread 201 on CPU 0: Permission denied" },
	{ true,
	  { 200 },
	  { 0 },
	  "x\n",
	  NULL,
	  -EACCES,
	  "thread 200 (x) may not be sampled: cannot open perf event "
	  "'cpu-clock' of thread 200 on CPU 0: Permission denied" },
};

START_TEST(test_chosen)
{
	struct err err;

	ask_for(chosen[_i].by_tid);
	if (chosen[_i].comm)
		put(chosen[_i].comm, "200/task/200/comm");
	memcpy(kernel.foreign, chosen[_i].foreign, sizeof(kernel.foreign));
	memcpy(kernel.gone, chosen[_i].gone, sizeof(kernel.gone));
	ck_assert_int_eq(follow(&err), chosen[_i].rc);
	if (chosen[_i].says)
		ck_assert_str_eq(err.msg, chosen[_i].says);
	if (!chosen[_i].with_events)
		return;
	ck_assert_str_eq(with_events(), chosen[_i].with_events);
	ck_assert_uint_eq(events_attr(&ev)->inherit, !chosen[_i].by_tid);
	ck_assert_int_eq(ev.unfollowed.code, 0);
}
END_TEST

/* With -p, new threads count, new processes do not. */
START_TEST(test_chosen_coming)
{
	const struct birth births[] = {
		{ 100, 1, 200, 1001, 0 },
		{ 200, 1, 200, 1002, 0 },
		{ 200, 1, 100, 1003, 0 },
		{ 200, 1, 1004, 1004, 200 },
	};
	struct err err;

	ask_for(_i);
	memcpy(kernel.births, births, sizeof(births));
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_str_eq(with_events(), _i ? "100 200 300" : "100 101 200 201 300 301 1001");
	assert_unfollowed(_i ? 0 : 1, 8);
}
END_TEST

/* ---- descriptors */

static const struct {
	int nr_fds, full;
	const char *with_events;
	const char *says;
} fewer[] = {
	{ 18, -EMFILE, "100 101 200 201 300 301", NULL },
	{ 17, -EMFILE, "100 101 200 201 300", "1 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 15, -EMFILE, "100 101 200 201 300", "1 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 14, -EMFILE, "100 101 200 201", "2 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 3, -EMFILE, "100", "5 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 14, -ENFILE, "100 101 200 201", "2 of 6 threads are not followed: Too many open files in system" },
	{ 2, -EMFILE, NULL,
	  "cannot open perf event 'cpu-clock' of thread 100 on CPU 2: Too many open files "
	  "(RLIMIT_NOFILE is 256)" },
	{ 0, -ENFILE, NULL,
	  "cannot open perf event 'cpu-clock' of thread 100 on CPU 0: Too many open files in system" },
};

START_TEST(test_fewer)
{
	struct err err;

	ask_for(false);
	kernel.nr_fds = fewer[_i].nr_fds;
	kernel.full = fewer[_i].full;
	if (!fewer[_i].with_events) {
		ck_assert_int_eq(follow(&err), fewer[_i].full);
		ck_assert_str_eq(err.msg, fewer[_i].says);
		return;
	}
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_str_eq(with_events(), fewer[_i].with_events);
	ck_assert_int_eq(ev.unfollowed.code, fewer[_i].says ? fewer[_i].full : 0);
	if (fewer[_i].says)
		ck_assert_str_eq(ev.unfollowed.msg, fewer[_i].says);
}
END_TEST

/* Some descriptors stay free for later. */
START_TEST(test_kept)
{
	struct err err;
	rlim_t limit;
	int rc;

	ask_for(false);
	unit_leave_files(1 + 18 + (unsigned int)_i);
	rc = follow(&err);
	limit = unit_limit_files(MAX_FDS);
	ck_assert_int_eq(rc, 0);
	/* At least a quarter stays free. */
	ck_assert_uint_ge(limit - (rlim_t)unit_open_fds(), limit / 4 < 32 ? limit / 4 : 32);
	if (_i == 0 || _i == 19)
		ck_assert_int_eq(ev.unfollowed.code, _i ? 0 : -EMFILE);
}
END_TEST

/* ---- with a switch event beside each */

/* Each thread has both events on each present CPU; only the switch events have ids. */
static void assert_joined(size_t nr_threads)
{
	size_t i, j, k, switches;

	for (i = 0; i < ev.nr_places; i++) {
		const struct event_place *e = &ev.places[i];

		if (e->cpu == kernel.offline_switches) {
			ck_assert_int_eq(e->fd, -1);
			ck_assert_uint_eq(e->nr_more, 0);
			continue;
		}
		ck_assert_uint_eq(1 + e->nr_more, 2 * nr_threads);
		for (j = switches = 0; j <= e->nr_more; j++) {
			int fd = j ? e->more[j - 1].fd : e->fd;
			uint64_t id = j ? e->more[j - 1].id : 0;

			for (k = 0; k < kernel.nr_opened && kernel.opened[k].fd != fd; k++)
				continue;
			ck_assert_uint_lt(k, kernel.nr_opened);
			ck_assert_int_eq(kernel.opened[k].cpu, e->cpu);
			ck_assert_uint_eq(id, kernel.opened[k].switches ? ID_OF(fd) : 0);
			switches += kernel.opened[k].switches;
		}
		ck_assert_uint_eq(switches, nr_threads);
	}
}

#define JOINED(id) "cannot open perf event 'context-switches' of thread " id " on CPU "

static const struct {
	bool by_tid;
	pid_t foreign[8], gone[8];
	int offline, id_answer;
	const char *with_events; /* NULL: it fails */
	size_t nr;
	int rc;
	const char *says; /* the message of the error */
} joinings[] = {
	{ false, { 0 }, { 0 }, -1, 0, "100 101 200 201 300 301", 6, 0, NULL },
	{ true, { 0 }, { 0 }, -1, 0, "100 200 300", 3, 0, NULL },
	{ false, { 0 }, { 0 }, 0, 0, "100 101 200 201 300 301", 6, 0, NULL },
	{ true, { 0 }, { 0 }, 2, 0, "100 200 300", 3, 0, NULL },
	/* ended between the two */
	{ false, { 0 }, { 100, 101, 300 }, -1, 0, "200 201 301", 3, 0, NULL },
	{ true, { 0 }, { 100, 300 }, 1, 0, "200", 1, 0, NULL },
	{ true, { 0 }, { 100, 200, 300 }, -1, 0, NULL, 0, -ESRCH, JOINED("300") "0: No such process" },
	{ false,
	  { 200 },
	  { 0 },
	  -1,
	  0,
	  NULL,
	  0,
	  -EACCES,
	  "process 200 may not be sampled: " JOINED("200") "0: Permission denied" },
	{ false,
	  { 201 },
	  { 200 },
	  -1,
	  0,
	  NULL,
	  0,
	  -EACCES,
	  "process 200 may not be sampled: " JOINED("201") "0: Permission denied" },
	{ true,
	  { 300 },
	  { 0 },
	  0,
	  0,
	  NULL,
	  0,
	  -EACCES,
	  "thread 300 may not be sampled: " JOINED("300") "0: Permission denied" },
	{ true,
	  { 0 },
	  { 0 },
	  -1,
	  -ENOTTY,
	  NULL,
	  0,
	  -ENOTTY,
	  "cannot read the id of a perf event on CPU 0: Inappropriate ioctl for device" },
};

START_TEST(test_joined)
{
	struct err err;

	ask_for(joinings[_i].by_tid);
	req.off_cpu.wanted = true;
	memcpy(kernel.foreign_switches, joinings[_i].foreign, sizeof(kernel.foreign));
	memcpy(kernel.gone_switches, joinings[_i].gone, sizeof(kernel.gone));
	kernel.offline_switches = joinings[_i].offline;
	kernel.id_answer = joinings[_i].id_answer;
	ck_assert_int_eq(follow(&err), joinings[_i].rc);
	if (joinings[_i].rc) {
		ck_assert_str_eq(err.msg, joinings[_i].says);
		ck_assert_uint_eq(unit_open_fds(), fds_before);
		return;
	}
	ck_assert_int_eq((int)ev.switches, SWITCHES_BY_RECORDS);
	ck_assert_str_eq(with_events(), joinings[_i].with_events);
	ck_assert_uint_eq(ev.nr_cpus, joinings[_i].offline < 0 ? CPUS : CPUS - 1);
	assert_joined(joinings[_i].nr);
	ck_assert_uint_eq(ev.attrs[EVENT_SWITCHES].inherit, !joinings[_i].by_tid);
	ck_assert_int_eq(ev.unfollowed.code, 0);
}
END_TEST

/* Threads of this user: a thread without a switch event is not sampled either. */
START_TEST(test_joined_user)
{
	char text[128];
	struct err err;

	add_ours(100);
	add_ours(200);
	add_ours(300);
	req.off_cpu.wanted = true;
	kernel.foreign_switches[0] = 200;
	kernel.gone_switches[0] = 300;
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_str_eq(with_events(), "100");
	assert_joined(1);
	followed_describe(ev.followed, text, sizeof(text));
	ck_assert_str_eq(text, "threads followed: 1, of this user that may not be: 1");
}
END_TEST

/* Both or none, if descriptors run out between the two. */
static const struct {
	int nr_fds, full;
	const char *with_events;
	size_t nr;
	const char *says;
} fewer_joined[] = {
	{ 36, -EMFILE, "100 101 200 201 300 301", 6, NULL },
	{ 35, -EMFILE, "100 101 200 201 300", 5, "1 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 34, -ENFILE, "100 101 200 201 300", 5, "1 of 6 threads are not followed: Too many open files in system" },
	{ 31, -EMFILE, "100 101 200 201 300", 5, "1 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 30, -EMFILE, "100 101 200 201 300", 5, "1 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 29, -EMFILE, "100 101 200 201", 4, "2 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 6, -EMFILE, "100", 1, "5 of 6 threads are not followed: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 5, -EMFILE, NULL, 0, JOINED("100") "2: Too many open files (RLIMIT_NOFILE is 256)" },
	{ 4, -EMFILE, NULL, 0,
	  "cannot open perf event 'cpu-clock' of thread 100 on CPU 2: Too many open files "
	  "(RLIMIT_NOFILE is 256)" },
	{ 1, -ENFILE, NULL, 0, JOINED("100") "0: Too many open files in system" },
};

START_TEST(test_fewer_joined)
{
	struct err err;

	ask_for(false);
	req.off_cpu.wanted = true;
	kernel.nr_fds = fewer_joined[_i].nr_fds;
	kernel.full = fewer_joined[_i].full;
	if (!fewer_joined[_i].with_events) {
		ck_assert_int_eq(follow(&err), fewer_joined[_i].full);
		ck_assert_str_eq(err.msg, fewer_joined[_i].says);
		ck_assert_uint_eq(unit_open_fds(), fds_before);
		return;
	}
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_str_eq(with_events(), fewer_joined[_i].with_events);
	assert_joined(fewer_joined[_i].nr);
	ck_assert_int_eq(ev.unfollowed.code, fewer_joined[_i].says ? fewer_joined[_i].full : 0);
	if (fewer_joined[_i].says)
		ck_assert_str_eq(ev.unfollowed.msg, fewer_joined[_i].says);
}
END_TEST

/* ---- CPUs that are offline, and come online */

static int attach(void *c, size_t i, struct err *err)
{
	nr_attached++;
	attached = ev.places[i].cpu;
	(void)c;
	return attach_answer ? err_sys(err, attach_answer, "cannot map") : 0;
}

static int detach(void *c, size_t i, struct err *err)
{
	(void)c;
	(void)i;
	(void)err;
	ck_abort_msg("nothing is detached of threads");
}

static const struct events_hooks hooks = { attach, detach, NULL };

static void come(const char *online, int changed)
{
	struct err err;

	fake_list_cpus(dir, "online", online);
	ck_assert_int_eq(events_follow_cpus(&ev, 1000, &hooks, &err), changed);
}

/* @nr_fds: descriptors; CPU 3 is present but offline, CPU 4 is not present */
static void follow_offline(int nr_fds)
{
	struct err err;

	fake_list_cpus(dir, "possible", "0-4\n");
	fake_list_cpus(dir, "present", "0-3\n");
	ask_for(false);
	kernel.nr_fds = nr_fds;
	kernel.full = -EMFILE;
	ck_assert_msg(!follow(&err), "%s", err.msg);
	ck_assert_uint_eq(ev.nr_cpus, 3);
	ck_assert_uint_eq(ev.nr_places, 5);
	ck_assert_int_eq(ev.places[4].fd, -1);
}

START_TEST(test_offline)
{
	size_t i;

	attach_answer = _i ? -EPERM : 0;
	follow_offline(24);
	for (i = 0; i < 4; i++) {
		ck_assert_int_ge(ev.places[i].fd, 0);
		ck_assert_uint_eq(ev.places[i].nr_more, 5);
		ck_assert_int_eq(ev.places[i].waits, i == 3);
	}
	come("0-2\n", 0);
	come("0,2\n", 0);
	ck_assert_int_eq(nr_attached, 0);
	come("0-3\n", !_i);
	come("0-3\n", 0);
	ck_assert_int_eq(nr_attached, 1);
	ck_assert_int_eq(attached, 3);
	ck_assert_uint_eq(ev.nr_cpus, _i ? 3 : 4);
	ck_assert_int_eq(ev.refused.code, attach_answer);
	if (_i)
		ck_assert_str_eq(ev.refused.msg, "cannot map: Operation not permitted");
	come("0-4\n", 0);
	if (!_i)
		ck_assert_str_eq(ev.refused.msg, "CPU 4 was offline when the run began");
}
END_TEST

/* Threads are more important than offline CPUs. */
START_TEST(test_offline_no_room)
{
	int nr_fds = 4 + _i; /* closed descriptors are not available again */

	follow_offline(nr_fds);
	ck_assert_int_eq(ev.places[3].fd, -1);
	ck_assert_uint_eq(ev.places[3].nr_more, 0);
	ck_assert(!ev.places[3].waits);
	ck_assert_int_ge(ev.places[0].fd, 0);
	ck_assert_int_eq(ev.unfollowed.code, -EMFILE);
	come("0-3\n", 0);
	ck_assert_int_eq(nr_attached, 0);
	ck_assert_str_eq(ev.refused.msg, "CPU 3 was offline when the run began");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("followed");
	TCase *tc = tcase_create("followed");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_user, 0, 8);
	tcase_add_loop_test(tc, test_nobody, 0, 2);
	tcase_add_loop_test(tc, test_exiting, 0, ARRAY_SIZE(exits));
	tcase_add_loop_test(tc, test_foreign, 0, ARRAY_SIZE(abroad));
	tcase_add_loop_test(tc, test_coming, 0, ARRAY_SIZE(comings));
	tcase_add_test(tc, test_endless);
	tcase_add_loop_test(tc, test_chosen, 0, ARRAY_SIZE(chosen));
	tcase_add_loop_test(tc, test_chosen_coming, 0, 2);
	tcase_add_loop_test(tc, test_fewer, 0, ARRAY_SIZE(fewer));
	tcase_add_loop_test(tc, test_kept, 0, 20);
	tcase_add_loop_test(tc, test_joined, 0, ARRAY_SIZE(joinings));
	tcase_add_test(tc, test_joined_user);
	tcase_add_loop_test(tc, test_fewer_joined, 0, ARRAY_SIZE(fewer_joined));
	tcase_add_loop_test(tc, test_offline, 0, 2);
	tcase_add_loop_test(tc, test_offline_no_room, 0, 20);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
