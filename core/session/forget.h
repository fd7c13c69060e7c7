/* SPDX-License-Identifier: Apache-2.0 */
/* Forget processes that have exited and that no row refers to. */
#ifndef CORE_SESSION_FORGET_H
#define CORE_SESSION_FORGET_H

#include "core/session/state.h"

/** forget_tasks() - drop the data of these processes; call it when tasks_forget_due(). */
void forget_tasks(struct session *s);

#endif
