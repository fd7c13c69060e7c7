/* SPDX-License-Identifier: Apache-2.0 */
/* All perf events of a run: opened, enabled, closed. */
#ifndef CORE_EVENTS_EVENTS_H
#define CORE_EVENTS_EVENTS_H

#include "core/events/perf_events.h"

/**
 * events_open() - find the CPUs and open an event on each that is online; where @ev->followed is there, one for each
 * of these threads on each.
 * @with_notes: a program in the kernel will write notes about samples
 *
 * Where only the kernel may not be seen of the threads, they are opened without it: ev->user_only.
 * ev->rings: 0: the sizes wanted are put there; else the rings will have these.
 */
int events_open(struct events *ev, bool with_notes, struct err *err);
void events_close(struct events *ev);

/**
 * events_outgrow_rings() - did the reader make the rings so small, ev->rings, that samples of these events do not
 * fit well, or come too late to be read in time? events_open() opens fitting ones then.
 */
bool events_outgrow_rings(const struct events *ev);

/**
 * events_try() - may an event be opened now, as that of a CPU that comes online is? @events: a struct events; as
 * privileges_need.again. Return: 0 or -errno.
 */
int events_try(void *events);

/** events_enable(), events_disable() - all that are open. Those of a command are enabled by its exec instead. */
int events_enable(struct events *ev, struct err *err);
int events_disable(struct events *ev, struct err *err);

/**
 * events_disable_part() - those that sample, or, with @side_band, those that tell of tasks and mappings. The latter
 * come later: records about the last samples are still to be written. It may be called by any thread, while the events
 * stay the same. Return: 0; the first error, described: the others are disabled all the same.
 */
int events_disable_part(const struct events *ev, bool side_band, struct err *err);

/**
 * events_hold() - take over @fd, the last descriptor of a tracepoint's events: to let go of that the kernel waits for
 * grace periods of RCU (tracepoint_synchronize_unregister(); from 6.13 on for RCU tasks trace, too, where a program was
 * attached), many seconds where processes come and go as fast as they can. events_let_go(), after the report, closes
 * it; where there is one already, @fd is closed at once.
 */
void events_hold(struct events *ev, int fd);

/** events_hold_tracepoint() - the same of what the reader sees switches by, before events_close(). */
void events_hold_tracepoint(struct events *ev);
void events_let_go(struct events *ev);

#endif
