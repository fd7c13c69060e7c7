// SPDX-License-Identifier: Apache-2.0
#include "core/rows/rows.h"
#include "tests/unit/unit.h"

static const uint64_t one[] = { 1, 2, 3 }, two[] = { 1, 2, 4 };

/* clang-format off */
#define SIDE(f, n, s, t) { .frames = (f), .nr = (n), .state = (s), .truncated = (t) }
/* clang-format on */
#define TAKEN(f, n) SIDE(f, n, STACK_TAKEN, false)
#define NOTHING     SIDE(NULL, 0, STACK_NONE, false)

struct input {
	char comm[COMM_LEN + 1];
	pid_t pid;
	struct stack kernel, user;
	uint32_t image;
};

/* Is a sample of @b counted in the row of @a? */
static const struct {
	struct input a, b;
	bool same;
} pairs[] = {
	{ { "dd", 1, TAKEN(one, 3), TAKEN(two, 3) }, { "dd", 1, TAKEN(one, 3), TAKEN(two, 3) }, true },
	{ { "dd", 1, TAKEN(one, 2), NOTHING }, { "dd", 1, TAKEN(two, 2), NOTHING }, true },
	{ { "dd\0x", 1, NOTHING, NOTHING }, { "dd\0y", 1, NOTHING, NOTHING }, true },
	{ { "123456789abcdef", 1, NOTHING, NOTHING }, { "123456789abcdefg", 1, NOTHING, NOTHING }, true },
	{ { "", -1, NOTHING, NOTHING }, { "", -1, NOTHING, NOTHING }, true },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "dd", 2, TAKEN(one, 3), NOTHING }, false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "de", 1, TAKEN(one, 3), NOTHING }, false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "ddd", 1, TAKEN(one, 3), NOTHING }, false },
	{ { "123456789abcdef", 1, NOTHING, NOTHING }, { "123456789abcde", 1, NOTHING, NOTHING }, false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "dd", 1, TAKEN(two, 3), NOTHING }, false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "dd", 1, TAKEN(one, 2), NOTHING }, false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "dd", 1, NOTHING, TAKEN(one, 3) }, false },
	{ { "dd", 1, TAKEN(one, 3), TAKEN(two, 3) }, { "dd", 1, TAKEN(two, 3), TAKEN(one, 3) }, false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING }, { "dd", 1, SIDE(one, 3, STACK_TAKEN, true), NOTHING }, false },
	{ { "dd", 1, NOTHING, NOTHING }, { "dd", 1, SIDE(NULL, 0, STACK_MISSED, false), NOTHING }, false },
	{ { "dd", 1, NOTHING, NOTHING }, { "dd", 1, SIDE(NULL, 0, STACK_TAKEN, false), NOTHING }, false },
	{ { "dd", 1, NOTHING, SIDE(NULL, 0, STACK_TAKEN, true) },
	  { "dd", 1, NOTHING, SIDE(NULL, 0, STACK_TAKEN, false) },
	  false },
	{ { "dd", 1, TAKEN(one, 3), NOTHING, 2 }, { "dd", 1, TAKEN(one, 3), NOTHING, 2 }, true },
	{ { "dd", 1, TAKEN(one, 3), NOTHING, 2 }, { "dd", 1, TAKEN(one, 3), NOTHING, 3 }, false },
	{ { "dd", 1, NOTHING, NOTHING, 2 }, { "dd", 2, NOTHING, NOTHING, 1 }, false },
};

/* Fill the comm with data after its end. */
static struct row_key key_of(const struct input *in)
{
	struct row_key key = { .pid = in->pid, .image = in->image };

	memcpy(key.comm, in->comm, COMM_LEN);
	key.kernel = in->kernel;
	key.user = in->user;
	return key;
}

static void add_times(struct rows *t, const struct input *in, uint64_t value, uint64_t times)
{
	const struct row_key key = key_of(in);

	ck_assert_int_eq(rows_add(t, &key, value, times), 0);
	ck_assert_uint_eq(rows_find(t, &key), rows_last(t));
}

static void add(struct rows *t, const struct input *in, uint64_t value)
{
	add_times(t, in, value, value);
}

static void assert_stack(const struct stack *got, const struct stack *want)
{
	ck_assert_int_eq(got->state, want->state);
	ck_assert_int_eq(got->truncated, want->truncated);
	ck_assert_uint_eq(got->nr, want->nr);
	if (want->nr)
		ck_assert_mem_eq(got->frames, want->frames, want->nr * sizeof(*want->frames));
}

