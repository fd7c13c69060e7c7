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

/** struct session - a run. Who counts gets @env alone. */
struct session {
	struct request request;
	struct events events;
	struct sink sink;
	struct mapped_files_cfg files; /* its open_files is ours, there where user stacks are sampled now */
	struct perf_maps *perf_maps;   /* there, too */
	struct recording recording;    /* with options.input: then there are no events */

	const struct way *ways; /* to choose from; see ways_here */
	const struct way *way;  /* that was taken */
	struct source_env env;  /* of the former, for @source and the counters in front of it */
	const struct source_ops *source_ops;
	struct source *source;
	char reason[1024]; /* why this way, one line */

	int signal_fd;   /* SIGINT and SIGTERM, from session_open() to the end of session_run(); else -1 */
	bool signalled;  /* one has been taken from it */
	int mntns_fd;    /* the mount namespace filter.mntns is about, see proc_hold_mntns(); else -1 */
	struct err kept; /* why rights were not given up that are not needed any more; code 0: they were */
	struct ring_thread *ring_thread;
	bool (*ahead)(void *ctx); /* see session_ahead(); NULL: nothing is left */
	void *ahead_ctx;
	uint64_t ahead_at;
	uint64_t cpus_at, learn_at; /* when to look next which CPUs are online, and whom the kernel counts */

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
