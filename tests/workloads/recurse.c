// SPDX-License-Identifier: Apache-2.0
/*
 * recurse [SECONDS [DEPTH]] - a stack deeper than the kernel walks by default: 200 frames of recurse_down
 * (or DEPTH) with recurse_bottom at their end.
 *
 * Expected: ...;main;recurse_down;recurse_down;...;recurse_bottom, cut at its root if the kernel's limit is lower.
 */
#include "workload.h"

static NOINLINE void recurse_bottom(void)
{
	while (!workload_stop) {
		spin_ns(5 * MSEC);
		sleep_ns(2 * MSEC);
	}
}

static NOINLINE void recurse_down(long left)
{
	if (left > 1)
		recurse_down(left - 1);
	else
		recurse_bottom();
	workload_sink++;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_ready();
	recurse_down(workload_arg(argc, argv, 2, 200));
	return 0;
}
