/* SPDX-License-Identifier: Apache-2.0 */
/* Find out whether the report was late because this process did not get a CPU. */
#ifndef CORE_HOST_STARVED_H
#define CORE_HOST_STARVED_H

#include "core/host/host.h"

/**
 * host_starved() - true if the main thread has waited for a CPU for at least half of @late_ns, and for a second. With
 * SCHED_AUTOGROUP, each session gets the same share of a CPU, whatever the nice values of its processes are. Beside
 * processes that come and go very fast in another session, a session may get much less than its share: on Linux 6.18,
 * a loop needed 20 to 34 seconds for 0.3 seconds of CPU time, and 0.3 seconds if its session had the nice value -20.
 * @late_ns: the time from the end of the sampling to the report
 * @why: if true: both times, and the remedy if there is one
 */
bool host_starved(const struct host *h, uint64_t late_ns, struct err *why);

#endif
