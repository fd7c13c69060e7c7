// SPDX-License-Identifier: Apache-2.0
#include "core/cli/empty.h"

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/events/event_rings.h"
#include "core/tasks/comm.h"
#include "core/tasks/proc.h"

#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

struct empty {
	const struct session *s;
	const struct options *o;
	const struct account *total;
	const struct stats *b;
	char why[512];
};

static bool __attribute__((format(printf, 2, 3))) because(struct empty *e, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(e->why, sizeof(e->why), fmt, ap);
	va_end(ap);
	return true;
}

struct text {
	char s[NAME_SHOWN + 64];
};

static struct text time_text(uint64_t ns)
{
	struct text t;

	if (ns < NSEC_PER_SEC)
		snprintf(t.s, sizeof(t.s), "%.1f ms", (double)ns / 1e6);
	else
		snprintf(t.s, sizeof(t.s), "%.2f s", (double)ns / 1e9);
	return t;
}

/* A name from the user, in quotes, safe to print. */
static struct text quoted(const char *name)
{
	char shown[NAME_SHOWN + 1];
	struct text t;

	snprintf(t.s, sizeof(t.s), "'%s'", name_shown(name, shown));
	return t;
}

/* The targets of a run with -p, -L, -t or a command; those that ran for session.ran_ns. */
static struct text targets(const struct empty *e)
{
	const struct options *o = e->o;
	struct text t;

	if (!o->nr_pids)
		snprintf(t.s, sizeof(t.s), "%sthe command", e->s->ran_first ? "the first process of " : "");
	else if (o->nr_pids == 1)
		snprintf(t.s, sizeof(t.s), "%s %d", o->filter.by_tid ? "TID" : "PID", o->pids[0]);
	else
		snprintf(t.s, sizeof(t.s), "all %zu %s", o->nr_pids, o->filter.by_tid ? "threads" : "processes");
	return t;
}

/* The other options that select tasks or CPUs; "": there are none. */
static struct text filters(const struct empty *e)
{
	const struct options *o = e->o;
	const struct {
		const char *name;
		bool given;
	} options[] = {
		{ "--comm", o->filter.comm },
		{ "--cgroup", o->groups.cgroup },
		{ "--cgroupmap", o->groups.cgroup_map },
		{ "--mntns", o->groups.mntns_of },
		{ "--mntnsmap", o->groups.mntns_map },
		{ "-u", o->user_threads },
		{ "-k", o->kernel_threads },
		{ "-C", o->cpu >= 0 },
	};
	struct text t = { "" };
	size_t i, used = 0;

	for (i = 0; i < ARRAY_SIZE(options); i++)
		if (options[i].given)
			used += (size_t)snprintf(t.s + used, sizeof(t.s) - used, "%s%s", used ? ", " : "",
						 options[i].name);
	return t;
}

static bool are_chosen(const struct empty *e)
{
	return e->o->nr_pids || e->s->request.command || *filters(e).s;
}

/* The options that select intervals by their properties. */
static struct text limits(const struct empty *e)
{
	const struct options *o = e->o;
	struct text t = { "" };
	size_t used = 0;

	if (o->off_cpu.min_ns > NSEC_PER_USEC)
		used += (size_t)snprintf(t.s, sizeof(t.s), "-m %" PRIu64,
					 (uint64_t)(o->off_cpu.min_ns / NSEC_PER_USEC));
	if (o->off_cpu.max_ns != UINT64_MAX)
		used += (size_t)snprintf(t.s + used, sizeof(t.s) - used, "%s-M %" PRIu64, used ? ", " : "",
					 (uint64_t)(o->off_cpu.max_ns / NSEC_PER_USEC));
	if (o->state_mask >= 0)
		snprintf(t.s + used, sizeof(t.s) - used, "%s--state 0x%" PRIx64, used ? ", " : "", o->state_mask);
	return t;
}

