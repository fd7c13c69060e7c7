// SPDX-License-Identifier: Apache-2.0
/*
 * naps SECONDS CPU - sleeps 10 ms at a time, on one CPU, and does nothing else.
 *
 * Expected, of all time off the CPU: naps;_start;begin;turn;nap, which is nearly all the time there is.
 */
#include "tests/vm/workloads/bare.h"

#define NOINLINE __attribute__((noinline))

static volatile int stop; /* stays 0: see tests/workloads/workload.h */

static NOINLINE void nap(void)
{
	struct timespec ts = { 0, 10 * 1000 * 1000 };

	bare_call(SYS_nanosleep, (long)&ts, 0, 0);
	stop = 0;
}

static NOINLINE void turn(void)
{
	while (!stop)
		nap();
}

void begin(const long *stack)
{
	bare_begin(stack);
	turn();
	bare_die(0);
}
