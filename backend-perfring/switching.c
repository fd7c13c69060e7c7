// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/switching.h"

#include "backend-perfring/sample.h"
#include "core/base/clock.h"
#include "core/rows/compare_intervals.h"
#include "core/rows/switches.h"
#include "core/sources/source.h"

#include <stdlib.h>
#include <string.h>

#define CLOCKS_APART_NS INTERVAL_APART_NS /* the later one at the begin and at the end of an interval */

struct switching {
	struct switches *own;    /* that the reader sees; with both backends they are only compared */
	struct switches *passed; /* that the program in the kernel passed on */
	size_t nr_gaps;          /* rings of which nobody knows what comes next */
};

struct switching *switching_new(const struct source_env *env)
{
	const struct switches_limits limits = { env->request->options->min_ns, env->request->options->max_ns };
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

/* Where the reader's own intervals go that end in @set. */
static struct rows *own_rows(const struct applier *a, unsigned int set)
{
	const struct row_set *s = &a->env->sink->sets[set];

	return a->env->request->both ? s->ring_intervals : s->intervals;
}

/* What is only compared is no part of the run's stats, but for what is missing there. */
static void account_own(struct applier *a, unsigned int set)
{
	struct stats compared = { 0 }, *stats = &a->stats[set];

	switches_stats(a->switching->own, a->env->request->both ? &compared : stats);
	stats->intervals_seen += compared.intervals_begun;
	stats->intervals_unended += compared.intervals_lost;
}

/* But for its state. */
static bool is_asked_for(const struct applier *a, const struct sample *s, const struct owner *o)
{
	const struct filter *f = &a->env->request->filter;
	bool unsure;

	return filter_match_thread(f, s->has_user) && filter_match_cpu(f, s->record->cpu) &&
	       sample_is_wanted(a, s, o, &unsure);
}

/* Who is on which CPU is not known any more. */
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
	if (a->env->request->both) {
		a->stats[a->set].intervals_gone += open;
		a->stats[a->set].intervals_unended -= open;
	}
	switches_gap(a->switching->passed);
	switches_stats(a->switching->passed, &a->stats[a->set]);
}