static void assert_row_times(const struct rows *t, size_t i, const struct input *want, uint64_t value, uint64_t times)
{
	char comm[COMM_LEN] = "";
	struct row row;

	memcpy(comm, want->comm, strnlen(want->comm, COMM_LEN - 1));
	rows_get(t, i, &row);
	ck_assert_mem_eq(row.key.comm, comm, COMM_LEN);
	ck_assert_int_eq(row.key.pid, want->pid);
	ck_assert_uint_eq(row.key.image, want->image);
	assert_stack(&row.key.kernel, &want->kernel);
	assert_stack(&row.key.user, &want->user);
	ck_assert_uint_lt(row.kernel_id, rows_nr_stacks(t));
	ck_assert_uint_lt(row.user_id, rows_nr_stacks(t));
	ck_assert_uint_eq(row.value, value);
	ck_assert_uint_eq(row.times, times);
}

/* For samples, each of which counts once. */
static void assert_row(const struct rows *t, size_t i, const struct input *want, uint64_t value)
{
	assert_row_times(t, i, want, value, value);
}

START_TEST(test_identity)
{
	const struct row_key a = key_of(&pairs[_i].a), b = key_of(&pairs[_i].b);
	struct rows *t = rows_new();

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(rows_find(t, &a), HASH_NONE);
	add(t, &pairs[_i].a, 3);
	ck_assert_uint_eq(rows_find(t, &b), pairs[_i].same ? 0 : HASH_NONE);
	add(t, &pairs[_i].b, 4);
	ck_assert_uint_eq(rows_nr(t), pairs[_i].same ? 1 : 2);
	ck_assert_uint_eq(rows_total(t), 7);
	assert_row(t, 0, &pairs[_i].a, pairs[_i].same ? 7 : 3);
	if (!pairs[_i].same)
		assert_row(t, 1, &pairs[_i].b, 4);
	rows_free(t);
}
END_TEST

START_TEST(test_empty)
{
	struct rows *t = rows_new();

	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(rows_nr(t), 0);
	ck_assert_uint_eq(rows_nr_stacks(t), 0);
	ck_assert_uint_eq(rows_total(t), 0);
	rows_free(t);
	rows_free(NULL);
}
END_TEST

static const struct {
	uint64_t a, b, sum;
} sums[] = {
	{ 0, 0, 0 },
	{ UINT64_MAX - 1, 1, UINT64_MAX },
	{ UINT64_MAX, 1, UINT64_MAX },
	{ 2, UINT64_MAX, UINT64_MAX },
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX },
	{ UINT64_MAX / 2 + 1, UINT64_MAX / 2 + 1, UINT64_MAX },
};

START_TEST(test_saturation)
{
	const struct input in = { "dd", 1, TAKEN(one, 3), NOTHING };
	struct rows *t = rows_new();

	add(t, &in, sums[_i].a);
	add(t, &in, sums[_i].b);
	assert_row(t, 0, &in, sums[_i].sum);
	ck_assert_uint_eq(rows_total(t), sums[_i].sum);
	rows_free(t);
}
END_TEST

