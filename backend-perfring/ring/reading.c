// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"

#include "backend-perfring/pack.h"

#include <errno.h>
#include <string.h>

#define DAMAGES_MAX 64 /* of one ring in one round */

/* True if it was taken before names were read. If the events have another clock (before 4.1), we may not notice. */
static bool too_early(const struct source *b, const struct record *r)
{
	return !rings_in_kernel(b) &&
	       (b->starting || (events_attr(b->env->events)->use_clockid && r->time < b->env->sink->began_ns));
}

/*
 * True if it was taken after the end of the run. The events are disabled one after the other, so changes on a CPU whose
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
 * the next one; with another clock, we do not know.
 */
static unsigned int set_of(const struct source *b, uint64_t time)
{
	const struct source_env *env = b->env;

	return b->queue.ending && events_attr(env->events)->use_clockid && time > env->sink->stopped_ns
		       ? env->sink->set
		       : b->queue.applier.set;
}

struct reading {
	struct source *b;
	uint32_t ring;
	bool side; /* the ring for tasks and mappings */
};

/* The kind of a sample depends on its event, that of any other record on its ring. */
static enum event_kind kind_of(const struct source *b, uint32_t ring, bool side, const struct perf_event_header *record,
			       size_t size)
{
	const struct events *ev = b->env->events;

	if (record->type != PERF_RECORD_SAMPLE)
		return side ? EVENT_SIDE_BAND : ev->leads;
	if (!(events_attr(ev)->sample_type & PERF_SAMPLE_IDENTIFIER))
		return ev->leads;
	return rings_kind(b, &b->rings[ring], decode_identifier(record, size));
}

static const struct stack_roots *roots_of(const struct source *b)
{
	const struct unwinding *u = b->queue.applier.unwinding;

	return u ? unwinding_roots(u) : NULL;
}

size_t rings_pack(void *ctx, const struct perf_event_header *record, size_t size, void *to)
{
	const struct cpu_rings *s = ctx;
	const struct source *b = s->source;
	enum event_kind kind = kind_of(b, (uint32_t)(s - b->rings), false, record, size);

	return pack_record(&b->env->events->attrs[kind], roots_of(b), record, size, to);
}

/*
 * The next record in this ring is the sample that the note is about: the kernel writes both without a break. @rc: of
 * decode_record(), here and below.
 */
static void take_note(const struct reading *rd, int rc, const struct incoming *in)
{
	const struct record *r = &in->record;
	struct cpu_rings *s = &rd->b->rings[rd->ring];

	s->noted = rc == 1 && r->sample.raw &&
		   !rd->b->env->counters[0].ops->note(r->sample.raw, r->sample.raw_size, &s->note);
	rings_stats(rd->b)->bad_records += !s->noted;
}

