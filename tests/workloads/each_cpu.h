/* SPDX-License-Identifier: Apache-2.0 */
/* A thread for each CPU that the workload may use. */
#ifndef TESTS_WORKLOADS_EACH_CPU_H
#define TESTS_WORKLOADS_EACH_CPU_H

#include "workload.h"

#include <pthread.h>

/*
 * @fn: a thread function that gets the CPU's number as an intptr_t, and pins itself. @threads: room for CPU_SETSIZE.
 * Return: the number of threads.
 */
static inline int start_on_each_cpu(void *(*fn)(void *), pthread_t *threads)
{
	cpu_set_t allowed;
	int cpu, nr = 0;

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		workload_die("cannot read the CPU affinity");
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &allowed))
			continue;
		errno = pthread_create(&threads[nr++], NULL, fn, (void *)(intptr_t)cpu);
		if (errno)
			workload_die("cannot start a thread");
	}
	return nr;
}

#endif
