// SPDX-License-Identifier: Apache-2.0
/*
 * slower [SECONDS [PERCENT [CPU_SECONDS]]] - four functions with known shares, one of which takes PERCENT longer:
 * may_be_slower has 50 + PERCENT / 2 parts, the others 30, 15 and 5. A turn takes less than a sampling period at 999
 * Hz, so that samples are independent draws. The program ends after CPU_SECONDS of CPU time, so that the number of
 * samples does not depend on other programs.
 *
 * Expected: ...;main;work;may_be_slower, ...;steady, ...;rare and ...;seldom.
 */
#include "workload.h"

static NOINLINE void may_be_slower(uint64_t unit, uint64_t percent)
{
	spin_iterations(50 * unit + 50 * unit * percent / 100);
}

static NOINLINE void steady(uint64_t unit)
{
	spin_iterations(30 * unit);
}

static NOINLINE void rare(uint64_t unit)
{
	spin_iterations(15 * unit);
}

static NOINLINE void seldom(uint64_t unit)
{
	spin_iterations(5 * unit);
}

static NOINLINE void work(uint64_t percent, uint64_t until_ns)
{
	uint32_t r = 1, turns = 0;

	/*
	 * Make few system calls: a late timer interrupt tends to come at a system call, the more so if other programs
	 * run.
	 */
	while (!workload_stop && (++turns % 256 || clock_ns(CLOCK_PROCESS_CPUTIME_ID) < until_ns)) {
		uint64_t unit;

		r = r * 1664525 + 1013904223;
		unit = 1000 + (r >> 8) % 2000;
		may_be_slower(unit, percent);
		steady(unit);
		rare(unit);
		seldom(unit);
	}
}

int main(int argc, char **argv)
{
	uint64_t percent = (uint64_t)workload_arg(argc, argv, 2, 0);
	uint64_t seconds = (uint64_t)workload_arg(argc, argv, 3, 3600);

	workload_live(argc, argv);
	workload_ready();
	work(percent, seconds * 1000 * MSEC);
	return 0;
}
