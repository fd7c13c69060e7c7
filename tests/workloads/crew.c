// SPDX-License-Identifier: Apache-2.0
/*
 * crew [SECONDS [THREADS]] - THREADS (300) that all want a CPU, without a pause: "crew-0" and so on.
 *
 * Expected: crew-N;...;crew_thread;crew_work.
 */
#include "workload.h"

#include <pthread.h>

static NOINLINE void crew_work(void)
{
	spin_iterations(1000000);
	workload_sink++;
}

static NOINLINE void *crew_thread(void *number)
{
	char name[16];

	snprintf(name, sizeof(name), "crew-%d", (int)(intptr_t)number);
	workload_name_thread(name);
	while (!workload_stop)
		crew_work();
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t thread;
	long threads, i;

	workload_live(argc, argv);
	threads = workload_arg(argc, argv, 2, 300);
	for (i = 0; i < threads; i++) {
		errno = pthread_create(&thread, NULL, crew_thread, (void *)(intptr_t)i);
		if (errno)
			workload_die("cannot start a thread");
	}
	workload_await_names((int)threads);
	workload_ready();
	pause();
	return 0;
}
