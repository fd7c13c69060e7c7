// SPDX-License-Identifier: Apache-2.0
/*
 * renamer [SECONDS] - a thread that renames itself all the time and moves between CPUs.
 *
 * It is called "red" while it runs red_work and "blue" while it runs blue_work, 5 to 12 ms each, and changes its CPU
 * after every third piece of work. The main thread, "renamer", waits.
 *
 * Expected: red;...;rename_loop;red_work and blue;...;rename_loop;blue_work, about half each; blue_work never under
 * red, and red_work never under blue.
 */
#include "workload.h"

#include <pthread.h>

static NOINLINE void red_work(uint64_t ns)
{
	spin_ns(ns);
}

static NOINLINE void blue_work(uint64_t ns)
{
	spin_ns(ns);
}

static NOINLINE void move_on(const cpu_set_t *allowed, int *cpu)
{
	do
		*cpu = (*cpu + 1) % CPU_SETSIZE;
	while (!CPU_ISSET(*cpu, allowed));
	workload_pin(*cpu);
}

static NOINLINE void *rename_loop(void *arg)
{
	const cpu_set_t *allowed = arg;
	uint32_t r = 1;
	unsigned int i;
	int cpu = 0;

	for (i = 0; !workload_stop; i++) {
		r = r * 1664525 + 1013904223;
		if (i % 3 == 0)
			move_on(allowed, &cpu);
		prctl(PR_SET_NAME, i % 2 ? "blue" : "red");
		if (i % 2)
			blue_work(5 * MSEC + (r >> 8) % (7 * MSEC));
		else
			red_work(5 * MSEC + (r >> 8) % (7 * MSEC));
		if (i == 2)
			workload_ready();
	}
	return NULL;
}

int main(int argc, char **argv)
{
	cpu_set_t allowed;
	pthread_t thread;

	workload_live(argc, argv);
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		workload_die("cannot read the CPU affinity");
	errno = pthread_create(&thread, NULL, rename_loop, &allowed);
	if (errno)
		workload_die("cannot start a thread");
	pthread_join(thread, NULL);
	return 0;
}
