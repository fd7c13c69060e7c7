/* SPDX-License-Identifier: Apache-2.0 */
/* The events that can be sampled, with perf's names. */
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

/** event_default() - cpu-clock: every host has it, including virtual machines without a PMU. */
const struct event_type *event_default(void);
/** event_find() - find an event by name or alias; NULL: there is none. */
const struct event_type *event_find(const char *name);
/**
 * event_switches() - context-switches. With period 1, the kernel takes a sample whenever a thread leaves its CPU.
 */
const struct event_type *event_switches(void);
/** event_sched_switch() - the tracepoint sched:sched_switch, whose id on this host is @id. */
struct event_type event_sched_switch(uint64_t id);
/** event_at() - event number @i, from 0; NULL past the end. */
const struct event_type *event_at(unsigned int i);

/** event_is_software() - true for PERF_TYPE_SOFTWARE: the kernel itself counts it, so no PMU is needed. */
bool event_is_software(const struct event_type *event);

/** event_is_clock() - true if it counts time that passes on a CPU, whatever runs there. */
bool event_is_clock(const struct event_type *event);

#endif
