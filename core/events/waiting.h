/* SPDX-License-Identifier: Apache-2.0 */
/* What poll(2) is asked about the rings of the events: which of them want to be read, and whether a CPU has gone. */
#ifndef CORE_EVENTS_WAITING_H
#define CORE_EVENTS_WAITING_H

#include "core/events/perf_events.h"

#include <poll.h>

#define WAITING_OTHERS 3

/** struct waiting - @fds: first WAITING_OTHERS of the caller's, -1 to begin with; then two of each event. */
struct waiting {
	const struct events *ev;
	struct pollfd *fds;
	size_t nr;
	uint64_t began; /* the caller's */
};

/** waiting_begin() - of the events as they are now; anew when they are others. Return: 0; -ENOMEM, described. */
int waiting_begin(struct waiting *w, const struct events *ev, struct err *err);
void waiting_end(struct waiting *w);

/**
 * waiting_poll() - sleep until one of them is ready, or @timeout_ms are over. Those of the caller's have it in their
 * revents.
 * @gone: out: a CPU seems to have gone
 * Return: 1: a ring wants to be read; 0; -errno, described.
 */
int waiting_poll(struct waiting *w, int timeout_ms, bool *gone, struct err *err);

#endif
