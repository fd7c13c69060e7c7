/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which samples and off-CPU intervals to keep. backend-bpf applies these conditions in the kernel (bpf/shared.h,
 * bpf/offcpu.bpf.c), and backend-perfring with the functions below.
 */
#ifndef CORE_TASKS_FILTER_H
#define CORE_TASKS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct descendants;
struct host;
struct pinned;

/**
 * struct filter - all conditions must hold; all zeros: keep everything but the idle task. @ids sorted ascending,
 * borrowed; @nr 0: every task.
 */
struct filter {
	const pid_t *ids; /* processes, or threads with @by_tid */
	size_t nr;
	bool by_tid;
	bool idle;                /* keep the idle task (tid 0) */
	const char *comm;         /* only threads of this name, borrowed; NULL: of any */
	struct descendants *tree; /* only these processes, borrowed; NULL: any */

	struct cgroup *cgroup;                 /* only tasks in it or below, borrowed; NULL: in any */
	struct pinned *cgroup_ids, *mntns_ids; /* only tasks with one of these ids, borrowed; NULL: any */
	uint64_t mntns;                        /* inode number of the only mount namespace; 0: any */

	bool by_cpu;
	uint32_t cpu;            /* with @by_cpu: the only CPU */
	bool no_kernel, no_user; /* leave out the kernel stacks, the user stacks */

	/* For off-CPU intervals; switches.h filters by their length. */
	enum { FILTER_ANY_THREADS, FILTER_USER_THREADS, FILTER_KERNEL_THREADS } threads;
	bool by_state;
	uint64_t state_mask; /* with @by_state: task states in which the thread left its CPU; 0: it could still run */
};

/**
 * filter_match() - true if a sample of thread @tid of process @pid with the name @comm (COMM_LEN bytes) meets the
 * conditions on ids, the idle task, the name and @tree.
 */
bool filter_match(const struct filter *f, pid_t pid, pid_t tid, const char *comm);

/**
 * filter_pids() - call @fn for each process id of the filter, or, if it has none, for every process that exists, until
 * @fn returns non-zero. Return: the value that @fn returned; 0; -errno.
 */
int filter_pids(const struct filter *f, const struct host *h, int (*fn)(void *ctx, pid_t pid), void *ctx);

/** filter_match_cpu() - true if an event on @cpu passes. */
bool filter_match_cpu(const struct filter *f, uint32_t cpu);

/** filter_match_thread() - true if the kind of the thread passes. @has_user: it has a user stack */
bool filter_match_thread(const struct filter *f, bool has_user);

/**
 * filter_match_state() - true if a thread that leaves its CPU in this task state passes.
 * @could_run: it could still run; @waits: otherwise, the bits of its state
 */
bool filter_match_state(const struct filter *f, bool could_run, uint64_t waits);

/** filter_by_cgroup(), filter_by_mntns() - true if @f has a condition on cgroups, on mount namespaces. */
bool filter_by_cgroup(const struct filter *f);
bool filter_by_mntns(const struct filter *f);

/** filter_by_more_than_ids() - true if most samples may not pass although their process, thread and CPU are wanted. */
bool filter_by_more_than_ids(const struct filter *f);

/**
 * filter_match_cgroup() - true if a sample in the cgroup with the id @cgroup passes. 0: the id is not known.
 * @time,@unsure: see pinned_has()
 */
bool filter_match_cgroup(const struct filter *f, uint64_t cgroup, uint64_t time, bool *unsure);

/** filter_match_mntns() - the same for the mount namespace with inode number @mntns. 0: none, as for the idle task. */
bool filter_match_mntns(const struct filter *f, uint64_t mntns, uint64_t time, bool *unsure);

#endif
