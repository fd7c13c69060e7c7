/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that copies the rings into memory while the other threads unwind stacks, open files, write a report, or wait
 * for a CPU. It calls source_ops.fetch and little else, so each turn takes microseconds. Therefore it may have a
 * real-time priority, which the others may not, see priority.h. The kernel wakes the thread, usually because a ring is a
 * quarter full, or at each sample if samples are few (rings_wakeup()); the source decides which rings it copies then.
 * The thread also copies about every 50 ms while much of the copies has not been read, and while it takes signals
 * (ring_thread_take_signals()). It also ends the sampling when the time is up or a signal comes
 * (ring_thread_stop_at()), because the main thread, which reads the copies, may get no CPU time for seconds.
 */
#ifndef CORE_SESSION_RING_THREAD_H
#define CORE_SESSION_RING_THREAD_H

#include "core/sources/source.h"

struct ring_thread;

/**
 * ring_thread_start() - start the thread. Until ring_thread_end(), it empties the rings of the events that @ev has now.
 * @realtime: use a real-time priority if the host permits it, see priority_thread_start()
 * @signal_fd: see signals_catch(); -1: none
 * @ops, @source: the source that has the rings
 * Return: NULL: described in @err.
 */
struct ring_thread *ring_thread_start(const struct events *ev, bool realtime, int signal_fd,
				      const struct source_ops *ops, struct source *source, struct err *err);

/**
 * ring_thread_stop_at() - disable the events at @ns (CLOCK_MONOTONIC; UINT64_MAX: never), or when a signal comes before
 * that. The sampling events stop first, and a moment later those that record tasks and mappings.
 */
void ring_thread_stop_at(struct ring_thread *k, uint64_t ns);

/** ring_thread_stopped_ns() - when the thread disabled the events, CLOCK_MONOTONIC; 0: it has not yet. */
uint64_t ring_thread_stopped_ns(const struct ring_thread *k);

/**
 * ring_thread_fd() - a descriptor that is readable when the reader has work, see ring_thread_asks(), or when a signal
 * was taken.
 */
int ring_thread_fd(const struct ring_thread *k);

/**
 * ring_thread_asks() - look at the reasons for work that came up since the last call. Return: 1: a CPU seems to have
 * gone; 0: others (much has been kept, new processes, a signal), or none; -errno, described: the thread has failed.
 */
int ring_thread_asks(struct ring_thread *k, struct err *err);

/**
 * ring_thread_take_signals() - @on: from now on the thread takes the first signal from @signal_fd. A later signal ends
 * the process: otherwise a report whose output is not read would keep the process running for ever.
 */
void ring_thread_take_signals(struct ring_thread *k, bool on);

/** ring_thread_signalled() - true if the thread has taken a signal (ring_thread_take_signals()). */
bool ring_thread_signalled(const struct ring_thread *k);

/**
 * ring_thread_end() - join the thread and free @k.
 * @signalled: out: as ring_thread_signalled(), at the end
 * Return: 0, or the error that ended its work, described in @err.
 */
int ring_thread_end(struct ring_thread *k, bool *signalled, struct err *err);

#endif
