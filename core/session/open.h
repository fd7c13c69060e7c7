/* SPDX-License-Identifier: Apache-2.0 */
/* Begin a run: find the tasks that the user named, choose the way to sample, and drop capabilities. */
#ifndef CORE_SESSION_OPEN_H
#define CORE_SESSION_OPEN_H

#include "core/session/state.h"

/**
 * session_open() - open events, source and counters, see fallback_open(), or the recording. Drop capabilities that are
 * no longer needed, see core/host/privileges.h: before a recording is opened, or after the events are open. Call
 * session_open() before another thread exists.
 */
int session_open(struct session *s, struct err *err);

#endif
