// SPDX-License-Identifier: Apache-2.0
#include "core/session/open.h"

#include "core/events/events.h"
#include "core/files/open_files.h"
#include "core/host/priority.h"
#include "core/host/privileges.h"
#include "core/host/signals.h"
#include "core/session/counting.h"
#include "core/session/fallback.h"
#include "core/session/input.h"
#include "core/tasks/cgroup.h"
#include "core/tasks/descendants.h"
#include "core/tasks/pinned.h"
#include "core/tasks/proc.h"
#include "core/tasks/targets.h"

#include <errno.h>

/* Call it before another thread exists. */
static void drop_privileges(struct session *s)
{
	struct privileges_need need = { .uses = PRIVILEGES_PRIORITY, .again = events_try, .ctx = &s->events };

	if (s->request.writes_file)
		need.uses |= PRIVILEGES_REPORT;
	if (session_is_live(s))
		need.uses |= PRIVILEGES_PROCESSES;
	/* If threads are followed, the kernel opens the events of new threads. */
	if (session_is_live(s) && !s->events.followed)
		need.uses |= PRIVILEGES_EVENTS;
	if (session_counts_in_kernel(s) || s->request.filter.cgroup_ids || s->request.filter.mntns_ids)
		need.uses |= PRIVILEGES_BPF;
	if (s->request.command)
		need.uses |= PRIVILEGES_COMMAND;
	/* If a system call filter forbids dropping, the host can be profiled all the same. */
	privileges_drop(&need, &s->kept);
}

/*
 * Open the cgroup, the pinned maps and the tree of the command, by which samples are filtered. The user named the
 * paths, so the user's own permissions apply.
 */
static int open_groups(struct session *s, struct err *err)
{
	const struct groups *g = &s->request.groups;
	struct filter *f = &s->request.filter;
	int rc = g->cgroup ? cgroup_open(&f->cgroup, g->cgroup, err) : 0;

	if (!rc && g->cgroup_map)
		rc = pinned_open(&f->cgroup_ids, s->request.host, g->cgroup_map, err);
	if (!rc && g->mntns_map)
		rc = pinned_open(&f->mntns_ids, s->request.host, g->mntns_map, err);
	if (!rc && s->request.command) {
		f->tree = descendants_new(command_pid(s->request.command));
		rc = f->tree ? 0 : err_sys(err, -ENOMEM, "cannot begin");
	}
	return rc;
}

static int open_mntns(struct session *s, struct err *err)
{
	pid_t pid = s->request.groups.mntns_of;
	int fd;

	if (!pid)
		return 0;
	if (s->request.host->foreign)
		return err_set(err, -ENOENT,
			       "cannot find the mount namespace of process %d: /proc is of another PID namespace", pid);
	fd = proc_hold_mntns(s->request.host, pid, &s->request.filter.mntns);
	if (fd < 0)
		return err_sys(err, fd, "cannot open the mount namespace of process %d", pid);
	s->mntns_fd = fd;
	return 0;
}

/* Open the targets before their events: a process that gets one of their ids later is another one. */
static int open_targets(struct session *s, struct err *err)
{
	const struct filter *f = &s->request.filter;

	if (!f->nr)
		return 0;
	s->targets = targets_new(s->request.host, f->ids, f->nr, !f->by_tid);
	return s->targets ? 0 : err_sys(err, -ENOMEM, "cannot begin");
}

/* The namer may be missing: then the names come from /proc/kallsyms, which takes more CPU time. */
static void open_namer(struct session *s)
{
	const struct namer_ops *ops = session_counts_in_kernel(s) ? s->way->counter->namer : NULL;

	if (ops && !s->request.filter.no_kernel && !events_attr(&s->events)->exclude_kernel &&
	    !ops->open(&s->namer.state))
		s->namer.ops = ops;
}

int session_open(struct session *s, struct err *err)
{
	int rc;

	if (!session_is_live(s)) {
		/* The maker of a recording chooses the files of this host that are read: use the user's permissions. */
		rc = privileges_return();
		drop_privileges(s);
		return rc ? err_sys(err, rc, "cannot give up capabilities") : input_open(s, err);
	}
	rc = open_groups(s, err);
	privileges_use();
	priority_raise();
	if (!rc)
		rc = open_mntns(s, err);
	if (!rc)
		rc = open_targets(s, err);
	if (!rc)
		rc = signals_catch(err);
	if (rc < 0)
		return rc;
	s->signal_fd = rc;
	rc = fallback_open(s, err);
	if (!rc && s->request.filter.tree && session_counts_in_kernel(s))
		descendants_tell(s->request.filter.tree, counting_judged, s);
	if (rc)
		return rc;
	open_namer(s);
	drop_privileges(s);
	if (s->files.open_files)
		open_files_start(s->files.open_files);
	return 0;
}
