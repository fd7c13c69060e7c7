// SPDX-License-Identifier: Apache-2.0
/*
 * piecework [SECONDS [PIECES]] - a fixed amount of work: one thread on each CPU does PIECES (10000) pieces of about 0.1
 * ms, 21 calls deep. Then it prints the nanoseconds that this took, and those of CPU time, and ends: they show how
 * much a profiler slows down a program.
 *
 * Expected: piecework;...;all_pieces;one_piece (21 times);leaf_work
 */
#include "each_cpu.h"

static long nr_pieces;

static NOINLINE void leaf_work(void)
{
	spin_iterations(70000);
}

static NOINLINE void one_piece(int depth)
{
	if (depth)
		one_piece(depth - 1);
	else
		leaf_work();
	workload_sink++;
}

static NOINLINE void *all_pieces(void *arg)
{
	long i;

	workload_pin((int)(intptr_t)arg);
	for (i = 0; i < nr_pieces; i++)
		one_piece(20);
	return NULL;
}

int main(int argc, char **argv)
{
	pthread_t threads[CPU_SETSIZE];
	uint64_t from;
	int nr;

	workload_live(argc, argv);
	nr_pieces = workload_arg(argc, argv, 2, 10000);
	workload_ready();
	from = now_ns();
	nr = start_on_each_cpu(all_pieces, threads);
	while (nr--)
		pthread_join(threads[nr], NULL);
	from = now_ns() - from;
	printf("%llu %llu\n", (unsigned long long)from, (unsigned long long)clock_ns(CLOCK_PROCESS_CPUTIME_ID));
	return 0;
}
