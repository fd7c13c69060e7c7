// SPDX-License-Identifier: Apache-2.0
/* capture_open(): what the user named, the ladder of ways to sample, and the rights that stay. */
#include "core/capture_open.h"

#include "core/capture_events.h"
#include "core/capture_input.h"
#include "core/cgroup.h"
#include "core/pinned.h"
#include "core/priority.h"
#include "core/privileges.h"
#include "core/proc.h"
#include "core/signals.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void backends_close(struct capture *cap)
{
	while (cap->nr_backends) {
		struct capture_backend *b = &cap->backends[--cap->nr_backends];

		b->ops->close(b->state);
	}
}

static int open_backend(struct capture *cap, const struct backend_ops *ops, struct err *err)
{
	struct capture_backend *b = &cap->backends[cap->nr_backends++];

	b->ops = ops;
	b->state = NULL;
	return ops->open(&b->state, cap, err);
}

/* The reader first: it is there before anything is passed on. */
int backends_attach(struct capture *cap, size_t event, struct err *err)
{
	size_t i = cap->nr_backends;
	int rc = 0;

	if (cap->began_ns)
		capture_gap(cap, true);
	while (!rc && i-- > 0)
		rc = cap->backends[i].ops->attach(cap->backends[i].state, event, err);
	return rc;
}

int backends_detach(struct capture *cap, size_t event, struct err *err)
{
	size_t i;
	int rc = 0;

	capture_gap(cap, true);
	for (i = 0; i < cap->nr_backends && !rc; i++)
		if (cap->backends[i].ops->detach)
			rc = cap->backends[i].ops->detach(cap->backends[i].state, event, err);
	return rc;
}

static int attach_all(struct capture *cap, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < cap->nr_events && !rc; i++)
		if (cap->events[i].fd >= 0 && !cap->events[i].waits)
			rc = backends_attach(cap, i, err);
	return rc;
}

#define HALVES 2 /* of a backend: what counts samples, what adds up intervals off the CPU */

/* Those of @ops that are needed; it may leave the intervals to another one. Return: how many. */
static size_t halves_of(const struct capture *cap, const struct backend_ops *ops, const struct backend_ops **out)
{
	bool other = cap->options->off_cpu && ops->switches;
	size_t nr = 0;

	if (cap->options->on_cpu || !other)
		out[nr++] = ops;
	if (other)
		out[nr++] = ops->switches;
	return nr;
}

/* Events, backend, and the reader behind it, all or nothing. */
static int open_once(struct capture *cap, const struct backend_ops *ops, struct err *err)
{
	const struct backend_ops *halves[HALVES];
	size_t nr = halves_of(cap, ops, halves), i;
	int rc = events_open(cap, ops->in_kernel, err);

	for (i = 0; i < nr && !rc; i++)
		rc = open_backend(cap, halves[i], err);
	if (!rc && ops->in_kernel)
		rc = open_backend(cap, backend_reader(), err);
	if (!rc)
		rc = attach_all(cap, err);
	if (rc) {
		backends_close(cap);
		events_close(cap);
	}
	return rc;
}

static bool give_up_apart(struct capture *cap)
{
	cap->no_room_apart = true;
	cap->rings = (struct ring_sizes){ 0 };
	return true;
}

/*
 * Not even the smallest rings could be mapped, or there are not enough descriptors: without rings for tasks and
 * mappings half as much will do.
 */
static bool do_without_apart(struct capture *cap, int code)
{
	bool no_memory = (code == -EPERM || code == -ENOMEM) && cap->ring_refused;

	return cap->apart && (no_memory || code == -EMFILE || code == -ENFILE) && give_up_apart(cap);
}

/* The same of descriptors: there are threads that cannot be followed. */
static bool follow_more(struct capture *cap)
{
	int code = cap->unfollowed.code;

	return cap->apart && (code == -EMFILE || code == -ENFILE) && give_up_apart(cap);
}

