// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/maps.h"

#include "core/base/hash.h"
#include "core/base/search.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct maps *maps_new(struct maps_budget *budget)
{
	struct maps *m = calloc(1, sizeof(*m));

	if (m) {
		m->budget = budget;
		m->refs = 1;
	}
	return m;
}

struct maps *maps_ref(struct maps *m)
{
	m->refs++;
	return m;
}

void maps_unref(struct maps *m)
{
	if (!m || --m->refs)
		return;
	m->budget->used -= m->cap;
	free(m->v);
	free(m);
}

/* Make *@m a list that is not shared, with room for @room entries more. */
static int make_own(struct maps **m, size_t room)
{
	size_t need = (*m)->nr + room, cap = need + need / 2 + 4;
	struct maps *copy = *m;
	struct mapping *v;

	if (need > MAPS_MAX)
		return -E2BIG;
	if (copy->refs == 1 && need <= copy->cap)
		return 0;
	if (cap > copy->budget->max - copy->budget->used)
		return -E2BIG;
	if (copy->refs > 1 && !(copy = maps_new(copy->budget)))
		return -ENOMEM;
	v = realloc(copy->v, cap * sizeof(*v));
	if (!v) {
		if (copy != *m)
			maps_unref(copy);
		return -ENOMEM;
	}
	copy->v = v;
	copy->budget->used += cap - copy->cap;
	copy->cap = cap;
	if (copy != *m) {
		if ((*m)->nr)
			memcpy(v, (*m)->v, (*m)->nr * sizeof(*v));
		copy->nr = (*m)->nr;
		copy->jitdump = (*m)->jitdump;
		copy->sum = (*m)->sum;
		(*m)->refs--;
		*m = copy;
	}
	return 0;
}

/* Find the mappings that overlap @what: those with index *@from to *@to - 1. */
static void find_overlap(const struct maps *m, const struct mapping *what, size_t *from, size_t *to)
{
	*from = first_above(m->v, m->nr, end, what->start);
	for (*to = *from; *to < m->nr && m->v[*to].start < what->end; ++*to)
		;
}

static uint64_t sum_of(const struct mapping *v, size_t nr)
{
	uint64_t sum = 0;

	while (nr--)
		sum += hash_bytes(v++, sizeof(*v), 0);
	return sum;
}

/* Replace the mappings with index @from to @to - 1 by the @nr mappings @put; there is room for them. */
static void replace(struct maps *m, size_t from, size_t to, const struct mapping *put, size_t nr)
{
	m->sum += sum_of(put, nr) - sum_of(m->v + from, to - from);
	memmove(m->v + from + nr, m->v + to, (m->nr - to) * sizeof(*m->v));
	memcpy(m->v + from, put, nr * sizeof(*put));
	m->nr += nr - (to - from);
}

int maps_insert(struct maps **m, const struct mapping *what)
{
	struct mapping put[3];
	size_t from, to, nr = 0;
	struct maps *own;
	int rc;

	if (what->start >= what->end)
		return -EINVAL;
	rc = make_own(m, 2);
	own = *m;
	find_overlap(own, what, &from, &to);
	/* There is no room for the new mapping: drop the old ones there, which would be wrong now. */
	if (rc == -E2BIG && own->refs == 1 && from < to)
		replace(own, from, to, what, 0);
	if (rc)
		return rc;
	/* Keep the part of the first old mapping before @what, and the part of the last one behind @what. */
	if (from < to && own->v[from].start < what->start) {
		put[nr] = own->v[from];
		put[nr++].end = what->start;
	}
	put[nr++] = *what;
	if (from < to && own->v[to - 1].end > what->end) {
		put[nr] = own->v[to - 1];
		put[nr].pgoff += what->end - put[nr].start;
		put[nr++].start = what->end;
	}
	replace(own, from, to, put, nr);
	if (mapped_file_is_jitdump(what->file))
		own->jitdump = what->file;
	return 0;
}

bool maps_replaces(const struct maps *m, const struct mapping *what)
{
	size_t from, to;

	find_overlap(m, what, &from, &to);
	while (from < to && mapping_alike(&m->v[from], what))
		from++;
	return from < to;
}

bool maps_cover(const struct maps *m, const struct mapping *what)
{
	uint64_t covered = what->start;
	size_t from, to;

	find_overlap(m, what, &from, &to);
	for (; from < to && m->v[from].start <= covered && mapping_alike(&m->v[from], what); from++)
		covered = m->v[from].end;
	return covered >= what->end;
}

bool maps_equal(const struct maps *a, const struct maps *b)
{
	_Static_assert(sizeof(struct mapping) == 3 * sizeof(uint64_t) + sizeof(void *),
		       "compared as bytes: no padding");
	/* A process can have many long lists, but nearly all lists that differ have different sums. */
	return a->sum == b->sum && a->nr == b->nr && a->jitdump == b->jitdump &&
	       !memcmp(a->v, b->v, a->nr * sizeof(*a->v));
}

const struct mapping *maps_overlapped(const struct maps *m, uint64_t start, uint64_t end)
{
	size_t i = first_above(m->v, m->nr, end, start);

	while (i < m->nr && m->v[i].start < end && !mapped_file_has_path(m->v[i].file))
		i++;
	return i < m->nr && m->v[i].start < end ? &m->v[i] : NULL;
}

const struct mapping *maps_find(const struct maps *m, uint64_t addr)
{
	size_t i = first_above(m->v, m->nr, end, addr);

	return i < m->nr && m->v[i].start <= addr ? &m->v[i] : NULL;
}
