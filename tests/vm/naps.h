/* SPDX-License-Identifier: Apache-2.0 */
/* A process that sleeps and records when: on an emulated CPU a nap of 10 ms may take any time. */
#ifndef TESTS_VM_NAPS_H
#define TESTS_VM_NAPS_H

#include "tests/vm/run.h"

#include <stdbool.h>

/** naps_start() - start a process that sleeps 10 ms at a time on @cpu, for at most @seconds. Only one may run. */
pid_t naps_start(unsigned int seconds, unsigned int cpu, bool nobody);
void naps_stop(pid_t pid);

/**
 * check_naps() - check that the rows of @r that begin with @prefix have the off-CPU time of the naps while @r traced,
 * and that @r counted an interval for each nap. Intervals of other threads that @r traced are counted, too.
 * @share: at least this share of the naps that were whole within the run must have been found; and of the found time,
 *         at least this share must have been naps, including those at the run's two ends that were not whole
 */
bool check_naps(const struct run *r, const char *name, const char *prefix, double share);

#endif
