/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Why the kernel refused something: read from the settings, limits and rights of the moment, never guessed. Where
 * nothing can be shown to be in the way, no cause is told.
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
	uint64_t freq_hz; /* asked for; 0: none */
	pid_t tid;        /* of this thread; 0: of the calling one; -1: of a whole CPU */
	bool kernel;      /* it may have been because of the kernel's part */
};

/**
 * cause_of_event() - of a refused perf_event_open(2).
 * @code: its -errno
 */
void cause_of_event(const struct host *host, const struct cause_event *event, int code, struct cause *out);

/** cause_of_files() - of a descriptor that could not be had; @code: -errno. */
void cause_of_files(const struct host *host, int code, struct cause *out);

/** cause_of_ring() - of a refused mmap(2) of an event's ring; @code: its -errno. */
void cause_of_ring(const struct host *host, int code, struct cause *out);

/** cause_of_bpf() - of a refused bpf(2) that makes a map or loads a program; @code: its -errno. */
void cause_of_bpf(const struct host *host, int code, struct cause *out);

/**
 * cause_of_unreadable() - may BPF programs not read the kernel's memory? There are kernels (5.4 and some after it) that
 * load them nevertheless, and then fail each read.
 */
bool cause_of_unreadable(const struct host *host, struct cause *out);

/**
 * cause_of_no_switches() - describe that the rings have no record of a thread that comes back, and why the tracepoint
 * does not help: @no_tracepoint, code 0: it would not. Return: -EOPNOTSUPP.
 */
int cause_of_no_switches(const struct err *no_tracepoint, struct err *err);

/** cause_err() - as err_sys(), with @cause as that of @err, in parentheses behind the line where it is known. */
int cause_err(struct err *err, int code, const struct cause *cause, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

#endif
