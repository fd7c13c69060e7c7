/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The descendants of a process: itself from its exec on, the processes that it makes then, those that these make, and
 * so on, also if another process adopts them when their parents have ended.
 *
 * The input is side-band records in time order, so a pid is that of the process which had it then. An answer (enum
 * descent) about a process is valid as long as the process lives. The function that descendants_tell() sets may store
 * answers until we withdraw them.
 *
 * Memory is limited to the processes that live, and the last 8192 that have ended. Not thread safe.
 */
#ifndef CORE_TASKS_DESCENDANTS_H
#define CORE_TASKS_DESCENDANTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct descendants;

enum descent {
	DESCENT_UNKNOWN, /* the answer is withdrawn: the process has ended */
	DESCENT_OUT,
	DESCENT_IN,
};

/** descendants_new() - of @root, which counts from its exec on. Return: NULL: no memory. */
struct descendants *descendants_new(pid_t root);
void descendants_free(struct descendants *d);

/**
 * descendants_tell() - have @keep called with each answer: for new descendants, and in descendants_judge(). If @keep
 * has stored an answer, it is called with DESCENT_UNKNOWN when the process has ended.
 * @keep: returns false if it cannot store the answer
 */
void descendants_tell(struct descendants *d, bool (*keep)(void *ctx, pid_t pid, enum descent what), void *ctx);

/*
 * Events, in time order. Functions with a result return 0, or -ENOMEM.
 */

/** descendants_exec() - @pid has called exec, and only the calling thread is left. */
int descendants_exec(struct descendants *d, pid_t pid);
/** descendants_fork() - process @ppid made process @pid; if they are equal, another thread of that process. */
int descendants_fork(struct descendants *d, pid_t pid, pid_t ppid);
/**
 * descendants_exit() - thread @tid of @pid has ended. Its last samples may be still to come, so a process is remembered
 * after its end, until 8192 others have ended or its pid is reused.
 */
void descendants_exit(struct descendants *d, pid_t pid, pid_t tid);

/** descendants_has() - true if @pid is a descendant that lives, or that has ended and is remembered. */
bool descendants_has(const struct descendants *d, pid_t pid);
/** descendants_judge() - as descendants_has(); tells @keep, unless it has the answer or the process has ended. */
bool descendants_judge(struct descendants *d, pid_t pid);
/**
 * descendants_reused() - true if a stored answer about an earlier process @pid may have been used for the current one.
 * @time: when it was used, CLOCK_MONOTONIC; report all events before that time first
 */
bool descendants_reused(const struct descendants *d, pid_t pid, uint64_t time);

#endif
