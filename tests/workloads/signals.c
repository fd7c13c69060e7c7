// SPDX-License-Identifier: Apache-2.0
/*
 * signals [SECONDS] - a thread that signals interrupt all the time: from two timers, one of them of CPU time, and from
 * its own raise(). Handlers work on an alternate stack. The inner handler interrupts the outer one, both by raise() and
 * by a timer.
 *
 * Expected: signals;...;main;main_work; inner_work and outer_work behind the signal's trampoline (by frame pointers the
 * interrupted function is missing, because it is not a caller) and behind raise_inner.
 */
#include "workload.h"

enum { STACK_BYTES = 256 * 1024 };

static NOINLINE void main_work(void)
{
	spin_iterations(50000);
	workload_sink++;
}

static NOINLINE void outer_work(void)
{
	spin_iterations(50000);
	workload_sink++;
}

static NOINLINE void inner_work(void)
{
	spin_iterations(20000);
	workload_sink++;
}

/* On some hosts raise() has no frame, which hides its caller: that is this function. */
static NOINLINE void raise_inner(void)
{
	if (raise(SIGUSR2))
		_exit(1);
	workload_sink++;
}

static NOINLINE void on_inner(int sig)
{
	(void)sig;
	inner_work();
}

static NOINLINE void on_outer(int sig)
{
	(void)sig;
	outer_work();
	raise_inner();
	outer_work();
}

static void handle(int sig, void (*handler)(int sig))
{
	struct sigaction sa = { .sa_handler = handler, .sa_flags = SA_ONSTACK | SA_RESTART };

	if (sigaction(sig, &sa, NULL))
		workload_die("cannot handle a signal");
}

/* Do not use ITIMER_REAL: SIGALRM ends this program. */
static void start_timers(void)
{
	const struct itimerspec every = { .it_interval.tv_nsec = 700000, .it_value.tv_nsec = 700000 };
	struct sigevent to_outer = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1 };
	struct sigevent to_inner = { .sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR2 };
	timer_t outer, inner;

	if (timer_create(CLOCK_MONOTONIC, &to_outer, &outer) || timer_settime(outer, 0, &every, NULL) ||
	    timer_create(CLOCK_PROCESS_CPUTIME_ID, &to_inner, &inner) || timer_settime(inner, 0, &every, NULL))
		workload_die("cannot start a timer");
}

static NOINLINE void interrupted_forever(void)
{
	while (!workload_stop) {
		main_work();
		raise_inner();
	}
}

int main(int argc, char **argv)
{
	stack_t alternate = { .ss_size = STACK_BYTES };

	workload_live(argc, argv);
	alternate.ss_sp = malloc(STACK_BYTES);
	if (!alternate.ss_sp || sigaltstack(&alternate, NULL))
		workload_die("cannot have an alternate stack");
	handle(SIGUSR1, on_outer);
	handle(SIGUSR2, on_inner);
	start_timers();
	workload_ready();
	interrupted_forever();
	free(alternate.ss_sp);
	return 0;
}
