// SPDX-License-Identifier: Apache-2.0
/*
 * mayflies COUNT - runs COUNT threads, some dozens at a time, each of which sleeps for a moment and ends. Then the
 * process ends.
 */
#include "workload.h"

#include <pthread.h>

enum { AT_ONCE = 64 };

static void *live(void *arg)
{
	const struct timespec moment = { .tv_nsec = 1000 };

	nanosleep(&moment, NULL);
	return arg;
}

int main(int argc, char **argv)
{
	uint64_t left = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	pthread_t threads[AT_ONCE];
	unsigned int nr, i;

	while (left) {
		for (nr = 0; nr < AT_ONCE && left; nr++, left--)
			if (pthread_create(&threads[nr], NULL, live, NULL))
				return 1;
		for (i = 0; i < nr; i++)
			pthread_join(threads[i], NULL);
	}
	return 0;
}
