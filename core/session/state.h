/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a run. Private to core/session/; core/cli/ may read it. */
#ifndef CORE_SESSION_STATE_H
#define CORE_SESSION_STATE_H

#include "core/events/perf_events.h"
#include "core/events/shortfall.h"
#include "core/files/mapped_files.h"
#include "core/request/request.h"
#include "core/rows/sink.h"
#include "core/session/ways.h"
#include "core/sources/source.h"
#include "core/symbols/namer.h"

/**
 * struct progress - how far a run is.
 * @left_ns: UINT64_MAX: no limit; the run lasts until it is interrupted, or until all that it samples has ended
 * @samples, @intervals: approximate numbers for the next report; @lost: of both
 */
struct progress {
	uint64_t elapsed_ns, left_ns;
	uint64_t samples, intervals, lost;
};

/** struct session - a run. Backends get only @env. */
struct session {
	struct request request;
	struct events events;
	struct sink sink;
	struct mapped_files_cfg files; /* its open_files belongs to the session; set in live runs with user stacks */
	char *perf_cache;              /* path of perf's build-id cache, for @files */
	struct perf_maps *perf_maps;   /* set unless user stacks are left out (filter.no_user) */
	struct jitdumps *jitdumps;     /* set in the same cases */
	struct used_namer namer;       /* set if the kernel is sampled and the namer could be opened */
	struct recording recording;    /* if the source is not live; then there are no events */

	const struct way *ways; /* the ways to choose from */
	const struct way *way;  /* the chosen way */
	struct source_env env;  /* for @source and the counters in front of it */
	struct source *source;
	char reason[1024]; /* why this way was chosen, one line */
	/* Why --unwind=auto fell back to frame pointers alone; code 0: it did not, or only because of off-CPU time */
	struct err by_fp;

	int signal_fd;           /* SIGINT and SIGTERM, from session_open() to the end of the run; otherwise -1 */
	bool signalled;          /* a signal has been taken from it */
	int mntns_fd;            /* the mount namespace of filter.mntns, see proc_hold_mntns(); otherwise -1 */
	struct targets *targets; /* processes of -p, threads of -L or -t; NULL: none, or those of a recording */
	struct err kept;         /* why unneeded capabilities were not dropped; code 0: they were */
	struct ring_thread *ring_thread;
	bool (*ahead)(void *ctx); /* see session_ahead(); NULL: no work is left */
	void *ahead_ctx;
	uint64_t ahead_at;
	void (*progress)(void *ctx, const struct progress *p); /* see session_progress(); may be NULL */
	void *progress_ctx;
	uint64_t progress_at;
	uint64_t stopped_ns;  /* when the ring thread ended the sampling; 0: it has not */
	uint64_t hurry_until; /* until then the rings are read more often, see look_closer() */
	uint64_t cpus_at;     /* when to look next which CPUs are online */

	bool ran_known;  /* @ran_ns is known */
	bool ran_first;  /* it is that of the first process of the command, which had not ended */
	uint64_t ran_ns; /* CPU time of the targets in the run, or of the command and its children that it waited for */
	uint64_t command_ns;  /* CPU time of the command if its threads were followed until it ended; otherwise 0 */
	uint64_t followed_ns; /* how long the command's threads ran with events on them, also in the kernel */
	bool followed_known;  /* @followed_ns is known */
	struct shortfall shortfall; /* see session_shortfall() */
};

/** session_is_of_user() - true if the run samples the threads of this user, because the host does not permit more. */
static inline bool session_is_of_user(const struct session *s)
{
	return s->events.followed && !s->request.filter.nr && !s->request.command;
}

/** session_is_live() - true if this host is sampled; false: a recording is read. All ways have the same answer. */
static inline bool session_is_live(const struct session *s)
{
	return s->ways->source->live;
}

/** session_counts_in_kernel() - true if the run has a counter. Also valid after session_close(). */
static inline bool session_counts_in_kernel(const struct session *s)
{
	return s->way && s->way->counter;
}

/**
 * session_compares_samples(), session_compares_intervals() - true if both backends count samples, or intervals, and the
 * results are compared.
 */
static inline bool session_compares_samples(const struct session *s)
{
	return s->request.both && s->request.sampling.event;
}

static inline bool session_compares_intervals(const struct session *s)
{
	return s->request.both && s->request.off_cpu.wanted;
}

#endif
