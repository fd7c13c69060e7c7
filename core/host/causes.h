/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find out why the kernel refused something: from the settings, limits and permissions of the moment, never by
 * guessing. If no cause can be shown, none is reported.
 */
#ifndef CORE_HOST_CAUSES_H
#define CORE_HOST_CAUSES_H

#include "core/base/err.h"
#include "core/host/host.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct event_type;

/** struct cause_event - the perf event that was refused. */
struct cause_event {
	const struct event_type *type;
	uint64_t freq_hz; /* requested rate; 0: none */
	pid_t tid;        /* for this thread; 0: the calling thread; -1: a whole CPU */
	bool kernel;      /* the kernel may have refused because the event samples the kernel */
};

/**
 * cause_of_event() - find the cause of a refused perf_event_open(2).
 * @code: its -errno
 */
void cause_of_event(const struct host *host, const struct cause_event *event, int code, struct cause *out);

/** cause_of_files() - the same for a file that could not be opened; @code: -errno. */
void cause_of_files(const struct host *host, int code, struct cause *out);

/** cause_of_ring() - the same for a refused mmap(2) of an event's ring; @code: its -errno. */
void cause_of_ring(const struct host *host, int code, struct cause *out);

/** cause_of_bpf() - the same for a refused bpf(2) that creates a map or loads a program; @code: its -errno. */
void cause_of_bpf(const struct host *host, int code, struct cause *out);

/**
 * cause_of_unreadable() - true if BPF programs may not read the kernel's memory. Some kernels (5.4 and some after it)
 * load such programs all the same, and then fail each read.
 */
bool cause_of_unreadable(const struct host *host, struct cause *out);

/**
 * cause_of_no_switches() - describe that, before Linux 4.3, perf events do not report threads that return to a CPU, and
 * why the host refuses the tracepoint sched:sched_switch, which reports them. @no_tracepoint: why; code 0: the host
 * does not refuse it, but this run cannot use it. Return: -EOPNOTSUPP.
 */
int cause_of_no_switches(const struct err *no_tracepoint, struct err *err);

/**
 * cause_err() - as err_sys(), and set the cause of @err to @cause. If the cause is known, the message ends with it, in
 * parentheses.
 */
int cause_err(struct err *err, int code, const struct cause *cause, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
