// SPDX-License-Identifier: Apache-2.0
/*
 * The run loop without a kernel and without real time. It uses a scripted source and counter (fake_source.h), a clock
 * that advances while the session waits (fake_time.h), and pipes as events. This program's own syscall(), ioctl(),
 * read() and pthread_create() replace libc's.
 */
#include "core/base/clock.h"
#include "core/cli/request.h"
#include "core/session/open.h"
#include "core/session/ring_thread.h"
#include "core/session/session.h"
#include "core/session/state.h"
#include "core/session/statistics.h"
#include "tests/unit/fake_kernel.h"
#include "tests/unit/fake_source.h"
#include "tests/unit/fake_time.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <sys/wait.h>

enum { CPUS = 4, MAX_FDS = 256, MOMENTS = 6, INTERVALS = 8, TASKS = 3 };

/* No task of this host has such an id: the largest is 4194303. */
#define FIRST_TASK 5000001

/* ---- the kernel */

/* An event at a millisecond of the run. */
struct moment {
	unsigned int ms;
	enum { NOTHING, ONLINE, STOPS, HANGS_UP, KILL, NO_THREADS, SLOW_LIST, ENDS, TELLS } what;
	const char *cpus; /* ONLINE: the new list */
	/*
	 * STOPS: the enabled time of this CPU's event stops; HANGS_UP: also, poll(2) reports it; KILL: the signal;
	 * SLOW_LIST: the next read of the list takes so many ms; ENDS: this task
	 */
	int arg;
};

static struct {
	int cpu_of[MAX_FDS], writer[MAX_FDS]; /* by descriptor; the pipe's other end, -1: closed, 0: no event */
	bool notes[MAX_FDS];
	bool enabled[CPUS];
	uint64_t enabled_ns[CPUS]; /* when it was enabled; read(2) returns the time since then */
	uint64_t stands_ns[CPUS];  /* the enabled time stops at this time; 0: it does not stop */
	int open_answer[CPUS], enable_answer[CPUS], disable_answer[CPUS];
	bool no_lost; /* the kernel reports no numbers of lost records, as before 6.0 */
	bool no_threads, no_processes;
	unsigned int list_ms; /* duration of the next read of a file */
	bool wakes;           /* a ring that is half full wakes its reader */
	int pidfd_of[TASKS];  /* 0: not opened */
	bool ended[TASKS];
	bool main_reads; /* the reader is the session itself; otherwise a thread, for which the clock waits */
} kernel;

static struct fake_script script;
static struct moment moments[MOMENTS];
static unsigned int per_ms; /* samples of each CPU */

static bool is_event(int fd)
{
	struct stat st;

	return fd >= 0 && fd < MAX_FDS && kernel.writer[fd] && !fstat(fd, &st) && S_ISFIFO(st.st_mode);
}

int fake_event_open(const struct perf_event_attr *attr, pid_t pid, int cpu)
{
	int p[2];

	(void)pid;
	if (fake_is_dummy(attr))
		return fake_refuse(-ENOENT);
	if (kernel.no_lost && attr->read_format & PERF_FORMAT_LOST)
		return fake_refuse(-EINVAL);
	ck_assert(cpu >= 0 && cpu < CPUS);
	if (kernel.open_answer[cpu])
		return fake_refuse(kernel.open_answer[cpu]);
	ck_assert_int_eq(pipe2(p, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert(p[0] < MAX_FDS && p[1] < MAX_FDS);
	if (kernel.writer[p[0]] > 0)
		close(kernel.writer[p[0]]);
	kernel.writer[p[0]] = p[1];
	kernel.cpu_of[p[0]] = cpu;
	kernel.notes[p[0]] = attr->config == PERF_COUNT_SW_BPF_OUTPUT;
	return p[0];
}

int fake_event_ioctl(int fd, unsigned long request, uint64_t *id)
{
	int cpu, answer;

	ck_assert(is_event(fd));
	cpu = kernel.cpu_of[fd];
	if (request == PERF_EVENT_IOC_ID) {
		*id = 1000 + (uint64_t)fd;
		return 0;
	}
	ck_assert(request == PERF_EVENT_IOC_ENABLE || request == PERF_EVENT_IOC_DISABLE);
	answer = request == PERF_EVENT_IOC_ENABLE ? kernel.enable_answer[cpu] : kernel.disable_answer[cpu];
	if (answer)
		return fake_refuse(answer);
	if (!kernel.notes[fd]) {
		kernel.enabled[cpu] = request == PERF_EVENT_IOC_ENABLE;
		kernel.enabled_ns[cpu] = fake_time_ms() * FAKE_MS;
		kernel.stands_ns[cpu] = 0;
	}
	return 0;
}

ssize_t read(int fd, void *to, size_t size)
{
	struct iovec v = { to, size };
	struct event_counts counts = { 0 };
	int cpu;

	if (!is_event(fd)) {
		unsigned int ms = kernel.list_ms;

		kernel.list_ms = 0;
		if (ms)
			fake_time_pass(ms);
		return readv(fd, &v, 1);
	}
	cpu = kernel.cpu_of[fd];
	counts.enabled_ns =
		(kernel.stands_ns[cpu] ? kernel.stands_ns[cpu] : fake_time_ms() * FAKE_MS) - kernel.enabled_ns[cpu];
	ck_assert_uint_ge(size, sizeof(counts));
	memcpy(to, &counts, sizeof(counts));
	return sizeof(counts);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *), void *arg)
{
	static int (*next)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

	if (kernel.no_threads)
		return EAGAIN;
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "pthread_create");
	return next(thread, attr, fn, arg);
}

/* The worker process that opens files would inherit the events until it closes them. */
pid_t fork(void)
{
	static pid_t (*next)(void);

	if (kernel.no_processes) {
		errno = EAGAIN;
		return -1;
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "fork");
	return next();
}

static void close_writer(int fd)
{
	if (kernel.writer[fd] > 0)
		close(kernel.writer[fd]);
	kernel.writer[fd] = kernel.writer[fd] ? -1 : 0;
}

/* A reader that has emptied its ring is not woken again. Called by any thread. */
static void ring_is_empty(void)
{
	char bytes[64];
	struct iovec v = { bytes, sizeof(bytes) };
	int fd;

	for (fd = 0; fd < MAX_FDS; fd++)
		while (is_event(fd) && readv(fd, &v, 1) > 0)
			;
}

static void wake_reader(void)
{
	int fd;

	for (fd = 0; fd < MAX_FDS; fd++)
		if (is_event(fd) && !kernel.notes[fd])
			break;
	if (fd < MAX_FDS)
		ck_assert_int_eq(write(kernel.writer[fd], "", 1), 1);
	if (!kernel.main_reads)
		fake_wait_for_fetch();
}

/* ---- a run */

static char *dir;
static struct host host;
static struct options options;
static struct session *session;
static int fds_before;

static const struct way plain_ways[] = { { "alone", NULL, &fake_plain_source }, { .name = NULL } };
static const struct way kept_ways[] = { { "alone", NULL, &fake_source }, { .name = NULL } };
static const struct way plain_counting[] = {
	{ "count", &fake_counter, &fake_plain_source },
	{ "alone", NULL, &fake_plain_source },
	{ .name = NULL },
};
static const struct way kept_counting[] = {
	{ "count", &fake_counter, &fake_source },
	{ "alone", NULL, &fake_source },
	{ .name = NULL },
};

/* Ways with or without a thread that empties the ring. */
static const struct way *ways(bool counting, bool kept)
{
	if (counting)
		return kept ? kept_counting : plain_counting;
	return kept ? kept_ways : plain_ways;
}

static void stop_event(int cpu, bool told)
{
	int fd;

	kernel.enabled[cpu] = false;
	kernel.stands_ns[cpu] = fake_time_ms() * FAKE_MS;
	for (fd = 0; told && fd < MAX_FDS; fd++)
		if (is_event(fd) && kernel.cpu_of[fd] == cpu && !kernel.notes[fd])
			close_writer(fd);
}

/* Wait until the ring thread has seen the event and woken the session. */
static void let_be_noticed(void)
{
	struct pollfd p = { session->ring_thread ? ring_thread_fd(session->ring_thread) : -1, POLLIN, 0 };

	while (session->ring_thread && ppoll(&p, 1, &(struct timespec){ 0 }, NULL) < 1)
		sched_yield();
}

/*
 * Wait until the ring thread has ended the sampling, at its time or after a signal; the clock stands still meanwhile.
 */
static void let_stop(bool signalled)
{
	uint64_t end = session->sink.began_ns + options.duration_ns;

	if (!session->ring_thread || !session->sink.began_ns || options.off_cpu.wanted ||
	    !(signalled || (options.duration_ns && now_ns() >= end)))
		return;
	/* the ring thread waits in real time, in which the end comes later: wake it */
	ring_thread_stop_at(session->ring_thread, options.duration_ns ? end : UINT64_MAX);
	while (!ring_thread_stopped_ns(session->ring_thread))
		sched_yield();
}

/* ---- tasks; /proc lists them until they end */

static void put_task(unsigned int i, bool is_there)
{
	char name[64], stat[256];

	snprintf(name, sizeof(name), "%u/stat", FIRST_TASK + i);
	snprintf(stat, sizeof(stat), "%u (a) %c 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 %u ", FIRST_TASK + i,
		 is_there ? 'S' : 'Z', 1000 + i);
	unit_write(dir, name, stat, strlen(stat));
}

