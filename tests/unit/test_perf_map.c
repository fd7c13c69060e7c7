// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/perf_map.h"
#include "tests/unit/unit.h"

#include <inttypes.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

static const char *show(bool found, uint64_t addr, const struct perf_map_symbol *s)
{
	static char text[8192];

	if (!found)
		return "-";
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, s->name, addr - s->start);
	return text;
}

static const struct {
	const char *text;
	uint64_t addr;
	const char *found;
} texts[] = {
	{ "1000 10 f\n", 0x1000, "f+0x0" },
	{ "1000 10 f\n", 0x100f, "f+0xf" },
	{ "1000 10 LazyCompile:~f /a b.js:1\n", 0x1001, "LazyCompile:~f /a b.js:1+0x1" },
	{ "0x1000 0x10 f\n", 0x100f, "f+0xf" },
	{ "7F00ABCDEF00 1A f\n", 0x7f00abcdef19, "f+0x19" },
	{ "0000000000001000 00000010 f\n", 0x1000, "f+0x0" },
	{ "0000000000000000001000 10 f\n", 0x1000, "f+0x0" },
	{ "1000\t10\tf\n", 0x1000, "f+0x0" },
	{ "1000  10  f \n", 0x1000, "f +0x0" },
	{ "1000 10 f\r\n", 0x1000, "f+0x0" },
	{ "\n\nx\n1000 10 f\n", 0x1000, "f+0x0" },
	{ "0 10 f\n", 0, "f+0x0" },
	{ "ffffffffffffff00 ff f\n", 0xfffffffffffffffe, "f+0xfe" },
	{ "1000 10 \033[31mf\001\n", 0x1000, "\033[31mf\001+0x0" }, /* the report makes it safe to print */
	{ "1000 10 \xff\xfe\n", 0x1000, "\xff\xfe+0x0" },
	/* no symbol */
	{ "", 0x1000, "-" },
	{ "\n", 0x1000, "-" },
	{ "1000 10 f\n", 0xfff, "-" },
	{ "1000 10 f\n", 0x1010, "-" },
	{ "1000 10 f\n", 0, "-" },
	{ "1000 10 f\n", UINT64_MAX, "-" },
	{ "1000 10 f", 0x1000, "-" }, /* still being written */
	{ "1000 0 f\n", 0x1000, "-" },
	{ "1000 10\n", 0x1000, "-" },
	{ "1000 10 \n", 0x1000, "-" },
	{ "1000 10 \r\n", 0x1000, "-" },
	{ "1000 f\n", 0x1000, "-" },
	{ "1000\n", 0x1000, "-" },
	{ " 1000 10 f\n", 0x1000, "-" },
	{ "-1000 10 f\n", 0x1000, "-" },
	{ "1000 -10 f\n", 0x1000, "-" },
	{ "1000,10,f\n", 0x1000, "-" },
	{ "0x 10 f\n", 0, "-" },
	{ "1000 0x f\n", 0x1000, "-" },
	{ "g000 10 f\n", 0, "-" },
	{ "100g 10 f\n", 0x100, "-" },
	{ "1000 1g f\n", 0x1000, "-" },
	{ "10000000000001000 10 f\n", 0x1000, "-" },
	{ "1000 10000000000000010 f\n", 0x1000, "-" },
	{ "ffffffffffffff00 100 f\n", 0xffffffffffffff00, "-" },
	{ "ffffffffffffffff 1 f\n", UINT64_MAX, "-" },
	{ "ffffffffffffffff ffffffffffffffff f\n", UINT64_MAX, "-" },
	{ "1 ffffffffffffffff f\n", 1, "-" },
	{ "0 ffffffffffffffff f\n", UINT64_MAX, "-" },
	{ "0 ffffffffffffffff f\n", UINT64_MAX - 1, "f+0xfffffffffffffffe" },
	/* the last line wins */
	{ "1000 10 old\n1000 10 new\n", 0x1008, "new+0x8" },
	{ "1000 100 old\n1040 10 new\n", 0x103f, "old+0x3f" },
	{ "1000 100 old\n1040 10 new\n", 0x1040, "new+0x0" },
	{ "1000 100 old\n1040 10 new\n", 0x104f, "new+0xf" },
	{ "1000 100 old\n1040 10 new\n", 0x1050, "old+0x50" },
	{ "1040 10 old\n1000 100 new\n", 0x1048, "new+0x48" },
	{ "1000 20 old\n1010 20 new\n", 0x1018, "new+0x8" },
	{ "1000 20 old\n1010 20 new\n", 0x100f, "old+0xf" },
	{ "1010 20 old\n1000 20 new\n", 0x1018, "new+0x18" },
	{ "1010 20 old\n1000 20 new\n", 0x1020, "old+0x10" },
	{ "1000 10 a\n1010 10 b\n", 0x1010, "b+0x0" },
	{ "1000 10 a\n1020 10 b\n", 0x1010, "-" },
	{ "1000 10 a\n1020 10 b\n", 0x1020, "b+0x0" },
	{ "1000 10 a\n1008 10 b\n1000 10 a\n", 0x1009, "a+0x9" },
	{ "1000 30 a\n1010 10 b\n1018 30 c\n1000 11 d\n", 0x1017, "b+0x7" },
	{ "1000 30 a\n1010 10 b\n1018 30 c\n1000 11 d\n", 0x1047, "c+0x2f" },
	{ "1000 10 old\n1000 0 new\n", 0x1000, "old+0x0" },
	{ "1000 10 old\n1000 10\n", 0x1000, "old+0x0" },
	{ "1000 10 old\n1000 10 new", 0x1000, "old+0x0" },
};

