// SPDX-License-Identifier: Apache-2.0
#include "core/events/cpus.h"

#include "core/base/clock.h"
#include "core/base/saturate.h"
#include "core/events/event.h"
#include "core/events/followed.h"
#include "core/events/place.h"
#include "core/events/side_band.h"

#include <errno.h>
#include <stddef.h>
#include <unistd.h>

#define LOOK_NS (400 * 1000 * 1000ULL) /* time between two checks whether an event is alive */
/* Time between checks while this is in doubt: longer than a tick of any kernel */
#define AGAIN_NS (20 * 1000 * 1000ULL)
#define AGAIN    6 /* after so many checks in doubt, the CPU counts as gone */

/* Read how long @e has been enabled. Return: false: the event cannot be read. */
static bool read_enabled(const struct event_place *e, uint64_t *enabled_ns)
{
	struct event_counts counts;

	if (read(e->fd, &counts, sizeof(counts)) < (ssize_t)offsetof(struct event_counts, lost))
		return false;
	*enabled_ns = counts.enabled_ns;
	return true;
}

/*
 * Return the time until which @e was alive. The kernel reports this only through the event's enabled time, which stops
 * when the CPU goes offline (on 6.18; if it does not stop, return now). Use only the difference since the last look,
 * because the two clocks drift apart.
 */
static uint64_t alive_until(const struct event_place *e, uint64_t now, uint64_t *enabled_ns)
{
	uint64_t at;

	if (!read_enabled(e, enabled_ns))
		return now;
	at = e->looked_at + (*enabled_ns - e->looked_ns);
	return at < now ? at : now;
}

/*
 * The enabled time of a thread's event advances while the thread runs, on any CPU, also while the event is throttled.
 * The kernel adds the time of inherited events. So all of a thread's events, one for each CPU, have the same enabled
 * time at one moment. They are read one after the other: take the largest.
 */
int events_followed_ns(const struct events *ev, uint64_t *ns)
{
	bool known = false;
	size_t i;

	*ns = 0;
	for (i = 0; i < ev->nr_places; i++) {
		const struct event_place *e = &ev->places[i];
		uint64_t enabled_ns;

		if (e->fd < 0 || !read_enabled(e, &enabled_ns))
			continue;
		known = true;
		if (enabled_ns > *ns)
			*ns = enabled_ns;
	}
	return known ? 0 : -ENODATA;
}

/* True if the enabled time of @e has not advanced. */
static bool stands_still(struct event_place *e)
{
	uint64_t enabled_ns = e->stands_ns;

	if (read_enabled(e, &enabled_ns) && enabled_ns == e->stands_ns)
		return true;
	place_look(e, enabled_ns);
	return false;
}

/*
 * The host reports the CPU of @e as online, but it may have gone and come back: look at its event.
 *
 * If the whole host was stopped for a while (a paused guest, a suspended laptop), the clock of a CPU is late until its
 * next tick (sched_clock_local(), kernel/sched/clock.c) and then advances. The enabled time of a dead event never
 * advances.
 */
static void check_alive(struct event_place *e, uint64_t now)
{
	uint64_t enabled_ns = e->looked_ns, at;

	if (e->stands) {
		if (now >= e->again_at) {
			e->stands = stands_still(e) ? e->stands + 1 : 0;
			e->again_at = now + AGAIN_NS;
		}
		return;
	}
	if (now - e->looked_at < LOOK_NS)
		return;
	at = alive_until(e, now, &enabled_ns);
	if (now - at > (now - e->looked_at) / 2) {
		e->stands = 1;
		e->stands_ns = enabled_ns;
		e->stands_at = at;
		e->again_at = now + AGAIN_NS;
		return;
	}
	place_look(e, enabled_ns);
}

uint64_t events_in_doubt(const struct events *ev)
{
	uint64_t first = 0;
	size_t i;

	for (i = 0; i < ev->nr_places; i++) {
		const struct event_place *e = &ev->places[i];

		if (e->fd >= 0 && e->stands && (!first || e->again_at < first))
			first = e->again_at;
	}
	return first;
}

/*
 * Return true if the CPU of @e has gone.
 * @on: the host reports it as online
 * @at: out: when it went
 */
static bool is_gone(struct event_place *e, bool on, uint64_t now, uint64_t *at)
{
	uint64_t enabled_ns;

	if (on)
		check_alive(e, now);
	*at = e->stands ? e->stands_at : on ? now : alive_until(e, now, &enabled_ns);
	return !on || e->stands >= AGAIN;
}

static int cpu_left(struct events *ev, size_t i, uint64_t at, const struct events_hooks *h, struct err *err)
{
	struct event_place *e = &ev->places[i];
	int rc;

	/*
	 * We only infer that the CPU has gone. If it has not, its event must not fire after the last look at its ring.
	 */
	place_tell(e, PERF_EVENT_IOC_DISABLE);
	side_band_tell(&e->side, PERF_EVENT_IOC_DISABLE);
	rc = h->detach(h->ctx, i, err);
	e->offline_at = at < e->due_from ? e->due_from : at;
	event_close_samples(e);
	side_band_leave(&e->side);
	return rc;
}

