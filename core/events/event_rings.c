// SPDX-License-Identifier: Apache-2.0
#include "core/events/event_rings.h"

#include "core/base/clock.h"
#include "core/base/saturate.h"
#include "core/events/shortfall.h"
#include "core/events/side_band.h"
#include "core/host/causes.h"
#include "core/tasks/cgroup_limits.h"

#include <stdio.h>
#include <string.h>

#define RECORD_REST 512 /* bytes of a sample beside its stacks, registers included */

/* A sample with a stack copy is as large as dozens of samples without one. */
#define DUMP_WAKEUP_BYTES (128 << 10)
#define DUMPS_WANTED      8 /* copies that a ring has room for */
#define DUMPS_MIN         4 /* if locked memory is limited, copies get smaller until so many fit */
/* If memory permits, rings survive about half a second without a reader, even if all copies have the largest size. */
#define STALLS_PER_SECOND 2

/* A ring without task and mapping records need not be read before one part in so many of it is full. */
#define WAKEUP_SHARE 4

#define RING_MIN_BYTES (64UL << 10) /* events_small_rings() warns about smaller rings */

/* If samples wake the reader so many times a second, all CPUs together, this takes about 0.2 % of a CPU. */
#define WAKES_MAX 100

/* Switches per second for which the rings are sized. A CPU may have 100,000, but that is rare. */
#define SWITCHES_RATE 5000

uint32_t rings_wakeup(const struct events *ev)
{
	size_t bytes = ev->request->unwinds ? DUMP_WAKEUP_BYTES : RING_WAKEUP_BYTES;

	if (ev->wakes_at_samples)
		return 1;
	if (ev->apart && bytes < ev->rings.samples / WAKEUP_SHARE)
		bytes = ev->rings.samples / WAKEUP_SHARE;
	return ring_wakeup(ev->rings.samples, bytes);
}

/* The expected records per second of samples and of switches, on each CPU; 0: not known. */
static uint64_t known_rate(const struct events *ev)
{
	const struct sampling *s = &ev->request->sampling;
	uint64_t rate = s->event ? events_sample_rate(s, &ev->types[EVENT_SAMPLES]) : 0;

	return ev->switches ? rate + SWITCHES_RATE : rate;
}

static uint32_t half_of(uint32_t dump)
{
	return dump / 2 & ~7U;
}

static uint64_t largest_in_stall(const struct events *ev, uint32_t dump)
{
	return mul_or_max(known_rate(ev), events_largest_record(ev, dump)) / STALLS_PER_SECOND;
}

/*
 * Halve the copies until the ring survives a stall of half a second, or until they have the smallest size that is
 * useful (dump_least). Then halve them further until a ring has room for DUMPS_MIN of them.
 */
uint32_t rings_dump(const struct events *ev)
{
	const struct request *r = ev->request;
	uint32_t dump = r->dump_bytes;

	while (dump > r->dump_least && ring_most_of(largest_in_stall(ev, dump)) > ev->rings.samples)
		dump = half_of(dump);
	dump = dump > r->dump_least ? dump : r->dump_least;
	while (dump > ev->rings.samples / DUMPS_MIN)
		dump = half_of(dump);
	return dump;
}

int events_ring_error(const struct events *ev, int cpu, int code, struct err *err)
{
	struct cause why;

	cause_of_ring(ev->request->host, code, &why);
	return cause_err(err, code, &why, "cannot map a ring of %zu KiB on CPU %d", ev->rings.samples >> 10, cpu);
}

bool events_small_rings(const struct events *ev, struct err *why)
{
	bool cut = ev->request->unwinds && events_attr(ev)->sample_stack_user < ev->request->dump_least;
	char copies[64] = "";
	struct cause limits;

	if (!ev->ring_refused || (ev->rings.samples >= RING_MIN_BYTES && !cut))
		return false;
	cause_of_ring(ev->request->host, ev->ring_refused, &limits);
	if (cut)
		snprintf(copies, sizeof(copies), " and stack copies of %u bytes", events_attr(ev)->sample_stack_user);
	err_set(why, ev->ring_refused, "ring buffers have only %zu KiB%s: %s", ev->rings.samples >> 10, copies,
		*limits.text ? limits.text : strerror(-ev->ring_refused));
	return true;
}

size_t events_largest_record(const struct events *ev, size_t dump)
{
	return ev->request->asked * sizeof(uint64_t) + dump + RECORD_REST;
}

uint64_t events_period_ns(const struct sampling *s)
{
	return shortfall_period(s->period ? s->period : NSEC_PER_SEC / s->freq_hz);
}

static void take_least(size_t *least, size_t bytes)
{
	if (bytes && (!*least || bytes < *least))
		*least = bytes;
}

struct ring_sizes events_ring_sizes(const struct events *ev)
{
	struct ring_sizes least = { 0 };
	size_t i;

	for (i = 0; i < ev->nr_places; i++) {
		take_least(&least.samples, ev->places[i].ring_bytes);
		take_least(&least.side, ev->places[i].side.ring_bytes);
	}
	return least;
}

uint64_t events_sample_rate(const struct sampling *s, const struct event_type *event)
{
	if (s->freq_hz)
		return s->freq_hz;
	return s->period && event_is_clock(event) ? NSEC_PER_SEC / events_period_ns(s) : 0;
}

bool rings_want_first(const struct events *ev)
{
	return !ev->has_notes && request_wants_first(ev->request) && !filter_by_more_than_ids(&ev->request->filter);
}

/* CPUs that come online later do not count. Without a rate, or with switches, samples may be many. */
static bool are_few(const struct events *ev, size_t cpus)
{
	const struct sampling *s = &ev->request->sampling;
	bool known = s->event && !ev->switches && (s->freq_hz || event_is_clock(&ev->types[EVENT_SAMPLES]));

	if (ev->request->filter.by_cpu)
		cpus = 1;
	return known && events_period_ns(s) >= cpus * (NSEC_PER_SEC / WAKES_MAX);
}

void rings_choose(struct events *ev, size_t cpus)
{
	const struct ring_needs needs = {
		.cpus = cpus,
		.rate = known_rate(ev),
		.record = events_largest_record(ev,
						ev->request->unwinds ? ev->request->dump_bytes / STALLS_PER_SECOND : 0),
		.at_least =
			ev->request->unwinds ? DUMPS_WANTED * events_largest_record(ev, ev->request->dump_least) : 0,
		.apart = ev->apart,
		.memory = memory_limit(ev->request->host),
	};

	ev->rings_wanted = ring_sizes_wanted(&needs);
	ev->rings = ring_sizes(&needs);
	ev->kept_bytes_max = ring_sizes_kept(needs.memory);
	ev->wakes_at_samples = rings_want_first(ev) && ev->apart && are_few(ev, cpus);
}
