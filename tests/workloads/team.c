// SPDX-License-Identifier: Apache-2.0
/*
 * team [SECONDS [IDLE]] - a process whose first thread ends while the others continue: "team-early" works from the
 * beginning, beside IDLE threads that do nothing. On SIGUSR1 the first thread starts "team-late", and ends. "team-late"
 * starts a process, "team-child", and works.
 *
 * Expected: team-early;...;early_thread;early_work, team-late;...;late_thread;late_work,
 * team-child;...;late_thread;child_work.
 */
#include "workload.h"

#include <pthread.h>

static long seconds;

static NOINLINE void early_work(void)
{
	spin_ns(5 * MSEC);
	workload_sink++;
}

static NOINLINE void late_work(void)
{
	spin_ns(5 * MSEC);
	workload_sink += 2;
}

static NOINLINE void child_work(void)
{
	spin_ns(5 * MSEC);
	workload_sink += 3;
}

static NOINLINE void *early_thread(void *arg)
{
	workload_name_thread("team-early");
	while (!workload_stop)
		early_work();
	return arg;
}

static NOINLINE void *late_thread(void *arg)
{
	pid_t pid;

	prctl(PR_SET_NAME, "team-late");
	pid = fork();
	if (pid < 0)
		workload_die("cannot fork");
	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		prctl(PR_SET_NAME, "team-child");
		alarm((unsigned int)seconds);
		while (!workload_stop)
			child_work();
	}
	while (!workload_stop)
		late_work();
	return arg;
}

static void *idle_thread(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void make(void *(*what)(void *))
{
	pthread_t thread;

	errno = pthread_create(&thread, NULL, what, NULL);
	if (errno)
		workload_die("cannot start a thread");
}

int main(int argc, char **argv)
{
	long idle = workload_arg(argc, argv, 2, 0);
	sigset_t set;
	int sig;

	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	seconds = workload_live(argc, argv);
	make(early_thread);
	while (idle--)
		make(idle_thread);
	workload_await_names(1);
	workload_ready();
	sigwait(&set, &sig);
	make(late_thread);
	pthread_exit(NULL);
}
