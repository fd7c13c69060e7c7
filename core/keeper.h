/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread that empties the rings into memory while the others are busy with a report, which may take long, or wait for
 * whoever reads it. It calls backend_ops.fetch and nothing else.
 */
#ifndef CORE_KEEPER_H
#define CORE_KEEPER_H

#include "core/backend.h"

struct keeper;

/**
 * keeper_start() - until keeper_end(), only this thread touches @state.
 * @signal_fd: a signalfd of SIGINT and SIGTERM, which are blocked. The first of them is taken from it, a second one
 * ends the process: a report that nobody reads would keep it for ever. Return: NULL: described in @err.
 */
struct keeper *keeper_start(const struct backend_ops *ops, struct backend *state, int signal_fd, struct err *err);

/**
 * keeper_end() - join the thread and free @k.
 * @signalled: out: a signal was taken
 * Return: 0, or what ended its work, described in @err.
 */
int keeper_end(struct keeper *k, bool *signalled, struct err *err);

#endif
