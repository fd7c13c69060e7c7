// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/host/signals.h"
#include "core/session/ring_thread.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/wait.h>

/* Writes of this thread fail, as under a seccomp filter. */
static __thread bool writes_fail;

/* Replaces libc's function. */
int eventfd_write(int fd, eventfd_t value)
{
	errno = EPERM;
	return !writes_fail && write(fd, &value, sizeof(value)) == (ssize_t)sizeof(value) ? 0 : -1;
}

static int waits_ms; /* the time for which the ring thread waits; 0: it did not wait yet */

static void setup(void)
{
	waits_ms = 0;
}

/* Replaces libc's function: notes for how long the ring thread waits. */
int epoll_wait(int fd, struct epoll_event *found, int max, int timeout_ms)
{
	__atomic_store_n(&waits_ms, timeout_ms, __ATOMIC_RELEASE);
	return epoll_pwait(fd, found, max, timeout_ms, NULL);
}

/*
 * A source for which the ring thread may only call fetch(). It fails at its @fail_at-th call; 0: never. @code: the
 * error
 */
struct source {
	unsigned int calls, fail_at;
	int code;
	pthread_t caller;
	pthread_mutex_t lock;
	pthread_cond_t called;
};

static int fetch(struct source *b, struct err *err)
{
	unsigned int call;

	pthread_mutex_lock(&b->lock);
	call = ++b->calls;
	b->caller = pthread_self();
	pthread_cond_signal(&b->called);
	pthread_mutex_unlock(&b->lock);
	if (call != b->fail_at)
		return 0;
	return b->code < 0 ? err_set(err, b->code, "call %u failed", call) : b->code;
}

static const struct source_ops ops = { .fetch = fetch };

/* No ring exists. */
static const struct events none;

/* Make one event, in @e, whose ring wants to be read when @fd is readable. */
static struct events with_ring(struct event_place *e, int fd)
{
	*e = (struct event_place){ .fd = fd, .side = { .fd = -1 } };
	return (struct events){ .places = e, .nr_places = 1 };
}

/* As during a report: then the thread does not wait until it is woken. */
static struct ring_thread *start_reporting(const struct events *ev, int signal_fd, struct source *b)
{
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(ev, true, signal_fd, &ops, b, &err);

	ck_assert_ptr_nonnull(k);
	ring_thread_take_signals(k, true);
	return k;
}

static struct source make(unsigned int fail_at, int code)
{
	return (struct source){
		.fail_at = fail_at, .code = code, .lock = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER
	};
}

