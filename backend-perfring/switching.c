// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/switching.h"

#include "backend-perfring/sample.h"
#include "core/base/clock.h"
#include "core/rows/compare_intervals.h"
#include "core/rows/switches.h"
#include "core/sources/source.h"

#include <stdlib.h>
#include <string.h>

#define CLOCKS_APART_NS INTERVAL_APART_NS /* limit on the difference of a switch's two times, see begin_switch() */

struct switching {
	struct switches *own;    /* switches that the reader sees */
	struct switches *passed; /* switches that the BPF program passed on */
	size_t nr_gaps;          /* rings that may lose records now */
};

struct switching *switching_new(const struct source_env *env)
{
	const struct off_cpu *o = &env->request->off_cpu;
	const struct switches_limits limits = { o->min_ns, o->max_ns };
	struct switching *sw = calloc(1, sizeof(*sw));

	if (!sw)
		return NULL;
	sw->own = switches_new(&limits);
	sw->passed = switches_new(&limits);
	if (sw->own && sw->passed)
		return sw;
	switching_free(sw);
	return NULL;
}

void switching_free(struct switching *sw)
{
	if (!sw)
		return;
	switches_free(sw->own);
	switches_free(sw->passed);
	free(sw);
}

/* True if the BPF program counts the intervals, and the reader's own ones are only compared with those. */
static bool is_compared(const struct applier *a)
{
	return a->env->request->both;
}

/* The table for the reader's own intervals that end in @set. */
static struct rows *own_rows(const struct applier *a, unsigned int set)
{
	const struct row_set *s = &a->env->sink->sets[set];

	return is_compared(a) ? s->ring_intervals : s->intervals;
}

/* If the reader's own intervals are only compared, add to the stats only how many began and how many were lost. */
static void account_own(struct applier *a, unsigned int set)
{
	struct stats compared = { 0 }, *stats = &a->stats[set];

	switches_stats(a->switching->own, is_compared(a) ? &compared : stats);
	stats->intervals_seen += compared.intervals_begun;
	stats->intervals_unended += compared.intervals_lost;
}

/* True if the interval passes all filters, except those on the task state and on the length. */
static bool is_asked_for(const struct applier *a, const struct sample *s, const struct owner *o)
{
	const struct filter *f = &a->env->request->filter;
	bool unsure;

	return filter_match_thread(f, s->has_user) && filter_match_cpu(f, s->record->cpu) &&
	       sample_is_wanted(a, s, o, &unsure);
}

/* Forget which thread is on which CPU. */
static void forget_stays(struct applier *a)
{
	size_t i;

	for (i = 0; i < a->env->events->nr_places; i++)
		a->rings[i].stay.id = 0;
}

void switching_gap(struct applier *a)
{
	size_t open = switches_nr_open(a->switching->own);

	forget_stays(a);
	switches_gap(a->switching->own);
	account_own(a, a->set);
	if (is_compared(a)) {
		a->stats[a->set].intervals_gone += open;
		a->stats[a->set].intervals_unended -= open;
	}
	switches_gap(a->switching->passed);
	switches_stats(a->switching->passed, &a->stats[a->set]);
}

void switching_gap_begins(struct applier *a, uint32_t ring)
{
	/* The ring's CPU has gone offline meanwhile: there is no next record. */
	if (a->env->events->places[ring].fd < 0) {
		switching_gap(a);
		return;
	}
	a->switching->nr_gaps += !a->rings[ring].gap;
	a->rings[ring].gap = true;
}

void switching_gap_ends(struct applier *a, uint32_t ring)
{
	if (!a->rings[ring].gap)
		return;
	a->rings[ring].gap = false;
	a->switching->nr_gaps--;
}

/* Thread @id comes back at @ns, to the CPU of @ring. If it has had its EXIT record, set at_switch.gone. */
static int end_interval(struct applier *a, uint32_t ring, struct switches *from, uint32_t id, uint64_t ns,
			struct rows *to)
{
	if (switches_has_exited(from, id))
		a->rings[ring].at_switch.gone = (pid_t)id;
	if (a->switching->nr_gaps)
		switching_gap(a);
	return switches_in(from, id, ns, to);
}

/*
 * The time of the switch of record @r. If intervals are compared, use the time of the program's note (begin_switch()):
 * the program works for a while before the kernel writes @r.
 */
static uint64_t when(const struct applier *a, uint32_t ring, const struct record *r)
{
	return is_compared(a) ? a->rings[ring].at_switch.ns : r->time;
}

