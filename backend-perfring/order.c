// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/order.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ROOM_KEPT (4 << 20) /* of an empty queue */

/* Return: 0 or -ENOMEM. @time: in and out */
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

int order_add(struct order *o, uint64_t time, const struct order_item *item)
{
	struct order_entry *entries = grow(o->entries, &o->env, o->nr, 1, sizeof(*entries));
	unsigned char *bytes;

	if (!entries)
		return -ENOMEM;
	o->entries = entries;
	bytes = grow(o->bytes, &o->room, o->used, item->lead_size + item->size, 1);
	if (!bytes)
		return -ENOMEM;
	o->bytes = bytes;
	if (!time)
		time = o->latest;
	else if (item->in_order && keep_in_order(o, item->ring, &time))
		return -ENOMEM;
	if (time > o->latest)
		o->latest = time;
	if (time < o->applied)
		o->late++;
	if (item->lead_size)
		memcpy(bytes + o->used, item->lead, item->lead_size);
	if (item->size)
		memcpy(bytes + o->used + item->lead_size, item->bytes, item->size);
	entries[o->nr++] =
		(struct order_entry){ time, o->seq++, o->used, item->lead_size, (uint32_t)item->size, item->ring };
	o->used += item->lead_size + item->size;
	return 0;
}

void order_restart(struct order *o, uint32_t ring)
{
	if (ring < o->nr_rings)
		o->in_order[ring] = 0;
}

static int compare_arrivals(const void *a, const void *b)
{
	const struct order_entry *x = a, *y = b;

	return x->seq < y->seq ? -1 : x->seq > y->seq;
}

static int compare_entries(const void *a, const void *b)
{
	const struct order_entry *x = a, *y = b;

	if (x->time != y->time)
		return x->time < y->time ? -1 : 1;
	return compare_arrivals(a, b);
}

/* Keep the entries from @from on, and move their bytes together: in order of arrival they only move down. */
static void keep_rest(struct order *o, size_t from)
{
	size_t i;

	o->nr -= from;
	o->used = 0;
	memmove(o->entries, o->entries + from, o->nr * sizeof(*o->entries));
	if (!o->nr && o->room > ROOM_KEPT) {
		free(o->bytes);
		o->bytes = NULL;
		o->room = 0;
		return;
	}
	qsort(o->entries, o->nr, sizeof(*o->entries), compare_arrivals);
	for (i = 0; i < o->nr; i++) {
		struct order_entry *e = &o->entries[i];

		memmove(o->bytes + o->used, o->bytes + e->at, e->lead_size + e->size);
		e->at = o->used;
		o->used += e->lead_size + e->size;
	}
}

static int apply_until(struct order *o, uint64_t horizon, order_fn fn, void *ctx)
{
	size_t i;
	int rc = 0;

	if (!o->nr)
		return 0;
	qsort(o->entries, o->nr, sizeof(*o->entries), compare_entries);
	for (i = 0; i < o->nr && o->entries[i].time <= horizon && !rc; i++) {
		const struct order_entry *e = &o->entries[i];
		const unsigned char *lead = o->bytes + e->at;
		struct order_item item = { e->ring, e->lead_size, e->lead_size ? lead : NULL, lead + e->lead_size,
					   e->size, false };

		if (e->time > o->applied)
			o->applied = e->time;
		rc = fn(ctx, &item);
	}
	keep_rest(o, i);
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
	free(o->bytes);
	free(o->in_order);
	*o = (struct order){ 0 };
}