static void wait_for_calls(struct source *b, unsigned int nr)
{
	pthread_mutex_lock(&b->lock);
	while (b->calls < nr)
		pthread_cond_wait(&b->called, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

/* fetch() is called repeatedly, by one other thread, and not after the end. */
START_TEST(test_until_the_end)
{
	struct source b = make(0, 0);
	unsigned int fds = unit_open_fds(), calls;
	struct err err = { 0 };
	struct ring_thread *k = start_reporting(&none, -1, &b);

	wait_for_calls(&b, (unsigned int)_i);
	ck_assert(!ring_thread_signalled(k));
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	ck_assert_int_eq(err.code, 0);
	calls = b.calls;
	ck_assert_uint_ge(calls, (unsigned int)_i);
	ck_assert(!calls || !pthread_equal(b.caller, pthread_self()));
	ck_assert_uint_eq(unit_open_fds(), fds);
	ck_assert_int_eq(fetch(&b, &err), 0);
	ck_assert_uint_eq(b.calls, calls + 1);
}
END_TEST

/* A readable ring is read at once, and again while it is readable, also without a report. */
START_TEST(test_rings)
{
	struct source b = make(0, 0);
	struct err err = { 0 };
	int fd = eventfd(1, EFD_CLOEXEC);
	struct event_place e;
	struct events ev = with_ring(&e, fd);
	struct ring_thread *k;

	if (_i)
		e = (struct event_place){ .fd = -1, .side = { .fd = fd } };
	k = ring_thread_start(&ev, true, -1, &ops, &b, &err);
	ck_assert_ptr_nonnull(k);
	wait_for_calls(&b, 100);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	close(fd);
}
END_TEST

/* An idle thread does nothing, and ends when it has to. */
START_TEST(test_idle)
{
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(&none, true, -1, &ops, &b, &err);

	ck_assert_ptr_nonnull(k);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	ck_assert_uint_eq(b.calls, 0);
}
END_TEST

/* It ends even if it cannot be woken. */
START_TEST(test_no_wake)
{
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(&none, true, -1, &ops, &b, &err);

	ck_assert_ptr_nonnull(k);
	writes_fail = true;
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	writes_fail = false;
}
END_TEST

static bool is_readable(int fd, int timeout_ms)
{
	struct pollfd p = { fd, POLLIN, 0 };

	return poll(&p, 1, timeout_ms) > 0;
}

static int look_for_none(struct source *b)
{
	(void)b;
	return 0;
}

/* While it looks for processes, it waits for a short time only, unless each sample wakes it. */
START_TEST(test_samples_wake)
{
	static const struct source_ops looking = { .fetch = fetch, .look = look_for_none };
	const struct events ev = { .wakes_at_samples = _i };
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(&ev, true, -1, &looking, &b, &err);
	int ms;

	ck_assert_ptr_nonnull(k);
	while (!(ms = __atomic_load_n(&waits_ms, __ATOMIC_ACQUIRE)))
		sched_yield();
	ck_assert_int_eq(ms, _i ? 1000 : 40);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
}
END_TEST

/* Looks for processes go on until a look says that there will be none; one that finds some wakes the reader. */
static const int found[] = { 0, 1, 0, 1, -1, 1 };
static unsigned int nr_looks;

static int look(struct source *b)
{
	unsigned int i = __atomic_fetch_add(&nr_looks, 1, __ATOMIC_ACQ_REL);

	(void)b;
	return i < ARRAY_SIZE(found) ? found[i] : 1;
}

START_TEST(test_looks)
{
	static const struct source_ops looking = { .fetch = fetch, .look = look };
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(&none, true, -1, &looking, &b, &err);

	ck_assert_ptr_nonnull(k);
	ck_assert(is_readable(ring_thread_fd(k), -1));
	ck_assert_uint_ge(__atomic_load_n(&nr_looks, __ATOMIC_ACQUIRE), 2);
	ck_assert_int_eq(ring_thread_asks(k, &err), 0);
	while (__atomic_load_n(&nr_looks, __ATOMIC_ACQUIRE) < 5)
		sched_yield();
	ck_assert(is_readable(ring_thread_fd(k), -1));
	ring_thread_take_signals(k, true);
	wait_for_calls(&b, 2);
	ck_assert_uint_eq(nr_looks, 5);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
}
END_TEST

/* Much has been kept: the reader is woken once. */
START_TEST(test_much)
{
	struct source b = make(3, 1);
	struct err err = { 0 };
	struct ring_thread *k = start_reporting(&none, -1, &b);

	ck_assert(is_readable(ring_thread_fd(k), -1));
	ck_assert_int_eq(ring_thread_asks(k, &err), 0);
	wait_for_calls(&b, 5);
	ck_assert(!is_readable(ring_thread_fd(k), 0));
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
}
END_TEST

/* A CPU has gone (here: a pipe without a writer): this is reported once, and does not keep the thread awake. */
START_TEST(test_gone)
{
	struct source b = make(0, 0);
	struct event_place e;
	struct err err = { 0 };
	struct events ev;
	struct ring_thread *k;
	int p[2];

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ev = with_ring(&e, p[0]);
	close(p[1]);
	k = ring_thread_start(&ev, true, -1, &ops, &b, &err);
	ck_assert_ptr_nonnull(k);
	ck_assert(is_readable(ring_thread_fd(k), -1));
	ck_assert_int_eq(ring_thread_asks(k, &err), 1);
	ck_assert_int_eq(ring_thread_asks(k, &err), 0);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	ck_assert_uint_eq(b.calls, 1); /* the ring is read once, at first */
	close(p[0]);
}
END_TEST

static const struct {
	unsigned int fail_at;
	int code;
} failures[] = { { 1, -ENOMEM }, { 2, -ENOMEM }, { 5, -EBADMSG } };

/* The first failure ends the fetching, and is reported at once and at the end. */
START_TEST(test_failure)
{
	struct source b = make(failures[_i].fail_at, failures[_i].code);
	unsigned int fds = unit_open_fds();
	struct err err = { 0 };
	struct ring_thread *k = start_reporting(&none, -1, &b);
	char want[64];

	ck_assert(is_readable(ring_thread_fd(k), -1));
	ck_assert_int_eq(ring_thread_asks(k, &err), failures[_i].code);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), failures[_i].code);
	snprintf(want, sizeof(want), "call %u failed", failures[_i].fail_at);
	ck_assert_str_eq(err.msg, want);
	ck_assert_int_eq(err.code, failures[_i].code);
	ck_assert_uint_eq(b.calls, failures[_i].fail_at);
	ck_assert_uint_eq(unit_open_fds(), fds);
}
END_TEST

