/* SPDX-License-Identifier: Apache-2.0 */
/* Open, enable and close all perf events of a run. */
#ifndef CORE_EVENTS_EVENTS_H
#define CORE_EVENTS_EVENTS_H

#include "core/events/perf_events.h"

/**
 * events_open() - find the CPUs and open an event on each that is online. If @ev->followed is set, open one for each
 * followed thread on each CPU.
 * @with_notes: a BPF program will write notes about samples or switches
 *
 * If the kernel permits only the user code of followed threads to be sampled, their events exclude the kernel, and
 * ev->user_only has the reason. If ev->rings.samples is 0, rings_choose() sets ev->rings; the rings get these sizes.
 */
int events_open(struct events *ev, bool with_notes, struct err *err);
void events_close(struct events *ev);

/**
 * events_outgrow_rings() - true if the reader had to make the rings (ev->rings) so small that samples of these events
 * do not fit well, or are read too late. Then call events_open() again, which opens events for rings of this size.
 */
bool events_outgrow_rings(const struct events *ev);

/**
 * events_try() - test whether events like those of a CPU that comes online may be opened now. @events: a struct events;
 * called as privileges_need.again. Return: 0 or -errno.
 */
int events_try(void *events);

/**
 * events_enable(), events_disable() - enable or disable all open events. The events of a command are enabled by its
 * exec instead.
 */
int events_enable(struct events *ev, struct err *err);
int events_disable(struct events *ev, struct err *err);

/**
 * events_disable_part() - disable the events that sample or, with @side_band, those that record tasks and mappings.
 * Disable the latter later, because they still have to write records about the last samples. Any thread may call this
 * while the events stay the same. Return: 0; the first error, described. After an error, the other events are disabled
 * all the same.
 */
int events_disable_part(const struct events *ev, bool side_band, struct err *err);

/**
 * events_hold() - keep @fd, the last descriptor of a tracepoint's events, open until events_let_go(), which is called
 * after the report. Closing it makes the kernel wait for RCU grace periods (tracepoint_synchronize_unregister(); since
 * 6.13 also for RCU tasks trace if a program was attached): many seconds while processes come and go very fast. If a
 * descriptor is already kept, @fd is closed at once.
 */
void events_hold(struct events *ev, int fd);

/**
 * events_hold_tracepoint() - do the same with the tracepoint through which the reader sees switches. Call it before
 * events_close().
 */
void events_hold_tracepoint(struct events *ev);
void events_let_go(struct events *ev);

#endif
