// SPDX-License-Identifier: Apache-2.0
/*
 * vdso [SECONDS] - reads the clock.
 */
#include "tests/workloads/nofp/nofp.h"

static NOIPA void ask(void)
{
	struct timespec now;
	int i;

	for (i = 0; i < 100000; i++)
		clock_gettime(CLOCK_MONOTONIC, &now);
	workload_sink += (uint64_t)now.tv_nsec;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;ask");
	workload_ready();
	while (!workload_stop)
		ask();
	return 0;
}
