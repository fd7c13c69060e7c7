// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/code_ranges.h"

#include "core/base/search.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#define NO_RANGE UINT32_MAX

/* Addresses from @start up to the next span belong to @range. */
struct code_span {
	uint64_t start;
	uint32_t range; /* NO_RANGE: no range */
};

static int by_start(const void *a, const void *b)
{
	const struct code_range *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The ranges that cover an address, as a heap with the latest one first. Some may have ended already. */
struct covering {
	const struct code_range *ranges;
	uint32_t *heap;
	size_t nr;
};

static bool is_later(const struct covering *c, size_t a, size_t b)
{
	return c->ranges[c->heap[a]].id > c->ranges[c->heap[b]].id;
}

static void swap(struct covering *c, size_t a, size_t b)
{
	uint32_t range = c->heap[a];

	c->heap[a] = c->heap[b];
	c->heap[b] = range;
}

static void push(struct covering *c, size_t range)
{
	size_t i = c->nr++;

	c->heap[i] = (uint32_t)range;
	for (; i && is_later(c, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(c, i, (i - 1) / 2);
}

static void pop(struct covering *c)
{
	size_t i = 0, child;

	c->heap[0] = c->heap[--c->nr];
	while ((child = 2 * i + 1) < c->nr) {
		if (child + 1 < c->nr && is_later(c, child + 1, child))
			child++;
		if (!is_later(c, child, i))
			return;
		swap(c, i, child);
		i = child;
	}
}

static void put_span(struct code_ranges *r, uint64_t start, uint32_t range)
{
	if (!r->nr_spans || r->spans[r->nr_spans - 1].range != range)
		r->spans[r->nr_spans++] = (struct code_span){ start, range };
}

/* Visit the addresses where a range begins or ends. Each range has two, and at most one span begins at each of them. */
static void sweep(struct code_ranges *r, size_t nr, struct covering *c)
{
	const struct code_range *v = r->ranges;
	uint64_t addr = 0;
	size_t i = 0;

	while (i < nr || c->nr) {
		if (!c->nr)
			addr = v[i].start;
		while (i < nr && v[i].start <= addr)
			push(c, i++);
		while (c->nr && v[c->heap[0]].end <= addr)
			pop(c);
		put_span(r, addr, c->nr ? c->heap[0] : NO_RANGE);
		if (c->nr)
			addr = v[c->heap[0]].end;
		if (c->nr && i < nr && v[i].start < addr)
			addr = v[i].start;
	}
}

int code_ranges_index(struct code_range *ranges, size_t nr, struct code_ranges *out)
{
	struct covering c = { .ranges = ranges };
	struct code_span *fits;

	*out = (struct code_ranges){ .ranges = ranges };
	if (!nr)
		return 0;
	qsort(ranges, nr, sizeof(*ranges), by_start);
	c.heap = calloc(nr, sizeof(*c.heap));
	out->spans = calloc(2 * nr, sizeof(*out->spans));
	if (!c.heap || !out->spans) {
		free(c.heap);
		code_ranges_release(out);
		return -ENOMEM;
	}
	sweep(out, nr, &c);
	free(c.heap);
	fits = realloc(out->spans, out->nr_spans * sizeof(*out->spans));
	out->spans = fits ? fits : out->spans;
	return 0;
}

void code_ranges_release(struct code_ranges *r)
{
	free(r->spans);
	*r = (struct code_ranges){ 0 };
}

const struct code_range *code_ranges_find(const struct code_ranges *r, uint64_t addr)
{
	size_t i = first_above(r->spans, r->nr_spans, start, addr);

	return i && r->spans[i - 1].range != NO_RANGE ? &r->ranges[r->spans[i - 1].range] : NULL;
}

size_t code_ranges_memory(const struct code_ranges *r)
{
	return r->nr_spans * sizeof(*r->spans);
}