static int open_pidfd(pid_t pid)
{
	int fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int i = pid - FIRST_TASK;

	ck_assert(i >= 0 && i < TASKS && fd >= 0);
	kernel.pidfd_of[i] = fd;
	if (kernel.ended[i])
		ck_assert_int_eq(eventfd_write(fd, 1), 0);
	return fd;
}

static void end_task(unsigned int i)
{
	kernel.ended[i] = true;
	put_task(i, false);
	if (kernel.pidfd_of[i])
		ck_assert_int_eq(eventfd_write(kernel.pidfd_of[i], 1), 0);
}

static void act(const struct moment *m)
{
	if (m->what == ONLINE)
		fake_list_cpus(dir, "online", m->cpus);
	else if (m->what == STOPS || m->what == HANGS_UP)
		stop_event(m->arg, m->what == HANGS_UP);
	else if (m->what == KILL)
		kill(getpid(), m->arg);
	else if (m->what == NO_THREADS)
		kernel.no_threads = true;
	else if (m->what == SLOW_LIST)
		kernel.list_ms = (unsigned int)m->arg;
	else if (m->what == ENDS)
		end_task((unsigned int)m->arg);
	else if (m->what == TELLS)
		fake_tell();
	if (m->what == HANGS_UP)
		let_be_noticed();
	if (m->what == KILL)
		let_stop(true);
}

static void take_samples(void)
{
	size_t i;

	for (i = 0; i < CPUS; i++)
		if (kernel.enabled[i])
			fake_sample(per_ms);
}

static void tick(unsigned int ms)
{
	size_t i;

	for (i = 0; i < MOMENTS; i++)
		if (moments[i].ms == ms)
			act(&moments[i]);
	let_stop(false);
	ck_assert(!fake_seen()->changing || !session->ring_thread);
	if (kernel.wakes && !fake_seen()->changing && fake_seen()->waiting > script.room / 2) {
		wake_reader();
		if (script.source.step == FAKE_FETCH)
			let_be_noticed();
	}
}

static void setup(void)
{
	/* The host and the options of a run, the same for all tests. */
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	fake_list_cpus(dir, "possible", "0-3");
	fake_list_cpus(dir, "online", "0-1");
	options = (struct options){
		.cpu = -1, .sampling = { event_default(), 49, 0 }, .dump_bytes = 16384, .unwind = UNWIND_BY_FP
	};
	memset(&kernel, 0, sizeof(kernel));
	fake_pidfd_open = NULL;
	memset(moments, 0, sizeof(moments));
	script = (struct fake_script){ .fates = "p" };
	per_ms = 1;
	session = NULL;
	fds_before = unit_open_fds();
	fake_time_begin(take_samples, tick);
}

/* After any run, everything has been closed once, and no event samples. */
static void finish(void)
{
	const struct fake_seen *seen = fake_seen();
	int fd;

	session_free(session);
	session = NULL;
	ck_assert_uint_eq(seen->opened, 0);
	ck_assert_uint_eq(seen->source[FAKE_CLOSE], seen->source[FAKE_OPEN]);
	ck_assert_uint_eq(seen->counter[FAKE_CLOSE], seen->counter[FAKE_OPEN]);
	ck_assert_uint_eq(seen->switches[FAKE_CLOSE], seen->switches[FAKE_OPEN]);
	for (fd = 0; fd < MAX_FDS; fd++)
		close_writer(fd);
	ck_assert_int_eq(unit_open_fds(), fds_before);
}

static void teardown(void)
{
	if (session)
		finish();
	fake_end();
	fake_time_end();
	unit_rmdir(dir);
}

static int open_run(const struct way *list, struct err *err)
{
	struct request request;

	fake_begin(&script, ring_is_empty);
	request = request_of(&options, &host);
	session = session_new(&request, list);
	ck_assert_ptr_nonnull(session);
	kernel.no_processes = true;
	return session_open(session, err);
}

static void must_open(const struct way *list)
{
	struct err err = { 0 };

	ck_assert_msg(open_run(list, &err) == 0, "%s", err.msg);
}

static void last_for(unsigned int duration_ms, unsigned int interval_ms)
{
	options.duration_ns = duration_ms * FAKE_MS;
	options.interval_ns = interval_ms * FAKE_MS;
}

/* The result of a run: its intervals, and the sums of their numbers. */
struct outcome {
	int rc;
	struct err err;
	unsigned int nr;
	unsigned int started[INTERVALS], stopped[INTERVALS]; /* milliseconds */
	uint64_t rows[INTERVALS];
	uint64_t offline_ms, due_ms;
	struct stats stats;
	struct unaccounted unaccounted;
};

static void note_interval(struct outcome *o)
{
	const struct sink *sink = &session->sink;
	struct stats b;
	struct unaccounted u = session_stats(session, &b);

	ck_assert_uint_lt(o->nr, INTERVALS);
	o->started[o->nr] = fake_time_since(sink->started_ns);
	o->stopped[o->nr] = fake_time_since(sink->stopped_ns);
	o->rows[o->nr++] = rows_total(session_samples(session));
	o->offline_ms += session->events.offline_ns / FAKE_MS;
	o->due_ms += session->events.due_ns / FAKE_MS;
	stats_add(&o->stats, &b);
	o->unaccounted.samples += u.samples;
	o->unaccounted.intervals += u.intervals;
}

/* @report_ms: how long the report of each interval takes; NULL: no time */
static struct outcome run(const unsigned int *report_ms)
{
	struct outcome o = { 0 };

	do {
		o.rc = session_run(session, &o.err);
		if (o.rc >= 0)
			note_interval(&o);
		if (o.rc == 1 && report_ms)
			fake_time_pass(report_ms[o.nr - 1]);
	} while (o.rc == 1);
	return o;
}

static uint64_t sum(const struct outcome *o)
{
	uint64_t rows = 0;
	unsigned int i;

	for (i = 0; i < o->nr; i++)
		rows += o->rows[i];
	return rows;
}

static uint64_t made(char fate)
{
	return fake_seen()->made[(unsigned char)fate];
}

static void assert_balanced(const struct outcome *o)
{
	ck_assert_int_eq(o->unaccounted.samples, 0);
	ck_assert_int_eq(o->unaccounted.intervals, 0);
}

/* ---- the order of calls */

/* Reading the names of all threads takes the source long: what counts in the kernel begins before that. */
static const struct {
	const char *backend;
	bool counting, off_cpu;
	const char *log;
} orders[] = {
	{ NULL, false, false,
	  "source.open source.attach:0 source.attach:1 source.start source.drain source.end source.close" },
	{ NULL, true, false,
	  "counter.probe counter.open source.open source.attach:0 counter.attach:0 source.attach:1 counter.attach:1 "
	  "counter.start counter.watch source.start source.drain counter.stop counter.end source.end counter.take "
	  "source.close "
	  "counter.close" },
	{ NULL, true, true,
	  "counter.probe switches.probe counter.open switches.open source.open "
	  "source.attach:0 switches.attach:0 counter.attach:0 source.attach:1 switches.attach:1 counter.attach:1 "
	  "switches.start counter.start counter.watch source.start source.drain "
	  "counter.stop switches.stop counter.end switches.end source.end "
	  "counter.take switches.take source.close switches.close counter.close" },
	{ "both", true, true,
	  "counter.probe switches.probe counter.open switches.open source.open "
	  "source.attach:0 switches.attach:0 counter.attach:0 source.attach:1 switches.attach:1 counter.attach:1 "
	  "counter.watch source.start switches.start counter.start source.drain "
	  "counter.stop switches.stop counter.end switches.end source.end "
	  "counter.take switches.take source.close switches.close counter.close" },
};

START_TEST(test_order)
{
	struct outcome o;

	options.backend = orders[_i].backend;
	options.off_cpu.wanted = orders[_i].off_cpu;
	last_for(300, 0);
	must_open(ways(orders[_i].counting, false));
	if (!orders[_i].backend)
		ck_assert_str_eq(session->reason, "the first choice works here");
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_int_eq(session->signal_fd, -1);
	ck_assert(!kernel.enabled[0] && !kernel.enabled[1]);
	finish();
	ck_assert_str_eq(fake_seen()->log, orders[_i].log);
}
END_TEST

/* ---- intervals */

