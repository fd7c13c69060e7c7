/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the session and a counter: a BPF program in front of a source. The program counts the samples
 * it can, and passes the rest on to the source. take() turns the counts into rows of the sink.
 *
 * Order of calls: open, attach for each place (CPU, see struct event_place) whose event is open, start, then attach and
 * detach any number of times, end and take once for each interval, stop before the last end, close. All calls come from
 * one thread at a time. Nothing here prints: errors are returned and described. All functions return 0 or -errno,
 * unless stated otherwise.
 */
#ifndef CORE_SOURCES_COUNTER_H
#define CORE_SOURCES_COUNTER_H

#include "core/base/err.h"
#include "core/rows/rows.h"
#include "core/rows/stats.h"
#include "core/sources/notes.h"
#include "core/tasks/descendants.h"

struct counter; /* the state of a counter */
struct namer_ops;
struct source_env;

/** struct first_ops - how a counter reports the processes that have their first sample or interval. */
struct first_ops {
	/*
	 * Begin to report. Called when the events have just been enabled, and before start() of the source, which takes
	 * long on a large host. The counter may count already (see its start()): it reports a process whose first
	 * interval was before this call at the next one. The source's rings are mapped by then: if locked memory is
	 * limited, they get it first, and the rings for these reports get the rest.
	 */
	void (*watch)(struct counter *c);

	/* A descriptor that is readable when there is a process to report; -1: nothing is reported. */
	int (*fd)(const struct counter *c);

	/*
	 * Call @fn for each process that was reported, once or, rarely, twice. @existed: the process existed before the
	 * run, so no record has its mappings; true in the first call for it only.
	 */
	void (*read)(struct counter *c, void (*fn)(void *ctx, pid_t pid, bool existed), void *ctx);
};

/** struct counter_ops - a const table for each counter. */
struct counter_ops {
	const char *program; /* source text of its BPF program, for --ebpf */

	/* The counter for off-CPU intervals, which counts them instead of this one; NULL: this one counts both. */
	const struct counter_ops *switches;

	/* Finds names of kernel addresses by a BPF program, if the host supports that; NULL: it cannot. */
	const struct namer_ops *namer;

	/* Check whether it works on this host, by trying; leaves nothing behind. @forced: the user has named it. */
	int (*probe)(bool forced, struct err *err);

	/* @env outlives it. *@out is set also on failure: close() it. */
	int (*open)(struct counter **out, const struct source_env *env, struct err *err);

	/* The event of @place is open, but not enabled. The source's attach() was called before. */
	int (*attach)(struct counter *c, size_t place, struct err *err);

	/* The event will be closed, because its CPU has gone offline. */
	int (*detach)(struct counter *c, size_t place, struct err *err);

	/*
	 * The events have just been enabled, and the source has not started. With both backends it has, which may have
	 * taken long. Optional.
	 */
	int (*start)(struct counter *c, struct err *err);

	/* Called from time to time while events are enabled, to maintain its tables. Optional. */
	void (*tend)(struct counter *c);

	/*
	 * Add how many samples or intervals the program has counted in set sink.set so far to counted_kernel or
	 * intervals_charged of @stats. Optional.
	 */
	void (*so_far)(const struct counter *c, struct stats *stats);

	/* The run is over: count no sample from now on. The events are still enabled. */
	int (*stop)(struct counter *c, struct err *err);

	/*
	 * Interval sink.ended is over: read its statistics, which say how many records the program passed on to the
	 * rings. If sink.set is another one, sampling goes on into that set; else the events are disabled.
	 */
	int (*end)(struct counter *c, struct err *err);

	/* Read the counts from the kernel. Called after end() of the source, so that the rings do not wait for it. */
	int (*take)(struct counter *c, struct err *err);

	/* It reports processes at their first sample or interval; NULL: it does not. */
	const struct first_ops *first;

	/*
	 * Call @fn for the process of each count still held in the kernel, repeats included, until @fn returns false.
	 * Return: -EAGAIN: @fn returned false, or counts came faster than they could be walked.
	 */
	int (*pids)(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx);

	/*
	 * The reader knows whether process @pid passes filter.tree: tell the program, which filters by it from now on.
	 * DESCENT_UNKNOWN: the program forgets the answer. Return: false: there is no room to keep it.
	 */
	bool (*judged)(struct counter *c, pid_t pid, enum descent what);

	/*
	 * The user stack of a sample that the counter passed on, with @note, has been unwound. @proof: whether other
	 * samples of the process with the same callchain by frame pointers need no unwinding. Optional.
	 */
	enum proof_use (*unwound)(struct counter *c, const struct sample_note *note, enum proof proof);

	/*
	 * Process @pid (0: each process) maps something else, so its proved stacks are not proved any more. @gone: @pid
	 * is another program or process now. Return: how many stacks of it were proved. Optional.
	 */
	size_t (*withdraw)(struct counter *c, pid_t pid, bool gone);

	/*
	 * Read a note that the program put in front of a sample: @size bytes of raw data, not aligned. NULL: this
	 * counter does not count samples.
	 */
	int (*note)(const void *raw, size_t size, struct sample_note *out);

	/* The same for a note about switches. NULL: this counter does not see switches. */
	int (*switch_note)(const void *raw, size_t size, struct switch_note *out);

	/* Add the interval of a SWITCH_CHARGE to its row in @to, in nanoseconds. */
	int (*charge)(struct counter *c, const struct switch_note *note, struct rows *to);

	/* Add the numbers of interval sink.ended to @stats. Exact after end(). */
	void (*stats)(const struct counter *c, struct stats *stats);

	/* Detach and free. NULL and half-open are fine. */
	void (*close)(struct counter *c);
};

extern const struct counter_ops counter_bpf;
extern const struct counter_ops counter_bpf_switches; /* for off-CPU intervals, also called bpf */

#endif