/* It is not a failure if the CPU has gone offline again meanwhile. */
static void note_refused(struct events *ev, int code, const struct err *why)
{
	if (code != -ENODEV && !ev->refused.code)
		ev->refused = *why;
}

/*
 * Open the events of a CPU that has come online. If it cannot be sampled now, it counts as offline until the next try,
 * and a warning at the end gives the cause. Return: 1: it is sampled; 0: it is not; -errno of @h->detach().
 */
static int cpu_came(struct events *ev, size_t i, uint64_t now, const struct events_hooks *h, struct err *err)
{
	struct event_place *e = &ev->places[i];
	uint64_t offline_at = e->offline_at;
	int rc = place_open(ev, e, err);

	if (rc) {
		note_refused(ev, rc, err);
		return 0;
	}
	rc = h->attach(h->ctx, i, err);
	if (!rc)
		rc = place_enable(e, err);
	if (rc) {
		note_refused(ev, rc, err);
		rc = cpu_left(ev, i, now, h, err);
		e->offline_at = offline_at;
		return rc;
	}
	if (e->due)
		e->offline_ns += now - offline_at;
	else
		e->due_from = now;
	e->due = true;
	return 1;
}

/*
 * Events of threads stay open and continue when their CPU is back. They are attached when their CPU comes online for
 * the first time. If a CPU has no event yet, do not open one now: it would miss threads that were created before.
 * Return: 1: an event was attached; 0: none.
 */
static int welcome_cpus(struct events *ev, const struct cpu_list *online, const struct events_hooks *h, struct err *err)
{
	int changed = 0;
	size_t i;

	for (i = 0; i < ev->nr_places; i++) {
		struct event_place *e = &ev->places[i];

		if ((e->fd >= 0 && !e->waits) || !cpu_list_has(online, e->cpu))
			continue;
		if (e->fd < 0) {
			err_set(err, -ENODEV, "CPU %d was offline when the run began", e->cpu);
		} else if (!h->attach(h->ctx, i, err)) {
			e->waits = false;
			changed = 1;
			ev->nr_cpus += e->samples;
			continue;
		}
		if (!ev->refused.code)
			ev->refused = *err;
		event_close(e);
	}
	return changed;
}

int events_follow_cpus(struct events *ev, uint64_t now_ns, const struct events_hooks *h, struct err *err)
{
	struct cpu_list online = { 0 };
	size_t i, nr = 0;
	uint64_t at;
	int rc = 0, changed = 0;

	/* No CPU has events, though none was offline. */
	if (ev->followed && followed_have_ended(ev->followed))
		return 0;
	/* Failing to read the list of CPUs is no reason to end the run. */
	if (host_online_again(ev->request->host, &ev->online_fd, &online, err))
		return 0;
	if (ev->followed) {
		changed = welcome_cpus(ev, &online, h, err);
		cpu_list_release(&online);
		return changed;
	}
	for (i = 0; i < ev->nr_places && rc >= 0; i++) {
		struct event_place *e = &ev->places[i];
		bool on = cpu_list_has(&online, e->cpu);

		if (e->fd >= 0 && is_gone(e, on, now_ns, &at)) {
			rc = cpu_left(ev, i, at, h, err);
			changed = 1;
		}
		if (rc >= 0 && on && e->fd < 0) {
			rc = cpu_came(ev, i, now_ns, h, err);
			changed |= rc > 0;
		}
		nr += e->fd >= 0 && e->samples;
	}
	if (nr > ev->nr_cpus)
		ev->nr_cpus = nr;
	cpu_list_release(&online);
	return rc < 0 ? rc : changed;
}

void events_begin(struct events *ev, uint64_t now_ns)
{
	size_t i;

	for (i = 0; i < ev->nr_places; i++) {
		struct event_place *e = &ev->places[i];

		e->due |= e->fd >= 0;
		e->due_from = e->offline_at = now_ns;
		e->offline_ns = 0;
	}
}

/* How long the CPU of @e has been offline. A CPU that was in doubt at the last two looks counts as offline. */
static uint64_t away_ns(const struct event_place *e, uint64_t now)
{
	uint64_t since = e->fd < 0 ? e->offline_at : e->stands_at;

	if (e->fd >= 0 && e->stands < 2)
		return 0;
	if (since < e->due_from)
		since = e->due_from;
	return sub_or_0(now, since);
}

void events_account(struct events *ev, uint64_t now_ns)
{
	size_t i;

	ev->due_ns = ev->offline_ns = 0;
	for (i = 0; i < ev->nr_places; i++) {
		const struct event_place *e = &ev->places[i];

		if (!e->due || !e->samples)
			continue;
		/* The CPU may have come online after @now_ns. */
		ev->due_ns += sub_or_0(now_ns, e->due_from);
		ev->offline_ns += e->offline_ns + away_ns(e, now_ns);
	}
	events_begin(ev, now_ns);
}

bool events_cpu_is_away(const struct events *ev)
{
	size_t i;

	for (i = 0; i < ev->nr_places; i++)
		if (ev->places[i].due && ev->places[i].fd < 0)
			return true;
	return false;
}
