/* SPDX-License-Identifier: Apache-2.0 */
/* All events of one CPU whose records the reader gets. */
#ifndef CORE_EVENTS_PLACE_H
#define CORE_EVENTS_PLACE_H

#include "core/events/perf_events.h"

/**
 * place_open() - open all events of a CPU. If threads are followed, their events are open already.
 * Return: 0; -ENODEV: the CPU is offline, and @err is not set; -errno.
 */
int place_open(struct events *ev, struct event_place *e, struct err *err);

/**
 * place_tell() - call ioctl(2) with @request for all events that sample or see switches on the CPU of @e. Return: 0 or
 * -errno.
 */
int place_tell(const struct event_place *e, unsigned long request);

/** place_enable() - enable these events and the side-band events, and note the time. */
int place_enable(struct event_place *e, struct err *err);

/** place_look() - note that until now, the event of @e has been enabled for @enabled_ns in all. */
void place_look(struct event_place *e, uint64_t enabled_ns);

#endif
