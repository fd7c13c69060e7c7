// SPDX-License-Identifier: Apache-2.0
/*
 * Cgroups of processes, for reports that have them. There are no records of cgroups: the first tasks_learn() of each
 * program that a process runs, usually at its first sample, reads /proc. A container's process is in its cgroup by
 * then.
 */
#include "core/tasks/proc.h"
#include "core/tasks/tasks.h"
#include "core/tasks/tasks_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Limit on paths, and the cost of each besides its bytes: a user with a delegated subtree can make many. */
#define MAX_BYTES   (8u << 20)
#define PATH_COST   64
#define MAX_PARENTS 16

/* image.cgroup: 1 + a number in tasks.cgroups, or one of these. */
#define CGROUP_UNREAD 0
#define CGROUP_MISSED (UINT32_MAX - 1) /* the process had ended */
#define CGROUP_NONE   UINT32_MAX       /* it cannot be read, or there are too many */

void tasks_keep_cgroups(struct tasks *t)
{
	t->keeps_cgroups = true;
}

/* If there are too many paths, add no more, and use only those that are known. */
static uint32_t keep_path(struct tasks *t, const char *path)
{
	bool is_new = false;
	uint32_t nr;

	if (t->cgroup_bytes < MAX_BYTES ? strings_add(&t->cgroups, path, &nr, &is_new) != 0
					: !strings_find(&t->cgroups, path, &nr))
		return CGROUP_NONE;
	if (is_new)
		t->cgroup_bytes += strlen(path) + PATH_COST;
	return nr + 1;
}

void tasks_read_cgroup(struct tasks *t, struct process *p)
{
	struct image *im = process_newest(p);
	char *path;
	int rc;

	if (!t->keeps_cgroups || !t->host || !im || p->exited || im->cgroup != CGROUP_UNREAD)
		return;
	rc = proc_cgroup(t->host, p->shown ? p->shown : p->entry.id, &path);
	if (rc)
		im->cgroup = rc == -ENOENT || rc == -ESRCH ? CGROUP_MISSED : CGROUP_NONE;
	else
		im->cgroup = keep_path(t, path);
	free(path);
}

/*
 * The cgroup of @im, or of the program that the same process had before. If the number was reused, images of the
 * earlier process come before one that was forked.
 */
static uint32_t cgroup_until(const struct process *p, const struct image *im)
{
	for (; im->cgroup == CGROUP_UNREAD || im->cgroup == CGROUP_MISSED; im--)
		if (im->forked || im == p->images)
			return CGROUP_UNREAD;
	return im->cgroup;
}

/* p->parent is the parent of the process that has the number now. */
static pid_t parent_of(const struct process *p, const struct image *im)
{
	for (im++; im < p->images + p->nr_images; im++)
		if (im->forked)
			return 0;
	return p->parent;
}

const char *tasks_cgroup(struct tasks *t, pid_t pid, const char *comm)
{
	uint32_t cgroup = CGROUP_UNREAD;
	const struct process *p;
	const struct image *im;
	unsigned int i;

	if (!t->keeps_cgroups || tasks_learn(t, pid))
		return NULL;
	for (i = 0; i < MAX_PARENTS && cgroup == CGROUP_UNREAD; i++) {
		p = processes_find(&t->processes, pid);
		im = !p ? NULL : i ? process_newest(p) : process_named(p, comm);
		if (!im)
			break;
		cgroup = cgroup_until(p, im);
		pid = parent_of(p, im);
	}
	return cgroup == CGROUP_UNREAD || cgroup == CGROUP_NONE ? NULL : strings_get(&t->cgroups, cgroup - 1);
}