/* True if the switch counts: if intervals are compared, the program has seen it. Then *@set gets the program's set. */
static bool counts(const struct applier *a, uint32_t ring, unsigned int *set)
{
	if (!is_compared(a))
		return true;
	*set = a->rings[ring].at_switch.set;
	return a->rings[ring].at_switch.seen;
}

/*
 * True if @r is of a thread that comes, by a switch that the program has not seen. In a pid namespace this cannot be
 * checked: ids differ.
 */
static bool is_of_another(const struct applier *a, uint32_t ring, const struct record *r)
{
	return !r->switched.out && !a->env->request->in_pidns && r->tid >= 0 && r->tid != a->rings[ring].at_switch.next;
}

/* True if -m or -M filters intervals by their length: then both backends have to compute the same length. */
static bool has_limits(const struct off_cpu *o)
{
	return o->min_ns > NSEC_PER_USEC || o->max_ns != UINT64_MAX;
}

/*
 * The program reads the clock, and right after that perf reads it for the record of the program's note. Use perf's
 * time. But use the program's own time if perf has another clock, if something (an NMI, the hypervisor) took the CPU in
 * between, or if both backends have to compute the same length.
 */
static void begin_switch(struct applier *a, uint32_t ring, const struct record *r, const struct switch_note *n)
{
	bool apart = !events_attr(a->env->events)->use_clockid || r->time - n->ns > CLOCKS_APART_NS;

	a->rings[ring].at_switch.seen = true;
	a->rings[ring].at_switch.next = (pid_t)n->id;
	a->rings[ring].at_switch.set = n->set;
	a->rings[ring].at_switch.ns = apart || has_limits(&a->env->request->off_cpu) ? n->ns : r->time;
	a->stats[n->set].clocks_apart += apart;
}

/* Thread @id of @o leaves its CPU at @ns: fill @out for switches_out(). */
static int describe_leave(struct applier *a, uint32_t id, uint64_t ns, struct sample *s, const struct owner *o,
			  struct switch_out *out)
{
	int rc;

	if (o->outside)
		sample_hide_user(s);
	rc = sample_complete(a, s, o->pid);
	*out = (struct switch_out){ id, ns, sample_key(a, s, o), 0 };
	return rc;
}

static int leave(struct applier *a, struct switches *to, uint32_t id, uint64_t ns, struct sample *s,
		 const struct owner *o)
{
	struct switch_out out;
	int rc = describe_leave(a, id, ns, s, o, &out);

	return rc ? rc : switches_out(to, &out);
}

static uint32_t raw_number(const struct record *r, const struct tracepoint_field *f)
{
	uint32_t n;

	memcpy(&n, (const char *)r->sample.raw + f->at, sizeof(n));
	return n;
}

static bool has_field(const struct record *r, const struct tracepoint_field *f)
{
	return f->at <= r->sample.raw_size && f->size <= r->sample.raw_size - f->at;
}

/* The fields of the tracepoint. */
struct switched {
	uint32_t prev, next; /* tids in the initial pid namespace; 0: the idle task */
	uint64_t state;      /* of the thread that leaves */
	char comm[COMM_LEN];
};

static bool read_raw(const struct sched_switch *where, const struct record *r, struct switched *out)
{
	const char *raw = r->sample.raw;

	if (!raw || !has_field(r, &where->prev_comm) || !has_field(r, &where->prev_pid) ||
	    !has_field(r, &where->prev_state) || !has_field(r, &where->next_pid))
		return false;
	*out = (struct switched){ .prev = raw_number(r, &where->prev_pid), .next = raw_number(r, &where->next_pid) };
	memcpy(&out->state, raw + where->prev_state.at, sizeof(out->state));
	memcpy(out->comm, raw + where->prev_comm.at, strnlen(raw + where->prev_comm.at, COMM_LEN - 1));
	return true;
}

static bool has_state(const struct source_env *env, uint64_t state)
{
	uint64_t waits = state >> env->events->sched_switch.state_shift;
	bool could_run = !waits || state & env->events->sched_switch.preempted;

	return filter_match_state(&env->request->filter, could_run, waits);
}

/*
 * The tracepoint has the name at the time of the switch, which no record has. The process of a dying thread may be
 * known from its EXIT record.
 */
