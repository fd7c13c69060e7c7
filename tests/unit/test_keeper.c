// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "core/clock.h"
#include "core/keeper.h"
#include "core/signals.h"

#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A backend of which the keeper may use one function, that fails at its @fail_at-th call; 0: never. */
struct backend {
	unsigned int calls, fail_at;
	int code;
	pthread_t caller;
	pthread_mutex_t lock;
	pthread_cond_t called;
};

static int fetch(struct backend *b, struct err *err)
{
	unsigned int call;

	pthread_mutex_lock(&b->lock);
	call = ++b->calls;
	b->caller = pthread_self();
	pthread_cond_signal(&b->called);
	pthread_mutex_unlock(&b->lock);
	return call == b->fail_at ? err_set(err, b->code, "call %u failed", call) : 0;
}

static const struct backend_ops ops = { .name = "fake", .fetch = fetch };

/* No signal comes, and no ring is there. */
static const struct pollfd none[] = { { -1, POLLIN, 0 }, { -1, POLLIN, 0 } };

static struct backend make(unsigned int fail_at, int code)
{
	return (struct backend){
		.fail_at = fail_at, .code = code, .lock = PTHREAD_MUTEX_INITIALIZER, .called = PTHREAD_COND_INITIALIZER
	};
}

static void wait_for_calls(struct backend *b, unsigned int nr)
{
	pthread_mutex_lock(&b->lock);
	while (b->calls < nr)
		pthread_cond_wait(&b->called, &b->lock);
	pthread_mutex_unlock(&b->lock);
}

static unsigned int open_fds(void)
{
	unsigned int nr = 0;
	int fd;

	for (fd = 0; fd < 256; fd++)
		nr += fcntl(fd, F_GETFD) >= 0;
	return nr;
}

/* As often as it takes, by one thread that is not ours; and by none after the end. */
START_TEST(test_until_the_end)
{
	struct backend b = make(0, 0);
	unsigned int fds = open_fds(), calls;
	struct err err = { 0 };
	bool signalled = true;
	struct keeper *k = keeper_start(&ops, &b, none, ARRAY_SIZE(none), &err);

	ck_assert_ptr_nonnull(k);
	wait_for_calls(&b, (unsigned int)_i);
	ck_assert_int_eq(keeper_end(k, &signalled, &err), 0);
	ck_assert_int_eq(err.code, 0);
	ck_assert(!signalled);
	calls = b.calls;
	ck_assert_uint_ge(calls, 1); /* also when the end came at once */
	ck_assert(!pthread_equal(b.caller, pthread_self()));
	ck_assert_uint_eq(open_fds(), fds);
	ck_assert_int_eq(fetch(&b, &err), 0);
	ck_assert_uint_eq(b.calls, calls + 1);
}
END_TEST

/*
 * A ring that is readable is read at once, and again while it is; one whose CPU has gone (here: a pipe that nobody
 * writes) does not keep the thread awake. Whether it slept is told by the time that its calls took.
 */
START_TEST(test_rings)
{
	struct backend b = make(0, 0);
	struct err err = { 0 };
	uint64_t begin, ready_ns, gone_ns;
	struct pollfd fds[2] = { { -1, POLLIN, 0 } };
	struct keeper *k;
	bool signalled;
	int p[2];

	ck_assert_int_eq(pipe2(p, O_CLOEXEC), 0);
	ck_assert_int_eq(write(p[1], "", 1), 1);
	fds[1] = (struct pollfd){ p[0], POLLIN, 0 };
	begin = now_ns();
	k = keeper_start(&ops, &b, fds, 2, &err);
	ck_assert_ptr_nonnull(k);
	wait_for_calls(&b, 100);
	ready_ns = now_ns() - begin;
	ck_assert_int_eq(keeper_end(k, &signalled, &err), 0);
	ck_assert_int_eq(read(p[0], (char[1]){ 0 }, 1), 1);
	close(p[1]);
	b.calls = 0;
	begin = now_ns();
	k = keeper_start(&ops, &b, fds, 2, &err);
	ck_assert_ptr_nonnull(k);
	wait_for_calls(&b, 5);
	gone_ns = now_ns() - begin;
	ck_assert_int_eq(keeper_end(k, &signalled, &err), 0);
	close(p[0]);
	ck_assert_uint_lt(ready_ns, 99 * 50000000ULL); /* they did not all sleep */
	ck_assert_uint_ge(gone_ns, 3 * 50000000ULL);   /* all but the first two did */
}
END_TEST

