/* SPDX-License-Identifier: Apache-2.0 */
/* A thread that sleeps, and says when: on an emulated CPU a nap of 10 ms may take any time. */
#ifndef TESTS_VM_NAPS_H
#define TESTS_VM_NAPS_H

#include "tests/vm/run.h"

#include <stdbool.h>

/** naps_start() - sleeps 10 ms at a time on @cpu, for @seconds at most; one at a time. */
pid_t naps_start(unsigned int seconds, unsigned int cpu, bool nobody);
void naps_stop(pid_t pid);

/**
 * check_naps() - the rows of @r that begin with @prefix have the time off the CPU of the naps while it traced, and
 * there is an interval for each of them; where it traced other threads, too, theirs are among these.
 * @share: that must have been found of what was whole in this time; and of what was found, that must have been naps,
 * the first and the last ones included
 */
bool check_naps(const struct run *r, const char *name, const char *prefix, double share);

#endif
