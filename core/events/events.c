// SPDX-License-Identifier: Apache-2.0
#include "core/events/events.h"

#include "compat/perf_open.h"
#include "core/events/attrs.h"
#include "core/events/event.h"
#include "core/events/event_rings.h"
#include "core/events/followed.h"
#include "core/events/place.h"
#include "core/events/side_band.h"
#include "core/events/watch.h"
#include "core/host/causes.h"
#include "core/tasks/cgroup.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

bool events_outgrow_rings(const struct events *ev)
{
	const struct perf_event_attr *a = events_attr(ev);

	return a->wakeup_watermark > rings_wakeup(ev) || side_band_outgrows_rings(ev) ||
	       (ev->request->unwinds && a->sample_stack_user > rings_dump(ev));
}

void events_close(struct events *ev)
{
	size_t i;

	for (i = 0; i < ev->nr_places; i++)
		event_close(&ev->places[i]);
	free(ev->places);
	ev->places = NULL;
	ev->nr_places = 0;
	if (ev->online_fd)
		close(ev->online_fd);
	ev->online_fd = 0;
}

/* Watch the CPUs that sample: samples are due while these are online. */
static int watch_cpus(struct events *ev)
{
	struct cpu_list cpus = { calloc(ev->nr_places, sizeof(*cpus.cpu)), 0 };
	size_t i;

	for (i = 0; cpus.cpu && i < ev->nr_places; i++)
		if (ev->places[i].samples)
			cpus.cpu[cpus.nr++] = ev->places[i].cpu;
	watch_free(ev->watch);
	ev->watch = cpus.cpu ? watch_new(ev->request->host, &cpus) : NULL;
	cpu_list_release(&cpus);
	return ev->watch ? 0 : -ENOMEM;
}

/*
 * Make a place for each possible CPU, with the CPUs that sample first: the attributes with which the kernel accepts
 * their events then serve for all.
 */
static int make_places(struct events *ev, const struct cpu_list *possible)
{
	/* -C limits samples only: for time off the CPU, a thread that leaves one CPU may come back on any other. */
	const struct filter *f = &ev->request->filter;
	int only = ev->request->sampling.event && f->by_cpu ? (int)f->cpu : -1;
	size_t pass, i;

	ev->places = calloc(possible->nr, sizeof(*ev->places));
	if (!ev->places)
		return -ENOMEM;
	for (pass = 0; pass < 2; pass++) {
		for (i = 0; i < possible->nr; i++) {
			bool samples = only < 0 || possible->cpu[i] == only;

			if (samples == (pass == 0))
				ev->places[ev->nr_places++] = (struct event_place){
					.fd = -1,
					.cpu = possible->cpu[i],
					.samples = samples,
					.notes = { { .fd = -1 }, { .fd = -1 } },
					.side = { .fd = -1 },
				};
		}
	}
	return 0;
}

static int open_all(struct events *ev, const struct cpu_list *online, struct err *err)
{
	size_t i;
	int rc = ev->followed ? followed_open(ev, online, err) : 0;

	if (rc)
		return rc;
	if (!ev->followed)
		side_band_find_targets(ev);
	for (i = 0; i < ev->nr_places; i++) {
		struct event_place *e = &ev->places[i];

		if (!cpu_list_has(online, e->cpu))
			continue;
		rc = place_open(ev, e, err);
		if (rc && rc != -ENODEV)
			return rc;
		ev->nr_cpus += !rc && e->samples;
	}
	if (!ev->nr_cpus && !(ev->followed && followed_have_ended(ev->followed)))
		return err_sys(err, -ENODEV, "cannot open perf event '%s' on any CPU", ev->types[ev->leads].name);
	return 0;
}

