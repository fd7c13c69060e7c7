// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_spans.h"

#include "core/base/faults.h"
#include "core/base/grow.h"
#include "core/base/search.h"
#include "core/files/alias.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define DIGIT_BITS 11 /* addresses of a file of 100 MB have three such digits */
#define DIGITS     (1u << DIGIT_BITS)

#define NAMES_BYTES_MAX (512u << 20) /* of names that are compared, each counted with NAME_COST more */
#define NAME_COST       512          /* because most names take a system call */

/*
 * The sweep that turns entries into disjoint spans. Among the entries open at a position, the one that began last
 * owns it. Entries are opened in the order of their addresses, so this one is the top of a stack. Each entry is pushed
 * and popped once, so the sweep takes linear time for any input.
 */
struct sweep {
	const struct elf_entry *entries;
	size_t nr;
	const struct elf_names *names;
	struct elf_spans *out;
	struct elf_entry *stack; /* overwrites the part of entries that was opened already */
	size_t depth;
	uint64_t at; /* spans are complete up to here */
	/* The names of two aliases to compare, and their numbers, so that the better one of many is read once. */
	char texts[2][ALIAS_COMPARED + 1];
	uint32_t loaded[2];
	size_t names_bytes; /* see NAMES_BYTES_MAX */
};

/* By address; at one address, first those with a size, the longest first. The name makes the order unambiguous. */
static int by_address(const void *va, const void *vb)
{
	const struct elf_entry *a = va, *b = vb;

	if (a->addr != b->addr)
		return a->addr < b->addr ? -1 : 1;
	if (a->sized != b->sized)
		return a->sized ? -1 : 1;
	if (a->len != b->len)
		return a->len > b->len ? -1 : 1;
	return (a->name > b->name) - (a->name < b->name);
}

/* Stable sort by one digit of the address. */
static void sort_by_digit(const struct elf_entry *from, size_t nr, unsigned int shift, struct elf_entry *to)
{
	uint32_t next[DIGITS] = { 0 }, sum = 0, count;
	size_t i;

	for (i = 0; i < nr; i++)
		next[from[i].addr >> shift & (DIGITS - 1)]++;
	for (i = 0; i < DIGITS; i++) {
		count = next[i];
		next[i] = sum;
		sum += count;
	}
	for (i = 0; i < nr; i++)
		to[next[from[i].addr >> shift & (DIGITS - 1)]++] = from[i];
}

/* Stable sort by address alone: from the last digit on, but only the digits that differ. */
static void sort_by_addresses(struct elf_entry *entries, size_t nr, struct elf_entry *other)
{
	struct elf_entry *from = entries, *to = other, *sorted;
	uint64_t differ = 0;
	unsigned int shift;
	size_t i;

	for (i = 1; i < nr; i++)
		differ |= entries[i].addr ^ entries[0].addr;
	for (shift = 0; shift < 64; shift += DIGIT_BITS) {
		if (!(differ >> shift & (DIGITS - 1)))
			continue;
		sort_by_digit(from, nr, shift, to);
		sorted = to;
		to = from;
		from = sorted;
	}
	if (from != entries)
		memcpy(entries, from, nr * sizeof(*entries));
}

static size_t same_address(const struct elf_entry *entries, size_t nr, size_t from)
{
	size_t to = from + 1;

	while (to < nr && entries[to].addr == entries[from].addr)
		to++;
	return to;
}

/* Sort large tables digit by digit: comparing took more than half of the time of a lookup in a large library. */
static void sort(struct elf_entry *entries, size_t nr)
{
	struct elf_entry *other = nr >= DIGITS ? malloc(nr * sizeof(*other)) : NULL;
	size_t from, to;

	if (!other) {
		qsort(entries, nr, sizeof(*entries), by_address);
		return;
	}
	sort_by_addresses(entries, nr, other);
	free(other);
	for (from = 0; from < nr; from = to) {
		to = same_address(entries, nr, from);
		if (to - from > 1)
			qsort(entries + from, to - from, sizeof(*entries), by_address);
	}
}

static const char *alias_name(struct sweep *s, int slot, uint32_t name)
{
	if (s->loaded[slot] != name) {
		elf_names_read(s->names, name, s->texts[slot], sizeof(s->texts[slot]));
		s->names_bytes += NAME_COST + strlen(s->texts[slot]);
	}
	s->loaded[slot] = name;
	return s->texts[slot];
}

