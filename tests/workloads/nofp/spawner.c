// SPDX-License-Identifier: Apache-2.0
/*
 * spawner [SECONDS] - works, and starts threads that end at once. A fifth of the time is spent in the system call that
 * starts them, for which glibc up to 2.36 has no rules, in this thread or already in the new one.
 */
#include "tests/workloads/nofp/nofp.h"

#include <pthread.h>

static NOIPA void *nothing(void *arg)
{
	return arg;
}

static NOIPA void spawn(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, nothing, NULL))
		workload_die("cannot create a thread");
	spin_iterations(100000);
	pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;spawn");
	expect("CLONE");
	expect("BEGUN");
	workload_ready();
	while (!workload_stop)
		spawn();
	return 0;
}
