// SPDX-License-Identifier: Apache-2.0
#include "core/rows/sink.h"

#include "core/base/err.h"
#include "core/symbols/kernel_ranges.h"

#include <errno.h>

static void release_set(struct row_set *s)
{
	rows_free(s->samples);
	rows_free(s->intervals);
	compare_free(s->compare);
	rows_free(s->ring_intervals);
}

int sink_empty(struct sink *s, unsigned int i, const struct sink_cfg *c)
{
	struct row_set *set = &s->sets[i];

	release_set(set);
	*set = (struct row_set){ .samples = rows_new(), .intervals = rows_new() };
	if (c->compares)
		set->compare = compare_new(c->filter);
	if (c->adds)
		set->ring_intervals = rows_new();
	if (set->compare && s->gap)
		compare_gap(set->compare, true);
	return set->samples && set->intervals && (set->compare || !c->compares) && (set->ring_intervals || !c->adds)
		       ? 0
		       : -ENOMEM;
}

void sink_release(struct sink *s)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->sets); i++)
		release_set(&s->sets[i]);
	tasks_free(s->tasks);
	frame_names_release(&s->names);
	kernel_ranges_free(s->kernel_ranges);
}

void sink_gap(struct sink *s, bool missing)
{
	size_t i;

	s->gap = missing;
	for (i = 0; i < ARRAY_SIZE(s->sets); i++)
		if (s->sets[i].compare)
			compare_gap(s->sets[i].compare, missing);
}

void sink_missed(struct sink *s)
{
	size_t i;

	sink_gap(s, true);
	for (i = 0; i < ARRAY_SIZE(s->sets); i++)
		if (s->sets[i].compare)
			compare_missed(s->sets[i].compare);
}
