// SPDX-License-Identifier: Apache-2.0
/*
 * sigalt [SECONDS [1]] - a handler interrupts a thread at any instruction and does all the work. It uses an alternate
 * stack, which is an unused part of the thread's own stack, a few KiB below its root, so that a copy of 16 KiB has
 * both. With 1, the handler works on the normal stack.
 */
#include "tests/workloads/nofp/nofp.h"

#include <pthread.h>
#include <stdbool.h>
#include <sys/syscall.h>

enum { ROOM = 1024, STACK_BYTES = 65536 }; /* ROOM: for the frames of interrupted() */

static timer_t timer;
static bool normal;

static NOIPA void handler_work(void)
{
	spin_iterations(500000);
}

/* The next signal comes after a few instructions of interrupted(), so that this makes progress. */
static void set_timer(uint64_t ns)
{
	const struct itimerspec once = { .it_value.tv_nsec = (long)ns };

	if (timer_settime(timer, 0, &once, NULL))
		_exit(1);
}

static NOIPA void on_signal(int sig)
{
	(void)sig;
	handler_work();
	set_timer(20000 + workload_sink % 5000);
}

static NOIPA void interrupted(void)
{
	while (!workload_stop)
		workload_sink = workload_sink * 6364136223846793005ULL + 1442695040888963407ULL;
}

static NOIPA void *worker(void *arg)
{
	struct sigevent me = { .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SIGUSR1 };
	struct sigaction sa = { .sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESTART };
	stack_t alternate = { .ss_size = STACK_BYTES };

	alternate.ss_sp = (char *)__builtin_frame_address(0) - ROOM - STACK_BYTES;
	me._sigev_un._tid = (pid_t)syscall(SYS_gettid);
	if ((!normal && sigaltstack(&alternate, NULL)) || sigaction(SIGUSR1, &sa, NULL) ||
	    timer_create(CLOCK_MONOTONIC, &me, &timer))
		workload_die("cannot have signals");
	set_timer(MSEC);
	interrupted();
	return arg;
}

int main(int argc, char **argv)
{
	pthread_t thread;

	workload_live(argc, argv);
	normal = workload_arg(argc, argv, 2, 0) == 1;
	expect("CLONE;worker;interrupted;TRAMPOLINE;on_signal;handler_work");
	expect("CLONE;worker;interrupted;TRAMPOLINE;on_signal");
	expect("CLONE;worker;interrupted");
	if (pthread_create(&thread, NULL, worker, NULL))
		workload_die("cannot create a thread");
	workload_ready();
	pthread_join(thread, NULL);
	return 0;
}
