// SPDX-License-Identifier: Apache-2.0
#include "core/report/functions.h"
#include "tests/unit/unit.h"

#include <math.h>

#define MAX_FRAMES 4
#define MAX_ROWS   4

#define FRAME(text, of)                                                                                                \
	{                                                                                                              \
		.name = text, .module = of, .kind = REPORT_FRAME_USER                                                  \
	}

/* Two of them have the same name as another one. */
static const struct report_frame frames[] = {
	FRAME("main", "a"),
	FRAME("f", "a"),
	FRAME("g", "a"),
	FRAME("main", "b"),
	FRAME("f", NULL),
	{ .name = "-", .kind = REPORT_FRAME_MARKER },
	{ .module = "a", .kind = REPORT_FRAME_UNKNOWN },
	FRAME("bad\nname", "a;b"),
};

enum { MAIN, F, G, MAIN_OF_B, F_OF_NOTHING, DELIMITER, UNNAMED, BAD };

struct in {
	size_t nr;
	int frames[MAX_FRAMES];
	uint64_t value, times, before, times_before;
};

static int add(struct functions *f, const struct in *in)
{
	const struct report_frame *stack[MAX_FRAMES];
	struct report_row row = { .nr = in->nr,
				  .frames = stack,
				  .value = in->value,
				  .times = in->times,
				  .before = in->before,
				  .times_before = in->times_before };
	size_t i;

	for (i = 0; i < in->nr; i++)
		stack[i] = &frames[in->frames[i]];
	return functions_add(f, &row);
}

/* "name[module] self/total self/total", the second two of before, sorted by names. */
static const struct {
	bool by_module;
	struct in in[MAX_ROWS];
	const char *out;
} sums[] = {
	{ false, { { 0 } }, "" },
	{ false, { { 1, { MAIN }, 3, 3, 0, 0 } }, "main[a] 3/3 0/0" },
	{ false, { { 2, { MAIN, F }, 3, 3, 5, 5 } }, "f[a] 3/3 5/5, main[a] 0/3 0/5" },
	{ false, { { 2, { MAIN, F }, 3, 3, 0, 0 }, { 1, { F }, 4, 4, 0, 0 } }, "f[a] 7/7 0/0, main[a] 0/3 0/0" },
	{ false, { { 4, { F, G, F, G }, 3, 3, 0, 0 } }, "f[a] 0/3 0/0, g[a] 3/3 0/0" },
	{ false, { { 3, { F, F, F }, 3, 3, 1, 1 } }, "f[a] 3/3 1/1" },
	{ false,
	  { { 2, { MAIN, F }, 3, 3, 0, 0 }, { 2, { MAIN_OF_B, F_OF_NOTHING }, 4, 4, 0, 0 } },
	  "f[a] 7/7 0/0, main[a] 0/7 0/0" },
	{ true,
	  { { 2, { MAIN, F }, 3, 3, 0, 0 }, { 2, { MAIN_OF_B, F_OF_NOTHING }, 4, 4, 0, 0 } },
	  "f[] 4/4 0/0, f[a] 3/3 0/0, main[a] 0/3 0/0, main[b] 0/4 0/0" },
	{ true, { { 3, { MAIN, DELIMITER, F }, 3, 3, 0, 0 } }, "f[a] 3/3 0/0, main[a] 0/3 0/0" },
	{ true, { { 2, { MAIN, DELIMITER }, 3, 3, 0, 0 } }, "-[] 3/3 0/0, main[a] 0/3 0/0" },
	{ true, { { 1, { UNNAMED }, 3, 3, 0, 0 } }, "[a][a] 3/3 0/0" },
	{ true, { { 1, { BAD }, 3, 3, 0, 0 } }, "bad?name[a;b] 3/3 0/0" },
	{ false, { { 0, { 0 }, 9, 9, 0, 0 } }, "" },
	{ false,
	  { { 1, { F }, UINT64_MAX, 1, 0, 0 }, { 1, { F }, 1, 1, 0, 0 } },
	  "f[a] 18446744073709551615/18446744073709551615 0/0" },
};

START_TEST(test_sums)
{
	struct functions f = { .by_module = sums[_i].by_module };
	const struct function **sorted;
	char *got = NULL;
	size_t len, i;
	FILE *out = open_memstream(&got, &len);

	for (i = 0; i < MAX_ROWS && sums[_i].in[i].value; i++)
		ck_assert_int_eq(add(&f, &sums[_i].in[i]), 0);
	sorted = functions_sorted(&f, NULL, NULL);
	ck_assert_ptr_nonnull(sorted);
	for (i = 0; i < f.table.nr; i++)
		fprintf(out, "%s%s[%s] %llu/%llu %llu/%llu", i ? ", " : "", sorted[i]->name, sorted[i]->module,
			(unsigned long long)sorted[i]->now.self.value, (unsigned long long)sorted[i]->now.total.value,
			(unsigned long long)sorted[i]->before.self.value,
			(unsigned long long)sorted[i]->before.total.value);
	fclose(out);
	ck_assert_str_eq(got, sums[_i].out);
	free(got);
	free(sorted);
	functions_release(&f);
}
END_TEST

