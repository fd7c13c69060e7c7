/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the benchmarks. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdint.h>
#include <time.h>

/* Random numbers, the same on each run (splitmix64). */
static inline uint64_t rng(void)
{
	static uint64_t state = 42;
	uint64_t z = state += 0x9e3779b97f4a7c15ULL;

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
	z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
	return z ^ (z >> 31);
}

/* CPU time of all threads of this process, in seconds. */
static inline double cpu_time(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

#endif
