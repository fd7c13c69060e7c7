/* SPDX-License-Identifier: Apache-2.0 */
/* How the user stacks of a run are walked: --unwind, and what --unwind=auto makes of this host. */
#ifndef CORE_SESSION_UNWINDER_H
#define CORE_SESSION_UNWINDER_H

#include "core/session/state.h"

#define UNWINDER_BUDGET     (256UL << 20) /* bytes of stacks in a second that --unwind=auto lets the kernel copy */
#define UNWINDER_CPU_BUDGET (32UL << 20)  /* on each CPU, for copies of more than STACK_DUMP_LEAST bytes */

/**
 * unwinder_choose() - set request.unwinds, request.proves and the sizes of copies as the options want it, before
 * anything is opened. Unless asked for, a copy is as large as the budgets permit, by the rate and the CPUs.
 */
void unwinder_choose(struct session *s);

/**
 * unwinder_give_up() - with --unwind=auto: do without copies of stacks, if this host does not give them.
 * @rc: what opening the events gave: 0, or -errno with @err
 * Return: true: the events are to be opened again, without.
 */
bool unwinder_give_up(struct session *s, int rc, const struct err *err);

#endif
