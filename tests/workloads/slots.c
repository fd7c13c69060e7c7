// SPDX-License-Identifier: Apache-2.0
/*
 * slots [SECONDS [SLOT_US]] - a clock in the stacks: one thread on each CPU, at the least priority there is, that walks
 * down a binary tree of 16 levels. The bits of the number of the slot of time (250 us each, since boot) say which of
 * two functions is called at each level, so that a sample's stack tells when it was taken, modulo 65536 slots.
 *
 * Expected: slots;...;tick_forever;left|right;... (16 times);leaf_work
 */
#include "tree.h"

#include <pthread.h>

#define NR_LEVELS 16

static uint64_t slot_ns;

static NOINLINE void *tick_forever(void *arg)
{
	const struct sched_param none = { 0 };

	workload_pin((int)(intptr_t)arg);
	if (sched_setscheduler(0, SCHED_IDLE, &none))
		workload_die("cannot be of low priority");
	while (!workload_stop)
		go_down((unsigned long)(now_ns() / slot_ns), NR_LEVELS);
	return NULL;
}

int main(int argc, char **argv)
{
	cpu_set_t allowed;
	pthread_t thread;
	int cpu;

	workload_live(argc, argv);
	slot_ns = (uint64_t)workload_arg(argc, argv, 2, 250) * 1000;
	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		workload_die("cannot read the CPU affinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		errno = pthread_create(&thread, NULL, tick_forever, (void *)(intptr_t)cpu);
		if (errno)
			workload_die("cannot start a thread");
	}
	workload_ready();
	pthread_join(thread, NULL);
	return 0;
}
