/* SPDX-License-Identifier: Apache-2.0 */
/* Wait for the rings of the events: which of them want to be read, and whether a CPU has gone. */
#ifndef CORE_EVENTS_WAITING_H
#define CORE_EVENTS_WAITING_H

#include "core/events/perf_events.h"

#include <poll.h>

#define WAITING_OTHERS 3

/**
 * struct waiting - @fds: first WAITING_OTHERS descriptors of the caller, -1 at first; then two for each of
 * events.places, for its ring and for that of its side band.
 */
struct waiting {
	const struct events *ev;
	struct pollfd *fds;
	size_t nr;
	struct epoll_array *watched; /* NULL: poll(2) is used, see waiting_watch() */
	uint64_t began;              /* when the caller called waiting_begin(); for the caller only */
};

/**
 * waiting_begin() - prepare for the events as they are now. When they have changed, call waiting_end(), and this again.
 * Return: 0; -ENOMEM, described.
 */
int waiting_begin(struct waiting *w, const struct events *ev, struct err *err);
void waiting_end(struct waiting *w);

/**
 * waiting_watch() - use epoll(7) from now on, if it can be had: the kernel then looks only at descriptors that are
 * ready, but preparing costs more than a few waits save. A descriptor stays open while it is waited for, and is there
 * once.
 */
void waiting_watch(struct waiting *w);

/**
 * waiting_poll() - sleep until a descriptor is ready, or for @timeout_ms. The descriptors of the caller have the result
 * in their revents.
 * @gone: out: a CPU seems to have gone
 * Return: 1: a ring wants to be read, or may want it; 0: none; -errno, described.
 */
int waiting_poll(struct waiting *w, int timeout_ms, bool *gone, struct err *err);

#endif
