/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What tells of tasks and mappings, apart from the samples: a flood of these never costs a name, nor do names cost
 * samples. Private to core/events/.
 *
 * Each CPU has an event of PERF_COUNT_SW_DUMMY, which does not fire, but has a ring. Where whole CPUs are sampled it
 * tells of all tasks there. But of some processes alone, or a command, the mappings and names of the others are
 * nobody's business, and a neighbour may make many: then events of the threads of these tell, which their children
 * inherit, and of all tasks only that they come and go.
 */
#ifndef CORE_EVENTS_SIDE_BAND_H
#define CORE_EVENTS_SIDE_BAND_H

#include "core/events/perf_events.h"

/**
 * side_band_begin() - set ev->apart: does this kernel have such events? Tried. Before 3.12 it does not: then the
 * events that sample tell of tasks and mappings, too.
 */
void side_band_begin(struct events *ev);

/**
 * side_band_find_targets() - open the events of the threads that alone are asked for, if there are any, on all CPUs.
 * All or none: where they are too many, or may not be observed, each CPU tells of all tasks.
 */
void side_band_find_targets(struct events *ev);

/** side_band_open() - that of the CPU of @e. Return: 0; -ENODEV: it is offline, not described; -errno. */
int side_band_open(struct events *ev, struct event_place *e, struct err *err);

/**
 * side_band_tell_of_all() - from now on each CPU tells of the mappings of all tasks, too: a program with more rights
 * has taken the events of its thread away, and whatever descends from it has none. Where that fails all stays as it is.
 */
void side_band_tell_of_all(struct events *ev);

/** side_band_open_thread() - that of thread @tid on the CPU of @e. Return: a descriptor, the caller's; -errno. */
int side_band_open_thread(struct events *ev, const struct event_place *e, pid_t tid);

/** side_band_join() - @fd is one of @s from now on. Return: 0; -ENOMEM. */
int side_band_join(struct side_band *s, int fd);

/** side_band_tell() - ioctl(2) @request for all events of @s. Return: 0; -errno. */
int side_band_tell(const struct side_band *s, unsigned long request);

/** side_band_outgrows_rings() - see events_outgrow_rings(). */
bool side_band_outgrows_rings(const struct events *ev);

/** side_band_leave() - the CPU has gone: the events of threads stay with these. */
void side_band_leave(struct side_band *s);
void side_band_close(struct side_band *s);

#endif
