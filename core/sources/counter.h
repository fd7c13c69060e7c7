/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the session asks of a counter: a program in the kernel in front of a source, which counts what it can and passes
 * the rest on. It turns its tables into rows of the sink.
 *
 * Order of calls: open, attach for each place whose event is open, start, then attach and detach any number of times,
 * end and take once for each interval, stop before the last of these, close. All calls come from one thread at a time.
 * Nothing here prints: errors are returned and described. All return 0 or -errno, if nothing else is said.
 */
#ifndef CORE_SOURCES_COUNTER_H
#define CORE_SOURCES_COUNTER_H

#include "core/base/err.h"
#include "core/rows/rows.h"
#include "core/rows/stats.h"
#include "core/sources/notes.h"
#include "core/tasks/descendants.h"

struct counter; /* each one's own state */
struct namer_ops;
struct source_env;

/** struct counter_ops - a const table for each counter. */
struct counter_ops {
	const char *program; /* its source, for --ebpf */

	/* The one that measures intervals off the CPU in its place; NULL: it does both. */
	const struct counter_ops *switches;

	/* Names of kernel addresses by the same means, of a host where they can be had; NULL: there are none. */
	const struct namer_ops *namer;

	/* Can it work here? Tried, not guessed; leaves nothing behind. @forced: asked for by name. */
	int (*probe)(bool forced, struct err *err);

	/* @env outlives it. *@out is set also on failure: close() it. */
	int (*open)(struct counter **out, const struct source_env *env, struct err *err);

	/* The event of @place is open, but not enabled; the source has it already. */
	int (*attach)(struct counter *c, size_t place, struct err *err);

	/* It is about to be closed, its CPU has gone offline. */
	int (*detach)(struct counter *c, size_t place, struct err *err);

	/* The events have just been enabled. Optional. */
	int (*start)(struct counter *c, struct err *err);

	/* From time to time while events are enabled: see to its tables. Optional. */
	void (*tend)(struct counter *c);

	/* Add to counted_kernel or intervals_charged of @stats what it has counted of interval sink.set by now.
	 * Optional. */
	void (*so_far)(const struct counter *c, struct stats *stats);

	/* The run is over: no sample taken from now on counts. The events are still enabled. */
	int (*stop)(struct counter *c, struct err *err);

	/*
	 * Interval sink.ended is over: say how much the rings must hold of it. Where sink.set is another one, sampling
	 * goes on into that; else the events are disabled.
	 */
	int (*end)(struct counter *c, struct err *err);

	/* Then take what waits in the kernel; the rings need not wait for that. */
	int (*take)(struct counter *c, struct err *err);

	/*
	 * A descriptor that is readable when a process that existed before start() has its first sample or interval;
	 * -1: there is none. Optional.
	 */
	int (*first_fd)(const struct counter *c);

	/* Call @fn for each such process, once or, rarely, twice. Optional. */
	void (*read_first)(struct counter *c, void (*fn)(void *ctx, pid_t pid), void *ctx);

	/*
	 * Call @fn for the process of each count still held in the kernel, repeats included, until it says false.
	 * -EAGAIN: @fn ended it, or counts came faster than they could be walked.
	 */
	int (*pids)(struct counter *c, bool (*fn)(void *ctx, pid_t pid), void *ctx);

	/*
	 * What the reader says of process @pid, for filter.tree: it can be filtered in the kernel from now on, or not
	 * any more. Return: false: there is no room to keep that.
	 */
	bool (*judged)(struct counter *c, pid_t pid, enum descent what);

	/*
	 * The user stack of a sample that it passed on, with @note, has been unwound. @proof: samples of the same
	 * process with the same callchain by frame pointers need not be. Optional.
	 */
	enum proof_use (*unwound)(struct counter *c, const struct sample_note *note, enum proof proof);

	/*
	 * What is proved of process @pid, 0: of all, does not hold any more, since it maps something else. @gone: it is
	 * another program, or process. Return: how many stacks were proved of it. Optional.
	 */
	size_t (*withdraw)(struct counter *c, pid_t pid, bool gone);

	/* Read a note that the program put in front of a sample: @size bytes of raw data, not aligned. NULL: it has no
	 * samples. */
	int (*note)(const void *raw, size_t size, struct sample_note *out);

	/* The same of a note about switches. NULL: it sees none. */
	int (*switch_note)(const void *raw, size_t size, struct switch_note *out);

	/* Add the interval of a SWITCH_CHARGE to its row in @to, in nanoseconds. */
	int (*charge)(struct counter *c, const struct switch_note *note, struct rows *to);

	/* Add the numbers of interval sink.ended to @stats. Exact after end(). */
	void (*stats)(const struct counter *c, struct stats *stats);

	/* Detach and free. NULL and half-open are fine. */
	void (*close)(struct counter *c);
};

extern const struct counter_ops counter_bpf;
extern const struct counter_ops counter_bpf_switches; /* of time off the CPU, also called bpf */

#endif
