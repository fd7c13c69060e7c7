/* SPDX-License-Identifier: Apache-2.0 */
/* The ring buffers of the events of a run: how large they are, and why they are not larger. */
#ifndef CORE_EVENTS_EVENT_RINGS_H
#define CORE_EVENTS_EVENT_RINGS_H

#include "core/events/perf_events.h"

/**
 * events_ring_error() - describe why not even the smallest ring could be mapped, for an event of @cpu.
 * @code: -errno of mmap(2); returned. The limits for locked memory are blamed only after they were read.
 */
int events_ring_error(const struct events *ev, int cpu, int code, struct err *err);

/**
 * events_small_rings() - are the rings smaller than what keeps all samples on a busy host, or did the copies of stacks
 * have to become smaller for them? Then @why is a line with the limits that are in the way.
 */
bool events_small_rings(const struct events *ev, struct err *why);

/**
 * events_largest_record() - bytes of a sample with stacks, registers and a copy of a stack, at most.
 * @dump: bytes of that copy
 */
size_t events_largest_record(const struct events *ev, size_t dump);

/** events_ring_sizes() - of the smallest rings; 0: there is none. */
struct ring_sizes events_ring_sizes(const struct events *ev);

/** events_period_ns() - the time that a sample of a clock stands for. */
uint64_t events_period_ns(const struct options *o);

/**
 * events_drain_ns() - how often the rings are read, so that what comes at the rate of this run stays below where they
 * wake the thread that empties them: what it moves is copied twice. Between @at_least and @at_most.
 */
uint64_t events_drain_ns(const struct events *ev, uint64_t at_least, uint64_t at_most);

/** events_sample_rate() - samples of @event in a second on each CPU, as @o wants them; 0: not known. */
uint64_t events_sample_rate(const struct options *o, const struct event_type *event);

/** rings_choose() - of the host with so many @cpus online. */
void rings_choose(struct events *ev, size_t cpus);

/** rings_wakeup() - a ring is read when it holds so many bytes. */
uint32_t rings_wakeup(const struct events *ev);

/** rings_dump() - bytes of the copy of a stack: of these, a ring has to hold some. */
uint32_t rings_dump(const struct events *ev);

#endif
