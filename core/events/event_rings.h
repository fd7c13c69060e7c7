/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes of the ring buffers of a run, and the reasons why they are not larger. */
#ifndef CORE_EVENTS_EVENT_RINGS_H
#define CORE_EVENTS_EVENT_RINGS_H

#include "core/events/perf_events.h"

/**
 * events_ring_error() - describe why not even the smallest ring could be mapped, for an event of @cpu.
 * @code: -errno of mmap(2); returned. The message blames the limits for locked memory only after reading them.
 */
int events_ring_error(const struct events *ev, int cpu, int code, struct err *err);

/**
 * events_small_rings() - true if the kernel refused larger rings, and these are too small to keep all samples on a busy
 * host, or leave room only for stack copies below the smallest useful size (request.dump_least). Then @why is a line
 * with the limits that prevent larger rings.
 */
bool events_small_rings(const struct events *ev, struct err *why);

/**
 * events_largest_record() - the most bytes that a sample with stacks, registers and a stack copy can have.
 * @dump: bytes of the stack copy
 */
size_t events_largest_record(const struct events *ev, size_t dump);

/** events_ring_sizes() - sizes of the smallest rings; 0: there is none. */
struct ring_sizes events_ring_sizes(const struct events *ev);

/** events_period_ns() - the time that one sample of a clock event stands for. */
uint64_t events_period_ns(const struct sampling *s);

/** events_sample_rate() - samples of @event per second on each CPU, as @s asks for; 0: not known. */
uint64_t events_sample_rate(const struct sampling *s, const struct event_type *event);

/** rings_choose() - choose the sizes for a host with @cpus CPUs online. */
void rings_choose(struct events *ev, size_t cpus);

/**
 * rings_want_first() - true if the reader of the rings looks for the first samples of processes, to read their
 * mappings. It does not if BPF programs tell of them, or if a filter may drop most samples, whose mappings would be of
 * no use.
 */
bool rings_want_first(const struct events *ev);

/**
 * rings_wakeup() - the kernel wakes the reader whenever it has written this many bytes to a ring for samples. If the
 * reader looks for first samples, and samples are few (ev->wakes_at_samples), that is at each sample, because a process
 * may exit soon after its only one.
 */
uint32_t rings_wakeup(const struct events *ev);

/** rings_dump() - bytes of a stack copy, so that a ring has room for several. */
uint32_t rings_dump(const struct events *ev);

#endif
