// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for perf_map_feed(), _finish() and _find(). Input: the size of the pieces that are fed (one byte),
 * then the text.
 *
 * How the text is cut must make no difference: it is fed whole, too, and the answers are compared. The text's own
 * numbers are the addresses that are looked up. The last line counts, whatever came before.
 */
#include "tests/fuzz/fuzz.h"

#include "core/symbols/perf_map.h"

#include <stdlib.h>
#include <string.h>

#define MAX_LOOKUPS 256
#define LINE_KEPT   4096

/* Each piece has its own memory, so that the sanitizer finds reads beyond it. */
static struct perf_map *load(const char *text, size_t size, size_t piece)
{
	struct perf_map *m = perf_map_new();
	size_t at, len;
	char *copy;

	check(m);
	for (at = 0; at < size; at += len) {
		len = piece < size - at ? piece : size - at;
		copy = malloc(len);
		check(copy);
		memcpy(copy, text + at, len);
		check(!perf_map_feed(m, copy, len));
		free(copy);
	}
	check(!perf_map_finish(m));
	return m;
}

static void look_up(const struct perf_map *a, const struct perf_map *b, uint64_t addr)
{
	struct perf_map_symbol x = { 0 }, y = { 0 };
	bool found = perf_map_find(a, addr, &x);

	check(perf_map_find(b, addr, &y) == found);
	if (!found)
		return;
	check(x.start <= addr && x.start == y.start);
	check(*x.name && strlen(x.name) < LINE_KEPT && !strchr(x.name, '\n'));
	check(!strcmp(x.name, y.name));
}

/* The number at the beginning of @text, up to @end. */
static uint64_t digits(const char *text, const char *end)
{
	uint64_t v = 0;

	for (; text < end && strchr("0123456789abcdef", *text) && *text; text++)
		v = v << 4 | (unsigned int)((*text & 0xf) + (*text > '9' ? 9 : 0));
	return v;
}

/* The last line of the text gives the symbol of all its addresses, whatever came before. */
static void check_last(const char *text, size_t size, const struct perf_map *all)
{
	const char *newline = size ? memrchr(text, '\n', size) : NULL, *line;
	struct perf_map_symbol x = { 0 }, y = { 0 };
	struct perf_map *last;
	uint64_t addr;

	if (!newline)
		return;
	line = memrchr(text, '\n', (size_t)(newline - text));
	line = line ? line + 1 : text;
	last = load(line, (size_t)(newline + 1 - line), size);
	addr = digits(line, newline);
	if (perf_map_find(last, addr, &x))
		check(perf_map_find(all, addr, &y) && x.start == y.start && !strcmp(x.name, y.name));
	perf_map_free(last);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data + 1, *end = (const char *)data + size;
	struct perf_map *whole, *pieces;
	size_t i, step;
	uint64_t addr;

	if (size < 2)
		return -1;
	size--;
	whole = load(text, size, size);
	pieces = load(text, size, data[0] ? data[0] : 1);
	check_last(text, size, whole);
	step = size / MAX_LOOKUPS + 1;
	for (i = 0; i < size; i += step) {
		addr = digits(text + i, end);
		look_up(whole, pieces, addr);
		look_up(whole, pieces, addr - 1);
		look_up(whole, pieces, addr + 16);
	}
	look_up(whole, pieces, UINT64_MAX);
	perf_map_free(whole);
	perf_map_free(pieces);
	return 0;
}
