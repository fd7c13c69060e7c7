// SPDX-License-Identifier: Apache-2.0
#include "core/events/shortfall.h"

#include "core/base/clock.h"
#include "core/base/saturate.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MIN_PERIOD_NS 10000ULL              /* perf_swevent_hrtimer() */
#define TICK_NS       (10 * 1000 * 1000ULL) /* the unit of /proc/stat */
#define MAX_HZ        1024ULL               /* ticks per second, on any kernel */

#define WORTH_SHARE 20 /* a warning needs one missing sample in so many due */
#define NAME_SHARE  10 /* a cause is named if it explains one missing sample in so many */

#define COMMAND_MIN_DUE 12

/*
 * At most this much CPU time of a thread passes before its events exist and after they are gone. Measured on 6.18:
 * 0.15 ms, 0.6 ms beside other work; if a hypervisor changes each entry of a page table, 1.3 ms, and 2.3 ms beside
 * other work. A set-user-ID program that runs for less looks the same.
 */
#define UNSEEN_NS (4000 * 1000ULL)

enum missing { THROTTLED, OFFLINE, STOLEN, IDLE, OTHER, UNFOLLOWED, ENDED, UNKNOWN, NR_CAUSES };

/* All in samples. */
struct gap {
	uint64_t due, missing; /* without the idle task, unless it was requested */
	bool outside_idle;     /* @due is less than @all because of that */
	uint64_t all;
	uint64_t idle; /* idle samples due, but not taken */
	uint64_t by[NR_CAUSES];
};