/* Where the rings had to become so small that it matters to the events, these are opened anew, for such rings. */
static int open_with(struct capture *cap, const struct backend_ops *ops, struct err *err)
{
	int rc;

	cap->rings = (struct ring_sizes){ 0 };
	cap->ring_refused = 0;
	cap->no_room_apart = false;
	rc = open_once(cap, ops, err);
	if (rc && do_without_apart(cap, rc))
		rc = open_once(cap, ops, err);
	while (!rc && (follow_more(cap) || events_outgrow_rings(cap))) {
		backends_close(cap);
		events_close(cap);
		rc = open_once(cap, ops, err);
	}
	return rc;
}

static int probe(const struct capture *cap, const struct backend_ops *ops, struct err *err)
{
	const struct backend_ops *halves[HALVES];
	size_t nr = halves_of(cap, ops, halves), i;
	int rc = 0;

	for (i = 0; i < nr && !rc; i++)
		if (halves[i]->probe)
			rc = halves[i]->probe(cap->options->backend != NULL, err);
	return rc;
}

static const struct backend_ops *asked_for(const struct capture *cap)
{
	return cap->both ? backend_in_kernel() : backend_find(cap->options->backend);
}

/* @tasks: on threads, not on whole CPUs */
static int open_rung(struct capture *cap, const struct backend_ops *ops, bool tasks, struct err *err)
{
	int rc;

	if (tasks) {
		cap->followed = followed_new(cap);
		if (!cap->followed)
			return err_sys(err, -ENOMEM, "cannot follow threads");
	}
	rc = probe(cap, ops, err);
	if (!rc)
		rc = open_with(cap, ops, err);
	if (rc) {
		followed_free(cap->followed);
		cap->followed = NULL;
	}
	return rc;
}

static void __attribute__((format(printf, 2, 3))) add_reason(struct capture *cap, const char *fmt, ...)
{
	size_t used = strlen(cap->reason);
	va_list ap;

	if (used)
		used += (size_t)snprintf(cap->reason + used, sizeof(cap->reason) - used, "; ");
	if (used >= sizeof(cap->reason))
		return;
	va_start(ap, fmt);
	vsnprintf(cap->reason + used, sizeof(cap->reason) - used, fmt, ap);
	va_end(ap);
}

/* Whole CPUs may not be sampled: then those threads that may. */
static int open_on_tasks(struct capture *cap, struct err *err)
{
	char followed[128];
	struct err why;
	int rc;

	/* Nobody else has its events. */
	descendants_free(cap->filter.tree);
	cap->filter.tree = NULL;
	rc = open_rung(cap, backend_reader(), true, err);
	why = *err;
	if (rc)
		return err_set(err, rc, "%s; %s", why.msg, cap->reason);
	followed_describe(cap->followed, followed, sizeof(followed));
	add_reason(cap, "%s", followed);
	return 0;
}

/* Return: of the last one that was tried. */
static int open_on_cpus(struct capture *cap, struct err *err)
{
	const struct backend_ops *ops;
	struct err why = { 0 };
	unsigned int i;
	int rc = -ENODEV;

	for (i = 0; (ops = backend_at(i)) && rc; i++) {
		rc = open_rung(cap, ops, false, &why);
		if (rc)
			add_reason(cap, "%s cannot be used: %s", ops->name, why.msg);
		else if (!i)
			add_reason(cap, "the first choice works here");
	}
	return rc ? err_set(err, rc, "%s", cap->reason) : 0;
}

static int open_asked_for(struct capture *cap, struct err *err)
{
	int rc = open_rung(cap, asked_for(cap), false, err);

	if (rc)
		add_reason(cap, "%s cannot be used on whole CPUs: %s", asked_for(cap)->name, err->msg);
	else
		add_reason(cap, "asked for");
	return rc;
}

/* The rungs of the ladder, from above. */
static int open_wanted(struct capture *cap, struct err *err)
{
	const char *backend = cap->options->backend;
	int rc = backend ? open_asked_for(cap, err) : open_on_cpus(cap, err);

	if ((rc == -EACCES || rc == -EPERM) && (!backend || asked_for(cap) == backend_reader()))
		rc = open_on_tasks(cap, err);
	if (!rc && cap->switches == SWITCHES_BY_RECORDS && cap->no_tracepoint.code)
		add_reason(cap, "by PERF_RECORD_SWITCH: %s", cap->no_tracepoint.msg);
	return rc;
}

