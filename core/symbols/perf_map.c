// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/perf_map.h"

#include "core/base/grow.h"
#include "core/symbols/code_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define LINE_LEN_MAX 4096 /* some names are whole signatures */
#define ENTRIES_MAX  (1u << 20)

struct perf_map {
	/* In the order of the file; perf_map_finish() sorts them. The id is the offset of the name in @names. */
	struct code_range *entries;
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	struct code_ranges owners; /* the entry of each address, after perf_map_finish() */

	/* The beginning of a line whose end has not been read yet; the part that does not fit is dropped. */
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
	code_ranges_release(&m->owners);
	free(m);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Read a hex number and the blanks behind it; moves *@p behind the blanks. Some compilers write "0x" before it. */
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

/* Keep the newer half: code that runs now was usually compiled last. */
static void drop_older_half(struct perf_map *m)
{
	size_t half = m->nr / 2, i;
	uint32_t names = m->entries[half].id;

	m->nr -= half;
	memmove(m->entries, m->entries + half, m->nr * sizeof(*m->entries));
	for (i = 0; i < m->nr; i++)
		m->entries[i].id -= names;
	m->names_len -= names;
	memmove(m->names, m->names + names, m->names_len);
}

static int add_entry(struct perf_map *m, uint64_t start, uint64_t size, const char *name, size_t len)
{
	struct code_range *entries;
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
	m->entries[m->nr++] = (struct code_range){ start, start + size, (uint32_t)m->names_len };
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

/* Give back the memory of @array beyond @bytes, which is not 0. */
static void *trim(void *array, size_t bytes)
{
	void *fits = realloc(array, bytes);

	return fits ? fits : array;
}

int perf_map_finish(struct perf_map *m)
{
	if (!m->nr)
		return 0;
	m->entries = trim(m->entries, m->nr * sizeof(*m->entries));
	m->names = trim(m->names, m->names_len);
	return code_ranges_index(m->entries, m->nr, &m->owners);
}

bool perf_map_find(const struct perf_map *m, uint64_t addr, struct perf_map_symbol *out)
{
	const struct code_range *e = code_ranges_find(&m->owners, addr);

	if (e)
		*out = (struct perf_map_symbol){ m->names + e->id, e->start };
	return e;
}

size_t perf_map_memory(const struct perf_map *m)
{
	return m ? m->nr * sizeof(*m->entries) + m->names_len + code_ranges_memory(&m->owners) : 0;
}
