// SPDX-License-Identifier: Apache-2.0
#include "core/session/fallback.h"

#include "core/base/err.h"
#include "core/events/events.h"
#include "core/events/followed.h"
#include "core/host/causes.h"
#include "core/session/counting.h"
#include "core/session/unwinder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Open events, source and counters: all or none. */
static int open_once(struct session *s, const struct way *way, struct err *err)
{
	int rc = events_open(&s->events, way->counter != NULL, err);

	if (!rc)
		rc = counting_open(s, way, err);
	if (!rc)
		rc = counting_attach_all(s, err);
	if (rc) {
		counting_close(s);
		events_close(&s->events);
	}
	return rc;
}

static bool give_up_apart(struct events *ev)
{
	ev->no_room_apart = true;
	ev->rings = (struct ring_sizes){ 0 };
	return true;
}

/*
 * If even the smallest rings could not be mapped, or descriptors ran out: do without separate rings for tasks and
 * mappings, which halves the number of rings.
 */
static bool do_without_apart(struct events *ev, int code)
{
	bool no_memory = (code == -EPERM || code == -ENOMEM) && ev->ring_refused;

	return ev->apart && (no_memory || descriptors_ran_out(code)) && give_up_apart(ev);
}

/* If descriptors ran out before all threads were followed: do without separate rings, to follow more threads. */
static bool follow_more(struct events *ev)
{
	int code = ev->unfollowed.code;

	return ev->apart && descriptors_ran_out(code) && give_up_apart(ev);
}

/* If the rings had to become too small for these events, open the events again: see events_outgrow_rings(). */
static int open_with(struct session *s, const struct way *way, struct err *err)
{
	int rc;

	s->events.rings = (struct ring_sizes){ 0 };
	s->events.ring_refused = 0;
	s->events.no_room_apart = false;
	rc = open_once(s, way, err);
	if (rc && do_without_apart(&s->events, rc))
		rc = open_once(s, way, err);
	while (!rc && (follow_more(&s->events) || events_outgrow_rings(&s->events))) {
		counting_close(s);
		events_close(&s->events);
		rc = open_once(s, way, err);
	}
	return rc;
}

static const struct way *asked_for(const struct session *s)
{
	return s->request.both ? way_counting(s->ways) : way_find(s->ways, s->request.backend);
}

/* If the host refuses stack copies, or has no room for them, try without copies. */
static int open_unwinding(struct session *s, const struct way *way, struct err *err)
{
	int rc = open_with(s, way, err);

	if (!unwinder_give_up(s, rc, err))
		return rc;
	counting_close(s);
	events_close(&s->events);
	rc = open_with(s, way, err);
	/* The copies were not the reason: restore the choice. */
	if (rc)
		unwinder_choose(s);
	return rc;
}

/* @tasks: sample threads, not whole CPUs */
static int open_way(struct session *s, const struct way *way, bool tasks, struct err *err)
{
	int rc;

	if (tasks) {
		s->events.followed = followed_new(&s->events);
		if (!s->events.followed)
			return err_sys(err, -ENOMEM, "cannot follow threads");
	}
	rc = counting_probe(s, way, err);
	if (!rc)
		rc = open_unwinding(s, way, err);
	if (rc) {
		followed_free(s->events.followed);
		s->events.followed = NULL;
	}
	s->way = rc ? NULL : way;
	return rc;
}

static void __attribute__((format(printf, 2, 3))) add_reason(struct session *s, const char *fmt, ...)
{
	size_t used = strlen(s->reason);
	va_list ap;

	if (used)
		used += (size_t)snprintf(s->reason + used, sizeof(s->reason) - used, "; ");
	if (used >= sizeof(s->reason))
		return;
	va_start(ap, fmt);
	vsnprintf(s->reason + used, sizeof(s->reason) - used, fmt, ap);
	va_end(ap);
}

/* Whole CPUs may not be sampled: sample those threads that may be. */
static int open_on_tasks(struct session *s, struct err *err)
{
	char followed[128];
	struct err why;
	int rc;

	/* Only the command and its descendants have these events, so no filter is needed. */
	descendants_free(s->request.filter.tree);
	s->request.filter.tree = NULL;
	rc = open_way(s, way_alone(s->ways), true, err);
	why = *err;
	if (rc)
		return err_set(err, rc, "%s; %s", why.msg, s->reason);
	followed_describe(s->events.followed, followed, sizeof(followed));
	add_reason(s, "%s", followed);
	return 0;
}

