// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/base/saturate.h"

#include <unistd.h>

/* How many records event @fd has lost so far. */
static uint64_t lost_by(const struct source *b, int fd)
{
	struct event_counts counts;

	if (!(events_attr(b->env->events)->read_format & PERF_FORMAT_LOST) || fd < 0 ||
	    read(fd, &counts, sizeof(counts)) != sizeof(counts))
		return 0;
	return counts.lost;
}

struct lost lost_now(const struct source *b, size_t i)
{
	const struct event_place *e = &b->env->events->places[i];
	struct lost lost = { 0 };
	size_t j;

	lost.by[b->env->events->leads] = lost_by(b, e->fd);
	for (j = 0; j < MEASURED_NR; j++)
		lost.by[e->notes[j].kind] += lost_by(b, e->notes[j].fd);
	for (j = 0; j < e->nr_more; j++)
		lost.by[e->more[j].kind] += lost_by(b, e->more[j].fd);
	return lost;
}

/* This may read thousands of events. */
uint64_t lost_side_now(const struct source *b, size_t i)
{
	const struct side_band *s = &b->env->events->places[i].side;
	uint64_t lost = lost_by(b, s->fd);
	size_t j;

	for (j = 0; j < s->nr_more; j++)
		lost += lost_by(b, s->more[j]);
	return lost;
}

uint64_t lost_sum(const struct lost *l)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < EVENT_KINDS; i++)
		sum += l->by[i];
	return sum;
}

/*
 * Names and mappings may be wrong from here on, until they are read again. Only records of this CPU were lost, so most
 * are right, but we do not know which tasks ran there.
 */
static void miss_names(struct source *b)
{
	sink_missed(b->env->sink);
	b->refresh = true;
}

static void add_lost(struct source *b, uint32_t i, uint64_t records)
{
	struct stats *stats = rings_stats(b);

	stats->lost_records += records;
	stats->lost_here += b->env->events->places[i].samples ? records : 0;
	if (records && !b->env->events->apart)
		miss_names(b);
}

void lost_side_band(struct source *b, uint64_t records)
{
	struct stats *stats = rings_stats(b);

	stats->lost_records += records;
	stats->lost_side_band += records;
	miss_names(b);
}

void lost_told(struct source *b, uint32_t i, bool side, uint64_t records)
{
	bool told = events_attr(b->env->events)->read_format & PERF_FORMAT_LOST;

	if (side) {
		lost_side_band(b, told ? 0 : records);
		return;
	}
	b->rings[i].noted = false; /* its sample may be among them */
	if (!told)
		add_lost(b, i, records);
	else if (!b->env->events->apart)
		miss_names(b);
}

/* Return the number of records lost since @before, and set @before to @now unless @now is smaller. */
static uint64_t since(uint64_t now, uint64_t *before)
{
	uint64_t lost = sub_or_0(now, *before);

	*before += lost;
	return lost;
}

void lost_count(struct source *b, uint32_t i)
{
	struct stats *stats = rings_stats(b);
	struct cpu_rings *s = &b->rings[i];
	struct lost now = lost_now(b, i);
	size_t kind;

	for (kind = 0; kind < EVENT_KINDS; kind++) {
		uint64_t lost = since(now.by[kind], &s->lost.by[kind]);

		if (kind == b->env->events->leads)
			add_lost(b, i, lost);
		else
			stats->lost_records += lost;
		stats->lost_notes += kind == EVENT_NOTES ? lost : 0;
		stats->lost_switch_notes += kind == EVENT_SWITCH_NOTES ? lost : 0;
	}
}

void lost_count_all(struct source *b)
{
	uint32_t i;

	for (i = 0; i < b->env->events->nr_places; i++)
		lost_count(b, i);
}

void lost_count_side(struct source *b, uint32_t i)
{
	uint64_t lost = since(lost_side_now(b, i), &b->rings[i].lost_side);

	if (lost)
		lost_side_band(b, lost);
}

void lost_count_all_side(struct source *b)
{
	uint32_t i;

	for (i = 0; i < b->env->events->nr_places; i++)
		lost_count_side(b, i);
}