static const struct {
	unsigned int duration, interval, report[INTERVALS], source_ms[FAKE_STEPS];
	unsigned int stopped[INTERVALS]; /* 0: that was the last */
} intervals[] = {
	{ 1000, 0, { 0 }, { 0 }, { 1000 } },
	{ 1, 0, { 0 }, { 0 }, { 1 } },
	{ 1000, 2000, { 0 }, { 0 }, { 1000 } },
	{ 1000, 1000, { 0 }, { 0 }, { 1000 } },
	{ 1000, 500, { 0 }, { 0 }, { 500, 1000 } },
	/* The last interval is shorter. */
	{ 1000, 300, { 0 }, { 0 }, { 300, 600, 900, 1000 } },
	{ 1000, 999, { 0 }, { 0 }, { 999, 1000 } },
	/*
	 * A report takes a part of the next interval, all of it, or more; ends of intervals in that time are skipped.
	 */
	{ 1000, 300, { 299, 100 }, { 0 }, { 300, 600, 900, 1000 } },
	{ 1000, 300, { 300 }, { 0 }, { 300, 600, 900, 1000 } },
	{ 1000, 300, { 450 }, { 0 }, { 300, 750, 900, 1000 } },
	{ 1000, 300, { 0, 0, 50 }, { 0 }, { 300, 600, 900, 1000 } },
	{ 2000, 300, { 1000 }, { 0 }, { 300, 1300, 1500, 1800, 2000 } },
	/* A report that lasts longer than the run. */
	{ 1000, 300, { 700 }, { 0 }, { 300, 1000 } },
	{ 1000, 300, { 5000 }, { 0 }, { 300, 5300 } },
	{ 1000, 600, { 5000 }, { 0 }, { 600, 5600 } },
	/* The reader is slow. It reads after 20 ms, and before an interval ends. */
	{ 1000, 300, { 0 }, { [FAKE_DRAIN] = 250 }, { 550, 850, 1150 } },
	{ 1000, 0, { 0 }, { [FAKE_DRAIN] = 900 }, { 1900 } },
	/* Time spent on ending an interval belongs to the next one. */
	{ 1000, 300, { 0 }, { [FAKE_END] = 30 }, { 300, 600, 900, 1000 } },
	{ 1000, 300, { 0 }, { [FAKE_END] = 400 }, { 300, 700, 1100 } },
	/* Without a counter the run begins when the source can count. */
	{ 1000, 300, { 0 }, { [FAKE_START] = 70 }, { 370, 670, 970, 1070 } },
};

/*
 * Each sample is in the interval in which it was taken. @kept: no sample comes after the end, however late the reader
 * is.
 */
static void assert_intervals(const struct outcome *o, int row, bool counting, bool kept)
{
	unsigned int i, stopped, first = intervals[row].source_ms[FAKE_START], earlier = 0;

	if (counting) {
		earlier = first;
		first = 0;
	}

	for (i = 0; i < o->nr; i++) {
		ck_assert_uint_eq(o->started[i], i ? o->stopped[i - 1] : first);
		stopped = intervals[row].stopped[i] - earlier;
		if (kept && stopped > first + intervals[row].duration)
			stopped = first + intervals[row].duration;
		ck_assert_uint_eq(o->stopped[i], stopped);
		ck_assert_uint_eq(o->rows[i], 2 * (o->stopped[i] - (i ? o->started[i] : 0)));
	}
	ck_assert_uint_eq(i < INTERVALS ? intervals[row].stopped[i] : 0, 0);
}

/* @_i: bits 0 and 1: with a counter, with a thread that empties the ring */
START_TEST(test_intervals)
{
	int row = _i / 4;
	struct outcome o;

	last_for(intervals[row].duration, intervals[row].interval);
	memcpy(script.source_ms, intervals[row].source_ms, sizeof(script.source_ms));
	if (_i & 1)
		script.fates = "cp";
	must_open(ways(_i & 1, _i & 2));
	o = run(intervals[row].report);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_uint_eq(o.stats.lost, 0);
	assert_intervals(&o, row, _i & 1, _i & 2);
}
END_TEST

/* ---- statistics */

static const struct {
	bool counting;
	const char *fates;
	unsigned int interval;
	bool no_lost;
} books_rows[] = {
	{ false, "p", 0, false },
	{ false, "pf", 0, false },
	{ true, "c", 0, false },
	{ true, "cfpx", 30, false },
	/* losses that the kernel reports */
	{ false, "l", 0, false },
	{ false, "ppl", 0, false },
	{ false, "pplfb", 30, false },
	{ false, "b", 0, true },
	{ true, "l", 0, false },
	{ true, "cl", 0, true },
	{ true, "cpl", 30, false },
	{ true, "n", 0, false },
	{ true, "cpn", 0, false },
	{ true, "b", 30, false },
	{ true, "cfpxlnb", 0, false },
	{ true, "cfpxlnb", 30, true },
	/* losses that it does not report */
	{ true, "s", 0, false },
	{ true, "cps", 0, false },
	{ true, "ccccccccccs", 0, false },
	{ true, "cpsl", 0, false },
	{ true, "cfpxlnbs", 0, false },
	/* before 6.0, and with intervals, these count as lost */
	{ true, "s", 0, true },
	{ true, "cps", 0, true },
	{ true, "cps", 30, false },
	{ true, "cfpxlnbs", 30, true },
	/* wrong numbers */
	{ false, "m", 0, false },
	{ false, "ppm", 30, false },
	{ false, "d", 0, false },
	{ false, "ppld", 0, true },
	{ true, "m", 0, false },
	{ true, "cpm", 30, false },
	{ true, "cpm", 0, true },
	{ true, "d", 0, false },
	{ true, "cpd", 30, false },
	{ true, "cfpxlnbd", 0, true },
	{ true, "cfpxlnbmms", 0, false },
};

/* @_i: bit 0: with a thread that empties the ring */
START_TEST(test_stats)
{
	int row = _i / 2;
	bool told = !books_rows[row].no_lost && !books_rows[row].interval;
	struct outcome o;
	uint64_t lost;

	script.fates = books_rows[row].fates;
	kernel.no_lost = books_rows[row].no_lost;
	last_for(200, books_rows[row].interval);
	must_open(ways(books_rows[row].counting, _i & 1));
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	lost = made('l') + made('b') + (told ? 0 : made('s'));
	if (books_rows[row].counting)
		lost += made('n');
	ck_assert_uint_eq(o.stats.lost, lost);
	ck_assert_int_eq(o.unaccounted.samples, (int64_t)(made('m') - made('d') + (told ? made('s') : 0)));
	ck_assert_uint_eq(o.stats.taken, 2 * 200);
	ck_assert_uint_eq(o.stats.filtered, made('f') + made('x'));
	ck_assert_uint_eq(sum(&o), made('c') + made('p') + 2 * made('d'));
	ck_assert_uint_eq(o.stats.passed > 0, books_rows[row].counting && strpbrk(script.fates, "pxlnbs"));
}
END_TEST

/* The source learns how many samples the counter has passed on in the interval that ended, not in the run. */
START_TEST(test_passed)
{
	struct err err = { 0 };
	int i;

	script.fates = "cpls";
	last_for(400, 100);
	must_open(plain_counting);
	for (i = 1; i <= 4; i++) {
		ck_assert_int_eq(session_run(session, &err), i < 4);
		ck_assert_uint_eq(fake_seen()->passed, 200 * 3 / 4);
	}
}
END_TEST

/* The events stay enabled until the counter has stopped: samples before that count, none after it. */
START_TEST(test_stop)
{
	struct outcome o;

	script.fates = "c";
	script.counter_ms[FAKE_STOP] = 5;
	script.counter_ms[FAKE_END] = script.counter_ms[FAKE_TAKE] = 50;
	last_for(400, 0);
	must_open(plain_counting);
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	ck_assert_uint_eq(sum(&o), 2 * (400 + 5));
	assert_balanced(&o);
}
END_TEST

/* The numbers of intervals off the CPU, and how many are missing. */
static const struct {
	uint64_t begun, charged, filtered, open, lost, passed, received;
	uint64_t lost_in_all;
	int64_t unaccounted;
} off_cpu[] = {
	{ 0, 0, 0, 0, 0, 0, 0, 0, 0 },
	{ 10, 10, 0, 0, 0, 0, 0, 0, 0 },
	{ 10, 4, 3, 2, 1, 0, 0, 1, 0 },
	/* passed on, but not received */
	{ 10, 7, 0, 0, 0, 5, 2, 3, 0 },
	{ 10, 0, 0, 0, 0, 10, 0, 10, 0 },
	{ 10, 4, 0, 0, 1, 5, 0, 6, 0 },
	{ 10, 5, 0, 0, 5, 5, 5, 5, 0 },
	/* more received than passed on */
	{ 10, 10, 0, 0, 0, 5, 6, 0, 0 },
	{ 10, 11, 0, 0, 0, 5, 6, 0, -1 },
	{ 10, 9, 0, 0, 0, 0, 0, 0, 1 },
	{ 10, 0, 0, 0, 0, 0, 0, 0, 10 },
	{ 10, 4, 3, 2, 0, 0, 0, 0, 1 },
	{ 10, 4, 3, 2, 1, 5, 4, 2, -1 },
	{ 10, 5, 3, 2, 1, 0, 0, 1, -1 },
	{ 0, 1, 0, 0, 0, 0, 0, 0, -1 },
	{ 0, 0, 0, 0, 1, 0, 0, 1, -1 },
	{ 1, 0, 0, 2, 0, 0, 0, 0, -1 },
};