/* Several threads one after the other, as with intervals; each begins without the failure of the one before. */
START_TEST(test_again)
{
	struct source b = make(1, -EIO);
	struct err err = { 0 };
	int i;

	for (i = 1; i <= 50; i++) {
		struct ring_thread *k = start_reporting(&none, -1, &b);

		wait_for_calls(&b, (unsigned int)i);
		ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), i > 1 ? 0 : -EIO);
	}
	ck_assert_uint_ge(b.calls, 50);
}
END_TEST

/*
 * In a process of its own, which gets the signals: @nr of them at once during a report, and perhaps @again. The first
 * are taken, and the work goes on. The exit status shows whether ring_thread_end() reported them.
 */
static void be_signalled(int sig, int nr, bool again, unsigned int fail_at)
{
	struct source b = make(fail_at, -ENOMEM);
	struct err err = { 0 };
	int signal_fd = signals_catch(&err);
	struct ring_thread *k = start_reporting(&none, signal_fd, &b);
	bool signalled;
	int i;

	for (i = 0; i < nr; i++) {
		kill(getpid(), sig);
		while (is_readable(signal_fd, 0)) /* until the thread has taken it */
			sched_yield();
	}
	while (again) /* until a signal is no longer taken as the first one */
		kill(getpid(), sig);
	if (!fail_at)
		wait_for_calls(&b, b.calls + 2);
	ring_thread_end(k, &signalled, &err);
	_exit(signalled ? 10 : 11);
}

static const struct {
	int sig, nr;
	bool killed;
	unsigned int fail_at;
} signals[] = {
	{ 0, 0, false },      { SIGINT, 1, false },    { SIGTERM, 1, false },
	{ SIGINT, 2, false }, { SIGTERM, 2, false },   { SIGINT, 1, true },
	{ SIGTERM, 1, true }, { SIGINT, 1, false, 1 }, { SIGINT, 1, true, 1 },
};

START_TEST(test_signals)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid)
		be_signalled(signals[_i].sig, signals[_i].nr, signals[_i].killed, signals[_i].fail_at);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	if (signals[_i].killed) {
		ck_assert(WIFSIGNALED(status));
		ck_assert_int_eq(WTERMSIG(status), signals[_i].sig);
	} else {
		ck_assert(WIFEXITED(status));
		ck_assert_int_eq(WEXITSTATUS(status), signals[_i].nr ? 10 : 11);
	}
}
END_TEST

START_TEST(test_no_fd)
{
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k;
	rlim_t before;

	before = unit_limit_files(0);
	k = ring_thread_start(&none, true, -1, &ops, &b, &err);
	unit_limit_files(before);
	ck_assert_ptr_null(k);
	ck_assert_int_eq(err.code, -EMFILE);
	ck_assert_str_eq(err.msg, "cannot create an eventfd: Too many open files");
	ck_assert_uint_eq(b.calls, 0);
}
END_TEST

/* The first events that were disabled, in turn. All other requests fail. */
static int disabled[2];
static unsigned int nr_disabled;