static void identify(struct applier *a, const struct sample *s, const struct switched *sw, struct owner *o)
{
	*o = (struct owner){ .pid = s->record->pid, .tid = s->record->tid };
	if (o->tid < 0 && !sample_exited(a, (pid_t)sw->prev, o))
		*o = (struct owner){ .pid = (pid_t)sw->prev, .tid = (pid_t)sw->prev };
	memcpy(o->comm, sw->comm, COMM_LEN);
}

/*
 * Thread @id leaves the CPU of @ring, to which it came at @since. Return the time when it came to its next CPU, if that
 * is known already, see switches.h; 0: it is not.
 */
static uint64_t next_stay(const struct applier *a, uint32_t ring, uint32_t id, uint64_t since)
{
	size_t i;

	if (events_attr(a->env->events)->use_clockid)
		return 0;
	for (i = 0; i < a->env->events->nr_places; i++)
		if (i != ring && a->rings[i].stay.id == id && a->rings[i].stay.since > since)
			return a->rings[i].stay.since;
	return switches_next_stay(a->switching->own, id, since);
}

/* The thread leaves, and a record that was applied earlier says that it came back at @back. */
static int leave_late(struct applier *a, struct sample *s, const struct switch_out *out, uint64_t back)
{
	unsigned int set = s->lead->note.set;

	a->stats[set].intervals_disordered++;
	return switches_over(a->switching->own, out, back, own_rows(a, set));
}

static int leave_traced(struct applier *a, struct sample *s, const struct switched *sw, uint64_t since)
{
	uint64_t back = next_stay(a, s->ring, sw->prev, since);
	struct switches *own = a->switching->own;
	struct switch_out out;
	struct owner o;
	int rc;

	if (sw->state & a->env->events->sched_switch.dead) {
		switches_unseen(own, sw->prev); /* if it was off CPU, it has come back to exit */
		return 0;
	}
	identify(a, s, sw, &o);
	if (!has_state(a->env, sw->state) || !is_asked_for(a, s, &o)) {
		if (back)
			switches_over_filtered(own);
		else
			switches_filtered(own, sw->prev);
		return 0;
	}
	rc = describe_leave(a, sw->prev, when(a, s->ring, s->record), s, &o, &out);
	out.since = since;
	if (rc)
		return rc;
	return back ? leave_late(a, s, &out, back) : switches_out(own, &out);
}

static int apply_traced(struct applier *a, struct sample *s, unsigned int set)
{
	uint64_t now = when(a, s->ring, s->record), since;
	struct switched sw;
	int rc = 0;

	if (!read_raw(&a->env->events->sched_switch, s->record, &sw)) {
		a->stats[set].bad_records++;
		return 0;
	}
	if (sw.next)
		rc = end_interval(a, s->ring, a->switching->own, sw.next, now, own_rows(a, set));
	a->rings[s->ring].at_switch.left = (pid_t)sw.prev;
	since = a->rings[s->ring].stay.id == sw.prev ? a->rings[s->ring].stay.since : 0;
	if (!rc && sw.prev)
		rc = leave_traced(a, s, &sw, since);
	a->rings[s->ring].stay.id = sw.next;
	a->rings[s->ring].stay.since = now;
	return rc;
}

/* The thread has an EXIT record. It runs on until it leaves its CPU for the last time: see switches_exited(). */
static bool has_exited(const struct applier *a, uint32_t ring, uint32_t id)
{
	return (uint32_t)a->rings[ring].at_switch.gone == id;
}

/*
 * The thread that leaves. A tid below 0 means that it is no longer in the pid tables (pid_alive() of
 * perf_event_pid_type(), kernel/events/core.c), so it is most likely the last one that has exited here. In a pid
 * namespace, all threads outside have the number of the idle task, and we cannot tell them apart. 0: ignore the switch.
 */
static uint32_t who_leaves(const struct applier *a, uint32_t ring, const struct record *r)
{
	return (uint32_t)(r->tid < 0 ? a->rings[ring].at_switch.gone : r->tid);
}

/*
 * The thread that comes. If it is no longer in the pid tables, it is the one that was preempted here, or, if
 * intervals are compared, the program has reported its id. Return 0 with the tracepoint, which has reported it already.
 */
static uint32_t who_comes(const struct applier *a, uint32_t ring, const struct record *r)
{
	if (r->tid >= 0)
		return (uint32_t)r->tid;
	if (a->env->events->switches != SWITCHES_BY_RECORDS)
		return 0;
	return (uint32_t)(is_compared(a) ? a->rings[ring].at_switch.next : a->rings[ring].at_switch.unnamed);
}

