/* SPDX-License-Identifier: Apache-2.0 */
/* Open and close events as CPUs come online and go offline, and count the time during which samples were due. */
#ifndef CORE_EVENTS_CPUS_H
#define CORE_EVENTS_CPUS_H

#include "core/events/perf_events.h"

/** struct events_hooks - @attach is called after an event was opened, @detach before an event is closed. */
struct events_hooks {
	int (*attach)(void *ctx, size_t place, struct err *err);
	int (*detach)(void *ctx, size_t place, struct err *err);
	void *ctx;
};

/**
 * events_follow_cpus() - close the events of CPUs that went offline, and open those of CPUs that came online.
 *
 * When a CPU goes offline, the kernel stops its events and does not restore them later. But it restores events of
 * threads. Followed threads have an event for each CPU, if possible also for CPUs that are offline (followed.h). For
 * these events,
 * @h.attach() is called when their CPU comes online for the first time.
 * @h: an opened event is enabled after it was attached
 * Return: 1: something has changed; 0: nothing; -errno. A CPU whose event cannot be opened now counts as offline.
 */
int events_follow_cpus(struct events *ev, uint64_t now_ns, const struct events_hooks *h, struct err *err);

/** events_in_doubt() - when to look again at CPUs that may have gone offline and come back; 0: there is none. */
uint64_t events_in_doubt(const struct events *ev);

/**
 * events_followed_ns() - how long the command ran since its events were enabled, on all CPUs together, with all tasks
 * that inherited the events. Return: 0; -ENODATA: no event can be read.
 */
int events_followed_ns(const struct events *ev, uint64_t *ns);

/** events_begin() - expect samples from @now_ns on, from the CPUs that are online. */
void events_begin(struct events *ev, uint64_t now_ns);
/** events_account() - set ev->due_ns and ev->offline_ns for the time since the last call, and start again from zero. */
void events_account(struct events *ev, uint64_t now_ns);

/** events_cpu_is_away() - true if a CPU whose event was open is offline now. */
bool events_cpu_is_away(const struct events *ev);

#endif
