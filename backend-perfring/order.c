// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/order.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Return: 0 or -ENOMEM. @time: in and out; raised if an earlier record of @ring that stays in order has a later time */
static int keep_in_order(struct order *o, uint32_t ring, uint64_t *time)
{
	uint64_t *latest = o->in_order;

	if (ring >= o->nr_rings) {
		latest = grow(latest, &o->cap_rings, o->nr_rings, ring + 1 - o->nr_rings, sizeof(*latest));
		if (!latest)
			return -ENOMEM;
		o->in_order = latest;
		while (o->nr_rings <= ring)
			latest[o->nr_rings++] = 0;
	}
	if (*time < latest[ring]) {
		o->backward++;
		*time = latest[ring];
	}
	latest[ring] = *time;
	return 0;
}

int order_add(struct order *o, const struct order_item *item)
{
	struct order_entry *entries = grow(o->entries, &o->cap, o->nr, 1, sizeof(*entries));
	uint64_t time = item->time;

	if (!entries)
		return -ENOMEM;
	o->entries = entries;
	if (!time)
		time = o->latest;
	else if (item->in_order && keep_in_order(o, item->ring, &time))
		return -ENOMEM;
	if (time > o->latest)
		o->latest = time;
	if (time < o->applied)
		o->late++;
	entries[o->nr++] = (struct order_entry){ time, o->seq++, item->record };
	return 0;
}

void order_restart(struct order *o, uint32_t ring)
{
	if (ring < o->nr_rings)
		o->in_order[ring] = 0;
}

static int compare_entries(const void *a, const void *b)
{
	const struct order_entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int apply_until(struct order *o, uint64_t horizon, order_fn fn, void *ctx)
{
	size_t i;
	int rc = 0;

	if (!o->nr)
		return 0;
	qsort(o->entries, o->nr, sizeof(*o->entries), compare_entries);
	for (i = 0; i < o->nr && o->entries[i].time <= horizon && !rc; i++) {
		if (o->entries[i].time > o->applied)
			o->applied = o->entries[i].time;
		rc = fn(ctx, o->entries[i].record);
	}
	o->nr -= i;
	memmove(o->entries, o->entries + i, o->nr * sizeof(*o->entries));
	return rc;
}

int order_round(struct order *o, order_fn fn, void *ctx)
{
	uint64_t horizon = o->horizon;

	o->horizon = o->latest;
	return apply_until(o, horizon, fn, ctx);
}

int order_flush(struct order *o, order_fn fn, void *ctx)
{
	return apply_until(o, UINT64_MAX, fn, ctx);
}

void order_release(struct order *o)
{
	free(o->entries);
	free(o->in_order);
	*o = (struct order){ 0 };
}
