/* SPDX-License-Identifier: Apache-2.0 */
/* Choose how to walk the user stacks of a run: --unwind, and the choice of --unwind=auto on this host. */
#ifndef CORE_SESSION_UNWINDER_H
#define CORE_SESSION_UNWINDER_H

#include "core/session/state.h"

/*
 * Bytes of stack copies per second, on all CPUs. One of the two larger sizes of unwinder_choose() is chosen only if it
 * needs no more. If copies of the chosen or requested size need more, --unwind=auto makes none.
 */
#define UNWINDER_BUDGET     (256UL << 20)
#define UNWINDER_CPU_BUDGET (32UL << 20) /* bytes for each CPU; only limits the choice of the two larger sizes */

/**
 * unwinder_choose() - set request.unwinds, request.proves and the sizes of copies, before anything is opened. If the
 * request gives no size, it is STACK_DUMP_MAX or 32760 bytes, the larger one that both budgets permit for this rate and
 * number of CPUs; STACK_DUMP_LEAST if they permit neither, or if the rate is not known.
 */
void unwinder_choose(struct session *s);

/**
 * unwinder_recorded() - set request.unwinds, request.proves and request.asked for a recording that is open:
 * s->recording says how it was made.
 * Return: 0; -EINVAL, described: --unwind asks for stack copies, and it has none.
 */
int unwinder_recorded(struct session *s, struct err *err);

/**
 * unwinder_give_up() - with --unwind=auto: do without stack copies if this host does not provide them.
 * @rc: the result of opening the events: 0, or -errno with @err
 * Return: true: open the events again, without copies.
 */
bool unwinder_give_up(struct session *s, int rc, const struct err *err);

#endif
