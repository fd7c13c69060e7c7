// SPDX-License-Identifier: Apache-2.0
#include "core/formats/tree.h"
#include "tests/unit/unit.h"

#include <inttypes.h>

#define MAX_FRAMES 5
#define MAX_ROWS   6

struct in {
	size_t nr;
	uint32_t frames[MAX_FRAMES];
	uint32_t column;
	uint64_t value;
};

/* "up frame column:value ...", for each node. */
static const struct {
	struct in in[MAX_ROWS];
	const char *out;
} trees[] = {
	{ { { 0 } }, "" },
	{ { { 1, { 7 }, 0, 3 } }, "0 7 0:3" },
	{ { { 0, { 0 }, 0, 3 } }, "" },
	{ { { 3, { 1, 2, 3 }, 0, 3 } }, "0 1, 0 2, 0 3 0:3" },
	{ { { 2, { 1, 2 }, 0, 3 }, { 2, { 1, 2 }, 0, 4 } }, "0 1, 0 2 0:7" },
	{ { { 2, { 1, 2 }, 1, 3 }, { 2, { 1, 2 }, 0, 4 } }, "0 1, 0 2 0:4 1:3" },
	{ { { 2, { 1, 2 }, 0, 3 }, { 1, { 1 }, 0, 4 } }, "0 1 0:4, 0 2 0:3" },
	{ { { 2, { 2, 2 }, 0, 3 }, { 2, { 1, 2 }, 0, 4 } }, "0 1, 0 2 0:4, 2 2, 0 2 0:3" },
	{ { { 1, { 3 }, 0, 1 }, { 1, { 2 }, 0, 1 }, { 1, { 1 }, 0, 1 } }, "0 1 0:1, 1 2 0:1, 1 3 0:1" },
	{ { { 4, { 1, 1, 1, 1 }, 0, 1 }, { 2, { 1, 1 }, 0, 2 }, { 2, { 1, 2 }, 0, 5 }, { 1, { 9 }, 0, 1 } },
	  "0 1, 0 1 0:2, 0 1, 0 1 0:1, 3 2 0:5, 2 9 0:1" },
	{ { { 1, { 1 }, 0, UINT64_MAX }, { 1, { 1 }, 0, 1 } }, "0 1 0:18446744073709551615" },
};

static int by_number(uint32_t a, uint32_t b, void *ctx)
{
	(void)ctx;
	return (a > b) - (a < b);
}

static int put(const struct tree_step *step, void *ctx)
{
	FILE *out = ctx;
	size_t i;

	fprintf(out, "%s%u %u", ftell(out) ? ", " : "", step->up, step->frame);
	for (i = 0; i < step->nr_values; i++)
		fprintf(out, " %u:%" PRIu64, step->values[i].column, step->values[i].value);
	return 0;
}

START_TEST(test_walk)
{
	struct tree t = { 0 };
	char *got = NULL;
	size_t len, i;
	FILE *out = open_memstream(&got, &len);

	for (i = 0; i < MAX_ROWS && trees[_i].in[i].value; i++)
		ck_assert_int_eq(tree_add(&t, trees[_i].in[i].frames, trees[_i].in[i].nr, trees[_i].in[i].column,
					  trees[_i].in[i].value),
				 0);
	ck_assert_int_eq(tree_walk(&t, by_number, put, out), 0);
	fclose(out);
	ck_assert_str_eq(got, trees[_i].out);
	free(got);
	tree_release(&t);
}
END_TEST

static int stop(const struct tree_step *step, void *ctx)
{
	(void)step;
	return ++*(int *)ctx == 2 ? -EPIPE : 0;
}

START_TEST(test_stops)
{
	const uint32_t frames[] = { 1, 2, 3 };
	struct tree t = { 0 };
	int calls = 0;

	ck_assert_int_eq(tree_add(&t, frames, 3, 0, 1), 0);
	ck_assert_int_eq(tree_walk(&t, by_number, stop, &calls), -EPIPE);
	ck_assert_int_eq(calls, 2);
	tree_release(&t);
}
END_TEST

/* A stack may be too deep for a walk that calls itself for each level. */
START_TEST(test_deep)
{
	enum { DEEP = 100000 };
	uint32_t *frames = calloc(DEEP, sizeof(*frames));
	struct tree t = { 0 };
	char *got = NULL;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	ck_assert_int_eq(tree_add(&t, frames, DEEP, 0, 1), 0);
	ck_assert_int_eq(tree_walk(&t, by_number, put, out), 0);
	fclose(out);
	ck_assert_uint_eq(t.nodes.nr, DEEP);
	ck_assert_str_eq(got + len - strlen(", 0 0 0:1"), ", 0 0 0:1");
	free(got);
	free(frames);
	tree_release(&t);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("tree");
	TCase *tc = tcase_create("tree");

	tcase_add_loop_test(tc, test_walk, 0, ARRAY_SIZE(trees));
	tcase_add_test(tc, test_stops);
	tcase_add_test(tc, test_deep);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
