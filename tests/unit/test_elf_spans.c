// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_spans.h"
#include "tests/unit/unit.h"

#include <stdlib.h>
#include <string.h>

enum { SMALL = 100, LARGE = 5000 }; /* few are compared, many are sorted by digits */

/* The names: "a", "b", ... */
static char strings[2 * 26];
static const struct file_bytes file = { .fd = -1, .memory = strings, .size = sizeof(strings) };

static void name_them(struct elf_names *n)
{
	size_t i;

	for (i = 0; i < sizeof(strings); i += 2)
		memcpy(strings + i, (char[]){ (char)('a' + i / 2), 0 }, 2);
	*n = (struct elf_names){ .strings = { { .b = &file, .size = sizeof(strings) } }, .nr_strings = 1 };
}

static uint64_t rnd(uint64_t *state)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return *state >> 16 ^ *state << 32;
}

/* @bits: size of an address. With few bits, many symbols begin at the same address. */
static struct elf_entry any(uint64_t *state, unsigned int bits)
{
	uint64_t addr = rnd(state) & (UINT64_MAX >> (64 - bits));

	return (struct elf_entry){
		.addr = addr,
		.len = (uint32_t)(rnd(state) % 64 % (UINT64_MAX - addr)) + 1,
		.name = (uint32_t)(rnd(state) % 26 * 2),
		.sized = rnd(state) % 4,
	};
}

static void shuffle(struct elf_entry *v, size_t nr, uint64_t *state)
{
	size_t i, j;

	for (i = nr - 1; i > 0; i--) {
		struct elf_entry e = v[i];

		j = rnd(state) % (i + 1);
		v[i] = v[j];
		v[j] = e;
	}
}

static const struct {
	size_t nr;
	unsigned int bits;
} shapes[] = {
	{ SMALL, 8 },  { LARGE, 8 },  { LARGE, 11 }, { LARGE, 12 },
	{ LARGE, 22 }, { LARGE, 23 }, { LARGE, 33 }, { LARGE, 63 },
};

/* The same spans for any order of the file, sorted and disjoint. */
START_TEST(test_any_order)
{
	size_t nr = shapes[_i].nr, i;
	struct elf_entry *v = calloc(nr, sizeof(*v)), *w = calloc(nr, sizeof(*w));
	struct elf_spans a = { 0 }, b = { 0 };
	uint64_t state = (uint64_t)_i;
	struct elf_names names;

	ck_assert(v && w);
	name_them(&names);
	for (i = 0; i < nr; i++)
		v[i] = any(&state, shapes[_i].bits);
	memcpy(w, v, nr * sizeof(*v));
	shuffle(w, nr, &state);
	ck_assert_int_eq(elf_spans_make(v, nr, &names, &a), 0);
	ck_assert_int_eq(elf_spans_make(w, nr, &names, &b), 0);
	ck_assert_uint_gt(a.nr, 0);
	ck_assert_uint_eq(a.nr, b.nr);
	for (i = 0; i < a.nr; i++) {
		ck_assert(a.v[i].start == b.v[i].start && a.v[i].len == b.v[i].len);
		ck_assert(a.v[i].back == b.v[i].back && a.v[i].name == b.v[i].name);
		if (i)
			ck_assert_uint_ge(a.v[i].start - a.v[i - 1].start, a.v[i - 1].len);
	}
	free(v);
	free(w);
	free(a.v);
	free(b.v);
	elf_names_release(&names);
}
END_TEST

/* Adjacent symbols, from the last to the first: each has its own address. */
START_TEST(test_each)
{
	size_t nr = shapes[_i].nr, i;
	struct elf_entry *v = calloc(nr, sizeof(*v));
	uint64_t step = 1 + (UINT64_MAX >> (64 - shapes[_i].bits)) / nr;
	uint32_t len = step < UINT32_MAX ? (uint32_t)step : UINT32_MAX;
	struct elf_spans s = { 0 };
	struct elf_names names;

	ck_assert_ptr_nonnull(v);
	name_them(&names);
	for (i = 0; i < nr; i++)
		v[nr - 1 - i] = (struct elf_entry){ .addr = i * step, .len = len, .name = i % 26 * 2, .sized = true };
	ck_assert_int_eq(elf_spans_make(v, nr, &names, &s), 0);
	for (i = 0; i < nr; i++) {
		const struct elf_span *found = elf_spans_find(&s, i * step + len - 1);

		ck_assert_ptr_nonnull(found);
		ck_assert_uint_eq(found->start - found->back, i * step);
		ck_assert_uint_eq(found->name, i % 26 * 2);
	}
	free(v);
	free(s.v);
	elf_names_release(&names);
}
END_TEST

/*
 * The best of the symbols at one address gets its bytes. Names take time to read, so a symbol after a million others is
 * not compared.
 */
START_TEST(test_many_aliases)
{
	size_t nr = _i ? 1200000 : 1000, i;
	struct elf_entry *v = calloc(nr, sizeof(*v));
	struct elf_spans s = { 0 };
	struct elf_names names;

	ck_assert_ptr_nonnull(v);
	name_them(&names);
	for (i = 0; i < nr; i++)
		v[i] = (struct elf_entry){
			.addr = 1, .len = (uint32_t)(nr - i), .name = (uint32_t)(1 + i % 2) * 2, .sized = true
		};
	v[nr - 1].name = 0;
	ck_assert_int_eq(elf_spans_make(v, nr, &names, &s), 0);
	ck_assert_uint_eq(elf_spans_find(&s, 1)->name, (_i ? 2 : 0));
	free(v);
	free(s.v);
	elf_names_release(&names);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_spans");
	TCase *tc = tcase_create("elf_spans");

	tcase_add_loop_test(tc, test_any_order, 0, ARRAY_SIZE(shapes));
	tcase_add_loop_test(tc, test_each, 0, ARRAY_SIZE(shapes));
	tcase_add_loop_test(tc, test_many_aliases, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
