/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes that descend from one: itself from its exec on, those that it makes then, those that these make, and
 * so on, whoever adopts them when their parents are gone.
 *
 * Fed by side-band records in time order, so that a pid is that of the process which had it then. What is said of a
 * process holds as long as it lives, and somebody else may keep it until he is told that it has ended.
 *
 * Memory is bounded by what lives. Not thread safe.
 */
#ifndef CORE_TASKS_DESCENDANTS_H
#define CORE_TASKS_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct descendants;

enum descent {
	DESCENT_UNKNOWN, /* not any more: the process has ended */
	DESCENT_OUT,
	DESCENT_IN,
};

/** descendants_new() - of @root, which is not one before its exec. Return: NULL: no memory. */
struct descendants *descendants_new(pid_t root);
void descendants_free(struct descendants *d);

/**
 * descendants_tell() - have @keep called for processes of which it is asked or known what they are, and again when
 * they have ended.
 * @keep: returns false when it cannot keep that
 */
void descendants_tell(struct descendants *d, bool (*keep)(void *ctx, pid_t pid, enum descent what), void *ctx);

/*
 * Events, in time order. Return 0, or -ENOMEM.
 */

/** descendants_exec() - @pid has executed a program, of which its only thread is left. */
int descendants_exec(struct descendants *d, pid_t pid);
/** descendants_fork() - @ppid made a thread of @pid; a new process when these differ. */
int descendants_fork(struct descendants *d, pid_t pid, pid_t ppid);
/**
 * descendants_exit() - thread @tid of @pid is gone. Its last samples may be still to come, so that a process which has
 * ended is known for some time, or until its pid is that of another one.
 */
void descendants_exit(struct descendants *d, pid_t pid, pid_t tid);

/** descendants_has() - is @pid one of them now? */
bool descendants_has(const struct descendants *d, pid_t pid);
/** descendants_judge() - the same, for somebody who does not know it yet: he is told, if he can keep it. */
bool descendants_judge(struct descendants *d, pid_t pid);
/**
 * descendants_reused() - may somebody who was told of an earlier process @pid have taken the one of now for it?
 * @time: CLOCK_MONOTONIC, when he did; in the order of the events
 */
bool descendants_reused(const struct descendants *d, pid_t pid, uint64_t time);

#endif
