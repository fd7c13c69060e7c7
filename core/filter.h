/* SPDX-License-Identifier: Apache-2.0 */
/* Which samples are asked for: the rule both backends apply, one in the kernel, one here. */
#ifndef CORE_FILTER_H
#define CORE_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct cgroup;

/** struct filter - what all of its parts ask for; @ids sorted ascending, borrowed; @nr 0: every task. */
struct filter {
	const pid_t *ids; /* processes, or threads with @by_tid */
	size_t nr;
	bool by_tid;
	bool idle;        /* keep the idle task (tid 0) */
	const char *comm; /* only threads of this name, borrowed; NULL: of any */

	struct cgroup *cgroup; /* only what is in it or below, borrowed; NULL: wherever it is */
	uint64_t mntns;        /* inode number of the only mount namespace; 0: any */
};

/** filter_match() - is a sample of thread @tid of process @pid, which is called @comm (COMM_LEN bytes), asked for? But
 * for its groups. */
bool filter_match(const struct filter *f, pid_t pid, pid_t tid, const char *comm);

/** filter_match_cgroup() - may it be in the cgroup of this id? 0: not known. */
bool filter_match_cgroup(const struct filter *f, uint64_t cgroup);

/** filter_match_mntns() - may it be in the mount namespace of this inode number? 0: in none, as the idle task. */
bool filter_match_mntns(const struct filter *f, uint64_t mntns);

#endif
