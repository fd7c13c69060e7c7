// SPDX-License-Identifier: Apache-2.0
/*
 * late [LIFE [SLEEP [WORK [cpu]]]] - sleeps for SLEEP seconds (1.5), works for WORK seconds (0.5) in late_work, and
 * exits. cpu: it works until it has used so much CPU time. If it is started before a profiler, the profiler gets no
 * events of its mappings, and must read them in /proc before the process exits.
 *
 * Expected: ...;main;late_work.
 */
#include "workload.h"

static NOINLINE void late_work(uint64_t ns, clockid_t clock)
{
	spin_clock_ns(clock, ns);
	workload_sink++;
}

int main(int argc, char **argv)
{
	uint64_t sleep = argc > 2 ? workload_time(argc, argv, 2, 0) : 1500 * MSEC;
	uint64_t work = argc > 3 ? workload_time(argc, argv, 3, 0) : 500 * MSEC;

	workload_live(argc, argv);
	workload_ready();
	sleep_ns(sleep);
	late_work(work, argc > 4 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC);
	return 0;
}
