/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples, and which intervals off the CPU, are asked for: the rule both backends apply, one in the kernel, one
 * here.
 */
#ifndef CORE_TASKS_FILTER_H
#define CORE_TASKS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct descendants;
struct pinned;

/**
 * struct filter - what all of its parts ask for; all zeros: everything but the idle task. @ids sorted ascending,
 * borrowed; @nr 0: every task.
 */
struct filter {
	const pid_t *ids; /* processes, or threads with @by_tid */
	size_t nr;
	bool by_tid;
	bool idle;                /* keep the idle task (tid 0) */
	const char *comm;         /* only threads of this name, borrowed; NULL: of any */
	struct descendants *tree; /* only these processes, borrowed; NULL: any */

	struct cgroup *cgroup;                 /* only what is in it or below, borrowed; NULL: wherever it is */
	struct pinned *cgroup_ids, *mntns_ids; /* only what these have, borrowed; NULL: whatever */
	uint64_t mntns;                        /* inode number of the only mount namespace; 0: any */

	bool by_cpu;
	uint32_t cpu;            /* with @by_cpu: the only one */
	bool no_kernel, no_user; /* stacks without this side */

	/* Of intervals off the CPU; how long they last is switches.h's. */
	enum { FILTER_ANY_THREADS, FILTER_USER_THREADS, FILTER_KERNEL_THREADS } threads;
	bool by_state;
	uint64_t state_mask; /* with @by_state: of the thread, as it left its CPU; 0: it could still run */
};

/** filter_match() - is a sample of thread @tid of process @pid, which is called @comm (COMM_LEN bytes), asked for? But
 * for its groups. */
bool filter_match(const struct filter *f, pid_t pid, pid_t tid, const char *comm);

/** filter_match_cpu() - is what happens on @cpu asked for? */
bool filter_match_cpu(const struct filter *f, uint32_t cpu);

/** filter_match_thread() - is a thread with a user stack, or without one, asked for? */
bool filter_match_thread(const struct filter *f, bool has_user);

/** filter_match_state() - of a thread that leaves its CPU. @waits: bits of its state, of one that could not run */
bool filter_match_state(const struct filter *f, bool could_run, uint64_t waits);

/** filter_by_cgroup(), filter_by_mntns() - is it about these? */
bool filter_by_cgroup(const struct filter *f);
bool filter_by_mntns(const struct filter *f);

/**
 * filter_match_cgroup() - may a sample be in the cgroup of this id? 0: not known.
 * @time,@unsure: see pinned_has()
 */
bool filter_match_cgroup(const struct filter *f, uint64_t cgroup, uint64_t time, bool *unsure);

/** filter_match_mntns() - the same for the mount namespace of this inode number. 0: in none, as the idle task. */
bool filter_match_mntns(const struct filter *f, uint64_t mntns, uint64_t time, bool *unsure);

#endif
