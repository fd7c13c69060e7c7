// SPDX-License-Identifier: Apache-2.0
/*
 * vdso [SECONDS] - reads the clock, which needs no system call on most machines.
 *
 * Expected: ...;clock_gettime as leaf, of [vdso], most of the time.
 */
#include "workload.h"

static NOINLINE void ask_time(void)
{
	int i;

	for (i = 0; i < 1000; i++)
		workload_sink += now_ns();
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_ready();
	while (!workload_stop)
		ask_time();
	return 0;
}
