/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between the session and a source of records. A source delivers records in time order, and turns them
 * into rows of the sink and into facts about tasks. The sources are the rings of this host's events, a recording, and
 * those of tests.
 *
 * Order of calls: open, attach for each place (CPU, see struct event_place) whose event is open, start, then drain,
 * attach and detach any number of times, end once for each interval, close. All calls except look and fetch come from
 * one thread at a time. Nothing here prints: errors are returned and described. All functions return 0 or -errno,
 * unless stated otherwise.
 */
#ifndef CORE_SOURCES_SOURCE_H
#define CORE_SOURCES_SOURCE_H

#include "core/base/err.h"
#include "core/events/perf_events.h"
#include "core/files/mapped_files.h"
#include "core/request/request.h"
#include "core/rows/sink.h"
#include "core/rows/stats.h"
#include "core/sources/counter.h"
#include "core/sources/recording.h"

#define COUNTERS_MAX 2 /* one counts samples, the other off-CPU intervals */

/** struct used_counter - a counter and its state. */
struct used_counter {
	const struct counter_ops *ops;
	struct counter *state;
};

/**
 * struct source_env - everything of the run that a source, and the counters in front of it, may use. All is borrowed.
 * Source and counters write to @sink. A source also writes the sizes of its rings to @events; a recording fills
 * @recording.
 */
struct source_env {
	const struct request *request;
	const struct source_ops *source; /* what kind of source it is */
	struct events *events;           /* all zeros: there are none */
	struct sink *sink;
	struct mapped_files_cfg *files;
	struct recording *recording;
	struct jitdumps *jitdumps; /* of processes of this host; NULL: read none */
	struct used_counter counters[COUNTERS_MAX];
	size_t nr_counters;                        /* 0: the kernel counts nothing */
	uint64_t samples_passed, intervals_passed; /* of sink.ended: numbers that the counters passed on */
};

struct source; /* the state of a source */

/** struct source_ops - a const table for each source. */
struct source_ops {
	bool live;   /* its samples are of this host and this kernel, and taken during the run */
	bool defers; /* user stacks may come later than their samples: PERF_RECORD_CALLCHAIN_DEFERRED */

	/* @env outlives it. *@out is set also on failure: close() it. */
	int (*open)(struct source **out, const struct source_env *env, struct err *err);

	/* The event of @place is open, but not enabled. */
	int (*attach)(struct source *s, size_t place, struct err *err);

	/* The event will be closed, because its CPU has gone offline: read the rest of its records. */
	int (*detach)(struct source *s, size_t place, struct err *err);

	/*
	 * The events have just been enabled, and counters may have passed on samples already. For a recording,
	 * @env->request now says how its user stacks are walked. Optional.
	 */
	int (*start)(struct source *s, struct err *err);

	/* Read the records that wait. Return: 1: there will be no more, ever. */
	int (*drain)(struct source *s, struct err *err);

	/*
	 * Look for samples of processes whose mappings are not known, so that drain() can read the mappings at once.
	 * Called often by the thread that calls fetch(). Return: 1: there are some: call drain(); 0; -1: there will be
	 * none in this run. Optional.
	 */
	int (*look)(struct source *s);

	/*
	 * Only move what is waiting in the rings to memory, events.kept_bytes_max at most: there drain() and end() find
	 * it. Samples may be left in a ring that has room for many more. Another thread may call it at any time except
	 * during attach(), detach() and close(). Return: 1: so much is in memory that drain() should be called; 0;
	 * -errno, described. Optional.
	 */
	int (*fetch)(struct source *s, struct err *err);

	/*
	 * Interval sink.ended is over: read its records. If sink.set is another one, sampling goes on into that set;
	 * else the events are disabled.
	 */
	int (*end)(struct source *s, struct err *err);

	/* Add the known losses of interval sink.set up to now to lost_here of @stats. Optional. */
	void (*so_far)(const struct source *s, struct stats *stats);

	/* Add the numbers of interval sink.ended to @stats. Exact after end(). */
	void (*stats)(const struct source *s, struct stats *stats);

	/* NULL and half-open are fine. */
	void (*close)(struct source *s);
};

extern const struct source_ops source_rings;     /* for this host's events, called perfring */
extern const struct source_ops source_recording; /* for --input */

/** env_switch_counter() - the counter that writes notes about switches; NULL: there is none. */
static inline const struct used_counter *env_switch_counter(const struct source_env *env)
{
	size_t i;

	for (i = 0; i < env->nr_counters; i++)
		if (env->counters[i].ops->switch_note)
			return &env->counters[i];
	return NULL;
}

/** env_unwound() - a counter has passed on a sample with @note: see counter_ops.unwound. */
static inline enum proof_use env_unwound(const struct source_env *env, const struct sample_note *note, enum proof proof)
{
	enum proof_use use = PROOF_UNUSED;
	size_t i;

	for (i = 0; i < env->nr_counters; i++)
		if (env->counters[i].ops->unwound)
			use = env->counters[i].ops->unwound(env->counters[i].state, note, proof);
	return use;
}

/** env_withdraw() - see counter_ops.withdraw. */
static inline size_t env_withdraw(const struct source_env *env, pid_t pid, bool gone)
{
	size_t nr = 0, i;

	for (i = 0; i < env->nr_counters; i++)
		if (env->counters[i].ops->withdraw)
			nr += env->counters[i].ops->withdraw(env->counters[i].state, pid, gone);
	return nr;
}

#endif
