/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that empties the rings into memory while the others are busy with a report, which may take long, or wait for
 * whoever reads it. It calls backend_ops.fetch and nothing else.
 */
#ifndef CORE_KEEPER_H
#define CORE_KEEPER_H

#include "core/backend.h"

#include <poll.h>

struct keeper;

/**
 * keeper_start() - until keeper_end(), only this thread touches @state.
 * @fds: @nr of them, at least one; copied. The first is a signalfd of SIGINT and SIGTERM, which are blocked: the first
 *       signal is taken from it, one that comes later, not at the same time, ends the process: a report that nobody
 *       reads would keep it for ever. The others are readable when a ring wants to be read.
 * Return: NULL: described in @err.
 */
struct keeper *keeper_start(const struct backend_ops *ops, struct backend *state, const struct pollfd *fds, size_t nr,
			    struct err *err);

/**
 * keeper_end() - join the thread and free @k.
 * @signalled: out: a signal was taken
 * Return: 0, or what ended its work, described in @err.
 */
int keeper_end(struct keeper *k, bool *signalled, struct err *err);

#endif
