/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The tracepoint sched:sched_switch: its number for perf_event_open(2), and the offsets of its fields.
 *
 * Only tracefs has both, or before 4.1 the directory "tracing" of debugfs. Tracefs may be mounted on
 * /sys/kernel/tracing, elsewhere, or nowhere. If it is mounted nowhere, we mount it so that no other process sees it:
 * on no directory, with a file descriptor (fsopen(2), 5.2). If that fails, we look in a mounted debugfs, and at last
 * mount it in the mount namespace of a child process.
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

/** struct sched_switch - the contents of events/sched/sched_switch/id and .../format. */
struct sched_switch {
	uint64_t id; /* perf_event_attr.config of PERF_TYPE_TRACEPOINT */
	struct tracepoint_field prev_comm, prev_pid, prev_state, next_pid;
	uint64_t dead;      /* bits of prev_state: the thread has ended */
	uint64_t preempted; /* bit of prev_state: the thread could run, but was preempted; 0: no bit says so */
	/*
	 * 0 or 1: prev_state is a mask of task states, shifted left by this. Kernels from 4.14 to 4.19 report
	 * 1 << index of the state instead of 1 << (index - 1) (__trace_sched_switch_state(), fixed at the end of 2018):
	 * a thread that sleeps has 2 instead of 1, one that could run has 1 instead of 0. @dead is shifted
	 * already, and @preempted never is: test both on prev_state as recorded.
	 */
	unsigned int state_shift;
};

/**
 * sched_switch_find() - read the tracepoint from tracefs. Leaves none of its own mounts behind.
 * @host: its sys directory is the /sys to use
 * Return: 0; -errno, described: -ENOENT: this kernel has none (no CONFIG_EVENT_TRACING), -EACCES or -EPERM: we may
 * neither read it nor mount a file system; -EBADMSG: an unknown format.
 */
int sched_switch_find(const struct host *host, struct sched_switch *out, struct err *err);

/**
 * sched_switch_parse() - read the fields from the text of a format file; @out->id is not changed.
 * @text: terminated; hostile until checked. Return: 0 or -EBADMSG: a field is missing, overlaps, or has another size.
 */
int sched_switch_parse(const char *text, struct sched_switch *out);

/**
 * sched_switch_shift() - find state_shift from records of our own sleeps: the format does not have it.
 * Return: 0, 1; -errno of perf_event_open(2) or mmap(2); -EAGAIN: the records do not show it.
 */
int sched_switch_shift(const struct sched_switch *s);

/** sched_switch_shift_of() - the same, from @nr values of prev_state in such records. */
int sched_switch_shift_of(const uint64_t *states, size_t nr);

/**
 * sched_switch_states() - get prev_state of the samples in a ring of @size bytes at @data. The ring was never read, so
 * it begins at 0 and does not wrap. Stops at a malformed record.
 * @head:   how far the kernel has written
 * @states: room for @max
 * Return: how many there are.
 */
size_t sched_switch_states(const struct sched_switch *s, const void *data, size_t size, uint64_t head, uint64_t *states,
			   size_t max);

/** sched_switch_is_usual() - true if all fields have the offsets of every kernel without PREEMPT_RT patches. */
bool sched_switch_is_usual(const struct sched_switch *s);

#endif