/* True if the event is missing on this host: then all ways lack it. */
static bool lacks_event(const struct session *s, int rc, const struct err *why)
{
	return rc == -ENOENT && *why->cause.text && s->request.sampling.event &&
	       !event_is_software(s->request.sampling.event);
}

/* Try each way. Return: the result of the last one tried. */
static int open_on_cpus(struct session *s, struct err *err)
{
	const struct way *way;
	struct err why = { 0 };
	unsigned int i;
	int rc = -ENODEV;

	for (i = 0; (way = way_at(s->ways, i)) && rc; i++) {
		rc = open_way(s, way, false, &why);
		if (lacks_event(s, rc, &why)) {
			*err = why;
			return rc;
		}
		if (rc)
			add_reason(s, "%s cannot be used: %s", way->name, why.msg);
		else if (!i)
			add_reason(s, "the first choice works here");
	}
	return rc ? err_set(err, rc, "%s", s->reason) : 0;
}

static int open_asked_for(struct session *s, struct err *err)
{
	int rc = open_way(s, asked_for(s), false, err);

	if (rc)
		add_reason(s, "%s cannot be used on whole CPUs: %s", asked_for(s)->name, err->msg);
	else
		add_reason(s, "asked for");
	return rc;
}

static void find_tracepoint(struct session *s)
{
	struct events *ev = &s->events;

	if (!s->request.off_cpu.wanted)
		return;
	if (sched_switch_find(s->request.host, &ev->sched_switch, &ev->no_tracepoint))
		ev->sched_switch.id = 0;
}

/* Return true if only the kernel's records show switches; @why has the reason. */
static bool lacks_tracepoint(const struct session *s, struct err *why)
{
	const struct err *cause = &s->events.no_tracepoint;

	if (s->events.switches != SWITCHES_BY_RECORDS || !cause->code)
		return false;
	err_set(why, cause->code, "by PERF_RECORD_SWITCH: %s", cause->msg);
	return true;
}

int fallback_open(struct session *s, struct err *err)
{
	const char *backend = s->request.backend;
	struct err lacks;
	int rc;

	find_tracepoint(s);
	rc = backend ? open_asked_for(s, err) : open_on_cpus(s, err);
	if ((rc == -EACCES || rc == -EPERM) && (!backend || asked_for(s) == way_alone(s->ways)))
		rc = open_on_tasks(s, err);
	if (!rc && lacks_tracepoint(s, &lacks))
		add_reason(s, "%s", lacks.msg);
	return rc;
}

/* A run opens so many files later: two for the ring thread, and one for signals. */
#define LATER_FILES 3

static int hold_files(const struct session *s, struct err *err)
{
	int fds[LATER_FILES], nr = 0, rc = 0;
	struct cause why;

	while (nr < LATER_FILES && (fds[nr] = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 0)) >= 0)
		nr++;
	if (nr < LATER_FILES) {
		rc = -errno;
		cause_of_files(s->request.host, rc, &why);
		cause_err(err, rc, &why, "cannot open the files of a run");
	}
	while (nr)
		close(fds[--nr]);
	return rc;
}

/* Threads leave their CPUs inside the kernel, so switch events that exclude the kernel take no stacks at all. */
static void remark_user_only(const struct session *s, struct err *why)
{
	const struct err *refused = &s->events.user_only;

	err_set(why, refused->code, "%s: %s", s->request.sampling.event ? "user stacks only" : "stacks cannot be taken",
		*refused->cause.text ? refused->cause.text : refused->msg);
	why->cause = refused->cause;
}

void fallback_try(struct session *s, const struct way *way, bool tasks, struct way_trial *out)
{
	int rc;

	*out = (struct way_trial){ .usable = false };
	if (!tasks)
		find_tracepoint(s);
	rc = open_way(s, way, tasks, &out->why);
	if (!rc)
		rc = hold_files(s, &out->why);
	if (rc)
		return;
	out->usable = true;
	out->why = (struct err){ 0 };
	if (s->events.user_only.code)
		remark_user_only(s, &out->why);
	else
		lacks_tracepoint(s, &out->why);
}