/* @_i: bit 0: samples are counted, too */
START_TEST(test_off_cpu)
{
	int row = _i / 2;
	struct outcome o;

	options.off_cpu.wanted = true;
	options.sampling.event = _i & 1 ? event_default() : NULL;
	script = (struct fake_script){
		.fates = options.sampling.event ? "cp" : NULL,
		.begun = off_cpu[row].begun,
		.charged = off_cpu[row].charged,
		.filtered = off_cpu[row].filtered,
		.open = off_cpu[row].open,
		.lost = off_cpu[row].lost,
		.passed = off_cpu[row].passed,
		.received = off_cpu[row].received,
	};
	last_for(300, 0);
	must_open(plain_counting);
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	ck_assert_uint_eq(o.stats.intervals_lost, off_cpu[row].lost_in_all);
	ck_assert_int_eq(o.unaccounted.intervals, off_cpu[row].unaccounted);
	ck_assert_int_eq(o.unaccounted.samples, 0);
	ck_assert_uint_eq(rows_total(session_intervals(session)), off_cpu[row].charged * FAKE_MS);
	ck_assert_uint_eq(fake_seen()->counter[FAKE_OPEN], _i & 1);
}
END_TEST

/* ---- a ring that is full, and a reader that is late */

static const struct {
	bool kept, wakes;
	unsigned int duration, interval, report[INTERVALS];
	size_t room;
	bool loses;
} late[] = {
	/* Rings are read at least every 200 ms, in which 400 samples come. */
	{ false, false, 1000, 0, { 0 }, 400, false },
	{ false, false, 1000, 0, { 0 }, 399, true },
	{ false, false, 1000, 0, { 0 }, 1, true },
	/* During a report only the ring thread reads. */
	{ false, false, 600, 100, { 0 }, 200, false },
	{ false, false, 600, 100, { 90 }, 200, false },
	{ false, false, 600, 100, { 150 }, 200, true },
	{ false, false, 600, 100, { 0, 400 }, 200, true },
	/* A ring that is half full wakes the reader, or the thread that empties it. */
	{ false, true, 1000, 0, { 0 }, 60, false },
	{ true, true, 1000, 0, { 0 }, 60, false },
	{ true, true, 600, 100, { 0 }, 60, false },
	{ true, true, 600, 100, { 150 }, 60, false },
	{ true, true, 1600, 100, { 500, 700 }, 60, false },
	{ true, true, 600, 100, { 3000 }, 20, false },
};

START_TEST(test_late)
{
	struct outcome o;

	script.room = late[_i].room;
	kernel.wakes = late[_i].wakes;
	kernel.main_reads = !late[_i].kept;
	last_for(late[_i].duration, late[_i].interval);
	must_open(ways(false, late[_i].kept));
	o = run(late[_i].report);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_uint_eq(o.stats.lost > 0, late[_i].loses);
	ck_assert_uint_eq(o.stats.lost, made('l'));
	ck_assert_uint_eq(sum(&o) + o.stats.lost, 2 * o.stopped[o.nr - 1]);
	ck_assert_int_eq(fake_seen()->source[FAKE_FETCH] > 0, late[_i].kept);
	ck_assert_uint_eq(fake_seen()->waiting + fake_seen()->kept, 0);
}
END_TEST

/* Much has been kept: the reader has to read it, and that is no failure. */
START_TEST(test_much)
{
	struct outcome o;

	script.room = 60;
	script.source = (struct fake_fault){ FAKE_FETCH, FAKE_ALWAYS, 1 };
	kernel.wakes = true;
	last_for(1000, _i ? 100 : 0);
	must_open(kept_ways);
	o = run((const unsigned int[INTERVALS]){ 0, 1000 });
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_uint_eq(o.stats.lost, 0);
}
END_TEST

/* If no thread can be created, the session reads the ring itself, unless reports of intervals would prevent that. */
static const struct {
	bool from_the_begin;
	unsigned int interval;
	int rc;
} no_threads[] = {
	{ true, 0, 0 }, { true, 300, -EAGAIN }, { true, 2000, -EAGAIN }, { false, 0, 0 }, { false, 300, 0 }
};

START_TEST(test_no_threads)
{
	struct outcome o;

	last_for(1000, no_threads[_i].interval);
	kernel.no_threads = no_threads[_i].from_the_begin;
	/* A CPU that comes online ends the thread, and no other one can be created. */
	moments[0] = (struct moment){ 100, NO_THREADS, NULL, 0 };
	moments[1] = (struct moment){ 150, ONLINE, "0-2", 0 };
	must_open(kept_ways);
	o = run(NULL);
	ck_assert_int_eq(o.rc, no_threads[_i].rc);
	ck_assert_int_eq(session->signal_fd, -1);
	if (o.rc)
		ck_assert_str_eq(o.err.msg,
				 "cannot start a thread to read the rings: Resource temporarily unavailable");
	else
		assert_balanced(&o);
	ck_assert_ptr_null(session->ring_thread);
}
END_TEST

/* ---- the choice of a way */

static const struct {
	const char *backend;
	bool counting;
	struct fake_fault source, counter, switches;
	int rc;
	const char *name, *says;
} choices[] = {
	{ NULL, true, { 0 }, { 0 }, { 0 }, 0, "count", "the first choice works here" },
	{ NULL, false, { 0 }, { 0 }, { 0 }, 0, "alone", "the first choice works here" },
	{ "alone", true, { 0 }, { 0 }, { 0 }, 0, "alone", "asked for" },
	{ "both", true, { 0 }, { 0 }, { 0 }, 0, "both", "asked for" },
	/* If a way fails, at any step, the next one is tried. */
	{ NULL,
	  true,
	  { 0 },
	  { FAKE_PROBE, 1, -EPERM },
	  { 0 },
	  0,
	  "alone",
	  "count cannot be used: counter probe failed" },
	{ NULL,
	  true,
	  { 0 },
	  { FAKE_OPEN, 1, -ENOMEM },
	  { 0 },
	  0,
	  "alone",
	  "count cannot be used: counter open failed" },
	{ NULL,
	  true,
	  { 0 },
	  { FAKE_ATTACH, 2, -EBUSY },
	  { 0 },
	  0,
	  "alone",
	  "count cannot be used: counter attach failed" },
	{ NULL, true, { FAKE_OPEN, 1, -EIO }, { 0 }, { 0 }, 0, "alone", "count cannot be used: source open failed" },
	{ NULL,
	  true,
	  { FAKE_ATTACH, 1, -EIO },
	  { 0 },
	  { 0 },
	  0,
	  "alone",
	  "count cannot be used: source attach failed" },
	{ NULL,
	  true,
	  { FAKE_ATTACH, 2, -EIO },
	  { 0 },
	  { 0 },
	  0,
	  "alone",
	  "count cannot be used: source attach failed" },
	{ NULL,
	  true,
	  { 0 },
	  { 0 },
	  { FAKE_PROBE, 1, -EIO },
	  0,
	  "alone",
	  "count cannot be used: switches probe failed" },
	{ NULL, true, { 0 }, { 0 }, { FAKE_OPEN, 1, -EIO }, 0, "alone", "count cannot be used: switches open failed" },
	{ NULL,
	  true,
	  { 0 },
	  { 0 },
	  { FAKE_ATTACH, 2, -EIO },
	  0,
	  "alone",
	  "count cannot be used: switches attach failed" },
	/* A way that the user names has no fallback. */
	{ "count", true, { 0 }, { FAKE_PROBE, 1, -EPERM }, { 0 }, -EPERM, NULL, "counter probe failed" },
	{ "count", true, { 0 }, { FAKE_OPEN, 1, -EACCES }, { 0 }, -EACCES, NULL, "counter open failed" },
	{ "count", true, { FAKE_OPEN, 1, -EIO }, { 0 }, { 0 }, -EIO, NULL, "source open failed" },
	{ "count", true, { 0 }, { 0 }, { FAKE_ATTACH, 1, -EIO }, -EIO, NULL, "switches attach failed" },
	{ "alone", true, { FAKE_ATTACH, 2, -EIO }, { 0 }, { 0 }, -EIO, NULL, "source attach failed" },
	{ "both", true, { 0 }, { FAKE_PROBE, 1, -EPERM }, { 0 }, -EPERM, NULL, "counter probe failed" },
	{ "both", true, { FAKE_OPEN, 1, -EACCES }, { 0 }, { 0 }, -EACCES, NULL, "source open failed" },
	/* All of them fail. */
	{ NULL, false, { FAKE_OPEN, 1, -EIO }, { 0 }, { 0 }, -EIO, NULL, "alone cannot be used: source open failed" },
	{ NULL,
	  true,
	  { FAKE_OPEN, FAKE_ALWAYS, -EIO },
	  { 0 },
	  { 0 },
	  -EIO,
	  NULL,
	  "count cannot be used: source open failed; alone cannot be used: source open failed" },
	{ NULL,
	  true,
	  { FAKE_ATTACH, FAKE_ALWAYS, -ENOSPC },
	  { 0 },
	  { 0 },
	  -ENOSPC,
	  NULL,
	  "count cannot be used: source attach failed; alone cannot be used: source attach failed" },
	/* Whole CPUs are not permitted: threads are tried, once. */
	{ NULL,
	  true,
	  { FAKE_OPEN, FAKE_ALWAYS, -EACCES },
	  { 0 },
	  { 0 },
	  -EACCES,
	  NULL,
	  "source open failed; count cannot be used: source open failed; alone cannot be used: source open failed" },
	{ "alone",
	  true,
	  { FAKE_ATTACH, FAKE_ALWAYS, -EPERM },
	  { 0 },
	  { 0 },
	  -EPERM,
	  NULL,
	  "source attach failed; alone cannot be used on whole CPUs: source attach failed" },
};

