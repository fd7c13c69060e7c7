/* SPDX-License-Identifier: Apache-2.0 */
/* What a run consists of. Private to core/session/ and, to be read, to core/cli/. */
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
 * @left_ns: UINT64_MAX: until it is interrupted, or what it samples ends
 * @samples, @intervals: of the report to come, and @lost of both, about
 */
struct progress {
	uint64_t elapsed_ns, left_ns;
	uint64_t samples, intervals, lost;
};

/** struct session - a run. Who counts gets @env alone. */
struct session {
	struct request request;
	struct events events;
	struct sink sink;
	struct mapped_files_cfg files; /* its open_files is ours, there where user stacks are sampled now */
	char *perf_cache;              /* of its paths */
	struct perf_maps *perf_maps;   /* there, and where a recording has them */
	struct jitdumps *jitdumps;     /* there, too */
	struct used_namer namer;       /* where the kernel is sampled, and tells its names so */
	struct recording recording;    /* with options.input: then there are no events */

	const struct way *ways; /* to choose from; see ways_here */
	const struct way *way;  /* that was taken */
	struct source_env env;  /* of the former, for @source and the counters in front of it */
	const struct source_ops *source_ops;
	struct source *source;
	char reason[1024]; /* why this way, one line */
	struct err
		by_fp; /* why --unwind=auto walks by frame pointers alone; code 0: it does not, or that is its rule */

	int signal_fd;           /* SIGINT and SIGTERM, from session_open() to the end of session_run(); else -1 */
	bool signalled;          /* one has been taken from it */
	int mntns_fd;            /* the mount namespace filter.mntns is about, see proc_hold_mntns(); else -1 */
	struct targets *targets; /* of -p or -L; NULL: there are none, or those of a recording */
	struct err kept;         /* why rights were not given up that are not needed any more; code 0: they were */
	struct ring_thread *ring_thread;
	bool (*ahead)(void *ctx); /* see session_ahead(); NULL: nothing is left */
	void *ahead_ctx;
	uint64_t ahead_at;
	void (*progress)(void *ctx, const struct progress *p); /* see session_progress(); NULL: nobody wants to know */
	void *progress_ctx;
	uint64_t progress_at;
	uint64_t stopped_ns;        /* the ring thread has ended the sampling; 0: it has not */
	uint64_t drain_ns;          /* the rings are read at least that often */
	uint64_t hurry_until;       /* the rings are read more often, see look_closer() */
	uint64_t cpus_at, learn_at; /* when to look next which CPUs are online, and whom the kernel counts */

	bool ran_known;             /* for how long the targets, or the command, ran while the run lasted: */
	uint64_t ran_ns;            /* that CPU time; with a command, also what it waited for */
	uint64_t command_ns;        /* CPU time of the command, whose threads were followed until it ended; else 0 */
	uint64_t followed_ns;       /* how much of that, and of its time in the kernel, its events know of, */
	bool followed_known;        /* if they tell */
	struct shortfall shortfall; /* see session_shortfall() */
};

/** session_counts_in_kernel() - is there a counter? Also after session_close(). */
static inline bool session_counts_in_kernel(const struct session *s)
{
	return s->way && s->way->counter;
}

#endif
