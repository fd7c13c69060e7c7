// SPDX-License-Identifier: Apache-2.0
/*
 * slots [SECONDS [SLOT_US]] - shows the time in its stacks. One thread on each CPU, with the lowest priority, walks
 * down a binary tree of 16 levels. Time since boot is divided into slots of SLOT_US (250) microseconds. The bits of the
 * slot's number decide which of two functions is called at each level, so that the stack of a sample shows when it was
 * taken, modulo 65536 slots.
 *
 * Expected: slots;...;tick_forever;left|right;... (16 times);leaf_work
 */
#include "each_cpu.h"
#include "tree.h"

#define NR_LEVELS 16

static uint64_t slot_ns;

/* Some 10 us. */
static NOINLINE void leaf_work(void)
{
	spin_iterations(7000);
}

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
	pthread_t threads[CPU_SETSIZE];

	workload_live(argc, argv);
	slot_ns = (uint64_t)workload_arg(argc, argv, 2, 250) * 1000;
	start_on_each_cpu(tick_forever, threads);
	workload_ready();
	pthread_join(threads[0], NULL);
	return 0;
}
