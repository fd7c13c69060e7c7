/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes (-p) or threads (-L of profile, -t of offcputime) that a run samples, until the last of them has ended.
 *
 * We wait for one after the other, so that we need only one descriptor, or one file of /proc, at a time. A process has
 * a pidfd (pidfd_open(2), since 5.3). A thread has one only since 6.9: for threads, and before 5.3, we read /proc.
 */
#ifndef CORE_TASKS_TARGETS_H
#define CORE_TASKS_TARGETS_H

#include "core/host/host.h"

struct targets;

/**
 * targets_new() - @ids, borrowed, are processes, or threads. Some may have ended already.
 * Return: NULL: no memory.
 */
struct targets *targets_new(const struct host *host, const pid_t *ids, size_t nr, bool are_processes);
void targets_free(struct targets *t);

/**
 * targets_fd() - readable if the result of targets_ended() may change. Owned by @t until the next targets_ended(),
 * after which it may be another one. -1: call targets_ended() regularly.
 */
int targets_fd(const struct targets *t);

/**
 * targets_ended() - true if all of them have ended. Does not wait; if targets_fd() is -1 it checks at most ten times a
 * second. A zombie counts as ended; a process whose first thread is a zombie only if its other threads have ended,
 * too.
 */
bool targets_ended(struct targets *t);

/** targets_begin() - targets_ran() counts from here on. */
void targets_begin(struct targets *t);

/**
 * targets_ran() - CPU time of all of them since targets_begin(). Return: 0; -errno: the time of one is not known, for
 * example because it has ended.
 */
int targets_ran(const struct targets *t, uint64_t *ns);

#endif
