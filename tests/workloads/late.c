// SPDX-License-Identifier: Apache-2.0
/*
 * late - a process that was there before, sleeps for 1.5 s, works for 0.5 s in late_work, and exits: whoever asks /proc
 * for its mappings only in the beginning or in the end gets none.
 *
 * Expected: ...;main;late_work.
 */
#include "workload.h"

static NOINLINE void late_work(void)
{
	spin_ns(500 * MSEC);
	workload_sink++;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_ready();
	sleep_ns(1500 * MSEC);
	late_work();
	return 0;
}