static bool by_recording(struct empty *e)
{
	const struct recording *r = &e->s->recording;
	const struct text file = quoted(e->o->input && strcmp(e->o->input, "-") ? e->o->input : "standard input");

	if (!e->o->input || e->b->lost)
		return false;
	if (!e->b->taken && r->other_samples)
		return because(e, "%s has none of %s, and %" PRIu64 " of other events", file.s,
			       r->event ? r->event : "the event", r->other_samples);
	if (!e->b->taken)
		return because(e, "%s has none", file.s);
	if (e->b->idle == e->b->taken)
		return because(e, "all %" PRIu64 " in %s are of the idle task (-I keeps them)", e->b->taken, file.s);
	return because(e, "none of the %" PRIu64 " in %s passes the filters", e->b->taken, file.s);
}

static bool by_loss(struct empty *e)
{
	uint64_t lost = e->o->sampling.event ? e->b->lost : e->b->intervals_lost;

	return lost && because(e, "%" PRIu64 " were lost", lost);
}

static bool by_end_of_targets(struct empty *e)
{
	const char *verb = e->o->nr_pids == 1 ? "has" : "have";

	return session_targets_ended(e->s) && because(e, "%s %s ended", targets(e).s, verb);
}

static bool by_sleep(struct empty *e)
{
	const char *begins = e->o->sampling.event ? "" : ", and an interval begins when a thread leaves its CPU";

	if (!e->s->ran_known || e->s->ran_ns)
		return false;
	if (e->o->nr_pids > 1)
		return because(e, "none of the %zu %s ran%s", e->o->nr_pids,
			       e->o->filter.by_tid ? "threads" : "processes", begins);
	return because(e, "%s did not run%s", targets(e).s, begins);
}

struct search {
	const struct host *host;
	char comm[COMM_LEN];
};

static int look_at_thread(void *ctx, pid_t pid, pid_t tid)
{
	const struct search *search = ctx;
	char comm[COMM_LEN];

	return !proc_comm(search->host, pid, tid, comm) && !memcmp(comm, search->comm, COMM_LEN);
}

static bool by_name(struct empty *e)
{
	struct search search = { .host = e->s->request.host };

	if (!e->o->filter.comm || search.host->foreign)
		return false;
	comm_set(search.comm, e->o->filter.comm);
	if (proc_processes(search.host, look_at_thread, &search))
		return false;
	return because(e, "no thread is called %s now", quoted(e->o->filter.comm).s);
}

/* cgroup.events exists since 4.4; the root of all cgroups has none. */
static bool by_cgroup(struct empty *e)
{
	char text[128];

	if (!e->o->groups.cgroup || host_read(e->o->groups.cgroup, "cgroup.events", text, sizeof(text)) <= 0 ||
	    !strstr(text, "populated 0"))
		return false;
	return because(e, "no task is in cgroup %s now", quoted(e->o->groups.cgroup).s);
}

static bool by_idle_cpus(struct empty *e)
{
	if (!e->o->sampling.event || !e->b->taken || e->b->idle != e->b->taken)
		return false;
	if (e->o->cpu >= 0)
		return because(e, "CPU %d was idle (-I keeps its samples)", e->o->cpu);
	return because(e, "all CPUs were idle (-I keeps their samples)");
}

static bool by_filters(struct empty *e)
{
	const struct text by = filters(e);

	if (!*by.s)
		return false;
	if (e->o->sampling.event && e->b->taken && e->b->filtered == e->b->taken)
		return because(e, "all %" PRIu64 " that were taken are of idle CPUs or do not pass the filters (%s)",
			       e->b->taken, by.s);
	if (!e->o->sampling.event && e->b->intervals_filtered)
		return because(e, "none of the %" PRIu64 " that were seen passes the filters (%s)",
			       e->b->intervals_filtered, by.s);
	return false;
}

/* If all tasks are measured, there are always open intervals. */
static bool by_open_intervals(struct empty *e)
{
	if (e->o->sampling.event || e->o->off_cpu.open || !e->b->intervals_open || !are_chosen(e))
		return false;
	return because(e, "%" PRIu64 " were still open when tracing ended (--open-intervals reports them)",
		       e->b->intervals_open);
}

/* If tasks were selected, the filtered intervals may belong to others. */
static bool by_limits(struct empty *e)
{
	const struct text by = limits(e);

	if (e->o->sampling.event || !*by.s || !e->b->intervals_filtered)
		return false;
	if (are_chosen(e))
		return because(e, "none passes %s", by.s);
	return because(e, "%" PRIu64 " were left out by %s", e->b->intervals_filtered, by.s);
}

