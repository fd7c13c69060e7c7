/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are asked for: the rule both backends apply, one in the kernel, one here. */
#ifndef CORE_TASKS_FILTER_H
#define CORE_TASKS_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;
struct descendants;
struct pinned;

/** struct filter - what all of its parts ask for; @ids sorted ascending, borrowed; @nr 0: every task. */
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
};

/** filter_match() - is a sample of thread @tid of process @pid, which is called @comm (COMM_LEN bytes), asked for? But
 * for its groups. */
bool filter_match(const struct filter *f, pid_t pid, pid_t tid, const char *comm);

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