/* Before there is another thread. */
static void drop_privileges(struct capture *cap)
{
	struct privileges_need need = { .uses = PRIVILEGES_PRIORITY, .again = events_try, .ctx = cap };

	if (cap->options->output)
		need.uses |= PRIVILEGES_REPORT;
	if (!cap->options->input)
		need.uses |= PRIVILEGES_PROCESSES;
	/* Of what is followed the kernel opens those to come. */
	if (!cap->options->input && !cap->followed)
		need.uses |= PRIVILEGES_EVENTS;
	if ((cap->nr_backends && cap->backends[0].ops->in_kernel) || cap->filter.cgroup_ids || cap->filter.mntns_ids)
		need.uses |= PRIVILEGES_BPF;
	if (cap->command)
		need.uses |= PRIVILEGES_COMMAND;
	/* A host where that is forbidden, by a filter of system calls, can be profiled as before. */
	privileges_drop(&need, &cap->kept);
}

/* Which ones are asked for, as the samples will name them; and the command. The paths are the caller's, and so are the
 * rights. */
static int open_groups(struct capture *cap, struct err *err)
{
	const struct options *o = cap->options;
	struct filter *f = &cap->filter;
	int rc = o->cgroup ? cgroup_open(&f->cgroup, o->cgroup, err) : 0;

	if (!rc && o->cgroup_map)
		rc = pinned_open(&f->cgroup_ids, cap->host, o->cgroup_map, err);
	if (!rc && o->mntns_map)
		rc = pinned_open(&f->mntns_ids, cap->host, o->mntns_map, err);
	if (!rc && cap->command) {
		f->tree = descendants_new(command_pid(cap->command));
		rc = f->tree ? 0 : err_sys(err, -ENOMEM, "cannot begin");
	}
	return rc;
}

static int open_mntns(struct capture *cap, struct err *err)
{
	const struct options *o = cap->options;
	int fd;

	if (!o->mntns_of)
		return 0;
	if (cap->host->foreign)
		return err_set(err, -ENOENT,
			       "cannot tell the mount namespace of process %d: /proc is of another PID namespace",
			       o->mntns_of);
	fd = proc_hold_mntns(cap->host, o->mntns_of, &cap->filter.mntns);
	if (fd < 0)
		return err_sys(err, fd, "cannot open the mount namespace of process %d", o->mntns_of);
	cap->mntns_fd = fd;
	return 0;
}

static bool tell_judged(void *ctx, pid_t pid, enum descent what)
{
	const struct capture *cap = ctx;
	bool kept = true;
	size_t i;

	for (i = 0; i < cap->nr_backends; i++)
		if (cap->backends[i].ops->judged)
			kept &= cap->backends[i].ops->judged(cap->backends[i].state, pid, what);
	return kept;
}

int capture_open(struct capture *cap, struct err *err)
{
	const struct options *o = cap->options;
	int rc;

	if (o->input) {
		/* Whoever makes a recording says which files of this host tell its names. */
		rc = privileges_return();
		drop_privileges(cap);
		return rc ? err_sys(err, rc, "cannot give up capabilities") : input_open(cap, err);
	}
	rc = open_groups(cap, err);
	privileges_use();
	priority_raise();
	if (!rc)
		rc = open_mntns(cap, err);
	if (!rc)
		rc = signals_catch(err);
	if (rc < 0)
		return rc;
	cap->signal_fd = rc;
	if (o->off_cpu && sched_switch_find(cap->host, &cap->sched_switch, &cap->no_tracepoint))
		cap->sched_switch.id = 0;
	rc = open_wanted(cap, err);
	if (!rc && cap->filter.tree && cap->backends[0].ops->judged)
		descendants_tell(cap->filter.tree, tell_judged, cap);
	if (!rc)
		drop_privileges(cap);
	return rc;
}
