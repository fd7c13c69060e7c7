/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that sleeps and records when: on an emulated CPU a nap of 10 ms may take any time. */
#ifndef TESTS_VM_NAPS_H
#define TESTS_VM_NAPS_H

#include "tests/vm/run.h"

#include <stdbool.h>

/** naps_start() - start a thread that sleeps 10 ms at a time on @cpu, for at most @seconds. One at a time. */
pid_t naps_start(unsigned int seconds, unsigned int cpu, bool nobody);
void naps_stop(pid_t pid);

/**
 * check_naps() - check the rows of @r that begin with @prefix: they have the off-CPU time of the naps while it traced,
 * and an interval for each nap. If other threads were traced, too, theirs are included.
 * @share: at least this share of the whole naps must have been found; and of the found time, this share must have been
 * naps, the first and the last one included
 */
bool check_naps(const struct run *r, const char *name, const char *prefix, double share);

#endif