/* The text may end anywhere. */
START_TEST(test_text)
{
	static const size_t pieces[] = { 4096, 7, 1 };
	const char *text = texts[_i].text;
	size_t len = strlen(text), at, i, n;
	struct perf_map_symbol s;
	struct perf_map *m;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		m = perf_map_new();
		ck_assert_ptr_nonnull(m);
		for (at = 0; at < len; at += n) {
			n = len - at < pieces[i] ? len - at : pieces[i];
			ck_assert_int_eq(perf_map_feed(m, text + at, n), 0);
		}
		ck_assert_int_eq(perf_map_finish(m), 0);
		ck_assert_str_eq(show(perf_map_find(m, texts[_i].addr, &s), texts[_i].addr, &s), texts[_i].found);
		perf_map_free(m);
	}
}
END_TEST

/* Compare with an array over which each line paints. */
START_TEST(test_overlaps)
{
	enum { LINES = 200, ADDRESSES = 1000 };
	int start[LINES], owner[ADDRESSES], i, at, size;
	struct perf_map *m = perf_map_new();
	struct perf_map_symbol s;
	char line[64], want[64];

	srand((unsigned int)_i);
	for (at = 0; at < ADDRESSES; at++)
		owner[at] = -1;
	for (i = 0; i < LINES; i++) {
		start[i] = rand() % ADDRESSES;
		size = rand() % (1 + (rand() % 2 ? 20 : ADDRESSES - start[i]));
		size = size < ADDRESSES - start[i] ? size : ADDRESSES - start[i];
		for (at = start[i]; at < start[i] + size; at++)
			owner[at] = i;
		snprintf(line, sizeof(line), "%x %x f%d\n", start[i], size, i);
		ck_assert_int_eq(perf_map_feed(m, line, strlen(line)), 0);
	}
	ck_assert_int_eq(perf_map_finish(m), 0);
	for (at = 0; at < ADDRESSES; at++) {
		snprintf(want, sizeof(want), "-");
		if (owner[at] >= 0)
			snprintf(want, sizeof(want), "f%d+0x%x", owner[at], at - start[owner[at]]);
		ck_assert_str_eq(show(perf_map_find(m, (uint64_t)at, &s), (uint64_t)at, &s), want);
	}
	perf_map_free(m);
}
END_TEST