/* A failure leaves nothing open, and the next run is like any other. */
START_TEST(test_choice)
{
	struct err err = { 0 };
	struct outcome o;
	pid_t pid = 100;

	options.backend = choices[_i].backend;
	options.off_cpu.wanted = choices[_i].switches.call;
	options.pids = &pid;
	options.nr_pids = 1;
	unit_write(dir, "100/task/100/stat", "", 0);
	unit_write(dir, "100/stat", "100 (a) S 1", 11);
	script.source = choices[_i].source;
	script.counter = choices[_i].counter;
	script.switches = choices[_i].switches;
	last_for(100, 0);
	ck_assert_int_eq(open_run(ways(choices[_i].counting, false), &err), choices[_i].rc);
	if (choices[_i].rc) {
		ck_assert_str_eq(err.msg, choices[_i].says);
		ck_assert_int_eq(err.code, choices[_i].rc);
		ck_assert_ptr_null(session->way);
		ck_assert_uint_eq(fake_seen()->opened, 0);
		return;
	}
	ck_assert_str_eq(session_way_name(session), choices[_i].name);
	ck_assert_msg(!strncmp(session->reason, choices[_i].says, strlen(choices[_i].says)), "%s", session->reason);
	script.fates = "p";
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	ck_assert_uint_eq(sum(&o), 200);
	assert_balanced(&o);
}
END_TEST

/* An event that the host lacks is refused once, whatever ways there are; every host has a clock. */
static const struct {
	const char *event, *says;
} missing[] = {
	{ "cycles", "source open failed" },
	{ "cpu-clock", "count cannot be used: source open failed; alone cannot be used: source open failed" },
};

START_TEST(test_missing_event)
{
	struct err err;

	options.sampling.event = event_find(missing[_i].event);
	script.source = (struct fake_fault){ FAKE_OPEN, FAKE_ALWAYS, -ENOENT };
	ck_assert_int_eq(open_run(ways(true, false), &err), -ENOENT);
	ck_assert_str_eq(err.msg, missing[_i].says);
	ck_assert_int_eq(err.code, -ENOENT);
}
END_TEST

/* ---- a step of the run that fails */

static const struct {
	bool kept;
	struct fake_fault source, counter;
	struct moment moment;
	unsigned int reported; /* intervals of 100 ms reported before that; the first one has five drains */
	int rc;
	const char *says;
} failures[] = {
	{ false, { FAKE_START, 1, -EIO }, { 0 }, { 0 }, 0, -EIO, "source start failed" },
	{ false, { FAKE_DRAIN, 1, -EIO }, { 0 }, { 0 }, 0, -EIO, "source drain failed" },
	{ false, { FAKE_DRAIN, 6, -ENOMEM }, { 0 }, { 0 }, 1, -ENOMEM, "source drain failed" },
	{ true, { FAKE_DRAIN, 7, -ENOMEM }, { 0 }, { 0 }, 2, -ENOMEM, "source drain failed" },
	{ false, { FAKE_END, 1, -EIO }, { 0 }, { 0 }, 0, -EIO, "source end failed" },
	{ true, { FAKE_END, 2, -EIO }, { 0 }, { 0 }, 1, -EIO, "source end failed" },
	{ false, { FAKE_END, 3, -EIO }, { 0 }, { 0 }, 2, -EIO, "source end failed" },
	{ false, { FAKE_DETACH, 1, -EIO }, { 0 }, { 50, ONLINE, "0", 0 }, 0, -EIO, "source detach failed" },
	{ true, { FAKE_DETACH, 1, -EIO }, { 0 }, { 250, ONLINE, "0", 0 }, 2, -EIO, "source detach failed" },
	{ true, { FAKE_FETCH, 1, -ENOMEM }, { 0 }, { 0 }, 0, -ENOMEM, "source fetch failed" },
	{ false, { 0 }, { FAKE_START, 1, -EIO }, { 0 }, 0, -EIO, "counter start failed" },
	{ true, { 0 }, { FAKE_START, 1, -EIO }, { 0 }, 0, -EIO, "counter start failed" },
	{ false, { 0 }, { FAKE_STOP, 1, -EIO }, { 0 }, 2, -EIO, "counter stop failed" },
	{ true, { 0 }, { FAKE_STOP, 1, -EIO }, { 0 }, 2, -EIO, "counter stop failed" },
	{ false, { 0 }, { FAKE_END, 1, -EIO }, { 0 }, 0, -EIO, "counter end failed" },
	{ false, { 0 }, { FAKE_END, 3, -EIO }, { 0 }, 2, -EIO, "counter end failed" },
	{ true, { 0 }, { FAKE_TAKE, 1, -EIO }, { 0 }, 0, -EIO, "counter take failed" },
	{ false, { 0 }, { FAKE_TAKE, 3, -EIO }, { 0 }, 2, -EIO, "counter take failed" },
	{ false, { 0 }, { FAKE_DETACH, 1, -EIO }, { 50, ONLINE, "0", 0 }, 0, -EIO, "counter detach failed" },
	{ true, { 0 }, { FAKE_DETACH, 1, -EIO }, { 150, ONLINE, "1", 0 }, 1, -EIO, "counter detach failed" },
	/* If two fail, the first is reported. */
	{ false, { FAKE_DRAIN, 1, -ENOMEM }, { FAKE_STOP, 1, -EIO }, { 0 }, 0, -ENOMEM, "source drain failed" },
	{ true, { FAKE_DRAIN, 6, -ENOMEM }, { FAKE_STOP, 1, -EIO }, { 0 }, 1, -ENOMEM, "source drain failed" },
	{ false, { FAKE_END, 3, -EIO }, { FAKE_STOP, 1, -EBUSY }, { 0 }, 2, -EBUSY, "counter stop failed" },
	{ false, { FAKE_END, 1, -EIO }, { FAKE_TAKE, 1, -EBUSY }, { 0 }, 0, -EIO, "source end failed" },
	{ false, { FAKE_START, 1, -EIO }, { FAKE_START, 1, -EBUSY }, { 0 }, 0, -EBUSY, "counter start failed" },
	{ false,
	  { FAKE_DETACH, 1, -EIO },
	  { FAKE_DETACH, 1, -EBUSY },
	  { 50, ONLINE, "0", 0 },
	  0,
	  -EBUSY,
	  "counter detach failed" },
};

START_TEST(test_failure)
{
	struct outcome o;

	script.fates = "cp";
	script.source = failures[_i].source;
	script.counter = failures[_i].counter;
	moments[0] = failures[_i].moment;
	script.room = 20;
	kernel.wakes = failures[_i].kept;
	last_for(300, 100);
	must_open(ways(true, failures[_i].kept));
	o = run(NULL);
	ck_assert_int_eq(o.rc, failures[_i].rc);
	ck_assert_str_eq(o.err.msg, failures[_i].says);
	ck_assert_int_eq(o.err.code, failures[_i].rc);
	ck_assert_uint_eq(o.nr, failures[_i].reported);
	ck_assert_int_eq(session->signal_fd, -1);
	ck_assert_uint_eq(fake_seen()->counter[FAKE_STOP], 1);
	ck_assert(!kernel.enabled[0] && !kernel.enabled[1]);
}
END_TEST

/* The kernel refuses to disable some: all other events are disabled. */
static const struct {
	int enable_answer, disable_answer;
	const char *says;
} ioctls[] = {
	{ -EIO, 0, "cannot enable the perf event of CPU 1: Input/output error" },
	{ 0, -EIO, "cannot disable the perf event of CPU 1: Input/output error" },
	{ -EIO, -EIO, "cannot enable the perf event of CPU 1: Input/output error" },
};

START_TEST(test_ioctl)
{
	struct outcome o;

	kernel.enable_answer[1] = ioctls[_i].enable_answer;
	kernel.disable_answer[1] = ioctls[_i].disable_answer;
	last_for(300, 0);
	must_open(plain_counting);
	o = run(NULL);
	ck_assert_int_eq(o.rc, -EIO);
	ck_assert_str_eq(o.err.msg, ioctls[_i].says);
	ck_assert_uint_eq(fake_seen()->counter[FAKE_STOP], 1);
	ck_assert(!kernel.enabled[0]);
}
END_TEST

/* ---- CPUs that go offline and come online */