int ioctl(int fd, unsigned long request, ...)
{
	if (request != PERF_EVENT_IOC_DISABLE)
		return -1;
	if (nr_disabled < ARRAY_SIZE(disabled))
		disabled[nr_disabled] = fd;
	__atomic_add_fetch(&nr_disabled, 1, __ATOMIC_RELEASE);
	return 0;
}

enum { SAMPLES, SIDE, SIGNAL, NR_FDS };

/*
 * While the reader does not read, the sampling events are disabled at their time or after a signal, and then the
 * side-band events.
 */
static void stops(bool by_signal)
{
	int fds[NR_FDS] = { eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC), eventfd(0, EFD_CLOEXEC) };
	struct event_place e = { .fd = fds[SAMPLES], .side = { .fd = fds[SIDE] } };
	struct events ev = { .places = &e, .nr_places = 1 };
	uint64_t began = now_ns(), at = began + NSEC_PER_SEC / 100;
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(&ev, true, fds[SIGNAL], &ops, &b, &err);

	nr_disabled = 0;
	ck_assert_ptr_nonnull(k);
	ck_assert_uint_eq(ring_thread_stopped_ns(k), 0);
	ring_thread_stop_at(k, by_signal ? UINT64_MAX : at);
	if (by_signal)
		eventfd_write(fds[SIGNAL], 1);
	while (__atomic_load_n(&nr_disabled, __ATOMIC_ACQUIRE) < 2)
		sched_yield();
	ck_assert_uint_ge(ring_thread_stopped_ns(k), by_signal ? began : at);
	ck_assert_int_eq(disabled[0], fds[SAMPLES]);
	ck_assert_int_eq(disabled[1], fds[SIDE]);
	/* The signal stays for the reader. */
	ck_assert(is_readable(fds[SIGNAL], 0) == by_signal);
	ck_assert(!ring_thread_signalled(k));
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	ck_assert_uint_eq(nr_disabled, 2);
	for (int i = 0; i < NR_FDS; i++)
		close(fds[i]);
}

START_TEST(test_stops)
{
	stops(_i);
}
END_TEST

/* A signal does not end the sampling before ring_thread_stop_at(). */
START_TEST(test_does_not_stop)
{
	int samples = eventfd(0, EFD_CLOEXEC), signal_fd = eventfd(1, EFD_CLOEXEC), ring = eventfd(1, EFD_CLOEXEC);
	struct event_place e = { .fd = ring, .side = { .fd = samples } };
	struct events ev = { .places = &e, .nr_places = 1 };
	struct source b = make(0, 0);
	struct err err = { 0 };
	struct ring_thread *k = ring_thread_start(&ev, true, signal_fd, &ops, &b, &err);

	nr_disabled = 0;
	ck_assert_ptr_nonnull(k);
	wait_for_calls(&b, 10);
	ck_assert_uint_eq(ring_thread_stopped_ns(k), 0);
	ck_assert_int_eq(ring_thread_end(k, &(bool){ false }, &err), 0);
	ck_assert_uint_eq(nr_disabled, 0);
	close(samples);
	close(signal_fd);
	close(ring);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring_thread");
	TCase *tc = tcase_create("ring_thread");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_until_the_end, 0, 4);
	tcase_add_loop_test(tc, test_rings, 0, 2);
	tcase_add_test(tc, test_idle);
	tcase_add_test(tc, test_no_wake);
	tcase_add_test(tc, test_looks);
	tcase_add_loop_test(tc, test_samples_wake, 0, 2);
	tcase_add_test(tc, test_much);
	tcase_add_test(tc, test_gone);
	tcase_add_loop_test(tc, test_failure, 0, ARRAY_SIZE(failures));
	tcase_add_test(tc, test_again);
	tcase_add_loop_test(tc, test_signals, 0, ARRAY_SIZE(signals));
	tcase_add_test(tc, test_no_fd);
	tcase_add_loop_test(tc, test_stops, 0, 2);
	tcase_add_test(tc, test_does_not_stop);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
