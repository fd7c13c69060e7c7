// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"
#include "unwind/compare.h"

#define IPS 6

#define NO_RULES  UNWIND_LEFT_NO_RULES
#define SIGNAL    UNWIND_LEFT_SIGNAL
#define ENTRY     UNWIND_LEFT_ENTRY
#define POPPED    UNWIND_LEFT_POPPED
#define NOT_ABOVE UNWIND_LEFT_NOT_ABOVE
#define GUESSED   UNWIND_LEFT_GUESSED
#define EXACT     UNWIND_EXACT

/** struct side - addresses up to the first 0, and how their frames were left. */
struct side {
	uint64_t ips[IPS];
	uint8_t left[IPS];
};

/** struct row - @first: the first different frame. */
struct row {
	const char *what;
	struct side ours, theirs;
	enum unwinders_found found;
	size_t first;
};

static const struct row rows[] = {
	{ "the same", { { 1, 2, 3 } }, { { 1, 2, 3 } }, UNWINDERS_EQUAL, 3 },
	{ "one frame", { { 1 } }, { { 1 } }, UNWINDERS_EQUAL, 1 },
	{ "nothing", { { 0 } }, { { 0 } }, UNWINDERS_EQUAL, 0 },
	{ "the same, left otherwise", { { 1, 2 }, { NO_RULES, POPPED } }, { { 1, 2 } }, UNWINDERS_EQUAL, 2 },
	{ "no user address with us alone", { { 1, 2, 1ULL << ARCH_USER_BITS } }, { { 1, 2 } }, UNWINDERS_EQUAL, 2 },
	{ "no user address, exact", { { 1, EXACT | 1ULL << 60 } }, { { 1 } }, UNWINDERS_EQUAL, 1 },
	/* explained */
	{ "popped", { { 1, 2, 3, 4 }, { 0, POPPED } }, { { 1, 2 } }, UNWINDERS_POPPED, 2 },
	{ "popped in the leaf", { { 1, 2 }, { POPPED } }, { { 1 } }, UNWINDERS_POPPED, 1 },
	{ "signal", { { 1, 2 }, { NO_RULES | SIGNAL } }, { { 1 }, { NO_RULES } }, UNWINDERS_SIGNAL, 1 },
	{ "signal, and another caller",
	  { { 1, 2 }, { NO_RULES | SIGNAL } },
	  { { 1, 3 }, { NO_RULES } },
	  UNWINDERS_SIGNAL,
	  1 },
	{ "entry", { { 1, 2, 4 }, { NO_RULES | ENTRY } }, { { 1, 4 }, { NO_RULES } }, UNWINDERS_ENTRY, 1 },
	{ "guessed, we end", { { 1 }, { NO_RULES } }, { { 1, 2 }, { NO_RULES } }, UNWINDERS_GUESSED, 1 },
	{ "guessed, they end", { { 1, 2 }, { NO_RULES } }, { { 1 }, { NO_RULES } }, UNWINDERS_GUESSED, 1 },
	{ "guessed, with a popped register",
	  { { 1, 2 }, { NO_RULES | POPPED } },
	  { { 1 }, { NO_RULES } },
	  UNWINDERS_POPPED,
	  1 },
	{ "by a guessed stack pointer", { { 1, 2, 3 }, { NO_RULES, GUESSED } }, { { 1, 2 } }, UNWINDERS_GUESSED, 2 },
	{ "the same, and another caller", { { 1, 2 }, { GUESSED } }, { { 1, 3 } }, UNWINDERS_GUESSED, 1 },
	{ "made", { { 1, 2 }, { UNWIND_LEFT_MADE } }, { { 1, 3 }, { NO_RULES } }, UNWINDERS_MADE, 1 },
	{ "not above", { { 1, 2 }, { 0, NOT_ABOVE } }, { { 1, 2, 3 } }, UNWINDERS_NOT_ABOVE, 2 },
	/* not explained */
	{ "another leaf", { { 1, 2 } }, { { 2, 2 } }, UNWINDERS_DIFFERENT, 0 },
	{ "nothing of theirs", { { 1 }, { NO_RULES } }, { { 0 }, { NO_RULES } }, UNWINDERS_DIFFERENT, 0 },
	{ "nothing of ours", { { 0 }, { NO_RULES } }, { { 1 }, { NO_RULES } }, UNWINDERS_DIFFERENT, 0 },
	{ "they end", { { 1, 2 } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "we end", { { 1 } }, { { 1, 2 } }, UNWINDERS_DIFFERENT, 1 },
	{ "another caller", { { 1, 2 } }, { { 1, 3 } }, UNWINDERS_DIFFERENT, 1 },
	{ "no user address in the leaf alone", { { 1ULL << 60 } }, { { 0 } }, UNWINDERS_DIFFERENT, 0 },
	{ "no user address, and another caller", { { 1, 1ULL << 60 } }, { { 1, 2 } }, UNWINDERS_DIFFERENT, 1 },
	{ "another root", { { 1, 2, 3 } }, { { 1, 2, 4 } }, UNWINDERS_DIFFERENT, 2 },
	{ "exact with us alone", { { 1, 2 | EXACT } }, { { 1, 2 } }, UNWINDERS_DIFFERENT, 1 },
	{ "exact with them alone", { { 1, 2 } }, { { 1, 2 | EXACT } }, UNWINDERS_DIFFERENT, 1 },
	{ "popped, but they go on", { { 1, 2 }, { POPPED } }, { { 1, 3 } }, UNWINDERS_DIFFERENT, 1 },
	{ "popped, but they have more", { { 1 }, { POPPED } }, { { 1, 2 } }, UNWINDERS_DIFFERENT, 1 },
	{ "popped one frame before", { { 1, 2, 3 }, { POPPED } }, { { 1, 2 } }, UNWINDERS_DIFFERENT, 2 },
	{ "popped one frame later", { { 1, 2, 3 }, { 0, POPPED } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "popped with them", { { 1, 2 } }, { { 1 }, { POPPED } }, UNWINDERS_DIFFERENT, 1 },
	{ "signal, but they have rules", { { 1, 2 }, { NO_RULES | SIGNAL } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "signal one frame before",
	  { { 1, 2, 3 }, { NO_RULES | SIGNAL } },
	  { { 1, 2 }, { NO_RULES } },
	  UNWINDERS_DIFFERENT,
	  2 },
	{ "entry, but they have rules", { { 1, 2 }, { NO_RULES | ENTRY } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "guessed by us alone", { { 1, 2 }, { NO_RULES } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "guessed by them alone", { { 1, 2 } }, { { 1 }, { NO_RULES } }, UNWINDERS_DIFFERENT, 1 },
	{ "guessed in different frames",
	  { { 1, 2, 3 }, { NO_RULES, 0 } },
	  { { 1, 2 }, { 0, NO_RULES } },
	  UNWINDERS_DIFFERENT,
	  2 },
	{ "a stack pointer guessed later", { { 1, 2, 3 }, { 0, GUESSED } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "and earlier", { { 1, 2, 3 }, { GUESSED } }, { { 1, 2 } }, UNWINDERS_DIFFERENT, 2 },
	{ "guessed with them", { { 1, 2 } }, { { 1 }, { GUESSED } }, UNWINDERS_DIFFERENT, 1 },
	{ "made, and they have rules", { { 1, 2 }, { UNWIND_LEFT_MADE } }, { { 1, 3 } }, UNWINDERS_DIFFERENT, 1 },
	{ "made, by them", { { 1, 2 } }, { { 1, 3 }, { UNWIND_LEFT_MADE } }, UNWINDERS_DIFFERENT, 1 },
	{ "not above, but we go on", { { 1, 2 }, { NOT_ABOVE } }, { { 1, 3 } }, UNWINDERS_DIFFERENT, 1 },
	{ "not above, and they end", { { 1, 2 }, { NOT_ABOVE } }, { { 1 } }, UNWINDERS_DIFFERENT, 1 },
	{ "not above with them", { { 1, 2 } }, { { 1 }, { NOT_ABOVE } }, UNWINDERS_DIFFERENT, 1 },
};

static struct unwind_result result_of(const struct side *s)
{
	struct unwind_result r = { .ips = (uint64_t *)s->ips, .left = (uint8_t *)s->left, .cap = IPS };

	while (r.nr < IPS && s->ips[r.nr])
		r.nr++;
	return r;
}

START_TEST(test_compare)
{
	const struct row *row = &rows[_i];
	const struct unwind_result ours = result_of(&row->ours), theirs = result_of(&row->theirs);
	size_t first = 77;

	ck_assert_int_eq(unwind_compare(&ours, &theirs, &first), row->found);
	ck_assert_uint_eq(first, row->first);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unwind_compare");
	TCase *tc = tcase_create("unwind_compare");

	tcase_add_loop_test(tc, test_compare, 0, ARRAY_SIZE(rows));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