static const struct {
	struct moment moments[MOMENTS];
	struct fake_fault source, counter;
	int open_answer, enable_answer; /* of CPU 2 */
	const char *log;                /* between start and stop, with a counter, without drains */
	unsigned int offline_ms, due_ms;
	const char *refused;
} hotplug[] = {
	{ { { 0 } }, { 0 }, { 0 }, 0, 0, "", 0, 2000, NULL },
	/* One goes. Its event shows when; otherwise it is the time at which the list was read. */
	{ { { 250, STOPS, NULL, 1 }, { 250, ONLINE, "0", 0 } },
	  { 0 },
	  { 0 },
	  0,
	  0,
	  "counter.detach:1 source.detach:1",
	  750,
	  2000,
	  NULL },
	{ { { 250, HANGS_UP, NULL, 1 }, { 250, ONLINE, "0", 0 } },
	  { 0 },
	  { 0 },
	  0,
	  0,
	  "counter.detach:1 source.detach:1",
	  750,
	  2000,
	  NULL },
	/* It is back before the next look at the list, but poll(2) reports it. */
	{ { { 250, HANGS_UP, NULL, 1 }, { 250, ONLINE, "0", 0 }, { 350, ONLINE, "0-1", 0 } },
	  { 0 },
	  { 0 },
	  0,
	  0,
	  "counter.detach:1 source.detach:1 source.attach:1 counter.attach:1",
	  200,
	  2000,
	  NULL },
	{ { { 250, ONLINE, "0", 0 } }, { 0 }, { 0 }, 0, 0, "counter.detach:1 source.detach:1", 600, 2000, NULL },
	/* It comes back. */
	{ { { 250, STOPS, NULL, 1 }, { 250, ONLINE, "0", 0 }, { 500, ONLINE, "0-1", 0 } },
	  { 0 },
	  { 0 },
	  0,
	  0,
	  "counter.detach:1 source.detach:1 source.attach:1 counter.attach:1",
	  350,
	  2000,
	  NULL },
	/* It has gone and come back unseen by the list: its enabled time stands still at all looks. */
	{ { { 250, STOPS, NULL, 1 } },
	  { 0 },
	  { 0 },
	  0,
	  0,
	  "counter.detach:1 source.detach:1 source.attach:1 counter.attach:1",
	  500,
	  2000,
	  NULL },
	/* All of them go, and one comes back. */
	{ { { 190, STOPS, NULL, 0 }, { 190, STOPS, NULL, 1 }, { 190, ONLINE, "3", 0 }, { 790, ONLINE, "0", 0 } },
	  { 0 },
	  { FAKE_ATTACH, 3, -EIO },
	  0,
	  0,
	  "counter.detach:0 source.detach:0 counter.detach:1 source.detach:1 source.attach:3 counter.attach:3 "
	  "counter.detach:3 source.detach:3 source.attach:3 counter.attach:3 source.attach:0 counter.attach:0 "
	  "counter.detach:3 source.detach:3",
	  610 + 810 + 200,
	  2000 + 600,
	  "counter attach failed" },
	/* One is new. */
	{ { { 250, ONLINE, "0-2", 0 } }, { 0 }, { 0 }, 0, 0, "source.attach:2 counter.attach:2", 0, 2600, NULL },
	/* It cannot be attached, and is tried again. */
	{ { { 250, ONLINE, "0-2", 0 } },
	  { FAKE_ATTACH, 3, -EIO },
	  { 0 },
	  0,
	  0,
	  "source.attach:2 counter.detach:2 source.detach:2 source.attach:2 counter.attach:2",
	  0,
	  2400,
	  "source attach failed" },
	{ { { 250, ONLINE, "0-2", 0 } },
	  { 0 },
	  { FAKE_ATTACH, 3, -EIO },
	  0,
	  0,
	  "source.attach:2 counter.attach:2 counter.detach:2 source.detach:2 source.attach:2 counter.attach:2",
	  0,
	  2400,
	  "counter attach failed" },
	{ { { 250, STOPS, NULL, 1 }, { 250, ONLINE, "0", 0 }, { 500, ONLINE, "0-1", 0 } },
	  { FAKE_ATTACH, 3, -EIO },
	  { 0 },
	  0,
	  0,
	  "counter.detach:1 source.detach:1 source.attach:1 counter.detach:1 source.detach:1 source.attach:1 "
	  "counter.attach:1",
	  550,
	  2000,
	  "source attach failed" },
	/* The kernel refuses it each time. */
	{ { { 250, ONLINE, "0-2", 0 } },
	  { 0 },
	  { 0 },
	  -EMFILE,
	  0,
	  "",
	  0,
	  2000,
	  "cannot open perf event 'cpu-clock' on CPU 2: Too many open files" },
	{ { { 250, ONLINE, "0-2", 0 } }, { 0 }, { 0 }, -ENODEV, 0, "", 0, 2000, NULL },
	{ { { 650, ONLINE, "0-2", 0 } },
	  { 0 },
	  { 0 },
	  0,
	  -EIO,
	  "source.attach:2 counter.attach:2 counter.detach:2 source.detach:2 "
	  "source.attach:2 counter.attach:2 counter.detach:2 source.detach:2 "
	  "source.attach:2 counter.attach:2 counter.detach:2 source.detach:2",
	  0,
	  2000,
	  "cannot enable the perf event of CPU 2: Input/output error" },
	/* The list cannot be parsed: nothing changes. */
	{ { { 250, ONLINE, "", 0 } }, { 0 }, { 0 }, 0, 0, "", 0, 2000, NULL },
	{ { { 250, ONLINE, "1-0", 0 } }, { 0 }, { 0 }, 0, 0, "", 0, 2000, NULL },
	{ { { 250, ONLINE, "all", 0 } }, { 0 }, { 0 }, 0, 0, "", 0, 2000, NULL },
	/* A slow read of either list finds no CPU offline. */
	{ { { 150, SLOW_LIST, NULL, 900 } }, { 0 }, { 0 }, 0, 0, "", 0, 2 * 1100, NULL },
	{ { { 350, SLOW_LIST, NULL, 900 } }, { 0 }, { 0 }, 0, 0, "", 0, 2 * 1300, NULL },
	{ { { 550, SLOW_LIST, NULL, 900 } }, { 0 }, { 0 }, 0, 0, "", 0, 2 * 1500, NULL },
	{ { { 150, SLOW_LIST, NULL, 400 } }, { 0 }, { 0 }, 0, 0, "", 0, 2000, NULL },
	{ { { 350, SLOW_LIST, NULL, 400 } }, { 0 }, { 0 }, 0, 0, "", 0, 2000, NULL },
};

/* The part of the log between source.start and counter.stop, without drains. */
static void changes(char *out, size_t size)
{
	const char *log = strstr(fake_seen()->log, "source.start"), *end = strstr(log, "counter.stop");
	size_t used = 0;

	*out = 0;
	for (log = strchr(log, ' '); log < end; log = strchr(log, ' ')) {
		size_t len = strcspn(++log, " ");

		if (log < end && strncmp(log, "source.drain", len))
			used += (size_t)snprintf(out + used, size - used, "%s%.*s", used ? " " : "", (int)len, log);
	}
}

/* @_i: bit 0: with a thread that empties the ring, which must not do so while events are opened or closed */
START_TEST(test_hotplug)
{
	int row = _i / 2;
	struct outcome o;
	char log[1024];

	memcpy(moments, hotplug[row].moments, sizeof(moments));
	script.fates = "cp";
	script.source = hotplug[row].source;
	script.counter = hotplug[row].counter;
	kernel.open_answer[2] = hotplug[row].open_answer;
	kernel.enable_answer[2] = hotplug[row].enable_answer;
	last_for(1000, 0);
	must_open(ways(true, _i & 1));
	o = run(NULL);
	ck_assert_msg(o.rc == 0, "%s", o.err.msg);
	assert_balanced(&o);
	changes(log, sizeof(log));
	ck_assert_str_eq(log, hotplug[row].log);
	ck_assert_uint_eq(o.offline_ms, hotplug[row].offline_ms);
	/* the ring thread ends the run in time */
	ck_assert_uint_eq(o.due_ms, _i & 1 && moments[0].what == SLOW_LIST ? 2000 : hotplug[row].due_ms);
	ck_assert_int_eq(session->events.refused.code != 0, hotplug[row].refused != NULL);
	if (hotplug[row].refused)
		ck_assert_ptr_nonnull(strstr(session->events.refused.msg, hotplug[row].refused));
	ck_assert_int_eq(session->sink.gap, *hotplug[row].log != 0);
}
END_TEST

/* While events change, no thread reads the rings. */
START_TEST(test_changing)
{
	static const struct moment goes_and_comes[] = { { 250, ONLINE, "0", 0 }, { 500, ONLINE, "0-2", 0 } };
	struct outcome o;

	memcpy(moments, goes_and_comes, sizeof(goes_and_comes));
	script.source_ms[FAKE_ATTACH] = script.source_ms[FAKE_DETACH] = 2;
	script.room = 60;
	kernel.wakes = true; /* there is a thread after a change, too */
	last_for(1000, _i ? 300 : 0);
	must_open(kept_ways);
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_uint_eq(o.stats.lost, 0);
	ck_assert_uint_eq(fake_seen()->source[FAKE_ATTACH], 2 + 2);
	ck_assert_uint_eq(fake_seen()->source[FAKE_DETACH], 1);
}
END_TEST

/* ---- the end of the targets */

