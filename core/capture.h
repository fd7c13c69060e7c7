/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One run: the perf events, the backends on them, the loop until the end.
 *
 *   capture_new()   checks nothing, opens nothing
 *   capture_open()  opens the events and chooses the backend; sampling has not begun
 *   capture_run()   samples until the duration is over or a signal comes, then takes what is left
 *   capture_free()
 */
#ifndef CORE_CAPTURE_H
#define CORE_CAPTURE_H

#include "core/backend.h"
#include "core/filter.h"
#include "core/host.h"
#include "core/options.h"
#include "core/stacks.h"
#include "core/tasks.h"

#include <linux/perf_event.h>

/** struct capture_event - one perf event on one CPU. */
struct capture_event {
	int fd;
	int cpu;
	bool samples; /* false: side-band records only (a CPU that -C leaves out) */
};

/**
 * struct capture - what the backends of a run share. They read @options to @nr_events, and write to @tasks and
 * @stacks.
 */
struct capture {
	const struct options *options;
	const struct host *host;
	struct filter filter;
	unsigned int asked; /* see callchain_asked() */

	/* The attributes the kernel accepted; the same sample_type for all events, so one decoder serves all rings. */
	struct perf_event_attr attr;
	struct capture_event *events;
	size_t nr_events;
	size_t nr_cpus;    /* of them that sample, also after capture_close() */
	size_t ring_bytes; /* size of each event's ring wanted, a power of two of pages */

	struct tasks *tasks;
	struct stacks *stacks;

	/* The chosen backend and, behind one that counts in the kernel, the ring's reader. */
	struct capture_backend {
		const struct backend_ops *ops;
		struct backend *state;
	} backends[2];
	size_t nr_backends;
	char reason[640]; /* why this backend, one line */

	int signal_fd;  /* SIGINT and SIGTERM, from capture_open() to the end of capture_run(); else -1 */
	bool signalled; /* one has been taken from it */
	uint64_t started_ns, stopped_ns; /* CLOCK_MONOTONIC; of the first and last moment a sample could count */
};

/** capture_new() - @options and @host are borrowed. NULL: no memory. */
struct capture *capture_new(const struct options *options, const struct host *host);

/**
 * capture_open() - open events and backend. When the options name a backend only that one is tried, else each in
 * order of preference; then @cap->reason says why the earlier ones were not taken.
 */
int capture_open(struct capture *cap, struct err *err);

/**
 * capture_run() - sample.
 *
 * SIGINT and SIGTERM end it; when it has returned, they have their default effect again, so that a second one ends
 * the process. A failure while sampling ends the run.
 */
int capture_run(struct capture *cap, struct err *err);

/**
 * capture_open_error() - describe why @event could not be opened on @cpu.
 * @freq_hz: the rate asked for; 0: none
 * @code:    -errno of perf_event_open(2); returned. A setting is blamed only after it was read.
 */
int capture_open_error(const struct host *host, const struct event_type *event, uint64_t freq_hz, int cpu, int code,
		       struct err *err);

/**
 * capture_books() - what became of every sample; exact after capture_run().
 *
 * Lost are the samples the program passed on and no ring gave back; where there is no program, every record that a
 * ring lost counts as a sample, which is at least as many. Samples the decoder refused are lost, too.
 * Return: taken minus what is in the rows, filtered or lost; not 0 is a bug.
 */
int64_t capture_books(const struct capture *cap, struct books *out);

/** capture_close() - close events and rings: what is left serves the report. After capture_books(). */
void capture_close(struct capture *cap);

void capture_free(struct capture *cap);

#endif
