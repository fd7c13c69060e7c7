// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"

/* True if @r is from before the names of existing threads were read. If the events have another clock (before 4.1), we
 * may not notice. */
static bool too_early(const struct source *b, const struct record *r)
{
	return !rings_in_kernel(b) &&
	       (b->starting || (events_attr(b->env->events)->use_clockid && r->time < b->env->sink->began_ns));
}

/*
 * True if @r is from after the end of the run. The events are disabled one after the other, so changes on a CPU whose
 * event is disabled already are not recorded, and samples of other CPUs would miss them.
 */
static bool too_late_for_run(const struct source *b, const struct record *r)
{
	return !rings_in_kernel(b) && b->env->sink->over_ns && events_attr(b->env->events)->use_clockid &&
	       r->time > b->env->sink->over_ns;
}

static bool is_outside_run(const struct source *b, const struct record *r)
{
	return too_early(b, r) || too_late_for_run(b, r);
}

/*
 * The set of a record to which no BPF program has assigned one. A record that is read while an interval ends may be of
 * the next one; if the events have another clock, we cannot tell.
 */
static unsigned int set_of(const struct source *b, uint64_t time)
{
	const struct source_env *env = b->env;

	return b->queue.ending && events_attr(env->events)->use_clockid && time > env->sink->stopped_ns
		       ? env->sink->set
		       : b->queue.applier.set;
}

/*
 * The next record in this ring is the sample that the note is about: the kernel writes both without a break. @rc: of
 * decode_record(), here and below.
 */
static void keep_note(struct source *b, int rc, const struct incoming *in)
{
	const struct record *r = &in->record;
	struct cpu_rings *s = &b->rings[in->ring];

	s->noted =
		rc == 1 && r->sample.raw && !b->env->counters[0].ops->note(r->sample.raw, r->sample.raw_size, &s->note);
	rings_stats(b)->bad_records += !s->noted;
}

static bool admit_switch_note(struct source *b, int rc, struct incoming *in)
{
	const struct used_counter *program = env_switch_counter(b->env);
	const struct record *r = &in->record;
	struct switch_note n;

	if (rc != 1 || !r->sample.raw || program->ops->switch_note(r->sample.raw, r->sample.raw_size, &n)) {
		rings_stats(b)->bad_records++;
		return false;
	}
	if (queue_late(&b->queue, n.set)) /* the interval counts as lost: passed on, but not received */
		return false;
	b->queue.applier.stats[n.set].intervals_received += n.kind == SWITCH_BEGIN || n.kind == SWITCH_CHARGE;
	in->lead.note.set = n.set;
	return true;
}

static bool admit_switch(struct source *b, int rc, struct incoming *in)
{
	rings_stats(b)->bad_records += rc < 0;
	in->lead.note.set = set_of(b, in->record.time);
	return rc >= 0 && !is_outside_run(b, &in->record);
}

static bool admit_sample(struct source *b, int rc, struct incoming *in)
{
	struct cpu_rings *s = &b->rings[in->ring];
	struct stats *stats;

	in->lead.note.set = rc < 0 ? b->queue.applier.set : set_of(b, in->record.time);
	if (s->noted) {
		in->lead.note = s->note;
		in->lead.noted = true;
		s->noted = false;
	}
	if (rc >= 0 && is_outside_run(b, &in->record))
		return false;
	if (queue_late(&b->queue, in->lead.note.set)) {
		rings_stats(b)->late_samples++;
		return false;
	}
	stats = &b->queue.applier.stats[in->lead.note.set];
	stats->ring_samples++;
	stats->bad_records += rc < 0;
	stats->bad_samples += rc < 0;
	return rc >= 0;
}

/*
 * An event for mappings also gets FORK and EXIT records (perf_event_task_match(), kernel/events/core.c). So the event
 * of a target's thread writes the same records as that of the CPU.
 */
static bool is_written_twice(const struct source *b, const struct incoming *in)
{
	uint64_t of_cpu = b->env->events->places[in->ring].side.tasks_id;

	return of_cpu && (in->record.type == PERF_RECORD_FORK || in->record.type == PERF_RECORD_EXIT) &&
	       decode_identifier((const void *)in->bytes, in->size) != of_cpu;
}

static bool admit_side_band(struct source *b, bool side, int rc, const struct incoming *in)
{
	const struct record *r = &in->record;

	rings_stats(b)->bad_records += rc < 0;
	if (rc <= 0 || (r->type == PERF_RECORD_SWITCH && is_outside_run(b, r)) || (side && is_written_twice(b, in)))
		return false;
	if (r->type == PERF_RECORD_LOST)
		lost_told(b, in->ring, side, r->lost.records);
	return true;
}

bool rings_admit(struct source *b, bool side, int rc, struct incoming *in)
{
	if (in->record.type != PERF_RECORD_SAMPLE)
		return admit_side_band(b, side, rc, in);
	switch (in->lead.kind) {
	case EVENT_SWITCHES:
		return admit_switch(b, rc, in);
	case EVENT_NOTES:
		keep_note(b, rc, in);
		return false;
	case EVENT_SWITCH_NOTES:
		return admit_switch_note(b, rc, in);
	default:
		return admit_sample(b, rc, in);
	}
}