/* Senseless contents: @text, @times times, between two valid lines. */
static const struct {
	const char *text;
	size_t times, name; /* @name: not 0: address 0x5000 has a name */
	bool behind;        /* the second valid line is read */
	bool dropped;       /* the first one is dropped */
} bulks[] = {
	{ "", 0, 0, true },
	{ "x", 1 << 16, 0, false },      /* so much without newline also swallows the next line */
	{ "\n", 1 << 16, 0, true },      /* empty lines */
	{ "0 0 x\n", 1 << 16, 0, true }, /* of size 0 */
	{ "9 1 x\n", (1 << 20) - 2, 0, true },
	{ "9 1 x\n", 1 << 20, 0, true, true }, /* too many */
	{ "9 1 x\n", 2 << 20, 0, true, true },
	{ "5000 1 y", 1, 1, false },
	{ "\177\200\n", 1 << 16, 0, true },
};

START_TEST(test_bulk)
{
	size_t len = strlen(bulks[_i].text), i;
	struct perf_map *m;
	struct perf_map_symbol s;

	/* A million lines take valgrind minutes; only sanitizers run them. */
	if (bulks[_i].times > 1 << 16 && unit_below_valgrind())
		return;
	m = perf_map_new();
	ck_assert_int_eq(perf_map_feed(m, "1000 10 first\n", 14), 0);
	for (i = 0; i < bulks[_i].times; i++)
		ck_assert(!perf_map_feed(m, bulks[_i].text, len));
	ck_assert_int_eq(perf_map_feed(m, "2000 10 second\n", 15), 0);
	ck_assert_int_eq(perf_map_finish(m), 0);
	ck_assert_str_eq(show(perf_map_find(m, 0x1000, &s), 0x1000, &s), bulks[_i].dropped ? "-" : "first+0x0");
	ck_assert_str_eq(show(perf_map_find(m, 0x2000, &s), 0x2000, &s), bulks[_i].behind ? "second+0x0" : "-");
	ck_assert_int_eq(perf_map_find(m, 0x5000, &s), bulks[_i].name != 0);
	perf_map_free(m);
}
END_TEST

/* A map that is too long loses its older half, and no more. */
START_TEST(test_newer_half)
{
	enum { MOST = 1 << 20 };
	struct perf_map_symbol s;
	struct perf_map *m;
	char line[64];
	int i;

	if (unit_below_valgrind())
		return;
	m = perf_map_new();
	for (i = 0; i <= MOST; i++) {
		snprintf(line, sizeof(line), "%x 1 x\n", 0x1000 + i);
		ck_assert_int_eq(perf_map_feed(m, line, strlen(line)), 0);
	}
	ck_assert_int_eq(perf_map_finish(m), 0);
	ck_assert(!perf_map_find(m, 0x1000, &s));
	ck_assert(!perf_map_find(m, 0x1000 + MOST / 2 - 1, &s));
	ck_assert(perf_map_find(m, 0x1000 + MOST / 2, &s));
	ck_assert(perf_map_find(m, 0x1000 + MOST, &s));
	perf_map_free(m);
}
END_TEST

/* The name is truncated, the next line is not. */
START_TEST(test_long_line)
{
	size_t len = (size_t)1 << 20;
	char *text = malloc(len + 32);
	struct perf_map *m = perf_map_new();
	struct perf_map_symbol s;

	ck_assert_ptr_nonnull(text);
	memset(text, 'n', len);
	memcpy(text, "1000 10 ", 8);
	memcpy(text + len, "\n2000 10 g\n", 12);
	ck_assert_int_eq(perf_map_feed(m, text, len + 11), 0);
	ck_assert_int_eq(perf_map_finish(m), 0);
	ck_assert(perf_map_find(m, 0x1000, &s));
	ck_assert_uint_eq(strlen(s.name), 4096 - 8);
	ck_assert_uint_eq(strspn(s.name, "n"), 4096 - 8);
	ck_assert(perf_map_find(m, 0x2000, &s));
	ck_assert_str_eq(s.name, "g");
	perf_map_free(m);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_map");
	TCase *tc = tcase_create("perf_map");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_text, 0, ARRAY_SIZE(texts));
	tcase_add_loop_test(tc, test_overlaps, 0, 20);
	tcase_add_loop_test(tc, test_bulk, 0, ARRAY_SIZE(bulks));
	tcase_add_test(tc, test_newer_half);
	tcase_add_test(tc, test_long_line);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
