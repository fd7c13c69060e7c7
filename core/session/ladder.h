/* SPDX-License-Identifier: Apache-2.0 */
/* The ways to sample, from the one that costs least and shows most down to the one that needs least rights. */
#ifndef CORE_SESSION_LADDER_H
#define CORE_SESSION_LADDER_H

#include "core/host/causes.h"
#include "core/request/options.h"

enum rung {
	RUNG_BPF,      /* whole CPUs, counted or added up in the kernel */
	RUNG_PERFRING, /* whole CPUs, counted from rings */
	RUNG_TASKS,    /* threads that the user may observe, counted from rings */
	RUNG_NR,
};

#define RUN_FILES 1 /* open before a run tries a rung: of signals */

/** struct rung_state - can a rung be used here? */
struct rung_state {
	bool usable;
	bool user_only;     /* usable, but without the kernel's stacks; of offcputime without any */
	struct err why;     /* why it is not, or what it lacks: one line; code 0: there is nothing to remark */
	struct cause cause; /* of that, as far as it is known */
};

/** rung_name() - stable, for scripts: "bpf", "perfring", "perfring-tasks". */
const char *rung_name(enum rung rung);
/** rung_does() - half a line. */
const char *rung_does(enum tool tool, enum rung rung);

/**
 * ladder_try() - do what a run of @tool on @rung would begin with, and undo it: a BPF map and program, an event and the
 * smallest ring for each CPU that is online; on RUNG_TASKS they are of the calling thread.
 *
 * @files: that a run has open by then, and this process has not
 *
 * On a host that the first bpf(2) would taint RUNG_BPF is not tried, and not usable.
 */
void ladder_try(const struct host *host, enum tool tool, enum rung rung, size_t files, struct rung_state *out);

#endif
