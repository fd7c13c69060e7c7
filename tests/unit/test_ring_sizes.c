// SPDX-License-Identifier: Apache-2.0
/* Sizes of rings on other hosts. */
#include "core/events/ring_sizes.h"
#include "tests/unit/unit.h"

#define KIB  ((size_t)1024)
#define MIB  (1024 * KIB)
#define GIB  (1024ULL * MIB)
#define FP   1512         /* a record with a callchain */
#define DUMP (FP + 16384) /* with a stack copy */

static const struct {
	const char *what;
	struct ring_needs needs;
	struct ring_sizes want, have;
} rows[] = {
	{ "fp at the default rate, 2 CPUs",
	  { 2, 49, FP, 0, true, 24 * GIB },
	  { 64 * KIB, 512 * KIB },
	  { 64 * KIB, 512 * KIB } },
	{ "the same, 64 CPUs", { 64, 49, FP, 0, true, 256 * GIB }, { 64 * KIB, 512 * KIB }, { 64 * KIB, 512 * KIB } },
	{ "the same, 256 CPUs", { 256, 49, FP, 0, true, 512 * GIB }, { 64 * KIB, 512 * KIB }, { 64 * KIB, 128 * KIB } },
	{ "copies at the default rate, 2 CPUs",
	  { 2, 49, DUMP, 8 * DUMP, true, 24 * GIB },
	  { MIB, 512 * KIB },
	  { MIB, 512 * KIB } },
	{ "the same, 64 CPUs", { 64, 49, DUMP, 8 * DUMP, true, 256 * GIB }, { MIB, 512 * KIB }, { MIB, 512 * KIB } },
	{ "the same, 256 CPUs",
	  { 256, 49, DUMP, 8 * DUMP, true, 512 * GIB },
	  { MIB, 512 * KIB },
	  { 256 * KIB, 128 * KIB } },
	{ "copies, 499 Hz, 2 CPUs",
	  { 2, 499, DUMP, 8 * DUMP, true, 24 * GIB },
	  { 8 * MIB, 512 * KIB },
	  { 8 * MIB, 512 * KIB } },
	{ "the same, 256 CPUs",
	  { 256, 499, DUMP, 8 * DUMP, true, 512 * GIB },
	  { 8 * MIB, 512 * KIB },
	  { 256 * KIB, 128 * KIB } },
	{ "fp, 4999 Hz, 2 CPUs", { 2, 4999, FP, 0, true, 24 * GIB }, { 8 * MIB, 512 * KIB }, { 8 * MIB, 512 * KIB } },
	{ "a small host", { 2, 4999, DUMP, 8 * DUMP, true, GIB }, { 16 * MIB, 512 * KIB }, { 4 * MIB, 512 * KIB } },
	{ "the least there is", { 4096, 1, FP, 0, true, 24 * GIB }, { 64 * KIB, 512 * KIB }, { 64 * KIB, 64 * KIB } },
	{ "not apart", { 2, 99, FP, 0, false, 24 * GIB }, { 128 * KIB, 0 }, { 128 * KIB, 0 } },
	{ "no rate", { 2, 0, FP, 0, true, 24 * GIB }, { 2 * MIB, 512 * KIB }, { 2 * MIB, 512 * KIB } },
	{ "no memory known", { 2, 99, FP, 0, true, 0 }, { 128 * KIB, 512 * KIB }, { 128 * KIB, 512 * KIB } },
	{ "as many as asked for",
	  { 256, 49, 65528, 8 * 65528UL, true, 24 * GIB },
	  { 4 * MIB, 512 * KIB },
	  { 512 * KIB, 128 * KIB } },
};

START_TEST(test_sizes)
{
	const struct ring_sizes want = ring_sizes_wanted(&rows[_i].needs), have = ring_sizes(&rows[_i].needs);

	ck_assert_msg(want.samples == rows[_i].want.samples && want.side == rows[_i].want.side,
		      "%s: wants %zu, %zu KiB", rows[_i].what, want.samples / KIB, want.side / KIB);
	ck_assert_msg(have.samples == rows[_i].have.samples && have.side == rows[_i].have.side, "%s: has %zu, %zu KiB",
		      rows[_i].what, have.samples / KIB, have.side / KIB);
}
END_TEST

/* At all these rates, with and without copies of stacks, the rings of up to 256 CPUs together have at most RINGS_MAX.
 */
START_TEST(test_together)
{
	static const size_t cpus[] = { 1, 2, 64, 128, 129, 200, 256 };
	static const uint64_t rates[] = { 1, 49, 99, 499, 999, 4999, 100000 };
	size_t i, j, k;

	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		for (j = 0; j < ARRAY_SIZE(rates); j++) {
			for (k = 0; k < 2; k++) {
				const size_t record = k ? DUMP : FP, least = k ? 8 * DUMP : 0;
				const struct ring_needs n = { cpus[i], rates[j], record, least, true, 512 * GIB };
				struct ring_sizes s = ring_sizes(&n);

				ck_assert_uint_le((s.samples + s.side) * cpus[i], RINGS_MAX);
			}
		}
	}
}
END_TEST

START_TEST(test_halve)
{
	struct ring_sizes s = { 1024 * KIB, 512 * KIB };
	static const struct ring_sizes steps[] = {
		{ 1024 * KIB, 256 * KIB }, { 512 * KIB, 256 * KIB }, { 512 * KIB, 128 * KIB }, { 256 * KIB, 128 * KIB },
		{ 256 * KIB, 64 * KIB },   { 128 * KIB, 64 * KIB },  { 64 * KIB, 64 * KIB },   { 32 * KIB, 64 * KIB },
		{ 32 * KIB, 32 * KIB },    { 16 * KIB, 32 * KIB },   { 16 * KIB, 16 * KIB },   { 8 * KIB, 16 * KIB },
		{ 8 * KIB, 8 * KIB },      { 4 * KIB, 8 * KIB },     { 4 * KIB, 4 * KIB }
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(steps); i++) {
		ck_assert(ring_sizes_halve(&s, 4 * KIB));
		ck_assert_uint_eq(s.samples, steps[i].samples);
		ck_assert_uint_eq(s.side, steps[i].side);
	}
	ck_assert(!ring_sizes_halve(&s, 4 * KIB));
	ck_assert_uint_eq(s.samples, 4 * KIB);
}
END_TEST

static const struct {
	uint64_t memory;
	size_t kept;
} memories[] = {
	{ 0, 256 * MIB }, { 64 * MIB, 4 * MIB }, { GIB, 64 * MIB }, { 4 * GIB, 256 * MIB }, { 4096 * GIB, 256 * MIB },
};

START_TEST(test_kept)
{
	ck_assert_uint_eq(ring_sizes_kept(memories[_i].memory), memories[_i].kept);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring_sizes");
	TCase *tc = tcase_create("ring_sizes");

	tcase_add_loop_test(tc, test_sizes, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, test_together);
	tcase_add_test(tc, test_halve);
	tcase_add_loop_test(tc, test_kept, 0, ARRAY_SIZE(memories));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
