/* SPDX-License-Identifier: Apache-2.0 */
/* Which way to sample is taken: the best that this host permits; and which ways it permits. */
#ifndef CORE_SESSION_FALLBACK_H
#define CORE_SESSION_FALLBACK_H

#include "core/session/state.h"

/**
 * fallback_open() - events, source and counters. When the options name a way only that one is tried, else each in order
 * of preference; then @s->reason says why the earlier ones were not taken. Where whole CPUs may not be sampled, threads
 * are followed instead; then its last sentence is about them.
 */
int fallback_open(struct session *s, struct err *err);

/**
 * struct way_trial - can a way be used here?
 * @why: why it is not usable, or what it lacks: one line; code 0: there is nothing to remark
 */
struct way_trial {
	bool usable;
	struct err why;
};

/**
 * fallback_try() - open @way as a run does, but nothing is enabled.
 *
 * @s: new, and of no further use but for session_free()
 * @tasks: threads are followed instead of sampling whole CPUs: of the process itself, where the options of @s name
 *         thread 0 alone
 *
 * On a host that the first bpf(2) would taint a way that needs it is not tried, and not usable.
 */
void fallback_try(struct session *s, const struct way *way, bool tasks, struct way_trial *out);

#endif
