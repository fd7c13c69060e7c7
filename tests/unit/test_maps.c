// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/maps.h"
#include "tests/unit/unit.h"

static struct maps_budget budget = { .max = 1u << 20 };

static struct mapped_file file_a = { "/a", 8, 1, 11 }, file_b = { "/b", 8, 1, 12 };

static void insert(struct maps **m, uint64_t start, uint64_t end, uint64_t pgoff, const struct mapped_file *file)
{
	const struct mapping what = { start, end, pgoff, file };

	ck_assert_int_eq(maps_insert(m, &what), 0);
}

/* Check after each step: sorted, no empty ranges, no overlaps, within its memory. */
static void check_list(const struct maps *m)
{
	size_t i;

	ck_assert_uint_le(m->nr, m->cap);
	for (i = 0; i < m->nr; i++) {
		ck_assert_uint_lt(m->v[i].start, m->v[i].end);
		if (i)
			ck_assert_uint_le(m->v[i - 1].end, m->v[i].start);
	}
}

/* [start, end) at page offset 0 of file b, put over [10, 20) at page offset 100 and [30, 40) at 200 of file
 * a. */
static const struct {
	uint64_t start, end;
	int rc;
	struct {
		uint64_t start, end, pgoff;
		bool new;
	} left[5]; /* ends with an empty one */
} over[] = {
	{ 0, 5, 0, { { 0, 5, 0, true }, { 10, 20, 100 }, { 30, 40, 200 } } },
	{ 0, 10, 0, { { 0, 10, 0, true }, { 10, 20, 100 }, { 30, 40, 200 } } },
	{ 0, 11, 0, { { 0, 11, 0, true }, { 11, 20, 101 }, { 30, 40, 200 } } },
	{ 0, 20, 0, { { 0, 20, 0, true }, { 30, 40, 200 } } },
	{ 0, 25, 0, { { 0, 25, 0, true }, { 30, 40, 200 } } },
	{ 0, 35, 0, { { 0, 35, 0, true }, { 35, 40, 205 } } },
	{ 0, 99, 0, { { 0, 99, 0, true } } },
	{ 0, UINT64_MAX, 0, { { 0, UINT64_MAX, 0, true } } },
	{ 10, 11, 0, { { 10, 11, 0, true }, { 11, 20, 101 }, { 30, 40, 200 } } },
	{ 10, 20, 0, { { 10, 20, 0, true }, { 30, 40, 200 } } },
	{ 10, 40, 0, { { 10, 40, 0, true } } },
	{ 14, 16, 0, { { 10, 14, 100 }, { 14, 16, 0, true }, { 16, 20, 106 }, { 30, 40, 200 } } },
	{ 15, 20, 0, { { 10, 15, 100 }, { 15, 20, 0, true }, { 30, 40, 200 } } },
	{ 19, 31, 0, { { 10, 19, 100 }, { 19, 31, 0, true }, { 31, 40, 201 } } },
	{ 20, 30, 0, { { 10, 20, 100 }, { 20, 30, 0, true }, { 30, 40, 200 } } },
	{ 22, 28, 0, { { 10, 20, 100 }, { 22, 28, 0, true }, { 30, 40, 200 } } },
	{ 39, 40, 0, { { 10, 20, 100 }, { 30, 39, 200 }, { 39, 40, 0, true } } },
	{ 40, 50, 0, { { 10, 20, 100 }, { 30, 40, 200 }, { 40, 50, 0, true } } },
	{ UINT64_MAX - 1,
	  UINT64_MAX,
	  0,
	  { { 10, 20, 100 }, { 30, 40, 200 }, { UINT64_MAX - 1, UINT64_MAX, 0, true } } },
	/* refused, without change */
	{ 0, 0, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
	{ 15, 15, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
	{ 16, 15, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
	{ 35, 12, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
	{ 5, 0, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
	{ UINT64_MAX, UINT64_MAX, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
	{ UINT64_MAX, 0, -EINVAL, { { 10, 20, 100 }, { 30, 40, 200 } } },
};

START_TEST(test_insert)
{
	const struct mapping what = { over[_i].start, over[_i].end, 0, &file_b };
	struct maps *m = maps_new(&budget);
	size_t i;

	ck_assert_ptr_nonnull(m);
	insert(&m, 30, 40, 200, &file_a);
	insert(&m, 10, 20, 100, &file_a);
	ck_assert_int_eq(maps_insert(&m, &what), over[_i].rc);
	check_list(m);
	for (i = 0; over[_i].left[i].end; i++) {
		ck_assert_uint_lt(i, m->nr);
		ck_assert_uint_eq(m->v[i].start, over[_i].left[i].start);
		ck_assert_uint_eq(m->v[i].end, over[_i].left[i].end);
		ck_assert_uint_eq(m->v[i].pgoff, over[_i].left[i].pgoff);
		ck_assert_ptr_eq(m->v[i].file, over[_i].left[i].new ? &file_b : &file_a);
	}
	ck_assert_uint_eq(m->nr, i);
	maps_unref(m);
}
END_TEST

static const struct {
	uint64_t addr;
	int at; /* index of the mapping, -1: none */
} finds[] = {
	{ 0, 0 },
	{ 1, 0 },
	{ 9, 0 },
	{ 10, -1 },
	{ 11, -1 },
	{ 19, -1 },
	{ 20, 1 },
	{ 29, 1 },
	{ 30, 2 },
	{ 31, 2 },
	{ 39, 2 },
	{ 40, -1 },
	{ 1000, -1 },
	{ UINT64_MAX - 11, -1 },
	{ UINT64_MAX - 10, 3 },
	{ UINT64_MAX - 1, 3 },
	{ UINT64_MAX, -1 }, /* the last byte is in no range that has an end */
};

START_TEST(test_find)
{
	struct maps *m = maps_new(&budget);
	const struct mapping *found;

	ck_assert_ptr_null(maps_find(m, finds[_i].addr));
	insert(&m, 0, 10, 0, &file_a);
	insert(&m, 20, 30, 0, &file_a);
	insert(&m, 30, 40, 0, &file_b);
	insert(&m, UINT64_MAX - 10, UINT64_MAX, 0, &file_b);
	found = maps_find(m, finds[_i].addr);
	if (finds[_i].at < 0)
		ck_assert_ptr_null(found);
	else
		ck_assert_ptr_eq(found, &m->v[finds[_i].at]);
	maps_unref(m);
}
END_TEST

/* The view of test_random(): for each byte the file, and the offset in it. */
struct byte {
	const struct mapped_file *file;
	uint64_t offset;
};

enum { SPACE = 200 };

static void compare(const struct maps *m, uint64_t base, const struct byte *bytes)
{
	uint64_t i;

	check_list(m);
	for (i = 0; i < SPACE; i++) {
		const struct mapping *found = maps_find(m, base + i);

		ck_assert_ptr_eq(found ? found->file : NULL, bytes[i].file);
		if (found)
			ck_assert_uint_eq(found->pgoff + (base + i - found->start), bytes[i].offset);
	}
}

/* Random ranges against a map of single bytes, at the bottom, in the middle and at the top of the address
 * space. */
START_TEST(test_random)
{
	static const uint64_t bases[] = { 0, 0x7f0000000000, UINT64_MAX - SPACE };
	uint64_t base = bases[_i % 3], start, len, pgoff, i;
	unsigned int seed = 1 + (unsigned int)_i, step;
	struct maps *m = maps_new(&budget), *before = NULL;
	struct byte bytes[SPACE] = { 0 }, old[SPACE];
	struct mapped_file files[7] = { 0 };

	for (i = 0; i < 7; i++)
		files[i].path = "/f";
	for (step = 0; step < 300; step++) {
		struct mapping what;

		start = (uint64_t)rand_r(&seed) % SPACE;
		len = (uint64_t)rand_r(&seed) % (_i % 2 ? 12 : SPACE);
		if (start + len > SPACE)
			len = SPACE - start;
		pgoff = (uint64_t)rand_r(&seed);
		what = (struct mapping){ base + start, base + start + len, pgoff, &files[rand_r(&seed) % 7] };
		ck_assert_int_eq(maps_insert(&m, &what), len ? 0 : -EINVAL);
		for (i = start; i < start + len; i++)
			bytes[i] = (struct byte){ what.file, pgoff + i - start };
		compare(m, base, bytes);
		if (before)
			compare(before, base, old);
		if (step % 50 == 20) { /* a fork: the other list keeps its mappings */
			maps_unref(before);
			before = maps_ref(m);
			memcpy(old, bytes, sizeof(old));
		}
	}
	maps_unref(before);
	maps_unref(m);
}
END_TEST

START_TEST(test_copy_on_write)
{
	struct maps *parent = maps_new(&budget), *child, *other;
	const struct maps *shared = parent;
	const struct mapping empty = { 5, 5, 0, &file_a };

	insert(&parent, 10, 20, 0, &file_a);
	ck_assert_ptr_eq(parent, shared); /* not shared yet: changed in place */
	child = maps_ref(parent);
	other = maps_ref(parent);
	ck_assert_uint_eq(parent->refs, 3);

	ck_assert_int_eq(maps_insert(&child, &empty), -EINVAL);
	ck_assert_ptr_eq(child, shared); /* no change, no copy */
	insert(&child, 12, 14, 0, &file_b);
	ck_assert_ptr_ne(child, shared);
	ck_assert_uint_eq(child->refs, 1);
	ck_assert_uint_eq(child->nr, 3);
	ck_assert_uint_eq(parent->refs, 2);
	ck_assert_uint_eq(parent->nr, 1);
	ck_assert_ptr_eq(maps_find(parent, 12)->file, &file_a);
	ck_assert_ptr_eq(maps_find(child, 12)->file, &file_b);

	insert(&parent, 30, 40, 0, &file_b); /* the parent may be the one that changes */
	ck_assert_ptr_eq(other, shared);
	ck_assert_uint_eq(other->refs, 1);
	ck_assert_uint_eq(other->nr, 1);
	ck_assert_ptr_null(maps_find(other, 30));
	ck_assert_ptr_null(maps_find(child, 30));
	ck_assert_uint_eq(parent->nr, 2);

	insert(&other, 0, 50, 0, &file_b); /* not shared any more: changed in place */
	ck_assert_ptr_eq(other, shared);
	ck_assert_uint_eq(other->nr, 1);
	maps_unref(parent);
	maps_unref(child);
	maps_unref(other);
}
END_TEST

/* An empty list can be shared, too. */
START_TEST(test_copy_empty)
{
	struct maps *a = maps_new(&budget), *b = maps_ref(a);

	insert(&b, 1, 2, 0, &file_a);
	ck_assert_ptr_ne(a, b);
	ck_assert_uint_eq(a->nr, 0);
	ck_assert_uint_eq(b->nr, 1);
	maps_unref(a);
	maps_unref(b);
	maps_unref(NULL);
}
END_TEST

/* Many mappings, with ascending and with descending addresses. */
START_TEST(test_many)
{
	enum { NR = 16384 };
	struct maps *m = maps_new(&budget);
	uint64_t i, at;

	for (i = 0; i < NR; i++) {
		at = (_i ? NR - i : i) * 0x2000;
		insert(&m, at, at + 0x1000, i, &file_a);
	}
	check_list(m);
	ck_assert_uint_eq(m->nr, NR);
	for (i = 0; i < NR; i++) {
		at = (_i ? NR - i : i) * 0x2000;
		ck_assert_uint_eq(maps_find(m, at + 0xfff)->pgoff, i);
		ck_assert_ptr_null(maps_find(m, at + 0x1000));
	}
	maps_unref(m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("maps");
	TCase *t = tcase_create("maps");

	tcase_set_timeout(t, 60);
	tcase_add_loop_test(t, test_insert, 0, ARRAY_SIZE(over));
	tcase_add_loop_test(t, test_find, 0, ARRAY_SIZE(finds));
	tcase_add_loop_test(t, test_random, 0, unit_times(12));
	tcase_add_test(t, test_copy_on_write);
	tcase_add_test(t, test_copy_empty);
	tcase_add_loop_test(t, test_many, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
