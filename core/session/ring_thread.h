/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that empties the rings into memory while the others are busy: with stacks to be unwound, files to be opened,
 * a report, or with waiting for a CPU. It calls source_ops.fetch, and little else, so that it is done in microseconds:
 * that is why it may have a real-time priority and the others do not, see priority.h. It begins to copy when a ring
 * buffer asks for it and holds much, which at low rates is never. And it ends the sampling, when the time is up or a
 * signal comes: on a host that gives the reader no CPU time, that would come seconds later.
 */
#ifndef CORE_SESSION_RING_THREAD_H
#define CORE_SESSION_RING_THREAD_H

#include "core/sources/source.h"

struct ring_thread;

/**
 * ring_thread_start() - until ring_thread_end() it empties the rings of the events that @ev has now.
 * @realtime: where the host permits it, see priority_thread_start()
 * @signal_fd: see signals_catch(); -1: none
 * @ops, @source: who has the rings
 * Return: NULL: described in @err.
 */
struct ring_thread *ring_thread_start(const struct events *ev, bool realtime, int signal_fd,
				      const struct source_ops *ops, struct source *source, struct err *err);

/**
 * ring_thread_stop_at() - the events are disabled at @ns of CLOCK_MONOTONIC, UINT64_MAX: never, or when a signal comes
 * before: what samples first, and a moment later what tells of tasks and mappings.
 */
void ring_thread_stop_at(struct ring_thread *k, uint64_t ns);

/** ring_thread_stopped_ns() - when it has done that, CLOCK_MONOTONIC; 0: it has not. */
uint64_t ring_thread_stopped_ns(const struct ring_thread *k);

/** ring_thread_fd() - readable when the reader is wanted: see ring_thread_asks(); or a signal has been taken. */
int ring_thread_fd(const struct ring_thread *k);

/**
 * ring_thread_asks() - why the reader is wanted, since the last call. A lot has been kept (return 0), a CPU seems to
 * have gone (return 1), or no more can be kept: -errno, described.
 */
int ring_thread_asks(struct ring_thread *k, struct err *err);

/**
 * ring_thread_take_signals() - @on: from now on it takes the first signal from @signal_fd, and one that comes later,
 * not at the same time, ends the process: a report that nobody reads would keep it for ever.
 */
void ring_thread_take_signals(struct ring_thread *k, bool on);

/** ring_thread_signalled() - has it taken a signal since ring_thread_take_signals()? */
bool ring_thread_signalled(const struct ring_thread *k);

/**
 * ring_thread_end() - join the thread and free @k.
 * @signalled: out: as ring_thread_signalled(), at last
 * Return: 0, or what ended its work, described in @err.
 */
int ring_thread_end(struct ring_thread *k, bool *signalled, struct err *err);

#endif
