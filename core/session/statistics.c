// SPDX-License-Identifier: Apache-2.0
#include "core/session/statistics.h"

#include "core/base/saturate.h"
#include "core/events/event_rings.h"
#include "core/session/counting.h"

const struct rows *session_samples(const struct session *s)
{
	return s->sink.sets[s->sink.ended].samples;
}

const struct rows *session_intervals(const struct session *s)
{
	return s->sink.sets[s->sink.ended].intervals;
}

/*
 * The most samples that may have been lost, by the kernel's counts. UINT64_MAX: no limit: the kernel does not count
 * lost records (before 6.0), or the run has intervals (-i), and the kernel may report a loss in the next interval.
 */
static uint64_t lost_at_most(const struct session *s, const struct stats *b)
{
	bool told = events_attr(&s->events)->read_format & PERF_FORMAT_LOST && !s->request.interval_ns;

	return told ? b->lost_here + b->lost_notes + b->bad_samples : UINT64_MAX;
}

/* An interval that the program passed on but no ring returned is lost. */
static int64_t interval_stats(const struct session *s, struct stats *b)
{
	int64_t times = (int64_t)rows_times(session_intervals(s));

	b->intervals_lost += sub_or_0(b->intervals_passed, b->intervals_received);
	if (!s->request.off_cpu.open)
		times += (int64_t)b->intervals_open;
	return (int64_t)(b->intervals_begun - b->intervals_filtered - b->intervals_lost) - times;
}

static int64_t sample_stats(const struct session *s, struct stats *b)
{
	uint64_t told;

	if (session_counts_in_kernel(s)) {
		told = lost_at_most(s, b);
		b->lost = sub_or_0(b->passed, b->counted_ring + b->spilled_filtered);
		if (b->lost > told)
			b->lost = told;
	} else {
		b->taken = b->ring_samples + b->lost_here;
		b->lost = b->lost_here + b->bad_samples;
	}
	return (int64_t)(b->taken - rows_total(session_samples(s)) - b->filtered - b->lost);
}

struct unaccounted session_stats(const struct session *s, struct stats *out)
{
	struct unaccounted u = { 0 };

	*out = (struct stats){ 0 };
	counting_stats(s, out);
	if (s->request.sampling.event)
		u.samples = sample_stats(s, out);
	if (s->request.off_cpu.wanted)
		u.intervals = interval_stats(s, out);
	return u;
}

bool session_shortfall(const struct session *s, const struct stats *stats, struct shortfall *out)
{
	*out = s->shortfall;
	out->offline_ns = s->events.offline_ns;
	if (!session_is_live(s) || !s->request.sampling.event)
		return false;
	out->period_ns = events_period_ns(&s->request.sampling);
	/* It is not known for how long followed threads ran. */
	if (!event_is_clock(s->request.sampling.event) || s->events.followed)
		return false;
	out->nr_cpus = s->events.nr_cpus;
	out->due_ns = s->events.due_ns;
	out->taken = stats->taken;
	out->idle_taken = stats->idle;
	out->include_idle = s->request.filter.idle;
	out->in_kernel = session_counts_in_kernel(s);
	out->throttled = stats->throttled;
	out->throttled_ns = stats->throttled_ns;
	return true;
}

bool session_command_shortfall(const struct session *s, const struct stats *stats, const struct shortfall *total,
			       struct err *why)
{
	struct shortfall f = *total;

	if (!s->request.sampling.event || !event_is_clock(s->request.sampling.event) || s->request.filter.by_cpu)
		return false;
	f.period_ns = events_period_ns(&s->request.sampling);
	f.nr_cpus = s->events.nr_cpus;
	f.due_ns = s->command_ns;
	f.taken = stats->taken;
	f.throttled = stats->throttled;
	f.throttled_ns = stats->throttled_ns;
	f.cpu_ns = s->command_ns ? command_cpu_ns(s->request.command, false) : 0;
	f.followed_known = s->followed_known;
	f.followed_ns = s->followed_ns;
	f.started = stats->started;
	return shortfall_explain_command(&f, why);
}
