/* SPDX-License-Identifier: Apache-2.0 */
/* Which way to sample is taken: the best that this host permits. */
#ifndef CORE_SESSION_FALLBACK_H
#define CORE_SESSION_FALLBACK_H

#include "core/session/state.h"

/**
 * fallback_open() - events, source and counters. When the options name a way only that one is tried, else each in order
 * of preference; then @s->reason says why the earlier ones were not taken. Where whole CPUs may not be sampled, threads
 * are followed instead; then its last sentence is about them.
 */
int fallback_open(struct session *s, struct err *err);

#endif
