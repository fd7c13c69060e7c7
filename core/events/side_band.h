/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of tasks and mappings in rings apart from the samples. So a flood of such records never costs a sample, and
 * samples never cost a name. Private to core/events/.
 *
 * Each CPU has an event of PERF_COUNT_SW_DUMMY, which does not fire, but has a ring. If threads are followed, only they
 * have such events. If whole CPUs are sampled, the event records all tasks there. If only some processes or a command
 * are sampled, the mappings and names of other processes are not needed, and a busy neighbour may cause many records.
 * Then events on the wanted threads, which their children inherit, record mappings, and names unless a command is
 * sampled. The kernel writes forks and exits to all events that record mappings. The event of the CPU records kernel
 * code; for a command also names, forks and exits of all tasks; otherwise also forks and exits, if the reader counts.
 */
#ifndef CORE_EVENTS_SIDE_BAND_H
#define CORE_EVENTS_SIDE_BAND_H

#include "core/events/perf_events.h"

/**
 * side_band_begin() - set ev->apart if this kernel has such events, which is tested by opening one, unless
 * ev->no_room_apart is set. Kernels before 3.12 do not have them. Without ev->apart, the sampling events record tasks
 * and mappings, too.
 */
void side_band_begin(struct events *ev);

/**
 * side_band_find_targets() - if only some threads are wanted, open an event on each of them, on all present CPUs. If
 * there are too many threads or CPUs, or if an event cannot be opened, open none: the event of each CPU then records
 * all tasks.
 */
void side_band_find_targets(struct events *ev);

/**
 * side_band_open() - open the side-band event of the CPU of @e. Return: 0; -ENODEV: it is offline, not described;
 * -errno.
 */
int side_band_open(struct events *ev, struct event_place *e, struct err *err);

/**
 * side_band_tell_of_all() - from now on, record the mappings and names of all tasks on each CPU. Needed when a thread
 * has lost its events because it executed a program with more privileges: its descendants have none. If this fails on
 * a CPU, the same records as before are written there.
 */
void side_band_tell_of_all(struct events *ev);

/**
 * side_band_open_thread() - open the side-band event of thread @tid on the CPU of @e. Return: a descriptor that the
 * caller closes; -errno.
 */
int side_band_open_thread(struct events *ev, const struct event_place *e, pid_t tid);

/** side_band_join() - add @fd to @s, which owns it from now on. Return: 0; -ENOMEM. */
int side_band_join(struct side_band *s, int fd);

/** side_band_tell() - ioctl(2) @request for all events of @s. Return: 0; -errno. */
int side_band_tell(const struct side_band *s, unsigned long request);

/** side_band_outgrows_rings() - see events_outgrow_rings(). */
bool side_band_outgrows_rings(const struct events *ev);

/** side_band_leave() - the CPU has gone: close its event, and keep those of threads. */
void side_band_leave(struct side_band *s);
void side_band_close(struct side_band *s);

#endif