static uint64_t min(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

void shortfall_add(struct shortfall *to, const struct shortfall *more)
{
	bool first = !to->period_ns;

	to->period_ns = more->period_ns;
	if (more->nr_cpus > to->nr_cpus)
		to->nr_cpus = more->nr_cpus;
	to->due_ns += more->due_ns;
	to->taken += more->taken;
	to->idle_taken += more->idle_taken;
	to->include_idle = more->include_idle;
	to->in_kernel = more->in_kernel;
	to->throttled += more->throttled;
	to->throttled_ns += more->throttled_ns;
	to->offline_ns += more->offline_ns;
	to->times_known = more->times_known && (first || to->times_known);
	to->steal_ns += more->steal_ns;
	to->idle_ns += more->idle_ns;
	to->busy_ns += more->busy_ns;
	if (first)
		to->max_rate_start = more->max_rate_start;
	to->max_rate_end = more->max_rate_end;
}

uint64_t shortfall_period(uint64_t period_ns)
{
	return period_ns > MIN_PERIOD_NS ? period_ns : MIN_PERIOD_NS;
}

uint64_t shortfall_due(uint64_t period_ns, uint64_t due_ns)
{
	return due_ns / shortfall_period(period_ns);
}

/*
 * Samples due outside the idle task. There are two estimates: all that is due minus idle time, and the sum of busy,
 * stolen and offline time. They are not exact: idle time may leave out interrupts, and busy and stolen time are
 * measured by ticks. The smaller one counts.
 */
static uint64_t due_outside_idle(const struct shortfall *s, uint64_t due)
{
	uint64_t period = shortfall_period(s->period_ns);
	uint64_t rest = s->busy_ns / period + s->steal_ns / period + s->offline_ns / period;

	return s->times_known ? min(sub_or_0(due, s->idle_ns / period), rest) : due;
}

static void measure(const struct shortfall *s, struct gap *g)
{
	uint64_t due = shortfall_due(s->period_ns, s->due_ns), outside = due_outside_idle(s, due);
	/*
	 * Time in interrupts on an idle CPU is not idle time, but is sampled in the idle task. So the idle task may
	 * have more samples than are due.
	 */
	uint64_t idle_taken = min(min(s->idle_taken, s->taken), due - outside);

	*g = (struct gap){ .due = due, .all = due, .missing = sub_or_0(due, s->taken) };
	g->idle = sub_or_0(s->idle_ns / shortfall_period(s->period_ns), idle_taken);
	if (!s->include_idle) {
		g->due = outside;
		g->outside_idle = outside < due;
		g->missing = sub_or_0(outside, s->taken - idle_taken);
	}
}

/*
 * True if more than one in WORTH_SHARE is missing, and more than rounding explains. Time is rounded to periods, and
 * idle time to ticks. If idle time is subtracted, allow for a hundredth of all samples, too, so that the few samples
 * from the start of the profiler itself do not count on an idle host.
 */
static bool is_worth(const struct shortfall *s, const struct gap *g)
{
	uint64_t inexact = s->nr_cpus;

	if (g->outside_idle)
		inexact += mul_or_max(s->nr_cpus, 2 * TICK_NS) / shortfall_period(s->period_ns) + g->all / 100;
	return g->missing > g->due / WORTH_SHARE && g->missing > inexact;
}

static enum missing largest(const uint64_t *by)
{
	unsigned int i, most = 0;

	for (i = 1; i < NR_CAUSES; i++)
		if (by[i] > by[most])
			most = i;
	return most;
}

/* Assign missing samples to the causes, the largest cause first. Return: the samples that no cause accounts for. */
static uint64_t distribute(uint64_t *can, uint64_t missing, uint64_t *by)
{
	enum missing c;

	for (c = largest(can); can[c]; c = largest(can)) {
		by[c] = min(can[c], missing);
		missing -= by[c];
		can[c] = 0;
	}
	return missing;
}

/* Idle CPUs explain a part of those samples that no other cause accounts for. */
static void attribute(const struct shortfall *s, struct gap *g)
{
	uint64_t period = shortfall_period(s->period_ns), left;
	uint64_t can[NR_CAUSES] = {
		[THROTTLED] = s->throttled ? s->throttled_ns / period : 0,
		[OFFLINE] = s->offline_ns / period,
		[STOLEN] = s->steal_ns / period,
	};

	left = distribute(can, g->missing, g->by);
	if (s->include_idle)
		g->by[IDLE] = min(g->idle, left);
	left -= g->by[IDLE];
	/* All remaining samples may be those of idle CPUs. */
	if (!s->include_idle && !s->times_known)
		g->missing -= left;
	else
		g->by[OTHER] = left;
}

static void append_text(struct err *why, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append_text(struct err *why, const char *fmt, ...)
{
	size_t used = strnlen(why->msg, sizeof(why->msg) - 1);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why->msg + used, sizeof(why->msg) - used, fmt, ap);
	va_end(ap);
}

/*
 * The kernel throttles an event that has fired max_rate / HZ times since the last tick, rounded up; before 6.16 it took
 * one time more. A limit that is higher than the rate by one sample per tick (MAX_HZ) leaves enough room. If the event
 * was throttled all the same, the tick was late.
 */
static bool leaves_room(uint64_t max_rate, uint64_t period_ns)
{
	return !max_rate || max_rate >= NSEC_PER_SEC / shortfall_period(period_ns) + MAX_HZ;
}

static void add_throttled(struct err *why, const struct shortfall *s)
{
	static const char name[] = "kernel.perf_event_max_sample_rate";

	append_text(why, "the kernel throttled the event %" PRIu64 " time%s", s->throttled,
		    s->throttled == 1 ? "" : "s");
	if (leaves_room(s->max_rate_end, s->period_ns)) {
		if (!leaves_room(s->max_rate_start, s->period_ns))
			append_text(why, " (%s was %" PRIu64 " at first)", name, s->max_rate_start);
	} else if (s->max_rate_start > s->max_rate_end) {
		append_text(why, " (%s was lowered from %" PRIu64 " to %" PRIu64 ")", name, s->max_rate_start,
			    s->max_rate_end);
	} else {
		append_text(why, " (%s is %" PRIu64 ")", name, s->max_rate_end);
	}
}

static uint64_t followed_of(const struct shortfall *s, uint64_t of)
{
	if (sub_or_0(s->cpu_ns, s->followed_ns) <= mul_or_max(s->started, UNSEEN_NS))
		return of;
	return min(of, (uint64_t)((double)of * ((double)s->followed_ns / (double)s->cpu_ns)));
}

static void add_cause(struct err *why, const struct shortfall *s, enum missing cause)
{
	switch (cause) {
	case THROTTLED:
		add_throttled(why, s);
		break;
	case OFFLINE:
		append_text(why, "CPUs were offline for %.1f s", (double)s->offline_ns / NSEC_PER_SEC);
		break;
	case STOLEN:
		append_text(why, "the hypervisor stole %.1f s of the CPUs' time", (double)s->steal_ns / NSEC_PER_SEC);
		break;
	case UNFOLLOWED:
		append_text(why,
			    "the kernel let only %.2f s of it be sampled (it excludes set-user-ID programs, and "
			    "programs that "
			    "you cannot read)",
			    (double)followed_of(s, s->due_ns) / NSEC_PER_SEC);
		break;
	case ENDED:
		append_text(why,
			    "it started %" PRIu64
			    " %s, and up to the last %.3g ms of each are not sampled (choose a higher "
			    "rate)",
			    s->started, s->started == 1 ? "thread or process" : "threads and processes",
			    (double)shortfall_period(s->period_ns) / 1e6);
		break;
	case UNKNOWN:
		append_text(why,
			    "it is not known why: threads that run for less than %.3g ms, set-user-ID programs and "
			    "programs "
			    "that you cannot read have no samples, and timer interrupts may have come late",
			    (double)shortfall_period(s->period_ns) / 1e6);
		break;
	case IDLE:
		append_text(why, "timer interrupts of idle CPUs came late");
		break;
	default:
		append_text(why, "timer interrupts came late%s",
			    s->in_kernel ? ", or another BPF program or map access was running on those CPUs" : "");
	}
}

/* Name the causes, the largest first, and leave out the smallest ones (NAME_SHARE). */
static void add_causes(struct err *why, const struct shortfall *s, struct gap *g)
{
	const char *before = ":";
	enum missing c;

	for (c = largest(g->by); g->by[c] && g->by[c] >= g->missing / NAME_SHARE; c = largest(g->by)) {
		append_text(why, "%s ", before);
		add_cause(why, s, c);
		g->by[c] = 0;
		before = ";";
	}
	append_text(why, ".");
}

bool shortfall_explain(const struct shortfall *s, struct err *why)
{
	struct gap g;

	measure(s, &g);
	attribute(s, &g);
	if (!is_worth(s, &g))
		return false;
	*why = (struct err){ 0 };
	append_text(why, "%d %% of the samples due (%" PRIu64 "%s) were not taken",
		    (int)(100 * (double)g.missing / (double)g.due), g.due,
		    g.outside_idle ? " outside the idle task" : "");
	add_causes(why, s, &g);
	return true;
}

/* Estimate the time stolen from the CPUs that the command may have run on. Only the sum over all CPUs is known. */
static uint64_t stolen_from(const struct shortfall *s)
{
	uint64_t cpus = s->nr_cpus ? s->nr_cpus : 1;

	return s->steal_ns / cpus * min(cpus, s->started + 1);
}

/* The unfollowed part is known, if @followed_known. The causes share the rest. A thread loses half a period when it
 * ends, on average. */
static void attribute_command(const struct shortfall *s, struct gap *g)
{
	uint64_t period = shortfall_period(s->period_ns), left = g->missing;
	uint64_t can[NR_CAUSES] = {
		[THROTTLED] = s->throttled ? s->throttled_ns / period : 0,
		[STOLEN] = s->times_known ? stolen_from(s) / period : 0,
		[ENDED] = s->started / 2,
	};

	if (s->followed_known)
		g->by[UNFOLLOWED] = min(g->due - followed_of(s, g->due), left);
	left = distribute(can, left - g->by[UNFOLLOWED], g->by);
	g->by[s->followed_known ? OTHER : UNKNOWN] = left;
}

bool shortfall_explain_command(const struct shortfall *s, struct err *why)
{
	uint64_t due = shortfall_due(s->period_ns, s->due_ns);
	struct gap g = { .due = due, .missing = sub_or_0(due, s->taken) };

	if (due < COMMAND_MIN_DUE || s->taken >= due / 2)
		return false;
	attribute_command(s, &g);
	*why = (struct err){ 0 };
	append_text(why,
		    "the CPU time of the command, %.2f s, is worth about %" PRIu64 " samples, of which %" PRIu64
		    " were taken",
		    (double)s->due_ns / NSEC_PER_SEC, due, s->taken);
	add_causes(why, s, &g);
	return true;
}