static const struct {
	unsigned int fail_at;
	int code;
} failures[] = { { 1, -ENOMEM }, { 2, -ENOMEM }, { 5, -EBADMSG } };

/* The first failure ends the fetching, and is told at the end. */
START_TEST(test_failure)
{
	struct backend b = make(failures[_i].fail_at, failures[_i].code);
	unsigned int fds = open_fds();
	struct err err = { 0 };
	bool signalled = true;
	struct keeper *k = keeper_start(&ops, &b, none, ARRAY_SIZE(none), &err);
	char want[64];

	ck_assert_ptr_nonnull(k);
	wait_for_calls(&b, failures[_i].fail_at);
	ck_assert_int_eq(keeper_end(k, &signalled, &err), failures[_i].code);
	snprintf(want, sizeof(want), "call %u failed", failures[_i].fail_at);
	ck_assert_str_eq(err.msg, want);
	ck_assert_int_eq(err.code, failures[_i].code);
	ck_assert(!signalled);
	ck_assert_uint_eq(b.calls, failures[_i].fail_at);
	ck_assert_uint_eq(open_fds(), fds);
}
END_TEST

/* One after the other, as there are intervals; each begins without the failure of the one before. */
START_TEST(test_again)
{
	struct backend b = make(1, -EIO);
	struct err err = { 0 };
	bool signalled;
	struct keeper *k;
	int i;

	for (i = 0; i < 50; i++) {
		k = keeper_start(&ops, &b, none, ARRAY_SIZE(none), &err);
		ck_assert_ptr_nonnull(k);
		ck_assert_int_eq(keeper_end(k, &signalled, &err), i ? 0 : -EIO);
	}
	ck_assert_uint_ge(b.calls, 50);
}
END_TEST

/*
 * In a process of its own, which signals reach: @nr of them at once while a report is made, and perhaps @again. The
 * first are taken, and the work goes on; the exit status tells whether the end was told of it.
 */
static void be_signalled(int sig, int nr, bool again, unsigned int fail_at)
{
	struct backend b = make(fail_at, -ENOMEM);
	struct err err = { 0 };
	int signal_fd = signals_catch(&err);
	bool signalled = false;
	struct pollfd taken = { signal_fd, POLLIN, 0 };
	struct keeper *k = keeper_start(&ops, &b, &taken, 1, &err);
	int i;

	for (i = 0; i < nr; i++) {
		kill(getpid(), sig);
		while (poll(&taken, 1, 0) > 0) /* until the thread has it */
			sched_yield();
	}
	while (again) /* until it is no longer taken for the first one */
		kill(getpid(), sig);
	if (!fail_at)
		wait_for_calls(&b, b.calls + 2);
	keeper_end(k, &signalled, &err);
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
	struct rlimit before, few;
	struct backend b = make(0, 0);
	struct err err = { 0 };
	struct keeper *k;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	few = (struct rlimit){ 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &few), 0);
	k = keeper_start(&ops, &b, none, ARRAY_SIZE(none), &err);
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	ck_assert_ptr_null(k);
	ck_assert_int_eq(err.code, -EMFILE);
	ck_assert_str_eq(err.msg, "cannot start a thread to read the rings: Too many open files");
	ck_assert_uint_eq(b.calls, 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("keeper");
	TCase *tc = tcase_create("keeper");

	tcase_add_loop_test(tc, test_until_the_end, 0, 4);
	tcase_add_test(tc, test_rings);
	tcase_add_loop_test(tc, test_failure, 0, ARRAY_SIZE(failures));
	tcase_add_test(tc, test_again);
	tcase_add_loop_test(tc, test_signals, 0, ARRAY_SIZE(signals));
	tcase_add_test(tc, test_no_fd);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