void switching_gap_begins(struct applier *a, uint32_t ring)
{
	/* Its CPU has gone since: there is no next record. */
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

/* Thread @id comes back at @ns, to the CPU of @ring, which knows from then on whether it has exited. */
static int come(struct applier *a, uint32_t ring, struct switches *from, uint32_t id, uint64_t ns, struct rows *to)
{
	if (switches_has_exited(from, id))
		a->rings[ring].at_switch.gone = (pid_t)id;
	if (a->switching->nr_gaps)
		switching_gap(a);
	return switches_in(from, id, ns, to);
}

/* When it was: with both backends, as long as it takes the program to do its work lies between its note and a record.
 */
static uint64_t when(const struct applier *a, uint32_t ring, const struct record *r)
{
	return a->env->request->both ? a->rings[ring].at_switch.ns : r->time;
}

/* Is the switch that is on its way one that counts? @set: of those that the record would belong to; out: of this one */
static bool counts(const struct applier *a, uint32_t ring, unsigned int *set)
{
	if (!a->env->request->both)
		return true;
	*set = a->rings[ring].at_switch.set;
	return a->rings[ring].at_switch.seen;
}

/* Is this the record of a switch that the program has not seen? In a pid namespace it has other numbers. */
static bool is_of_another(const struct applier *a, uint32_t ring, const struct record *r)
{
	return !r->switched.out && !a->env->request->in_pidns && r->tid >= 0 && r->tid != a->rings[ring].at_switch.next;
}

/* Is it asked for by its length, which both have to see alike? */
static bool has_limits(const struct options *o)
{
	return o->min_ns > NSEC_PER_USEC || o->max_ns != UINT64_MAX;
}

/*
 * The program has read the clock, and right behind that perf has, for the record of its note. Where somebody took the
 * CPU in between, of whom neither knows (an NMI, a hypervisor), the program is believed: it is this that is told.
 */
static void begin_switch(struct applier *a, uint32_t ring, const struct record *r, const struct switch_note *n)
{
	bool apart = !a->env->events->attr.use_clockid || r->time - n->ns > CLOCKS_APART_NS;

	a->rings[ring].at_switch.seen = true;
	a->rings[ring].at_switch.next = (pid_t)n->id;
	a->rings[ring].at_switch.set = n->set;
	a->rings[ring].at_switch.ns = apart || has_limits(a->env->request->options) ? n->ns : r->time;
	a->stats[n->set].clocks_apart += apart;
}

/* Thread @id of @o leaves its CPU at @ns: as switches_out() wants it. */
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

/* What the tracepoint says. */
struct switched {
	uint32_t prev, next; /* tids in the initial pid namespace; 0: the idle task */
	uint64_t state;      /* of the one that leaves */
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
 * The name is that of the moment, which no record can tell as well. Of a thread that is dying the number of its process
 * may be known from its EXIT record.
 */
static void identify(struct applier *a, const struct sample *s, const struct switched *sw, struct owner *o)
{
	*o = (struct owner){ .pid = s->record->pid, .tid = s->record->tid };
	if (o->tid < 0 && !sample_exited(a, (pid_t)sw->prev, o))
		*o = (struct owner){ .pid = (pid_t)sw->prev, .tid = (pid_t)sw->prev };
	memcpy(o->comm, sw->comm, COMM_LEN);
}

/*
 * Thread @id leaves the CPU of @ring, to which it came at @since: when did it come to the CPU where it was next, if
 * that is known already, see switches.h? Return: 0: it is not.
 */
static uint64_t next_stay(const struct applier *a, uint32_t ring, uint32_t id, uint64_t since)
{
	size_t i;

	if (a->env->events->attr.use_clockid)
		return 0;
	for (i = 0; i < a->env->events->nr_places; i++)
		if (i != ring && a->rings[i].stay.id == id && a->rings[i].stay.since > since)
			return a->rings[i].stay.since;
	return switches_next_stay(a->switching->own, id, since);
}

/* It was back at @back, which is told already. */
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
		switches_unseen(own, sw->prev); /* if it had been away, it came back for this */
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
		rc = come(a, s->ring, a->switching->own, sw.next, now, own_rows(a, set));
	a->rings[s->ring].at_switch.left = (pid_t)sw.prev;
	since = a->rings[s->ring].stay.id == sw.prev ? a->rings[s->ring].stay.since : 0;
	if (!rc && sw.prev)
		rc = leave_traced(a, s, &sw, since);
	a->rings[s->ring].stay.id = sw.next;
	a->rings[s->ring].stay.since = now;
	return rc;
}

/* The kernel has told that it exits, and runs it until it leaves its CPU for the last time: see switches_exited(). */
static bool has_exited(const struct applier *a, uint32_t ring, uint32_t id)
{
	return (uint32_t)a->rings[ring].at_switch.gone == id;
}

/*
 * Who leaves. Below 0 (pid_alive() of perf_event_pid_type(), kernel/events/core.c): the pid tables have it no more, so
 * it is near its end, and most likely the last one that has exited here. In a pid namespace whoever is outside has the
 * number of the idle task, so that nobody can tell these apart. 0: it counts not.
 */
static uint32_t who_leaves(const struct applier *a, uint32_t ring, const struct record *r)
{
	return (uint32_t)(r->tid < 0 ? a->rings[ring].at_switch.gone : r->tid);
}

/*
 * And who comes; such a one comes back to where it was preempted, or the program says who it is. The tracepoint has
 * told it already.
 */
static uint32_t who_comes(const struct applier *a, uint32_t ring, const struct record *r)
{
	if (r->tid >= 0)
		return (uint32_t)r->tid;
	if (a->env->events->switches != SWITCHES_BY_RECORDS)
		return 0;
	return (uint32_t)(a->env->request->both ? a->rings[ring].at_switch.next : a->rings[ring].at_switch.unnamed);
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
	if (!a->env->events->switch_attr.context_switch)
		a->rings[ring].at_switch.seen = false;
	return rc;
}

/*
 * There was no sample. Who may not see the kernel gets none of the event context-switches; and a kernel gives none of a
 * task for which it believes to be inside a sample already: 6.18 was seen to do so for ever, of threads that were older
 * than a snapshot of their virtual machine, and of an idle task. That it left, and when, is known.
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
	s.kernel = f->no_kernel || a->env->events->attr.exclude_kernel ? none : missed;
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

/* @sampled: there was a sample of that */
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
	/* The tracepoint says itself who is dead; where it says nothing, a thread that has exited is taken for that. */
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
		rc = come(a, ring, a->switching->own, who_comes(a, ring, r), when(a, ring, r), own_rows(a, set));
	/* It is the last of this switch. */
	if (!r->switched.out)
		a->rings[ring].at_switch.seen = false;
	if (!r->switched.out && r->tid < 0)
		a->rings[ring].at_switch.unnamed = 0;
	account_own(a, set);
	return rc;
}

/* Whose it is the program said, or could not. Return: is it asked for? */
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
		rc = come(a, ring, a->switching->passed, n.id, n.ns, rows);
	else
		rc = program->ops->charge(program->state, &n, rows);
	/* That they began the program has counted. */
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
	/* A new thread, or one that has taken the number of its leader. */
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
	bool wanted = a->env->request->options->open_intervals;
	int rc = 0;

	a->stats[a->set].intervals_open += switches_nr_open(sw->passed);
	if (!a->env->request->both)
		a->stats[a->set].intervals_open += switches_nr_open(sw->own);
	if (wanted)
		rc = switches_open(sw->own, ns, own_rows(a, a->set));
	if (wanted && !rc)
		rc = switches_open(sw->passed, ns, a->env->sink->sets[a->set].intervals);
	return rc;
}