/* The change of F, beside G. */
static const struct {
	struct in f, g;
	bool absolute;
	double before, now, noise;
} changes[] = {
	{ { 1, { F }, 10, 10, 10, 10 }, { 1, { G }, 90, 90, 90, 90 }, false, 10, 10, 100 * 5 * 0.0447214 },
	{ { 1, { F }, 10, 10, 20, 20 }, { 1, { G }, 90, 90, 180, 180 }, false, 10, 10, 100 * 5 * 0.0384057 },
	{ { 1, { F }, 10, 10, 20, 20 }, { 1, { G }, 90, 90, 180, 180 }, true, 10, 5, 100 * 5 * 0.0278388 },
	{ { 1, { F }, 10, 10, 0, 0 }, { 1, { G }, 0, 0, 90, 90 }, false, 0, 100, 100 * 5 * 0.1006154 },
	{ { 1, { F }, 10, 10, 0, 0 }, { 1, { G }, 90, 90, 0, 0 }, false, 0, 10, 100 * 5 * 0.0316228 },
	{ { 1, { F }, 10, 10, 0, 0 }, { 1, { G }, 90, 90, 0, 0 }, true, 0, 0, 0 },
	/* Times: one long interval is less reliable than many short ones. */
	{ { 1, { F }, 100, 1, 0, 0 }, { 1, { G }, 900, 90, 1000, 1000 }, false, 0, 10, 100 * 5 * 0.0911689 },
	{ { 1, { F }, 100, 100, 0, 0 }, { 1, { G }, 900, 900, 1000, 1000 }, false, 0, 10, 100 * 5 * 0.00959166 },
};

START_TEST(test_change)
{
	struct functions f = { 0 };
	struct function_change c;

	ck_assert_int_eq(add(&f, &changes[_i].f), 0);
	ck_assert_int_eq(add(&f, &changes[_i].g), 0);
	functions_change(&f, f.table.v, false, changes[_i].absolute, &c);
	ck_assert_double_eq_tol(c.before, changes[_i].before, 1e-9);
	ck_assert_double_eq_tol(c.now, changes[_i].now, 1e-9);
	ck_assert_double_eq_tol(c.change, changes[_i].now - changes[_i].before, 1e-9);
	ck_assert_double_eq_tol(c.noise, changes[_i].noise, 1e-3);
	functions_release(&f);
}
END_TEST

START_TEST(test_total)
{
	const struct in row = { 2, { MAIN, F }, 30, 30, 10, 10 }, other = { 1, { G }, 70, 70, 90, 90 };
	struct functions f = { 0 };
	struct function_change c;

	ck_assert_int_eq(add(&f, &row), 0);
	ck_assert_int_eq(add(&f, &other), 0);
	functions_change(&f, f.table.v, false, false, &c); /* main */
	ck_assert_double_eq_tol(c.change, 0, 1e-9);
	functions_change(&f, f.table.v, true, false, &c);
	ck_assert_double_eq_tol(c.change, 20, 1e-9);
	functions_release(&f);
}
END_TEST

/* ---- chance: the same numbers in each run of this test */

#define SAMPLES 10000
#define NAMES   100
#define TRIES   200

static uint32_t next_random(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

/* The first function takes half of the time, and @more percent longer after; the others share the rest unevenly. */
static void draw(uint64_t *state, uint32_t *counts, double more)
{
	double first = 0.5 * (1 + more / 100), all = first + 0.5;
	size_t i;

	memset(counts, 0, NAMES * sizeof(*counts));
	for (i = 0; i < SAMPLES; i++) {
		double at = next_random(state) / 2147483648.0 * all;

		if (at < first)
			counts[0]++;
		else
			counts[1 + (size_t)(pow((at - first) / 0.5, 3) * (NAMES - 1)) % (NAMES - 1)]++;
	}
}

/* Return: how many functions are beyond the noise; @first: the first one is, and grew. */
static unsigned int compare(const uint32_t *before, const uint32_t *now, bool *first)
{
	struct report_frame names[NAMES];
	char texts[NAMES][8];
	struct functions f = { 0 };
	struct function_change c;
	unsigned int found = 0;
	size_t i;

	for (i = 0; i < NAMES; i++) {
		const struct report_frame *frame = &names[i];
		const struct report_row row = { .nr = 1,
						.frames = &frame,
						.value = now[i],
						.times = now[i],
						.before = before[i],
						.times_before = before[i] };

		snprintf(texts[i], sizeof(texts[i]), "f%zu", i);
		names[i] = (struct report_frame){ .name = texts[i], .kind = REPORT_FRAME_USER };
		ck_assert_int_eq(functions_add(&f, &row), 0);
	}
	for (i = 0; i < NAMES; i++) {
		functions_change(&f, (struct function *)f.table.v + i, false, false, &c);
		found += fabs(c.change) > c.noise;
		if (!i)
			*first = c.change > c.noise;
	}
	functions_release(&f);
	return found;
}

START_TEST(test_chance)
{
	uint32_t before[NAMES], now[NAMES];
	uint64_t state = 1;
	unsigned int i;
	bool first;

	for (i = 0; i < TRIES; i++) {
		draw(&state, before, 0);
		draw(&state, now, 0);
		ck_assert_uint_eq(compare(before, now, &first), 0);
	}
}
END_TEST

START_TEST(test_slower)
{
	uint32_t before[NAMES], now[NAMES];
	uint64_t state = 1;
	unsigned int i, found = 0;
	bool first;

	for (i = 0; i < TRIES; i++) {
		draw(&state, before, 0);
		draw(&state, now, 20);
		compare(before, now, &first);
		found += first;
	}
	ck_assert_uint_ge(found, TRIES * 9 / 10);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("functions");
	TCase *tc = tcase_create("functions");

	tcase_add_loop_test(tc, test_sums, 0, ARRAY_SIZE(sums));
	tcase_add_loop_test(tc, test_change, 0, ARRAY_SIZE(changes));
	tcase_add_test(tc, test_total);
	tcase_add_test(tc, test_chance);
	tcase_add_test(tc, test_slower);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