/* Take a program's note about a switch. Return true to add it; the functions below do the same. */
static bool take_switch_note(const struct reading *rd, int rc, struct incoming *in)
{
	const struct used_counter *program = env_switch_counter(rd->b->env);
	const struct record *r = &in->record;
	struct source *b = rd->b;
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

/* The first sample of a process that the ring thread has not found: the process may exit soon. */
static void learn_unseen(const struct source *b, const struct record *r)
{
	if (unseen_take(b->unseen, r->pid))
		tasks_learn(b->env->sink->tasks, r->pid);
}

static bool take_switch(const struct reading *rd, int rc, struct incoming *in)
{
	rings_stats(rd->b)->bad_records += rc < 0;
	if (rc < 0)
		return false;
	in->lead.note.set = set_of(rd->b, in->record.time);
	learn_unseen(rd->b, &in->record);
	return !is_outside_run(rd->b, &in->record);
}

static bool take_sample(const struct reading *rd, int rc, struct incoming *in)
{
	struct source *b = rd->b;
	struct cpu_rings *s = &b->rings[rd->ring];
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
	if (rc >= 0)
		learn_unseen(b, &in->record);
	return rc >= 0;
}

/*
 * An event for mappings also gets FORK and EXIT records (perf_event_task_match(), kernel/events/core.c). So the event
 * of a target's thread writes the same records as that of the CPU.
 */
static bool is_written_twice(const struct reading *rd, const struct incoming *in)
{
	uint64_t of_cpu = rd->b->env->events->places[rd->ring].side.tasks_id;

	return rd->side && of_cpu && (in->record.type == PERF_RECORD_FORK || in->record.type == PERF_RECORD_EXIT) &&
	       decode_identifier((const void *)in->bytes, in->size) != of_cpu;
}

static bool take_side_band(const struct reading *rd, int rc, const struct incoming *in)
{
	const struct record *r = &in->record;

	rings_stats(rd->b)->bad_records += rc < 0;
	if (rc <= 0 || (r->type == PERF_RECORD_SWITCH && is_outside_run(rd->b, r)) || is_written_twice(rd, in))
		return false;
	if (r->type == PERF_RECORD_LOST)
		lost_told(rd->b, rd->ring, rd->side, r->lost.records);
	return true;
}

static bool take(const struct reading *rd, int rc, struct incoming *in)
{
	if (in->record.type != PERF_RECORD_SAMPLE)
		return take_side_band(rd, rc, in);
	switch (in->lead.kind) {
	case EVENT_SWITCHES:
		return take_switch(rd, rc, in);
	case EVENT_NOTES:
		take_note(rd, rc, in);
		return false;
	case EVENT_SWITCH_NOTES:
		return take_switch_note(rd, rc, in);
	default:
		return take_sample(rd, rc, in);
	}
}

/* The records of one ring are nearly in the order of their times. */
static int take_record(void *ctx, const struct perf_event_header *record, size_t size)
{
	const struct reading *rd = ctx;
	struct source *b = rd->b;
	struct cpu_rings *s = &b->rings[rd->ring];
	struct incoming *in = queue_take(&b->queue, size);
	int rc;

	if (!in)
		return -ENOMEM;
	memcpy(in->bytes, record, size);
	in->ring = rd->ring;
	in->lead.kind = kind_of(b, rd->ring, rd->side, record, size);
	rc = decode_record(&b->env->events->attrs[in->lead.kind], in->bytes, size, &in->record);
	rings_stats(b)->ring_records++;
	rings_stats(b)->ring_bytes += size;
	if (!take(rd, rc, in)) {
		queue_drop(&b->queue, in);
		return 0;
	}
	if (!rd->side && in->record.time > s->latest)
		s->latest = in->record.time;
	return queue_add(&b->queue, in);
}

int rings_mark_gap(struct source *b, uint32_t i, uint64_t time, enum record_gap what)
{
	struct incoming *in = queue_take(&b->queue, 0);

	if (!in)
		return -ENOMEM;
	in->ring = i;
	in->lead.kind = EVENT_SIDE_BAND;
	in->record = (struct record){ .type = RECORD_GAP, .time = time, .gap = what };
	return queue_add(&b->queue, in);
}

/* The ring was full, and has room again: records may be lost. Since 6.0 the kernel counts lost records. */
static int note_full(void *ctx, uint64_t copied_ns)
{
	const struct reading *rd = ctx;
	struct source *b = rd->b;
	struct cpu_rings *s = &b->rings[rd->ring];
	struct lost lost = lost_now(b, rd->ring);
	uint64_t before = s->lost_when_full;

	/* If it has been full again since, some may have been lost then: count them the next time. */
	if (!ring_full_again(&s->samples))
		s->lost_when_full = lost_sum(&lost);
	if (events_attr(b->env->events)->read_format & PERF_FORMAT_LOST && lost_sum(&lost) == before)
		return 0;
	if (rings_mark_gap(b, rd->ring, s->latest, GAP_BEGINS))
		return -ENOMEM;
	/* With another clock, only the next record ends the gap. */
	return events_attr(b->env->events)->use_clockid ? rings_mark_gap(b, rd->ring, copied_ns, GAP_ENDS) : 0;
}

/* Records next to a damaged one are dropped. Go on with later ones, so that this round is complete. */
static int read_ring(struct reading *rd, struct ring *r)
{
	struct source *b = rd->b;
	bool gaps = b->queue.applier.switching && !rd->side;
	int rc = r->page ? -EBADMSG : 0, tries;

	for (tries = 0; rc == -EBADMSG && tries < DAMAGES_MAX; tries++) {
		rc = ring_read(r, take_record, gaps ? note_full : NULL, rd);
		if (rc != -EBADMSG)
			break;
		rings_stats(b)->bad_records++;
		if (!rd->side)
			b->rings[rd->ring].noted = false;
		if (rd->side)
			lost_side_band(b, 0);
		if (gaps && rings_mark_gap(b, rd->ring, b->rings[rd->ring].latest, GAP_WAS))
			rc = -ENOMEM;
	}
	return rc == -EBADMSG ? 0 : rc;
}

int rings_read_place(struct source *b, uint32_t i, struct err *err)
{
	int rc = read_ring(&(struct reading){ b, i, true }, &b->rings[i].side);

	if (!rc)
		rc = read_ring(&(struct reading){ b, i, false }, &b->rings[i].samples);
	return rc ? err_sys(err, rc, "cannot keep the records of a perf ring") : 0;
}

int rings_read(struct source *b, struct err *err)
{
	uint32_t i;
	int rc = 0;

	for (i = 0; i < b->env->events->nr_places && !rc; i++)
		rc = rings_read_place(b, i, err);
	return rc;
}
