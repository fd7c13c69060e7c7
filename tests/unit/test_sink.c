// SPDX-License-Identifier: Apache-2.0
#include "core/rows/sink.h"
#include "core/tasks/filter.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

static const struct filter all = { 0 };

/* Sets of each kind, made twice: sink_empty() frees the older set. */
static const struct sink_cfg cfgs[] = {
	{ &all, false, false },
	{ &all, true, false },
	{ &all, false, true },
	{ &all, true, true },
};

START_TEST(test_empty)
{
	const struct sink_cfg *c = &cfgs[_i];
	const struct stack none = { 0 };
	struct sink s = { 0 };
	size_t round, i;

	for (round = 0; round < 2; round++) {
		for (i = 0; i < ARRAY_SIZE(s.sets); i++) {
			struct row_set *set = &s.sets[i];

			ck_assert_int_eq(sink_empty(&s, (unsigned int)i, c), 0);
			ck_assert_uint_eq(rows_nr(set->samples), 0);
			ck_assert_uint_eq(rows_nr(set->intervals), 0);
			ck_assert_int_eq(set->compare != NULL, c->compares);
			ck_assert_int_eq(set->ring_intervals != NULL, c->adds);
			ck_assert_int_eq(row_add(set->samples, "a", 1, &none, &none, 1, 1), 0);
			ck_assert_int_eq(row_add(set->intervals, "a", 1, &none, &none, 1, 1), 0);
			if (c->adds)
				ck_assert_int_eq(row_add(set->ring_intervals, "a", 1, &none, &none, 1, 1), 0);
		}
	}
	sink_release(&s);
}
END_TEST

/* Add a sample that the two sides see under different names. */
static void differ(struct sink *s, unsigned int set)
{
	const struct stack none = { 0 };
	const struct row_key key = row_key_of("ring", 7, &none, &none);
	const struct compare_view ring = { .pid = 7, .tid = 7, .comm = "ring" };
	const struct compare_view program = { .pid = 7, .tid = 7, .comm = "program" };

	ck_assert_int_eq(rows_add(compare_rows(s->sets[set].compare), &key, 1, 1), 0);
	ck_assert_int_eq(compare_sample(s->sets[set].compare, &program, &ring, &key), 0);
}

static void check_counts(struct sink *s, unsigned int set, uint64_t explained, uint64_t different)
{
	struct compare_counts n;

	ck_assert_int_eq(compare_end(s->sets[set].compare), 0);
	compare_counts(s->sets[set].compare, &n);
	ck_assert_uint_eq(compare_nr_explained(&n), explained);
	ck_assert_uint_eq(n.different, different);
	ck_assert_int_eq(sink_empty(s, set, &cfgs[1]), 0);
}

/* Missing records explain differences in both sets, and in later sets until the gap ends. */
START_TEST(test_gap)
{
	struct sink s = { 0 };
	unsigned int i;

	for (i = 0; i < 2; i++)
		ck_assert_int_eq(sink_empty(&s, i, &cfgs[1]), 0);
	differ(&s, 0);
	check_counts(&s, 0, 0, 1);
	sink_gap(&s, true);
	for (i = 0; i < 2; i++)
		differ(&s, i);
	for (i = 0; i < 2; i++)
		check_counts(&s, i, 1, 0);
	differ(&s, 1);
	sink_gap(&s, false);
	check_counts(&s, 1, 1, 0);
	differ(&s, 1);
	check_counts(&s, 1, 0, 1);
	differ(&s, 0);
	sink_missed(&s);
	ck_assert(s.gap);
	check_counts(&s, 0, 1, 0);
	sink_release(&s);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("sink");
	TCase *tc = tcase_create("sink");

	tcase_add_loop_test(tc, test_empty, 0, ARRAY_SIZE(cfgs));
	tcase_add_test(tc, test_gap);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
