// SPDX-License-Identifier: Apache-2.0
/*
 * stepper CPU [STEPS] - context switches in a known order and number.
 *
 * Prints "ready" and waits for SIGUSR1. Then it takes STEPS (200) steps on that CPU. In each step it renames itself to
 * step-CPU-NNNN and sleeps five times. At the end it prints how many context switches these were, as the kernel counts
 * them for the thread, and how many more may have one of these names because they were just before or after the steps.
 */
#include "tests/workloads/workload.h"

#include <sys/resource.h>

enum { SLEEPS = 5 };

static long switches(void)
{
	struct rusage usage;

	if (getrusage(RUSAGE_THREAD, &usage))
		workload_die("cannot read the number of context switches");
	return usage.ru_nvcsw + usage.ru_nivcsw;
}

static void wait_for_start(void)
{
	sigset_t start;
	int sig;

	sigemptyset(&start);
	sigaddset(&start, SIGUSR1);
	sigprocmask(SIG_BLOCK, &start, NULL);
	workload_ready();
	sigwait(&start, &sig);
}

static void be_called(int cpu, long step)
{
	char name[16];

	snprintf(name, sizeof(name), "step-%d-%04ld", cpu % 1000, step % 10000);
	prctl(PR_SET_NAME, name);
}

int main(int argc, char **argv)
{
	int cpu = (int)workload_arg(argc, argv, 1, 0), i;
	long steps = workload_arg(argc, argv, 2, 200), step, before, first, last, after;

	alarm(120);
	workload_pin(cpu);
	wait_for_start();
	before = switches();
	be_called(cpu, 0);
	first = switches();
	for (step = 0; step < steps; step++) {
		be_called(cpu, step);
		for (i = 0; i < SLEEPS; i++)
			sleep_ns(MSEC);
	}
	last = switches();
	prctl(PR_SET_NAME, "stepped");
	after = switches();
	printf("%ld %ld\n", last - first, first - before + after - last);
	return 0;
}
