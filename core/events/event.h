/* SPDX-License-Identifier: Apache-2.0 */
/* One perf event of a CPU, or of a thread there. */
#ifndef CORE_EVENTS_EVENT_H
#define CORE_EVENTS_EVENT_H

#include "core/events/perf_events.h"

/**
 * event_open() - one as that of @e of thread @tid, which may be more than one; -1: of the whole CPU.
 *
 * A thread that may be seen in user mode alone is, and so are all from then on: ev->user_only.
 * Return: a descriptor, the caller's; -errno; -ENODEV: the CPU is offline.
 */
int event_open(struct events *ev, const struct event_place *e, pid_t tid);

/** event_open_switches() - the same of the switches, whose records are to go to the ring of the former. */
int event_open_switches(struct events *ev, const struct event_place *e, pid_t tid);

/** event_join() - @joined is @e's from now on. Return: 0; -ENOMEM. */
int event_join(struct event_place *e, const struct joined_event *joined);

/** event_close() - with all that share its ring; the place stays. */
void event_close(struct event_place *e);

/**
 * event_refused() - describe why event_open() failed. A setting is blamed only after it was read.
 * @code: -errno of perf_event_open(2); returned
 */
int event_refused(const struct events *ev, const struct event_place *e, pid_t tid, int code, struct err *err);
/** event_id() - PERF_SAMPLE_IDENTIFIER of what @fd, an event on @cpu, writes, and those that inherit it. */
int event_id(int fd, int cpu, uint64_t *id, struct err *err);

/** event_switches_refused() - the same of event_open_switches(). */
int event_switches_refused(const struct events *ev, const struct event_place *e, pid_t tid, int code, struct err *err);

/** event_close_samples() - the same, but what tells of tasks and mappings stays. */
void event_close_samples(struct event_place *e);

/** event_open_notes() - what a program in the kernel writes its notes to. Return: 0; -ENODEV: the CPU is offline, not
 * described; -errno. */
int event_open_notes(struct events *ev, struct event_place *e, enum noted what, struct err *err);

extern const char event_no_cgroups[]; /* why samples have no cgroup */

#endif
