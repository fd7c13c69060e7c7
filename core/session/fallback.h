/* SPDX-License-Identifier: Apache-2.0 */
/* Choose the way to sample: the best that this host permits. Also test which ways it permits. */
#ifndef CORE_SESSION_FALLBACK_H
#define CORE_SESSION_FALLBACK_H

#include "core/session/state.h"

/**
 * fallback_open() - open events, source and counters. If the request names a way, only that one is tried; otherwise
 * each in order of preference, and @s->reason says why the earlier ones failed. If you may not sample whole CPUs, the
 * first way without a counter follows threads instead, unless the request names another way; @s->reason then describes
 * these threads, too.
 * Return: 0; -errno, described.
 */
int fallback_open(struct session *s, struct err *err);

/**
 * struct way_trial - whether a way can be used here.
 * @why: why it is not usable, or what it lacks, in one line; code 0: nothing to remark
 */
struct way_trial {
	bool usable;
	struct err why;
};

/**
 * fallback_try() - open @way as a run does, but enable nothing.
 *
 * @s: new; afterwards only session_free() may be called for it
 * @tasks: follow threads instead of sampling whole CPUs: the calling thread if the request of @s names only thread 0
 *
 * On a host whose kernel the first bpf(2) would taint, a way that needs bpf(2) is not tried, and not usable, unless the
 * request of @s names a way.
 */
void fallback_try(struct session *s, const struct way *way, bool tasks, struct way_trial *out);

#endif