static const struct {
	unsigned int nr;
	struct moment moments[TASKS];
	unsigned int interval, report_ms, stopped[INTERVALS]; /* 0: that was the last */
} targets[] = {
	{ 1, { { 0 } }, 0, 0, { 1000 } },
	{ 1, { { 450, ENDS, NULL, 0 } }, 0, 0, { 450 } },
	/* the last target ends, whichever that is */
	{ 2, { { 450, ENDS, NULL, 0 } }, 0, 0, { 1000 } },
	{ 2, { { 450, ENDS, NULL, 1 } }, 0, 0, { 1000 } },
	{ 2, { { 250, ENDS, NULL, 0 }, { 450, ENDS, NULL, 1 } }, 0, 0, { 450 } },
	{ 2, { { 250, ENDS, NULL, 1 }, { 450, ENDS, NULL, 0 } }, 0, 0, { 450 } },
	{ 3, { { 250, ENDS, NULL, 1 }, { 350, ENDS, NULL, 2 }, { 450, ENDS, NULL, 0 } }, 0, 0, { 450 } },
	{ 3, { { 250, ENDS, NULL, 1 }, { 450, ENDS, NULL, 0 }, { 450, ENDS, NULL, 2 } }, 0, 0, { 450 } },
	/* within an interval, and during a report */
	{ 1, { { 450, ENDS, NULL, 0 } }, 300, 0, { 300, 450 } },
	{ 1, { { 300, ENDS, NULL, 0 } }, 300, 0, { 300 } },
	{ 1, { { 350, ENDS, NULL, 0 } }, 300, 100, { 300, 400 } },
	{ 2, { { 350, ENDS, NULL, 0 }, { 750, ENDS, NULL, 1 } }, 300, 0, { 300, 600, 750 } },
	/* CPUs change meanwhile */
	{ 1, { { 150, ONLINE, "0-2", 0 }, { 350, ONLINE, "0", 0 }, { 450, ENDS, NULL, 0 } }, 0, 0, { 450 } },
};

enum { BY_PIDFD, BY_PROC, THREADS, HOWS };

/* Without a pidfd, the next look finds the end, when a drain is due. */
static void assert_stopped(const struct outcome *o, int row, int how)
{
	unsigned int i, last = 0;

	for (i = 0; i < INTERVALS && targets[row].stopped[i]; i++) {
		last = targets[row].stopped[i];
		if (how == BY_PIDFD)
			ck_assert_uint_eq(o->stopped[i], last);
	}
	if (how == BY_PIDFD)
		ck_assert_uint_eq(o->nr, i);
	ck_assert_uint_ge(o->stopped[o->nr - 1], last);
	ck_assert_uint_le(o->stopped[o->nr - 1], last + (last < 1000 ? 200 : 0));
}

/* @_i: how the end is found, and bits 0 and 1: with a counter, with a thread that empties the ring */
START_TEST(test_targets)
{
	static pid_t ids[TASKS] = { FIRST_TASK, FIRST_TASK + 1, FIRST_TASK + 2 };
	int how = _i / 4 % HOWS, row = _i / 4 / HOWS;
	unsigned int i, reports[INTERVALS], ends = 0;
	struct outcome o;

	for (i = 0; i < TASKS; i++)
		put_task(i, true);
	for (i = 0; i < INTERVALS; i++)
		reports[i] = targets[row].report_ms;
	options.pids = ids;
	options.nr_pids = targets[row].nr;
	options.filter.by_tid = how == THREADS;
	/* threads have no pidfd */
	fake_pidfd_open = how == BY_PROC ? NULL : open_pidfd;
	memcpy(moments, targets[row].moments, sizeof(targets[row].moments));
	last_for(1000, targets[row].interval);
	must_open(ways(_i & 1, _i & 2));
	o = run(reports);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	for (i = 0; i < TASKS; i++)
		ends += kernel.ended[i];
	ck_assert_int_eq(session_targets_ended(session), ends == targets[row].nr);
	ck_assert_int_eq(kernel.pidfd_of[0] > 0, how == BY_PIDFD);
	assert_stopped(&o, row, how);
}
END_TEST

/* Targets that ended before anything was opened, and one whose id is used again. */
START_TEST(test_targets_gone)
{
	static pid_t id = FIRST_TASK;
	struct outcome o;

	put_task(0, true);
	options.pids = &id;
	options.nr_pids = 1;
	fake_pidfd_open = _i & 1 ? open_pidfd : NULL;
	last_for(1000, 0);
	if (_i & 2)
		end_task(0);
	must_open(plain_ways);
	unit_write(dir, "5000001/stat", "5000001 (b) S 1 1 1 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 1001 ", 58);
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert(session_targets_ended(session));
	ck_assert_uint_le(o.stopped[0], 20);
}
END_TEST

/* The CPU time of a target is known at the end if the kernel tells it. */
START_TEST(test_targets_ran)
{
	static pid_t id = FIRST_TASK;
	struct outcome o;

	put_task(0, true);
	if (_i)
		unit_write(dir, "5000001/schedstat", "700 0 1\n", 8);
	options.pids = &id;
	options.nr_pids = 1;
	options.filter.by_tid = true;
	last_for(1000, 0);
	must_open(plain_ways);
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_int_eq(session->ran_known, _i);
	if (_i)
		ck_assert_uint_eq(session->ran_ns, 0);
}
END_TEST

/* ---- progress */

enum { CALLS = 16 };

static struct {
	unsigned int nr, ms[CALLS];
	struct progress p[CALLS];
} shown;

static void show(void *ctx, const struct progress *p)
{
	ck_assert_ptr_eq(ctx, &shown);
	ck_assert_uint_lt(shown.nr, CALLS);
	shown.ms[shown.nr] = fake_time_ms();
	shown.p[shown.nr++] = *p;
}

/* All samples until the last drain are known. */
static void assert_progress(unsigned int i, uint64_t duration_ms, unsigned int ended_ms)
{
	const struct progress *p = &shown.p[i];
	uint64_t taken = 2 * (shown.ms[i] - ended_ms);

	ck_assert_uint_eq(p->elapsed_ns, shown.ms[i] * FAKE_MS);
	ck_assert_uint_eq(p->left_ns, duration_ms ? duration_ms * FAKE_MS - p->elapsed_ns : UINT64_MAX);
	ck_assert_uint_eq(p->samples + p->lost, taken);
	ck_assert_int_eq(p->lost > 0, strchr(script.fates, 'l') != NULL);
	ck_assert_uint_eq(p->intervals, 0);
}

static const struct {
	bool counting, kept;
	const char *fates;
	unsigned int duration, interval, report_ms, nr;
} progress[] = {
	{ false, false, "p", 3000, 0, 0, 5 },
	{ false, true, "p", 3000, 0, 0, 5 },
	{ true, false, "cp", 3000, 0, 0, 5 },
	{ true, true, "cp", 3000, 0, 0, 5 },
	{ false, false, "ppl", 3000, 0, 0, 5 },
	{ true, false, "cpl", 0, 0, 0, 5 },
	{ false, false, "p", 500, 0, 0, 1 },
	{ false, false, "p", 400, 0, 0, 0 },
	{ false, false, "p", 3000, 900, 0, 5 },
	{ true, true, "cp", 3000, 900, 0, 5 },
	/* After a report of 600 ms, missed calls are not made up for. */
	{ false, false, "p", 3000, 1000, 600, 3 },
};

START_TEST(test_progress)
{
	unsigned int report_ms[INTERVALS], i;
	struct outcome o;

	memset(&shown, 0, sizeof(shown));
	for (i = 0; i < INTERVALS; i++)
		report_ms[i] = progress[_i].report_ms;
	script.fates = progress[_i].fates;
	last_for(progress[_i].duration, progress[_i].interval);
	if (!progress[_i].duration)
		moments[0] = (struct moment){ 3000, KILL, NULL, SIGINT };
	must_open(ways(progress[_i].counting, progress[_i].kept));
	session_progress(session, show, &shown);
	o = run(report_ms);
	ck_assert_int_eq(o.rc, 0);
	assert_balanced(&o);
	ck_assert_uint_eq(shown.nr, progress[_i].nr);
	for (i = 0; i < shown.nr; i++) {
		unsigned int ended = 0, j;

		for (j = 0; j < o.nr && o.stopped[j] < shown.ms[i]; j++)
			if (o.stopped[j] < progress[_i].duration)
				ended = o.stopped[j];
		ck_assert_uint_ge(shown.ms[i] - (i ? shown.ms[i - 1] : 0), 500);
		assert_progress(i, progress[_i].duration, ended);
	}
}
END_TEST

/* The session does not wake up to show its progress. */
START_TEST(test_progress_costs_no_wakeup)
{
	unsigned int drains[2];
	int i;

	for (i = 0; i < 2; i++) {
		last_for(3000, 0);
		must_open(plain_ways);
		memset(&shown, 0, sizeof(shown));
		if (i)
			session_progress(session, show, &shown);
		ck_assert_int_eq(run(NULL).rc, 0);
		drains[i] = fake_seen()->source[FAKE_DRAIN];
		finish();
		fake_time_begin(take_samples, tick);
	}
	ck_assert_uint_gt(shown.nr, 0);
	ck_assert_uint_eq(drains[0], drains[1]);
}
END_TEST

/* ---- signals */

enum { SIGNALLED = 10, NOT_SIGNALLED = 11, FAILED = 12 };

