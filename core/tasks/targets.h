/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes or threads that a run is about (-p, -L), until the last of them has ended.
 *
 * They are waited for one after the other, so that this takes one descriptor, or one file of /proc to look at, however
 * many there are: a pidfd (pidfd_open(2), since 5.3) of a process. Of a thread, which has had one only since 6.9, and
 * before 5.3, /proc tells.
 */
#ifndef CORE_TASKS_TARGETS_H
#define CORE_TASKS_TARGETS_H

#include "core/host/host.h"

struct targets;

/**
 * targets_new() - @ids, borrowed, are processes, or threads. Those that have ended meanwhile are fine.
 * Return: NULL: no memory.
 */
struct targets *targets_new(const struct host *host, const pid_t *ids, size_t nr, bool are_processes);
void targets_free(struct targets *t);

/** targets_fd() - readable when targets_ended() may have another answer. Ours; -1: it has to be asked now and then. */
int targets_fd(const struct targets *t);

/**
 * targets_ended() - have all of them ended? Does not wait, and looks at most ten times in a second where there is no
 * targets_fd(). One that nobody has waited for yet has ended, and so has a process when the last of its threads has.
 */
bool targets_ended(struct targets *t);

/** targets_begin() - from here on targets_ran() counts. */
void targets_begin(struct targets *t);

/** targets_ran() - CPU time of all of them since then. Return: 0; -errno: of one, as of one that has gone, it is not
 * known. */
int targets_ran(const struct targets *t, uint64_t *ns);

#endif
