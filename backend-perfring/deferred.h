/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples that wait for their user stacks, which the kernel takes when their thread returns to user space
 * (compat/perf_deferred.h). A row key has everything from the time of the sample except that stack.
 *
 * A thread has one cookie at a time, that of its last entry into the kernel. Records come in time order: if a sample
 * has a new cookie, samples of the thread with another one are counted as missed, because their stack is late or lost.
 * Work per sample and memory are limited: beyond the limits, the samples of the thread that has waited longest are
 * counted as missed, those of exited threads first.
 */
#ifndef PERFRING_DEFERRED_H
#define PERFRING_DEFERRED_H

#include "core/rows/rows.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define DEFERRED_MAX_SAMPLES (1u << 18)  /* that wait */
#define DEFERRED_MAX_BYTES   (64u << 20) /* of these */
#define DEFERRED_MAX_EXITED  64          /* exited threads with samples that wait */

struct deferred;

/**
 * deferred_fn - count a sample that has waited.
 * @key: with its user stack, which is STACK_MISSED if it never came; borrowed
 * @set: as given to deferred_wait()
 * Return: 0 or -errno, which the call that ended the waiting returns, too.
 */
typedef int (*deferred_fn)(void *ctx, const struct row_key *key, unsigned int set);

/** deferred_new() - @count: called once for each sample that waited, with @ctx. Return: NULL: no memory. */
struct deferred *deferred_new(deferred_fn count, void *ctx);
/** deferred_free() - samples that still wait are not counted. NULL is fine. */
void deferred_free(struct deferred *d);

/**
 * deferred_wait() - a sample of thread @tid waits for the stack with @cookie.
 * @key: its kernel stack is copied, its user stack does not matter
 * @set: index in sink.sets
 * Return: 0; -ENOMEM, or -errno of deferred_fn for an earlier sample: this one does not wait, and was not counted.
 */
int deferred_wait(struct deferred *d, pid_t tid, uint64_t cookie, const struct row_key *key, unsigned int set);

/**
 * deferred_came() - thread @tid has returned to user space: its samples with @cookie have the stack @user, borrowed.
 * Return: 0, also if none waits; -errno of deferred_fn.
 */
int deferred_came(struct deferred *d, pid_t tid, uint64_t cookie, const struct stack *user);

/** deferred_executed() - thread @tid has called exec: count its samples as missed, its next stack is not theirs. */
int deferred_executed(struct deferred *d, pid_t tid);

/**
 * deferred_exited() - the EXIT record of thread @tid. Its last callchain follows this record (perf_event_exit_task()
 * and unwind_deferred_task_exit() in do_exit(), 7.2), if one comes. At most DEFERRED_MAX_EXITED exited threads may
 * wait, because exited processes without rows are forgotten with their mappings; see TASKS_MAX_EXITED in
 * core/tasks/tasks.h.
 */
int deferred_exited(struct deferred *d, pid_t tid);

/** deferred_flush() - no more records come: count all samples that wait as missed. */
int deferred_flush(struct deferred *d);

/** deferred_nr() - samples that wait. */
size_t deferred_nr(const struct deferred *d);

#endif
