/* SPDX-License-Identifier: Apache-2.0 */
/* The events that can be sampled, by the names perf gives them. */
#ifndef CORE_HOST_EVENT_TYPES_H
#define CORE_HOST_EVENT_TYPES_H

#include <stdbool.h>
#include <stdint.h>

/** struct event_type - one entry; @type and @config as in struct perf_event_attr. */
struct event_type {
	const char *name;  /* canonical, printed in headers */
	const char *alias; /* or NULL */
	uint32_t type;
	uint64_t config;
};

/** event_default() - cpu-clock: the one event every host has, virtual machines without a PMU included. */
const struct event_type *event_default(void);
/** event_find() - by name or alias; NULL when there is none. */
const struct event_type *event_find(const char *name);
/** event_switches() - context-switches, of which each one counts: of the software event, it is taken as a thread
 * leaves.
 */
const struct event_type *event_switches(void);
/** event_sched_switch() - the tracepoint sched:sched_switch, which has the number @id on this host. */
struct event_type event_sched_switch(uint64_t id);
/** event_at() - the @i-th of all, NULL past the end. */
const struct event_type *event_at(unsigned int i);

/** event_is_software() - does the kernel count it itself, on each host? */
bool event_is_software(const struct event_type *event);

/** event_is_clock() - does it count time that passes on a CPU, whatever runs there? */
bool event_is_clock(const struct event_type *event);

#endif
