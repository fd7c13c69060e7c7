/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that have exited, and that no row will ask for. */
#ifndef CORE_SESSION_FORGET_H
#define CORE_SESSION_FORGET_H

#include "core/session/state.h"

/** forget_tasks() - drop what is known of them; see tasks_forget_due(). */
void forget_tasks(struct session *s);

#endif
