// SPDX-License-Identifier: Apache-2.0
/*
 * distinct [SECONDS [N]] - N (default 20000) different stacks, all with the same share. One thread on each CPU walks
 * through the paths of a binary tree, and spends about 10 us at the end of each. At each level a bit of the path's
 * number decides which of two functions is called, so that no two paths have the same frames.
 *
 * Expected: distinct;...;walk_forever;left|right;left|right;...;leaf_work, with as many levels as N has bits (18 for
 * 200000), and almost never with fewer.
 */
#include "each_cpu.h"
#include "tree.h"

static long nr_paths;
static int nr_levels;

/* Some 10 us. */
static NOINLINE void leaf_work(void)
{
	spin_iterations(7000);
}

static NOINLINE void *walk_forever(void *arg)
{
	long path;

	workload_pin((int)(intptr_t)arg);
	while (!workload_stop)
		for (path = 0; path < nr_paths; path++)
			go_down((unsigned long)path, nr_levels);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[CPU_SETSIZE];

	workload_live(argc, argv);
	nr_paths = workload_arg(argc, argv, 2, 20000);
	while (nr_levels < 30 && nr_paths > 1L << nr_levels)
		nr_levels++;
	start_on_each_cpu(walk_forever, threads);
	workload_ready();
	pthread_join(threads[0], NULL);
	return 0;
}
