// SPDX-License-Identifier: Apache-2.0
/*
 * func_ab [SECONDS [CPU]] - two functions with known shares: func_a : func_b = 30 : 70.
 *
 * Runs on one CPU (default: the last it may use). Both functions run the same loop, which depends only on the latency
 * of a multiplication, 3 and 7 times the same number of iterations. A turn takes 20 to 60 ms, many sampling periods at
 * 499 Hz. The samples in a turn are its length in periods, plus or minus one at its ends. This scatters far less than
 * independent draws would (0.2 points in 10 s, not 0.65). The lengths vary, so that no sampling rate is in step with
 * them.
 *
 * Expected: ...;main;work;func_a 30 % and ...;main;work;func_b 70 %.
 */
#include "workload.h"

static NOINLINE void func_a(uint64_t unit)
{
	spin_iterations(3 * unit);
}

static NOINLINE void func_b(uint64_t unit)
{
	spin_iterations(7 * unit);
}

static NOINLINE void work(void)
{
	uint32_t r = 1;

	while (!workload_stop) {
		uint64_t unit;

		r = r * 1664525 + 1013904223;
		unit = 1200000 + (r >> 8) % 2400000;
		func_a(unit);
		func_b(unit);
	}
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_pin((int)workload_arg(argc, argv, 2, workload_last_cpu()));
	workload_ready();
	work();
	return 0;
}
