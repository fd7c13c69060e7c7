// SPDX-License-Identifier: Apache-2.0
/* Processes and threads of this host, until they end. */
#include "core/base/clock.h"
#include "core/tasks/proc.h"
#include "core/tasks/targets.h"
#include "tests/unit/unit.h"

#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static pid_t fork_child(void)
{
	pid_t pid = fork();

	ck_assert_int_ge(pid, 0);
	while (!pid)
		pause();
	/* Wait until the child sleeps: then it does not run. */
	while (pid) {
		char state = 0, name[64], stat[256];

		snprintf(name, sizeof(name), "%d/stat", pid);
		ck_assert_int_gt(host_read(host_here.proc, name, stat, sizeof(stat)), 0);
		state = strrchr(stat, ')')[2];
		if (state == 'S')
			break;
		sched_yield();
	}
	return pid;
}

static void await_end(struct targets *t)
{
	struct pollfd p = { targets_fd(t), POLLIN, 0 };

	while (!targets_ended(t)) {
		p.fd = targets_fd(t);
		poll(&p, 1, 10);
	}
	ck_assert_int_eq(targets_fd(t), -1);
}

/*
 * @_i: bit 0: the processes are treated as threads, which are looked up; bit 1: their parent waits for them at once, so
 * that they vanish
 */
START_TEST(test_ends)
{
	pid_t ids[] = { fork_child(), fork_child() };
	struct targets *t = targets_new(&host_here, ids, 2, !(_i & 1));
	int i;

	ck_assert_ptr_nonnull(t);
	ck_assert(!targets_ended(t));
	ck_assert(!(_i & 1) || targets_fd(t) == -1);
	for (i = 1; i >= 0; i--) {
		ck_assert(!targets_ended(t));
		kill(ids[i], SIGKILL);
		if (_i & 2)
			ck_assert_int_eq(waitpid(ids[i], NULL, 0), ids[i]);
	}
	await_end(t);
	targets_free(t);
	for (i = 0; i < 2 && !(_i & 2); i++)
		ck_assert_int_eq(waitpid(ids[i], NULL, 0), ids[i]);
}
END_TEST

static void *work(void *arg)
{
	uint64_t until = own_cpu_ns() + 2000000;

	*(pid_t *)arg = (pid_t)syscall(SYS_gettid);
	while (own_cpu_ns() < until)
		;
	return NULL;
}

/* The CPU time of a process that is gone, or never existed, is unknown. */
START_TEST(test_ran)
{
	pid_t ids[] = { fork_child(), getpid() }, tid;
	struct targets *one = targets_new(&host_here, ids, 1, true), *both = targets_new(&host_here, ids, 2, true);
	pthread_t thread;
	uint64_t ns;

	targets_begin(one);
	targets_begin(both);
	ck_assert_int_eq(pthread_create(&thread, NULL, work, &tid), 0);
	ck_assert_int_eq(pthread_join(thread, NULL), 0);
	ck_assert_int_eq(targets_ran(one, &ns), 0);
	ck_assert_uint_eq(ns, 0);
	ck_assert_int_eq(targets_ran(both, &ns), 0);
	ck_assert_uint_ge(ns, 2000000);
	kill(ids[0], SIGKILL);
	ck_assert_int_eq(waitpid(ids[0], NULL, 0), ids[0]);
	ck_assert_int_lt(targets_ran(one, &ns), 0);
	targets_begin(one);
	ck_assert_int_lt(targets_ran(one, &ns), 0);
	targets_free(one);
	targets_free(both);
}
END_TEST

static const struct {
	const char *schedstat; /* NULL: there is no such file */
	int rc;
	uint64_t ns;
} threads[] = {
	{ "6472055 31495392 6\n", 0, 6472055 },
	{ "18446744073709551615 0 1\n", 0, UINT64_MAX },
	{ "0 0 0\n", -ENODATA, 0 },
	{ "", -ENODATA, 0 },
	{ "x 0 0\n", -ENODATA, 0 },
	{ "5", -ENODATA, 0 },
	{ NULL, -ENOENT, 0 },
};

START_TEST(test_cpu_time_of_thread)
{
	char *top = unit_tmpdir();
	const struct host host = { .proc = top, .sys = top };
	uint64_t ns = 7;

	if (threads[_i].schedstat)
		unit_write(top, "9/schedstat", threads[_i].schedstat, strlen(threads[_i].schedstat));
	ck_assert_int_eq(proc_cpu_ns(&host, 9, false, &ns), threads[_i].rc);
	if (!threads[_i].rc)
		ck_assert_uint_eq(ns, threads[_i].ns);
	unit_rmdir(top);
}
END_TEST

int main(void)
{
	Suite *s = suite_create(__FILE__);
	TCase *t = tcase_create("targets");

	tcase_add_loop_test(t, test_ends, 0, 4);
	tcase_add_test(t, test_ran);
	tcase_add_loop_test(t, test_cpu_time_of_thread, 0, ARRAY_SIZE(threads));
	suite_add_tcase(s, t);
	return unit_main(s);
}
