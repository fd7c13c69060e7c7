/* SPDX-License-Identifier: Apache-2.0 */
/* CPUs that come and go: their events, and for how long samples were due. */
#ifndef CORE_EVENTS_CPUS_H
#define CORE_EVENTS_CPUS_H

#include "core/events/perf_events.h"

/** struct events_hooks - @attach is called for an event that was opened, @detach for one that is about to be closed. */
struct events_hooks {
	int (*attach)(void *ctx, size_t place, struct err *err);
	int (*detach)(void *ctx, size_t place, struct err *err);
	void *ctx;
};

/**
 * events_follow_cpus() - close the events of CPUs that went offline, and open those of CPUs that came.
 *
 * The kernel takes the events of a CPU away when it goes offline, and does not bring them back; it does those of
 * threads: a CPU that comes for the first time is attached then.
 * @h: an event that was opened is enabled when it has been attached
 * Return: 1: something has changed; 0: nothing; -errno. A CPU whose event cannot be opened now counts as offline.
 */
int events_follow_cpus(struct events *ev, uint64_t now_ns, const struct events_hooks *h, struct err *err);

/** events_in_doubt() - has a CPU perhaps gone and come back? Then when to look again; 0: none. */
uint64_t events_in_doubt(const struct events *ev);

/**
 * events_followed_ns() - for how long the command ran since its events were enabled, on whatever CPU, with all that
 * inherited these. Return: 0; -ENODATA: the kernel does not tell.
 */
int events_followed_ns(const struct events *ev, uint64_t *ns);

/** events_begin() - samples are due from @now_ns on, of the CPUs that are online. */
void events_begin(struct events *ev, uint64_t now_ns);
/** events_account() - set ev->due_ns and ev->offline_ns for the time since the last call, and begin anew. */
void events_account(struct events *ev, uint64_t now_ns);

/** events_cpu_is_away() - is one of the CPUs offline that have been sampled? */
bool events_cpu_is_away(const struct events *ev);

#endif
