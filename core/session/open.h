/* SPDX-License-Identifier: Apache-2.0 */
/* The begin of a run: what the user named, the way to sample, and the rights that stay. */
#ifndef CORE_SESSION_OPEN_H
#define CORE_SESSION_OPEN_H

#include "core/session/state.h"

/**
 * session_open() - open the events, and who counts, see fallback_open(). Then this process gives up what
 * rights it does not need any more, see core/host/privileges.h: call it before there is another thread.
 */
int session_open(struct session *s, struct err *err);

#endif