/* The task ran. If it had intervals, they would be in the report, or counted as lost, open or outside the limits. */
static bool by_stay(struct empty *e)
{
	return e->s->ran_known && !e->o->sampling.event &&
	       because(e, "%s did not leave its CPU and come back", targets(e).s);
}

/* For the causes below: the targets ran, and they or all tasks were to be sampled. */
static bool ran(const struct empty *e)
{
	return e->s->ran_known && e->o->sampling.event;
}

/* Between two samples of a clock; 0: the event is no clock, or is none. */
static uint64_t period_ns(const struct empty *e)
{
	const struct event_type *event = e->o->sampling.event;

	return event && event_is_clock(event) ? events_period_ns(&e->s->request.sampling) : 0;
}

static bool user_only(const struct empty *e)
{
	return events_attr(&e->s->events)->exclude_kernel;
}

static bool by_rare_event(struct empty *e)
{
	const struct event_type *event = e->o->sampling.event;

	if (!event || event_is_clock(event))
		return false;
	if (ran(e))
		return because(e, "%s ran for %s, and the event %s did not occur often enough", targets(e).s,
			       time_text(e->s->ran_ns).s, event->name);
	return !e->b->taken && because(e, "the event %s did not occur often enough", event->name);
}

static bool by_short_run(struct empty *e)
{
	return ran(e) && e->s->ran_ns < period_ns(e) &&
	       because(e, "%s ran for %s, less than the %s from one sample to the next", targets(e).s,
		       time_text(e->s->ran_ns).s, time_text(period_ns(e)).s);
}

/* Without the right to sample whole CPUs, each thread has events of its own, which begin with it. */
static bool by_short_threads(struct empty *e)
{
	return ran(e) && e->s->events.followed &&
	       because(e,
		       "%s ran for %s, and samples are taken only of %sthreads that may be sampled and run for %s or "
		       "more",
		       targets(e).s, time_text(e->s->ran_ns).s, user_only(e) ? "user code of " : "",
		       time_text(period_ns(e)).s);
}

static bool by_kernel_code(struct empty *e)
{
	return ran(e) && user_only(e) &&
	       because(e, "%s ran for %s, and only user code is sampled", targets(e).s, time_text(e->s->ran_ns).s);
}

static bool by_moment(struct empty *e)
{
	return ran(e) &&
	       because(e, "%s ran for %s, but not when samples were taken", targets(e).s, time_text(e->s->ran_ns).s);
}

static bool by_short_sampling(struct empty *e)
{
	return !e->b->taken && e->total->sampled_ns < period_ns(e) &&
	       because(e, "sampling lasted %s, less than the %s from one sample to the next",
		       time_text(e->total->sampled_ns).s, time_text(period_ns(e)).s);
}

static bool by_user(struct empty *e)
{
	return session_is_of_user(e->s) &&
	       because(e, "only the threads of this user are %s (--list-backends tells why)",
		       e->o->sampling.event ? "sampled" : "traced");
}

/* The first cause that applies is printed. */
static bool (*const causes[])(struct empty *e) = {
	by_recording,      by_end_of_targets, by_sleep,       by_name,    by_cgroup,         by_idle_cpus,
	by_open_intervals, by_limits,         by_loss,        by_filters, by_stay,           by_rare_event,
	by_short_run,      by_short_threads,  by_kernel_code, by_moment,  by_short_sampling, by_user,
};

bool empty_is(const struct account *total)
{
	return !total->rows;
}

void empty_explain(FILE *out, const struct options *o, const struct session *s, const struct account *total)
{
	struct empty e = { .s = s, .o = o, .total = total, .b = &total->stats };
	const char *what = !e.o->off_cpu.wanted  ? "0 samples"
			   : e.o->sampling.event ? "0 samples, 0 intervals"
						 : "0 intervals";
	size_t i = 0;

	while (i < ARRAY_SIZE(causes) && !causes[i](&e))
		i++;
	fprintf(out, "%s: %s%s%s\n", tool_name(e.o->tool), what, *e.why ? ": " : "", e.why);
}
