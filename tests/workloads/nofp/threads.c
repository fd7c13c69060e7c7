// SPDX-License-Identifier: Apache-2.0
/*
 * threads [SECONDS] - two threads, with the name of the process, that work while main waits.
 */
#include "tests/workloads/nofp/nofp.h"

#include <pthread.h>

static NOIPA uint64_t leaf(uint64_t a)
{
	spin_iterations(200000);
	return a;
}

static NOIPA uint64_t middle(uint64_t a, uint64_t b)
{
	return leaf(a) * b + leaf(b) * a;
}

static NOIPA void *worker(void *arg)
{
	uint64_t sum = (uintptr_t)arg;

	while (!workload_stop)
		sum += middle(sum, 3);
	return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv)
{
	pthread_t threads[2];
	size_t i;

	workload_live(argc, argv);
	expect("CLONE;worker;middle;leaf");
	for (i = 0; i < 2; i++)
		if (pthread_create(&threads[i], NULL, worker, NULL))
			workload_die("cannot create a thread");
	workload_ready();
	for (i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
