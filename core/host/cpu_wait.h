/* SPDX-License-Identifier: Apache-2.0 */
/* Find out whether something took long because this process did not get a CPU. */
#ifndef CORE_HOST_CPU_WAIT_H
#define CORE_HOST_CPU_WAIT_H

#include "core/host/host.h"

/** struct cpu_wait - the beginning of a measurement: how long the main thread waits for a CPU. */
struct cpu_wait {
	const char *what;             /* as in cpu_wait_begin() */
	uint64_t began_ns, waited_ns; /* waited_ns: from the start of the thread until began_ns */
	bool known;                   /* false: the kernel does not report the time of waiting */
};

/**
 * cpu_wait_begin() - measure from now on.
 * @what: what begins now, for the message; not copied
 */
void cpu_wait_begin(const struct host *h, struct cpu_wait *w, const char *what);

/**
 * cpu_wait_is_long() - true if more than five seconds have passed since @w began, and the thread has waited for a CPU
 * for at least half of that time. This happens beside processes that come and go very fast in another session: with
 * SCHED_AUTOGROUP, the nice value of a process only counts within its session. On Linux 6.18, a loop beside such
 * processes needed 20 to 34 seconds for 0.3 seconds of CPU time, but 0.3 seconds if its session had the nice value -20.
 * @now_ns: CLOCK_MONOTONIC
 * @why: set if true: the message, with both times
 */
bool cpu_wait_is_long(const struct host *h, const struct cpu_wait *w, uint64_t now_ns, struct err *why);

#endif
