// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

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
	struct keeper *k = keeper_start(&ops, &b, -1, &err);

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
	struct keeper *k = keeper_start(&ops, &b, -1, &err);
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
		k = keeper_start(&ops, &b, -1, &err);
		ck_assert_ptr_nonnull(k);
		ck_assert_int_eq(keeper_end(k, &signalled, &err), i ? 0 : -EIO);
	}
	ck_assert_uint_ge(b.calls, 50);
}
END_TEST

/*
 * In a process of its own, which signals reach: @nr of them while a report is made. The first is taken, and the work
 * goes on; the exit status tells whether the end was told of it.
 */
static void be_signalled(int sig, int nr, unsigned int fail_at)
{
	struct backend b = make(fail_at, -ENOMEM);
	struct err err = { 0 };
	int signal_fd = signals_catch(&err);
	bool signalled = false;
	struct keeper *k = keeper_start(&ops, &b, signal_fd, &err);
	struct pollfd taken = { signal_fd, POLLIN, 0 };
	int i;

	for (i = 0; i < nr; i++) {
		kill(getpid(), sig);
		while (poll(&taken, 1, 0) > 0) /* until the thread has it */
			sched_yield();
	}
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
	{ 0, 0, false },      { SIGINT, 1, false },    { SIGTERM, 1, false },  { SIGINT, 2, true },
	{ SIGTERM, 2, true }, { SIGINT, 1, false, 1 }, { SIGINT, 2, true, 1 },
};

START_TEST(test_signals)
{
	int status;
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	if (!pid)
		be_signalled(signals[_i].sig, signals[_i].nr, signals[_i].fail_at);
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
	struct rlimit before, none;
	struct backend b = make(0, 0);
	struct err err = { 0 };
	struct keeper *k;

	ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){ 0, before.rlim_max };
	ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	k = keeper_start(&ops, &b, -1, &err);
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
	tcase_add_loop_test(tc, test_failure, 0, ARRAY_SIZE(failures));
	tcase_add_test(tc, test_again);
	tcase_add_loop_test(tc, test_signals, 0, ARRAY_SIZE(signals));
	tcase_add_test(tc, test_no_fd);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
