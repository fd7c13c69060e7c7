// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"

#include "backend-perfring/pack.h"

#include <errno.h>
#include <string.h>

#define DAMAGES_MAX 64 /* of one ring in one round */

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

/* Update cpu_rings.latest by the largest time: the records of one ring are only nearly in the order of their times. */
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
	if (!rings_admit(b, rd->side, rc, in)) {
		queue_drop(&b->queue, in);
		return 0;
	}
	if (in->record.type == PERF_RECORD_SAMPLE)
		rings_learn(b, in->record.pid);
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

	/* If the ring has been full again since, records may have been lost then: count them the next time. */
	if (!ring_full_again(&s->samples))
		s->lost_when_full = lost_sum(&lost);
	if (events_attr(b->env->events)->read_format & PERF_FORMAT_LOST && lost_sum(&lost) == before)
		return 0;
	if (rings_mark_gap(b, rd->ring, s->latest, GAP_BEGINS))
		return -ENOMEM;
	/* With another clock, only the next record ends the gap. */
	return events_attr(b->env->events)->use_clockid ? rings_mark_gap(b, rd->ring, copied_ns, GAP_ENDS) : 0;
}

/* A damaged record and those behind it are dropped. Go on with later ones, so that this round is complete. */
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