static int leave_sampled(struct applier *a, struct sample *s)
{
	const struct record *r = s->record;
	struct switches *own = a->switching->own;
	uint32_t id = who_leaves(a, s->ring, r);
	struct owner o;

	a->rings[s->ring].at_switch.left = r->tid;
	if (!id)
		return 0;
	sample_identify(a, s, NULL, &o);
	if (r->tid < 0 && !sample_exited(a, (pid_t)id, &o))
		return 0;
	if (is_asked_for(a, s, &o))
		return leave(a, own, id, when(a, s->ring, r), s, &o);
	if (has_exited(a, s->ring, id))
		switches_unseen(own, id);
	else
		switches_filtered(own, id);
	return 0;
}

int switching_sample(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead)
{
	struct sample_lead own_lead = *lead;
	struct sample s = { .record = r, .ring = ring, .lead = &own_lead };
	int rc;

	if (!counts(a, ring, &own_lead.note.set))
		return 0;
	sample_take_stacks(a->env, &s);
	rc = a->env->events->switches == SWITCHES_BY_TRACEPOINT ? apply_traced(a, &s, own_lead.note.set)
								: leave_sampled(a, &s);
	account_own(a, own_lead.note.set);
	if (!a->env->events->attrs[EVENT_SWITCHES].context_switch)
		a->rings[ring].at_switch.seen = false;
	return rc;
}

/*
 * There is a record of the switch, but no sample. Users who may not see the kernel get no samples of the event
 * context-switches. And a kernel takes no sample of a task that it believes to be inside a sample already: 6.18
 * believed this for ever, of threads that were older than a snapshot of their virtual machine, and of an idle task. We
 * still know that the thread left, and when.
 */
static int leave_unsampled(struct applier *a, uint32_t ring, const struct record *r, unsigned int set)
{
	const struct filter *f = &a->env->request->filter;
	const struct sample_lead lead = { .note = { .set = set } };
	const struct stack missed = { .state = STACK_MISSED }, none = { .state = STACK_NONE };
	struct sample s = { .record = r, .ring = ring, .lead = &lead, .has_user = true, .unwound = true };
	struct owner o = { .pid = r->pid, .tid = r->tid };
	bool exited;

	tasks_name(a->env->sink->tasks, o.pid, o.tid, o.comm);
	s.kernel = f->no_kernel || events_attr(a->env->events)->exclude_kernel ? none : missed;
	s.user = f->no_user ? none : missed;
	exited = has_exited(a, ring, (uint32_t)r->tid);
	if (is_asked_for(a, &s, &o) && filter_match_state(f, r->switched.preempted, 0)) {
		a->stats[set].switches_unsampled += !exited;
		return leave(a, a->switching->own, (uint32_t)r->tid, when(a, ring, r), &s, &o);
	}
	if (exited)
		switches_unseen(a->switching->own, (uint32_t)r->tid);
	else
		switches_filtered(a->switching->own, (uint32_t)r->tid);
	return 0;
}

/* @sampled: the switch has a sample */
static int leave_by_record(struct applier *a, uint32_t ring, const struct record *r, unsigned int set, bool sampled)
{
	struct switches *own = a->switching->own;
	uint32_t id = who_leaves(a, ring, r);
	int rc = 0;

	if (r->tid < 0 && r->switched.preempted)
		a->rings[ring].at_switch.unnamed = (pid_t)id;
	if (!id)
		return 0;
	if (!sampled && r->tid > 0)
		rc = leave_unsampled(a, ring, r, set);
	if (has_exited(a, ring, id))
		switches_exited(own, id, r->switched.preempted);
	if (sampled && !filter_match_state(&a->env->request->filter, r->switched.preempted, 0))
		switches_reject(own, id);
	return rc;
}

static int leave_recorded(struct applier *a, uint32_t ring, const struct record *r, unsigned int set)
{
	bool sampled = a->rings[ring].at_switch.left == r->tid;

	a->rings[ring].at_switch.left = 0;
	if (a->env->events->switches == SWITCHES_BY_RECORDS)
		return leave_by_record(a, ring, r, set, sampled);
	/* The tracepoint reports dead threads itself. Without its sample, take a thread that has exited for dead. */
	if (sampled || r->tid <= 0 || has_exited(a, ring, (uint32_t)r->tid))
		return 0;
	return leave_unsampled(a, ring, r, set);
}

