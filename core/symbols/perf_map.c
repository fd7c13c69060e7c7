// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/perf_map.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEN_MAX 4096 /* some names are whole signatures */
#define ENTRIES_MAX  (1u << 20)
#define NO_ENTRY     UINT32_MAX

/* Addresses [@start, @end). Names are stored in the file's order, so that a larger @name is a later line. */
struct entry {
	uint64_t start, end;
	uint32_t name; /* offset in names */
};

/* From @start to the next one, addresses belong to @entry. */
struct span {
	uint64_t start;
	uint32_t entry; /* NO_ENTRY: to none */
};

struct perf_map {
	struct entry *entries; /* sorted by start when finished */
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	struct span *spans;
	size_t nr_spans;

	/* The line whose end has not come yet; what does not fit is not kept. */
	char line[LINE_LEN_MAX];
	size_t line_len;
};

struct perf_map *perf_map_new(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m->names);
	free(m->spans);
	free(m);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number and the blanks behind it; moves *@p behind these. Some compilers write it with "0x". */
static bool number(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p, *first;
	int digit;

	if (end - s > 2 && s[0] == '0' && s[1] == 'x')
		s += 2;
	first = s;
	for (*out = 0; s < end && (digit = hex_digit(*s)) >= 0; s++) {
		if (*out >> 60)
			return false;
		*out = *out << 4 | (unsigned int)digit;
	}
	if (s == first || s == end || (*s != ' ' && *s != '\t'))
		return false;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	*p = s;
	return true;
}

/* What is compiled now was compiled last. */
static void drop_older_half(struct perf_map *m)
{
	size_t half = m->nr / 2, i;
	uint32_t names = m->entries[half].name;

	m->nr -= half;
	memmove(m->entries, m->entries + half, m->nr * sizeof(*m->entries));
	for (i = 0; i < m->nr; i++)
		m->entries[i].name -= names;
	m->names_len -= names;
	memmove(m->names, m->names + names, m->names_len);
}

static int add_entry(struct perf_map *m, uint64_t start, uint64_t size, const char *name, size_t len)
{
	struct entry *entries;
	char *names;

	if (m->nr == ENTRIES_MAX)
		drop_older_half(m);
	entries = grow(m->entries, &m->cap, m->nr, 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	m->entries = entries;
	names = grow(m->names, &m->names_cap, m->names_len, len + 1, 1);
	if (!names)
		return -ENOMEM;
	m->names = names;
	m->entries[m->nr++] = (struct entry){ start, start + size, (uint32_t)m->names_len };
	memcpy(m->names + m->names_len, name, len);
	m->names[m->names_len + len] = 0;
	m->names_len += len + 1;
	return 0;
}

static int add_line(struct perf_map *m, const char *p, const char *end)
{
	uint64_t start, size, last;
	size_t len;

	if (!number(&p, end, &start) || !number(&p, end, &size))
		return 0;
	len = strnlen(p, (size_t)(end - p));
	if (len && p[len - 1] == '\r')
		len--;
	if (!len || !size || __builtin_add_overflow(start, size, &last))
		return 0;
	return add_entry(m, start, size, p, len);
}

int perf_map_feed(struct perf_map *m, const char *text, size_t len)
{
	const char *end = text + len, *newline;
	size_t piece, room;
	int rc;

	while (text < end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		piece = (size_t)((newline ? newline : end) - text);
		room = sizeof(m->line) - m->line_len;
		room = piece < room ? piece : room;
		memcpy(m->line + m->line_len, text, room);
		m->line_len += room;
		text += piece;
		if (!newline)
			break;
		rc = add_line(m, m->line, m->line + m->line_len);
		if (rc)
			return rc;
		m->line_len = 0;
		text++;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The entries that cover an address, as a heap: the latest line is the first. Some may have ended before. */
struct covering {
	const struct entry *entries;
	uint32_t *heap;
	size_t nr;
};

static bool is_later(const struct covering *c, size_t a, size_t b)
{
	return c->entries[c->heap[a]].name > c->entries[c->heap[b]].name;
}

static void swap(struct covering *c, size_t a, size_t b)
{
	uint32_t entry = c->heap[a];

	c->heap[a] = c->heap[b];
	c->heap[b] = entry;
}

static void push(struct covering *c, size_t entry)
{
	size_t i = c->nr++;

	c->heap[i] = (uint32_t)entry;
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

static void put_span(struct perf_map *m, uint64_t start, uint32_t entry)
{
	if (!m->nr_spans || m->spans[m->nr_spans - 1].entry != entry)
		m->spans[m->nr_spans++] = (struct span){ start, entry };
}

/* Go through the addresses at which something begins or ends. Two for each entry: so many spans there may be. */
static void sweep(struct perf_map *m, struct covering *c)
{
	const struct entry *e = m->entries;
	uint64_t addr = 0;
	size_t i = 0;

	while (i < m->nr || c->nr) {
		if (!c->nr)
			addr = e[i].start;
		while (i < m->nr && e[i].start <= addr)
			push(c, i++);
		while (c->nr && e[c->heap[0]].end <= addr)
			pop(c);
		put_span(m, addr, c->nr ? c->heap[0] : NO_ENTRY);
		if (c->nr)
			addr = e[c->heap[0]].end;
		if (c->nr && i < m->nr && e[i].start < addr)
			addr = e[i].start;
	}
}

/* Give back what @array has beyond @bytes, which are not 0. */
static void *trim(void *array, size_t bytes)
{
	void *fits = realloc(array, bytes);

	return fits ? fits : array;
}

int perf_map_finish(struct perf_map *m)
{
	struct covering c = { 0 };

	if (!m->nr)
		return 0;
	m->entries = trim(m->entries, m->nr * sizeof(*m->entries));
	m->names = trim(m->names, m->names_len);
	qsort(m->entries, m->nr, sizeof(*m->entries), by_start);
	c.entries = m->entries;
	c.heap = calloc(m->nr, sizeof(*c.heap));
	m->spans = calloc(2 * m->nr, sizeof(*m->spans));
	if (!c.heap || !m->spans) {
		free(c.heap);
		return -ENOMEM;
	}
	sweep(m, &c);
	free(c.heap);
	m->spans = trim(m->spans, m->nr_spans * sizeof(*m->spans));
	return 0;
}

bool perf_map_find(const struct perf_map *m, uint64_t addr, struct perf_map_symbol *out)
{
	size_t lo = 0, hi = m->nr_spans;
	const struct entry *e;

	/* The first one that begins above. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->spans[mid].start > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (!lo || m->spans[lo - 1].entry == NO_ENTRY)
		return false;
	e = &m->entries[m->spans[lo - 1].entry];
	*out = (struct perf_map_symbol){ m->names + e->name, e->start };
	return true;
}

size_t perf_map_memory(const struct perf_map *m)
{
	return m ? m->nr * sizeof(*m->entries) + m->names_len + m->nr_spans * sizeof(*m->spans) : 0;
}
