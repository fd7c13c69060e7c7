/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup of version 2 with all below it, as the samples name them: by id.
 *
 * A sample has the id of the innermost cgroup of its task. An id that is not known yet is looked for once: cgroups do
 * not move, and ids are not used again. The kernel opens the folder of an id for who has CAP_DAC_READ_SEARCH; for
 * others all folders below ours are walked over, not too often. The folder of one that was made and removed again,
 * before its samples were read, is not found any more: it counts as one that is elsewhere.
 */
#ifndef CORE_TASKS_CGROUP_H
#define CORE_TASKS_CGROUP_H

#include "core/base/err.h"
#include "core/host/host.h"

#include <stdbool.h>
#include <stdint.h>

struct cgroup;

/** cgroup_is_folder() - is the file that @fd is of the folder of a cgroup of version 2? */
bool cgroup_is_folder(int fd);

/**
 * cgroup_open() - the one whose folder is @path.
 * @out: to be given to cgroup_close()
 * Return: 0; -EINVAL: @path is not such a folder; -errno.
 */
int cgroup_open(struct cgroup **out, const char *path, struct err *err);
void cgroup_close(struct cgroup *c);

/** cgroup_fd() - of its folder, as a BPF map wants it; borrowed. */
int cgroup_fd(const struct cgroup *c);

/** cgroup_has() - is @id that of this cgroup, or of one below it? 0, which is none, never is. */
bool cgroup_has(struct cgroup *c, uint64_t id);

/** cgroup_missed() - has cgroup_has() said no because it could not look for an id? Then @why is a line about it. */
bool cgroup_missed(const struct cgroup *c, struct err *why);

/** cgroup_line_path() - the path in @line of /proc/PID/cgroup, "ID:CONTROLLERS:PATH" (cgroups(7)); NULL: it has none.
 */
char *cgroup_line_path(char *line);

/** cgroup_line_is_v2() - is it about the hierarchy of version 2, as "0::/a" is? */
bool cgroup_line_is_v2(const char *line);

/**
 * cgroup_line_has() - is @line of /proc/PID/cgroup, "9:perf_event,cpu:/a", about controller @name? One of version 2,
 * "0::/a", is about none (cgroups(7)).
 */
bool cgroup_line_has(const char *line, const char *name);

/**
 * cgroup_sampled() - are the ids of perf's samples those of cgroups of version 2? Not where the controller perf_event
 * is in a hierarchy of version 1, as /proc/self/cgroup tells, nor where no controller is enabled below the root.
 */
bool cgroup_sampled(const struct host *h);

#endif