static const struct {
	bool kept;
	unsigned int interval;
	/* KILL: during the run, or during the report of the first interval, which takes 300 ms */
	struct moment moments[2];
	int after, after_ms;  /* a signal so long after the run */
	int status;           /* exit status of the process, or -signal that kills it */
	unsigned int stopped; /* end of the last interval; 0: the process is killed before */
} signals[] = {
	{ false, 0, { { 0 } }, 0, 0, NOT_SIGNALLED, 1000 },
	{ true, 200, { { 0 } }, 0, 0, NOT_SIGNALLED, 1000 },
	/* The first signal ends the run, */
	{ false, 0, { { 150, KILL, NULL, SIGINT } }, 0, 0, SIGNALLED, 150 },
	{ true, 0, { { 150, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 150 },
	{ false, 0, { { 1000, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 1000 },
	{ false, 200, { { 150, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 150 },
	{ false, 200, { { 200, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 200 },
	{ true, 200, { { 550, KILL, NULL, SIGINT } }, 0, 0, SIGNALLED, 550 },
	/* two different signals at once do, too, */
	{ false, 0, { { 150, KILL, NULL, SIGINT }, { 150, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 150 },
	{ true, 0, { { 150, KILL, NULL, SIGTERM }, { 150, KILL, NULL, SIGINT } }, 0, 0, SIGNALLED, 150 },
	{ true, 200, { { 550, KILL, NULL, SIGINT }, { 550, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 550 },
	/* also during a report. */
	{ false, 200, { { 250, KILL, NULL, SIGINT } }, 0, 0, SIGNALLED, 500 },
	{ false, 200, { { 250, KILL, NULL, SIGINT }, { 450, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 500 },
	{ true, 200, { { 250, KILL, NULL, SIGINT } }, 0, 0, SIGNALLED, 250 },
	{ true, 200, { { 250, KILL, NULL, SIGTERM } }, 0, 0, SIGNALLED, 250 },
	{ true, 200, { { 250, KILL, NULL, SIGINT }, { 260, ONLINE, "0", 0 } }, 0, 0, SIGNALLED, 250 },
	/* The same signal sent twice at once, as to a process group, counts as the first; */
	{ false, 0, { { 150, KILL, NULL, SIGINT } }, SIGINT, 199, SIGNALLED, 150 },
	{ true, 200, { { 550, KILL, NULL, SIGINT } }, SIGINT, 100, SIGNALLED, 550 },
	{ true, 200, { { 450, KILL, NULL, SIGINT }, { 480, KILL, NULL, SIGINT } }, 0, 0, SIGNALLED, 450 },
	/* a second one ends the process. */
	{ false, 0, { { 150, KILL, NULL, SIGINT } }, SIGINT, 200, -SIGINT, 150 },
	{ true, 0, { { 150, KILL, NULL, SIGTERM } }, SIGTERM, 1000, -SIGTERM, 150 },
	{ false, 0, { { 150, KILL, NULL, SIGINT } }, SIGTERM, 0, -SIGTERM, 150 },
	{ true, 200, { { 550, KILL, NULL, SIGTERM } }, SIGINT, 0, -SIGINT, 550 },
	{ false, 0, { { 150, KILL, NULL, SIGINT }, { 150, KILL, NULL, SIGTERM } }, SIGINT, 200, -SIGINT, 150 },
	{ true, 200, { { 250, KILL, NULL, SIGINT }, { 450, KILL, NULL, SIGINT } }, 0, 0, -SIGINT, 0 },
	{ true, 200, { { 250, KILL, NULL, SIGINT }, { 260, KILL, NULL, SIGTERM } }, 0, 0, -SIGTERM, 0 },
	{ true, 200, { { 250, KILL, NULL, SIGTERM }, { 499, KILL, NULL, SIGTERM } }, 0, 0, -SIGTERM, 0 },
	/* A signal after the end of the run is the second. */
	{ false, 0, { { 0 } }, SIGINT, 0, -SIGINT, 1000 },
	{ true, 200, { { 0 } }, SIGTERM, 0, -SIGTERM, 1000 },
};

/* During a report the ring thread takes the signal: wait for that before sending the next one. */
static void let_be_taken(void)
{
	struct pollfd p = { session->signal_fd, POLLIN, 0 };

	while (session->ring_thread && ppoll(&p, 1, &(struct timespec){ 0 }, NULL) > 0)
		sched_yield();
	while (session->ring_thread && session->signal_fd >= 0 && !ring_thread_signalled(session->ring_thread))
		sched_yield();
}

/* Runs in a process of its own, which gets the signals. Test assertions do not work here. */
static void be_signalled(int row)
{
	static const unsigned int report_ms = 300;
	struct err err = { 0 };
	unsigned int nr, ms, stopped;
	int rc;

	if (open_run(ways(false, signals[row].kept), &err))
		_exit(FAILED);
	memcpy(moments, signals[row].moments, sizeof(signals[row].moments));
	for (nr = 0; (rc = session_run(session, &err)) == 1; nr++)
		for (ms = 0; !nr && ms < report_ms; ms++) {
			unsigned int at = fake_time_ms() + 1;

			fake_time_pass(1);
			if (moments[0].what && moments[0].ms == at)
				let_be_taken();
			/* the signal reaches the other thread at an unknown time */
			while (moments[1].what == KILL && moments[1].ms == at && signals[row].status < 0)
				pause();
		}
	stopped = fake_time_since(session->sink.stopped_ns);
	if (rc || stopped != signals[row].stopped)
		_exit(rc ? FAILED : (int)(20 + stopped / 50));
	fake_time_pass((unsigned int)signals[row].after_ms);
	if (signals[row].after)
		kill(getpid(), signals[row].after);
	_exit(session->signalled ? SIGNALLED : NOT_SIGNALLED);
}

START_TEST(test_signals)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid) {
		last_for(1000, signals[_i].interval);
		be_signalled(_i);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (WIFSIGNALED(status))
		ck_assert_int_eq(-WTERMSIG(status), signals[_i].status);
	else
		ck_assert_int_eq(WEXITSTATUS(status), signals[_i].status);
}
END_TEST

/* ---- work between drains */

/* A process that the counter tells of is looked up at once, not when the rings are read next. */
static const struct moment tells[] = { { 303, TELLS, NULL, 0 }, { 571, TELLS, NULL, 0 } };

START_TEST(test_told)
{
	struct outcome o;

	memcpy(moments, tells, sizeof(tells[0]) * (_i ? 2 : 1));
	last_for(1000, 0);
	must_open(ways(true, true));
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	ck_assert_uint_eq(fake_seen()->told, _i ? 2 : 1);
	ck_assert_uint_eq(fake_seen()->told_ms, tells[_i].ms);
}
END_TEST

static unsigned int left, done;

static bool work(void *ctx)
{
	ck_assert_ptr_eq(ctx, &left);
	done++;
	fake_time_pass(1);
	return --left > 0;
}

/* Work ahead takes at most 4 ms every 200 ms, until it is done; none if no report waits for it. */
static const struct {
	unsigned int work, duration;
	bool user_only;
	unsigned int done;
} ahead[] = {
	{ 1, 1000, false, 1 },     { 5, 1000, false, 5 },     { 1000, 190, false, 0 },
	{ 1000, 1000, false, 20 }, { 1000, 2000, false, 40 }, { 5, 1000, true, 0 },
};

START_TEST(test_ahead)
{
	struct outcome o;

	left = ahead[_i].work;
	done = 0;
	options.filter.no_kernel = ahead[_i].user_only;
	/* However often the ring is read. */
	script.room = 60;
	kernel.wakes = kernel.main_reads = true;
	last_for(ahead[_i].duration, 0);
	must_open(plain_ways);
	session_ahead(session, work, &left);
	o = run(NULL);
	ck_assert_int_eq(o.rc, 0);
	ck_assert_uint_eq(done, ahead[_i].done);
	ck_assert_int_eq(session->ahead != NULL, left > 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("session");
	TCase *tc = tcase_create("session");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_order, 0, ARRAY_SIZE(orders));
	tcase_add_loop_test(tc, test_intervals, 0, 4 * ARRAY_SIZE(intervals));
	tcase_add_loop_test(tc, test_stats, 0, 2 * ARRAY_SIZE(books_rows));
	tcase_add_test(tc, test_passed);
	tcase_add_test(tc, test_stop);
	tcase_add_loop_test(tc, test_off_cpu, 0, 2 * ARRAY_SIZE(off_cpu));
	tcase_add_loop_test(tc, test_late, 0, ARRAY_SIZE(late));
	tcase_add_loop_test(tc, test_much, 0, 2);
	tcase_add_loop_test(tc, test_no_threads, 0, ARRAY_SIZE(no_threads));
	tcase_add_loop_test(tc, test_choice, 0, ARRAY_SIZE(choices));
	tcase_add_loop_test(tc, test_missing_event, 0, ARRAY_SIZE(missing));
	tcase_add_loop_test(tc, test_failure, 0, ARRAY_SIZE(failures));
	tcase_add_loop_test(tc, test_ioctl, 0, ARRAY_SIZE(ioctls));
	tcase_add_loop_test(tc, test_hotplug, 0, 2 * ARRAY_SIZE(hotplug));
	tcase_add_loop_test(tc, test_changing, 0, 2);
	tcase_add_loop_test(tc, test_progress, 0, ARRAY_SIZE(progress));
	tcase_add_test(tc, test_progress_costs_no_wakeup);
	tcase_add_loop_test(tc, test_targets, 0, 4 * HOWS * ARRAY_SIZE(targets));
	tcase_add_loop_test(tc, test_targets_gone, 0, 4);
	tcase_add_loop_test(tc, test_targets_ran, 0, 2);
	tcase_add_loop_test(tc, test_signals, 0, ARRAY_SIZE(signals));
	tcase_add_loop_test(tc, test_told, 0, ARRAY_SIZE(tells));
	tcase_add_loop_test(tc, test_ahead, 0, ARRAY_SIZE(ahead));
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