static int open_events(struct events *ev, bool with_notes, struct err *err)
{
	struct cpu_list online = { 0 }, possible = { 0 };
	int rc = host_online_cpus(ev->request->host, &online, err);

	if (!rc)
		rc = host_possible_cpus(ev->request->host, &possible, err);
	if (!rc) {
		ev->has_notes = with_notes;
		attrs_choose(ev);
		side_band_begin(ev);
		if (!ev->rings.samples)
			rings_choose(ev, online.nr);
		ev->nr_cpus = 0;
		ev->user_only.code = ev->unfollowed.code = 0;
		attrs_fill(ev);
		rc = make_places(ev, &possible);
		if (!rc)
			rc = watch_cpus(ev);
		if (rc)
			err_sys(err, rc, "cannot remember %zu CPUs", possible.nr);
	}
	if (!rc && ev->switches == SWITCHES_BY_RECORDS && ev->request->filter.state_mask)
		rc = err_set(err, -EOPNOTSUPP, "--state %" PRIu64 " needs the tracepoint sched:sched_switch%s%s",
			     ev->request->filter.state_mask, ev->no_tracepoint.code ? ": " : "",
			     ev->no_tracepoint.code ? ev->no_tracepoint.msg : " of whole CPUs");
	if (!rc && events_attr(ev)->sample_type & PERF_SAMPLE_CGROUP && !cgroup_sampled(ev->request->host))
		rc = err_set(err, -EOPNOTSUPP,
			     "%s (the controller perf_event is in a hierarchy of version 1, or none is enabled below "
			     "the root)",
			     event_no_cgroups);
	if (!rc)
		rc = open_all(ev, &online, err);
	if (!rc && !ev->apart)
		ev->attrs[EVENT_SIDE_BAND] = *events_attr(ev);
	if (!rc && ev->switches == SWITCHES_BY_RECORDS && !ev->attrs[EVENT_SWITCHES].context_switch)
		rc = cause_of_no_switches(&ev->no_tracepoint, err);
	cpu_list_release(&online);
	cpu_list_release(&possible);
	if (rc)
		events_close(ev);
	return rc;
}

/* If the tracepoint is refused, try without it: on whole CPUs, it needs more permissions than other events. */
int events_open(struct events *ev, bool with_notes, struct err *err)
{
	int rc = open_events(ev, with_notes, err);

	if (ev->switches != SWITCHES_BY_TRACEPOINT || (rc != -EACCES && rc != -EPERM && rc != -ENOENT))
		return rc;
	ev->sched_switch.id = 0;
	ev->no_tracepoint = *err;
	return open_events(ev, with_notes, err);
}

static int try(const struct perf_event_attr *accepted, int cpu)
{
	struct perf_event_attr attr = *accepted;
	int fd = perf_open(&attr, -1, cpu);

	if (fd >= 0)
		close(fd);
	return fd < 0 ? fd : 0;
}

int events_try(void *events)
{
	const struct events *ev = events;
	enum event_kind kind;
	int rc = 0;
	size_t i = 0;

	while (i < ev->nr_places && ev->places[i].fd < 0)
		i++;
	if (i == ev->nr_places)
		return -ENODEV;
	for (kind = 0; kind < MEASURED_NR && !rc; kind++)
		if (events_measure(ev, kind))
			rc = try(&ev->attrs[kind], ev->places[i].cpu);
	return rc;
}

int events_enable(struct events *ev, struct err *err)
{
	size_t i;
	int rc = 0;

	for (i = 0; i < ev->nr_places && !rc; i++)
		rc = place_enable(&ev->places[i], err);
	return rc;
}

int events_disable_part(const struct events *ev, bool side_band, struct err *err)
{
	const struct event_place *e;
	int first = 0, rc;
	size_t i;

	for (i = 0; i < ev->nr_places; i++) {
		e = &ev->places[i];
		rc = side_band ? side_band_tell(&e->side, PERF_EVENT_IOC_DISABLE)
			       : place_tell(e, PERF_EVENT_IOC_DISABLE);
		if (rc && !first)
			first = err_sys(err, rc, "cannot disable the perf event of CPU %d", e->cpu);
	}
	return first;
}

int events_disable(struct events *ev, struct err *err)
{
	int rc = events_disable_part(ev, false, err);

	return rc ? rc : events_disable_part(ev, true, err);
}

void events_hold(struct events *ev, int fd)
{
	if (!ev->held_fd)
		ev->held_fd = fd;
	else
		close(fd);
}

void events_hold_tracepoint(struct events *ev)
{
	const struct event_place *e;
	size_t i;
	int fd;

	if (ev->switches != SWITCHES_BY_TRACEPOINT)
		return;
	for (i = 0; i < ev->nr_places && !ev->held_fd; i++) {
		e = &ev->places[i];
		/* If there are samples, the switch event is the joined one. */
		fd = e->nr_more ? e->more[0].fd : e->fd;
		if (e->samples && fd >= 0)
			ev->held_fd = fcntl(fd, F_DUPFD_CLOEXEC, 1);
		if (ev->held_fd < 0)
			ev->held_fd = 0;
	}
}

void events_let_go(struct events *ev)
{
	if (ev->held_fd)
		close(ev->held_fd);
	ev->held_fd = 0;
}