/* Two rows; something is added to one. */
static const struct {
	uint64_t value, times, more_value, more_times, sum, sum_times;
} times[] = {
	{ 0, 0, 0, 0, 0, 0 },
	{ 5000, 1, 0, 0, 5000, 1 },
	{ 0, 0, 5000, 1, 5000, 1 },
	{ 5000, 1, 7000, 2, 12000, 3 },
	{ 0, 1, 0, 1, 0, 2 },
	{ 7, 0, 8, 0, 15, 0 },
	{ UINT64_MAX, 1, 1, 1, UINT64_MAX, 2 },
	{ 1, UINT64_MAX, 1, 1, 2, UINT64_MAX },
	{ 1, UINT64_MAX - 1, 1, 1, 2, UINT64_MAX },
	{ UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
};

START_TEST(test_times)
{
	const struct input in = { "dd", 1, TAKEN(one, 3), NOTHING }, other = { "dd", 1, TAKEN(two, 3), NOTHING };
	struct rows *t = rows_new();

	add_times(t, &in, times[_i].value, times[_i].times);
	add_times(t, &other, 0, 9);
	add_times(t, &in, times[_i].more_value, times[_i].more_times);
	ck_assert_uint_eq(rows_nr(t), 2);
	assert_row_times(t, 0, &in, times[_i].sum, times[_i].sum_times);
	assert_row_times(t, 1, &other, 0, 9);
	ck_assert_uint_eq(rows_total(t), times[_i].sum);
	rows_free(t);
}
END_TEST

/* Samples and intervals in one row. */
START_TEST(test_times_and_samples)
{
	const struct input in = { "dd", 1, TAKEN(one, 3), NOTHING }, other = { "dd", 2, NOTHING, NOTHING };
	struct rows *t = rows_new();

	add(t, &in, 3);
	ck_assert_uint_eq(rows_last(t), 0);
	add_times(t, &other, 10, 1);
	ck_assert_uint_eq(rows_last(t), 1);
	add_times(t, &in, 40, 2);
	ck_assert_uint_eq(rows_last(t), 0);
	assert_row_times(t, 0, &in, 43, 5);
	add(t, &in, 1);
	assert_row_times(t, 0, &in, 44, 6);
	assert_row_times(t, 1, &other, 10, 1);
	ck_assert_uint_eq(rows_total(t), 54);
	rows_free(t);
}
END_TEST

/* Kernel and user stacks share numbers; equal contents always have the same number. */
START_TEST(test_numbers)
{
	const struct input both = { "dd", 1, TAKEN(one, 3), TAKEN(one, 3) };
	struct rows *t = rows_new();
	struct row row;
	uint64_t frame;
	struct input other = { "dd", 1, TAKEN(&frame, 1), TAKEN(one, 3) };
	uint32_t id, i;

	add(t, &both, 1);
	rows_get(t, 0, &row);
	id = row.user_id;
	ck_assert_uint_eq(row.kernel_id, id);
	ck_assert_uint_eq(rows_nr_stacks(t), 1);
	for (i = 1; i < 5000; i++) {
		frame = i;
		add(t, &other, 1);
		rows_get(t, i, &row);
		ck_assert_uint_eq(row.user_id, id);
		ck_assert_uint_ne(row.kernel_id, id);
	}
	ck_assert_uint_eq(rows_nr_stacks(t), 5000);
	assert_row(t, 0, &both, 1);
	rows_free(t);
}
END_TEST

/* A borrowed stack may be added again to its own table. */
START_TEST(test_borrowed)
{
	const struct input in = { "dd", 1, TAKEN(one, 3), TAKEN(two, 3) };
	struct rows *t = rows_new();
	struct row row;
	pid_t pid;

	add(t, &in, 1);
	for (pid = 2; pid < 100; pid++) {
		rows_get(t, 0, &row);
		row.key.pid = pid;
		ck_assert_int_eq(rows_add(t, &row.key, 1, 1), 0);
	}
	ck_assert_uint_eq(rows_nr_stacks(t), 2);
	rows_free(t);
}
END_TEST

enum { SAMPLES = 6000, MAX_FRAMES = 6 };

struct sample {
	struct input in;
	uint64_t kernel[MAX_FRAMES], user[MAX_FRAMES], value, times;
};

static void draw_stack(struct stack *s, uint64_t *frames)
{
	uint32_t i;

	*s = (struct stack){ .frames = frames, .state = (enum stack_state)(rand() % 3) };
	if (s->state != STACK_TAKEN)
		return;
	s->truncated = rand() % 8 == 0;
	s->nr = (uint32_t)rand() % (MAX_FRAMES + 1);
	for (i = 0; i < s->nr; i++)
		frames[i] = 0xffffffff81000000 + (uint64_t)rand() % 2;
}

static bool equal_stacks(const struct stack *a, const struct stack *b)
{
	return a->state == b->state && a->truncated == b->truncated && a->nr == b->nr &&
	       !memcmp(a->frames, b->frames, a->nr * sizeof(*a->frames));
}

static bool equal(const struct input *a, const struct input *b)
{
	return !strcmp(a->comm, b->comm) && a->pid == b->pid && a->image == b->image &&
	       equal_stacks(&a->kernel, &b->kernel) && equal_stacks(&a->user, &b->user);
}

/* Random samples, compared with a list that is searched linearly. */
START_TEST(test_reference)
{
	struct sample *rows = calloc(SAMPLES, sizeof(*rows)), *s;
	struct rows *t = rows_new();
	uint64_t total = 0;
	size_t nr = 0, i, n;

	srand((unsigned int)_i);
	for (n = 0; n < SAMPLES; n++) {
		s = &rows[nr];
		memset(s, 0, sizeof(*s));
		s->in.comm[0] = (char)('a' + rand() % 3);
		s->in.pid = rand() % 3;
		s->in.image = (uint32_t)rand() % 2;
		draw_stack(&s->in.kernel, s->kernel);
		draw_stack(&s->in.user, s->user);
		s->value = (uint64_t)rand() % 5;
		s->times = (uint64_t)rand() % 3;
		total += s->value;
		add_times(t, &s->in, s->value, s->times);
		for (i = 0; !equal(&rows[i].in, &s->in); i++)
			;
		if (i == nr) {
			nr++;
			continue;
		}
		rows[i].value += s->value;
		rows[i].times += s->times;
	}
	ck_assert_uint_eq(rows_nr(t), nr);
	ck_assert_uint_eq(rows_total(t), total);
	for (i = 0; i < nr; i++)
		assert_row_times(t, i, &rows[i].in, rows[i].value, rows[i].times);
	rows_free(t);
	free(rows);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rows");
	TCase *tc = tcase_create("rows");

	tcase_add_loop_test(tc, test_identity, 0, ARRAY_SIZE(pairs));
	tcase_add_test(tc, test_empty);
	tcase_add_loop_test(tc, test_saturation, 0, ARRAY_SIZE(sums));
	tcase_add_loop_test(tc, test_times, 0, ARRAY_SIZE(times));
	tcase_add_test(tc, test_times_and_samples);
	tcase_add_test(tc, test_numbers);
	tcase_add_test(tc, test_borrowed);
	tcase_add_loop_test(tc, test_reference, 0, 3);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
