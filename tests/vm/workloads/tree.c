// SPDX-License-Identifier: Apache-2.0
/*
 * tree SECONDS CPU - four functions with known shares of the time, below two others, on one CPU.
 *
 * Each runs until it has had its share of the thread's CPU time, which it reads from the thread's own clock: the speed
 * of the CPU and the cost of interrupts do not matter. If a function took too much, it gets less the next time. Slices
 * take some milliseconds and vary in length, so that no sampling rate is in step with them.
 *
 * Expected shares of all samples: tree;_start;begin;turn;computing;short_sums 20 %, ...;computing;long_sums 35 %,
 * ...;reading;few_zeros 15 %, ...;reading;many_zeros 30 %. The last two are nearly always in the kernel.
 */
#include "tests/vm/workloads/bare.h"

#define NOINLINE __attribute__((noinline))

static volatile int stop; /* stays 0: see tests/workloads/workload.h */
static volatile uint64_t sink;
static char zeros[65536];
static int zero_fd;

static inline __attribute__((always_inline)) void sums_until(uint64_t end)
{
	uint64_t x = end;
	unsigned int i;

	do {
		for (i = 0; i < 20000; i++)
			x = x * 6364136223846793005ULL + 1442695040888963407ULL;
		sink = x;
	} while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

static inline __attribute__((always_inline)) void zeros_until(uint64_t end, long len)
{
	do
		if (bare_call(SYS_read, zero_fd, (long)zeros, len) != len)
			bare_die(1);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < end);
}

static NOINLINE void short_sums(uint64_t end)
{
	sums_until(end);
}

static NOINLINE void long_sums(uint64_t end)
{
	sums_until(end);
}

static NOINLINE void few_zeros(uint64_t end)
{
	zeros_until(end, 16384);
}

static NOINLINE void many_zeros(uint64_t end)
{
	zeros_until(end, 65536);
}

static NOINLINE uint64_t computing(uint64_t from, uint64_t unit)
{
	short_sums(from + 20 * unit);
	long_sums(from + 55 * unit);
	return from + 55 * unit;
}

static NOINLINE uint64_t reading(uint64_t from, uint64_t unit)
{
	few_zeros(from + 15 * unit);
	many_zeros(from + 45 * unit);
	return from + 45 * unit;
}

static NOINLINE uint64_t turn(uint64_t from, uint64_t unit)
{
	return reading(computing(from, unit), unit) + (uint64_t)stop;
}

__attribute__((used)) void begin(const long *stack)
{
	uint64_t from;
	uint32_t r = 1;

	zero_fd = (int)bare_call(SYS_open, (long)"/dev/zero", O_RDONLY, 0);
	if (zero_fd < 0)
		bare_die(1);
	bare_begin(stack, 3);
	bare_ready();
	for (from = clock_ns(CLOCK_THREAD_CPUTIME_ID); !stop;) {
		r = r * 1664525 + 1013904223;
		from = turn(from, 200000 + (r >> 8) % 200000);
	}
	bare_die(0);
}