int switching_record(struct applier *a, uint32_t ring, const struct record *r)
{
	unsigned int set = a->set;
	int rc = 0;

	if (is_of_another(a, ring, r))
		a->rings[ring].at_switch.seen = false;
	if (!counts(a, ring, &set))
		return 0;
	if (r->switched.out)
		rc = leave_recorded(a, ring, r, set);
	else if (who_comes(a, ring, r))
		rc = end_interval(a, ring, a->switching->own, who_comes(a, ring, r), when(a, ring, r),
				  own_rows(a, set));
	/* The record of the thread that comes is the last one of a switch. */
	if (!r->switched.out)
		a->rings[ring].at_switch.seen = false;
	if (!r->switched.out && r->tid < 0)
		a->rings[ring].at_switch.unnamed = 0;
	account_own(a, set);
	return rc;
}

/* Find the task of note @n. Return true if the interval passes those filters that the program could not apply. */
static bool is_of_interest(struct applier *a, const struct sample *s, const struct switch_note *n, struct owner *o)
{
	struct descendants *tree = a->env->request->filter.tree;

	if (n->who.verdict == NOTE_UNNUMBERED) {
		sample_identify(a, s, NULL, o);
		return o->tid && !o->outside && is_asked_for(a, s, o);
	}
	*o = (struct owner){ n->who.pid, n->who.tid, "", n->who.tid < 0 };
	memcpy(o->comm, n->who.comm, COMM_LEN);
	return n->who.verdict != NOTE_UNKNOWN || !tree || descendants_judge(tree, o->pid);
}

static int begin_passed(struct applier *a, struct sample *s, const struct switch_note *n)
{
	struct switches *passed = a->switching->passed;
	struct owner o;

	sample_take_stacks(a->env, s);
	if (is_of_interest(a, s, n, &o))
		return leave(a, passed, n->id, n->ns, s, &o);
	switches_filtered(passed, n->id);
	return 0;
}

int switching_note(struct applier *a, uint32_t ring, const struct record *r, const struct sample_lead *lead)
{
	const struct used_counter *program = env_switch_counter(a->env);
	struct sample s = { .record = r, .ring = ring, .lead = lead };
	struct rows *rows = a->env->sink->sets[lead->note.set].intervals;
	struct switch_note n;
	struct stats passed = { 0 };
	int rc = 0;

	if (!r->sample.raw || !program || program->ops->switch_note(r->sample.raw, r->sample.raw_size, &n))
		return 0;
	if (n.kind == SWITCH_SEEN)
		begin_switch(a, ring, r, &n);
	else if (n.kind == SWITCH_BEGIN)
		rc = begin_passed(a, &s, &n);
	else if (n.kind == SWITCH_END && !n.ns)
		switches_unseen(a->switching->passed, n.id);
	else if (n.kind == SWITCH_END)
		rc = end_interval(a, ring, a->switching->passed, n.id, n.ns, rows);
	else
		rc = program->ops->charge(program->state, &n, rows);
	/* The program has counted the beginnings of intervals already. */
	switches_stats(a->switching->passed, &passed);
	passed.intervals_begun = 0;
	passed.intervals_charged += n.kind == SWITCH_CHARGE && !rc;
	stats_add(&a->stats[lead->note.set], &passed);
	return rc;
}

void switching_task(struct applier *a, uint32_t ring, const struct record *r)
{
	size_t i;

	if (r->type == PERF_RECORD_EXIT) {
		a->rings[ring].at_switch.gone = r->tid;
		return;
	}
	/* It is a new thread, or one that has taken the number of its leader. */
	for (i = 0; i < a->env->events->nr_places; i++) {
		if (a->rings[i].at_switch.gone == r->tid)
			a->rings[i].at_switch.gone = 0;
		if (a->rings[i].at_switch.unnamed == r->tid)
			a->rings[i].at_switch.unnamed = 0;
	}
	if (r->type == PERF_RECORD_FORK && a->env->events->switches == SWITCHES_BY_RECORDS)
		switches_exit(a->switching->own, (uint32_t)r->tid);
}

int switching_end(struct applier *a, uint64_t ns)
{
	const struct switching *sw = a->switching;
	bool wanted = a->env->request->off_cpu.open;
	int rc = 0;

	a->stats[a->set].intervals_open += switches_nr_open(sw->passed);
	if (!is_compared(a))
		a->stats[a->set].intervals_open += switches_nr_open(sw->own);
	if (wanted)
		rc = switches_open(sw->own, ns, own_rows(a, a->set));
	if (wanted && !rc)
		rc = switches_open(sw->passed, ns, a->env->sink->sets[a->set].intervals);
	return rc;
}
