/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that empties the rings into memory while the others are busy: with stacks to be unwound, files to be opened,
 * a report, or with waiting for a CPU. It calls source_ops.fetch and nothing else, so that it is done in microseconds:
 * that is why it may have a real-time priority and the others do not, see priority_create_thread(). It begins to copy
 * when a ring buffer asks for it, which at low rates is never.
 */
#ifndef CORE_SESSION_KEEPER_H
#define CORE_SESSION_KEEPER_H

#include "core/sources/source.h"

struct keeper;

/**
 * keeper_start() - until keeper_end() it empties the rings of the events that @ev has now.
 * @signal_fd: see signals_catch(); -1: none
 * @ops, @source: who has the rings
 * Return: NULL: described in @err.
 */
struct keeper *keeper_start(const struct events *ev, int signal_fd, const struct source_ops *ops, struct source *source,
			    struct err *err);

/** keeper_fd() - readable when the reader is wanted: see keeper_asks(); or a signal has been taken. */
int keeper_fd(const struct keeper *k);

/**
 * keeper_asks() - why the reader is wanted, since the last call. A lot has been kept (return 0), a CPU seems to have
 * gone (return 1), or no more can be kept: -errno, described.
 */
int keeper_asks(struct keeper *k, struct err *err);

/**
 * keeper_minds_signals() - @on: from now on it takes the first signal from @signal_fd, and one that comes later,
 * not at the same time, ends the process: a report that nobody reads would keep it for ever.
 */
void keeper_minds_signals(struct keeper *k, bool on);

/** keeper_signalled() - has it taken a signal since keeper_minds_signals()? */
bool keeper_signalled(const struct keeper *k);

/**
 * keeper_end() - join the thread and free @k.
 * @signalled: out: as keeper_signalled(), at last
 * Return: 0, or what ended its work, described in @err.
 */
int keeper_end(struct keeper *k, bool *signalled, struct err *err);

#endif