/* Once NAMES_BYTES_MAX is used up, read no more names: @b, the best so far, stays the best. */
static bool better(struct sweep *s, const struct elf_entry *a, const struct elf_entry *b)
{
	struct alias x = { .bind = (enum symbol_bind)a->bind }, y = { .bind = (enum symbol_bind)b->bind };

	if (s->names_bytes > NAMES_BYTES_MAX)
		return false;
	x.name = alias_name(s, 0, a->name);
	y.name = alias_name(s, 1, b->name);
	if (!*x.name || !*y.name)
		return *x.name;
	return alias_better(&x, &y);
}

static uint64_t entry_end(const struct elf_entry *e)
{
	return e->addr + e->len;
}

static int add_span(struct elf_spans *out, uint64_t start, uint64_t end, const struct elf_entry *of)
{
	struct elf_span *v = grow(out->v, &out->cap, out->nr, 1, sizeof(*v));

	if (!v)
		return -ENOMEM;
	out->v = v;
	v[out->nr++] =
		(struct elf_span){ start, (uint32_t)(end - start), (uint32_t)(start - of->addr), of->name, of->sized };
	return 0;
}

/* Give [@s->at, @upto) to its owners. Afterwards no entry on top of the stack ends at or before @upto. */
static int sweep_to(struct sweep *s, uint64_t upto)
{
	while (s->depth) {
		struct elf_entry *top = &s->stack[s->depth - 1];
		uint64_t end = entry_end(top) < upto ? entry_end(top) : upto;
		int rc = 0;

		if (end > s->at) {
			rc = add_span(s->out, s->at, end, top);
			s->at = end;
		}
		if (rc)
			return rc;
		if (entry_end(top) > upto)
			break;
		s->depth--;
	}
	s->at = upto;
	return 0;
}

/*
 * Open the entries [@from, @to), which begin at one address, the longest first. When the loop comes to any of them but
 * the first, the last one on the stack is the best of all that are at least as long, so it owns the bytes from the end
 * of this entry to the end of the previous one.
 */
static void sweep_open(struct sweep *s, size_t from, size_t to)
{
	const struct elf_entry *entries = s->entries;
	uint64_t next = to < s->nr ? entries[to].addr : UINT64_MAX;
	bool sized = entries[from].sized, pushed = false;
	size_t i;

	if (!sized && s->depth)
		return;
	for (i = from; i < to && entries[i].sized == sized; i++) {
		struct elf_entry e = entries[i];

		if (!sized && next - e.addr < e.len)
			e.len = (uint32_t)(next - e.addr);
		if (!pushed || better(s, &e, &s->stack[s->depth - 1])) {
			/* At equal length only the winner owns anything, so replace the loser. */
			if (pushed && s->stack[s->depth - 1].len == e.len)
				s->depth--;
			s->stack[s->depth++] = e;
			pushed = true;
		}
	}
}

static int sweep_all(struct sweep *s)
{
	size_t from, to;
	int rc = 0;

	for (from = 0; !rc && from < s->nr; from = to) {
		to = same_address(s->entries, s->nr, from);
		rc = sweep_to(s, s->entries[from].addr);
		if (!rc)
			sweep_open(s, from, to);
	}
	return rc ? rc : sweep_to(s, UINT64_MAX);
}

/* About this many names are read: those of aliases, each once. */
static size_t count_aliases(const struct elf_entry *entries, size_t nr)
{
	size_t i, n = 0;

	for (i = 1; i < nr; i++)
		n += entries[i].addr == entries[i - 1].addr;
	return 2 * n;
}

int elf_spans_make(struct elf_entry *entries, size_t nr, struct elf_names *names, struct elf_spans *out)
{
	struct sweep *s = calloc(1, sizeof(*s));
	struct elf_span *trimmed;
	int rc;

	if (!s)
		return fault(-ENOMEM);
	s->entries = s->stack = entries;
	s->nr = nr;
	s->names = names;
	s->out = out;
	s->loaded[0] = s->loaded[1] = UINT32_MAX;
	if (nr)
		sort(entries, nr);
	elf_names_hold(names, count_aliases(entries, nr));
	rc = sweep_all(s);
	elf_names_drop(names);
	free(s);
	trimmed = out->nr ? realloc(out->v, out->nr * sizeof(*trimmed)) : NULL;
	if (trimmed) {
		out->v = trimmed;
		out->cap = out->nr;
	}
	return rc;
}

const struct elf_span *elf_spans_last(const struct elf_spans *s, uint64_t addr)
{
	size_t i = first_above(s->v, s->nr, start, addr);

	return i ? &s->v[i - 1] : NULL;
}

const struct elf_span *elf_spans_find(const struct elf_spans *s, uint64_t addr)
{
	const struct elf_span *last = elf_spans_last(s, addr);

	return last && elf_span_has(last, addr) ? last : NULL;
}
