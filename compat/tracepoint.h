/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracepoint sched:sched_switch: its number for perf_event_open(2), and where its fields are.
 *
 * Both are told by tracefs alone, which may be mounted on /sys/kernel/tracing or /sys/kernel/debug/tracing (on 3.10
 * there alone), or nowhere. Where it is mounted nowhere, it is mounted for ourselves, so that nobody else sees it: as a
 * file descriptor without a place (fsopen(2), 5.2), or in a mount namespace of a process of ours that ends with it.
 */
#ifndef COMPAT_TRACEPOINT_H
#define COMPAT_TRACEPOINT_H

#include "core/base/err.h"
#include "core/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct tracepoint_field - bytes of a record's raw data. */
struct tracepoint_field {
	uint32_t at, size;
};

/** struct sched_switch - what events/sched/sched_switch/id and .../format say. */
struct sched_switch {
	uint64_t id; /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
	struct tracepoint_field prev_comm, prev_pid, prev_state, next_pid;
	uint64_t dead;      /* bits of prev_state: the thread never comes back */
	uint64_t preempted; /* bit of prev_state, or 0: none: it could run, and was taken off its CPU (then also 0
			       alone) */
	/*
	 * By how many bits prev_state is further left than a mask of task states: 0 or 1. Kernels from 4.14 to 4.19
	 * shift by the number of the state where they mean the one before (__trace_sched_switch_state(), put right at
	 * the end of 2018): a thread that could run has 1, one that sleeps 2. @dead and @preempted are as they come.
	 */
	unsigned int state_shift;
};

/**
 * sched_switch_find() - look it up, without a trace.
 * @host: its sys folder is where /sys is
 * Return: 0; -errno, described: -ENOENT: this kernel has none (no CONFIG_EVENT_TRACING), -EACCES or -EPERM: it may not
 * be read, nor may a file system be mounted; -EBADMSG: a format that nobody knows.
 */
int sched_switch_find(const struct host *host, struct sched_switch *out, struct err *err);

/**
 * sched_switch_parse() - the fields from the text of a format file; @out->id is not touched.
 * @text: terminated; hostile until checked. Return: 0 or -EBADMSG: a field is missing, overlaps, or has another size.
 */
int sched_switch_parse(const char *text, struct sched_switch *out);

/**
 * sched_switch_shift() - state_shift, from records of some sleeps of our own: the format does not tell.
 * Return: 0, 1; -errno of perf_event_open(2) or mmap(2); -EAGAIN: it could not be seen.
 */
int sched_switch_shift(const struct sched_switch *s);

/** sched_switch_shift_of() - the same from what prev_state was in these records. */
int sched_switch_shift_of(const uint64_t *states, size_t nr);

/**
 * sched_switch_states() - prev_state of the samples in a ring of @size bytes at @data that nobody reads, so that it
 * begins at 0 and never wraps; of what is in order.
 * @head:   how far the kernel has written
 * @states: room for @max
 * Return: how many there are.
 */
size_t sched_switch_states(const struct sched_switch *s, const void *data, size_t size, uint64_t head, uint64_t *states,
			   size_t max);

/** sched_switch_is_usual() - are all fields where they are on every kernel but those with PREEMPT_RT patches? */
bool sched_switch_is_usual(const struct sched_switch *s);

#endif
