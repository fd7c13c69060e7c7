/* SPDX-License-Identifier: Apache-2.0 */
/* Open and close one perf event of a CPU, or of a thread on a CPU. */
#ifndef CORE_EVENTS_EVENT_H
#define CORE_EVENTS_EVENT_H

#include "core/events/perf_events.h"

/**
 * event_open() - open an event on the CPU of @e, for thread @tid; @tid -1: for the whole CPU. First open the event that
 * has the ring (kind ev->leads): the attributes of the others start from its own.
 *
 * If the kernel permits only user mode for this thread, this event and all later ones sample user mode only, and
 * ev->user_only has the reason.
 * Return: a descriptor that the caller closes; -errno; -ENODEV: the CPU is offline.
 */
int event_open(struct events *ev, const struct event_place *e, enum event_kind kind, pid_t tid);

/** event_join() - add @joined to @e, which owns it from now on. Return: 0; -ENOMEM. */
int event_join(struct event_place *e, const struct joined_event *joined);

/** event_close() - close all events of @e, including those of its side band. @e itself stays. */
void event_close(struct event_place *e);

/**
 * event_refused() - describe why event_open() failed. The message blames a setting only after reading it.
 * @code: -errno of perf_event_open(2); returned
 */
int event_refused(const struct events *ev, const struct event_place *e, enum event_kind kind, pid_t tid, int code,
		  struct err *err);

/**
 * event_id() - read the PERF_SAMPLE_IDENTIFIER that the records of @fd, an event on @cpu, have. Records of events that
 * are inherited from it have the same. Return: 0; -errno, described.
 */
int event_id(int fd, int cpu, uint64_t *id, struct err *err);

/** event_close_samples() - as event_close(), but keep the events of the side band, which record tasks and mappings. */
void event_close_samples(struct event_place *e);

/**
 * event_open_notes() - open the event to which a BPF program writes notes @about samples or switches.
 * Return: 0; -ENODEV: the CPU is offline, not described; -errno.
 */
int event_open_notes(struct events *ev, struct event_place *e, enum event_kind about, struct err *err);

extern const char event_no_cgroups[]; /* why samples have no cgroup */

#endif
