/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cgroup of version 2 and all cgroups below it, found by the cgroup ids in samples.
 *
 * A sample has the id of the innermost cgroup of its task. The result of a lookup is kept: cgroups do not move, and ids
 * are not reused. With CAP_DAC_READ_SEARCH, the kernel opens the directory of an id for us. Without it, we walk all
 * directories below that of the cgroup, but not too often. A cgroup that was removed before its samples were read is
 * not found any more: it counts as one that is elsewhere.
 */
#ifndef CORE_TASKS_CGROUP_H
#define CORE_TASKS_CGROUP_H

#include "core/base/err.h"
#include "core/host/host.h"

#include <stdbool.h>
#include <stdint.h>

struct cgroup;

/** cgroup_is_folder() - true if @fd is of the directory of a cgroup of version 2. */
bool cgroup_is_folder(int fd);

/**
 * cgroup_open() - open the cgroup with directory @path.
 * @out: pass it to cgroup_close()
 * Return: 0; -EINVAL: @path is not such a directory; -errno.
 */
int cgroup_open(struct cgroup **out, const char *path, struct err *err);
void cgroup_close(struct cgroup *c);

/** cgroup_fd() - descriptor of its directory, for a BPF cgroup array; borrowed. */
int cgroup_fd(const struct cgroup *c);

/** cgroup_has() - true if @id is that of this cgroup or of one below it. False for 0, which is no id. */
bool cgroup_has(struct cgroup *c, uint64_t id);

/** cgroup_missed() - true if cgroup_has() returned false because it could not look up an id; @why: a line about it. */
bool cgroup_missed(const struct cgroup *c, struct err *why);

/** cgroup_line_path() - the path in @line of /proc/PID/cgroup, "ID:CONTROLLERS:PATH" (cgroups(7)); NULL: it has none.
 */
char *cgroup_line_path(char *line);

/** cgroup_line_is_v2() - true if the line is about the hierarchy of version 2, such as "0::/a". */
bool cgroup_line_is_v2(const char *line);

/**
 * cgroup_line_has() - true if @line of /proc/PID/cgroup, "9:perf_event,cpu:/a", is about controller @name. A line of
 * version 2, "0::/a", is about none (cgroups(7)).
 */
bool cgroup_line_has(const char *line, const char *name);

/**
 * cgroup_sampled() - true if the ids in perf's samples are those of cgroups of version 2. False if the controller
 * perf_event is in a hierarchy of version 1, which /proc/self/cgroup shows, or if no controller is enabled below the
 * root.
 */
bool cgroup_sampled(const struct host *h);

#endif
