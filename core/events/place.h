/* SPDX-License-Identifier: Apache-2.0 */
/* The place of a CPU: all events whose records it gives. */
#ifndef CORE_EVENTS_PLACE_H
#define CORE_EVENTS_PLACE_H

#include "core/events/perf_events.h"

/**
 * place_open() - all of a CPU's. Where threads are followed, their events are open.
 * Return: 0; -ENODEV: the CPU is offline, not described; -errno.
 */
int place_open(struct events *ev, struct event_place *e, struct err *err);

/** place_tell() - @request of ioctl(2) to all that samples, or sees switches, on the CPU of @e. Return: 0 or -errno. */
int place_tell(const struct event_place *e, unsigned long request);

/** place_enable() - with what tells of tasks and mappings, and note that it has begun. */
int place_enable(struct event_place *e, struct err *err);

/** place_look() - its event has been enabled for @enabled_ns, now. */
void place_look(struct event_place *e, uint64_t enabled_ns);

#endif
