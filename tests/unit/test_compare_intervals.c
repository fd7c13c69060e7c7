// SPDX-License-Identifier: Apache-2.0
#include "core/rows/compare_intervals.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

static const uint64_t one[] = { 0xffffffff81000001, 2, 3 }, two[] = { 0xffffffff81000001, 2, 4 };

/* clang-format off */
#define SIDE(f, n, s, t) { .frames = (f), .nr = (n), .state = (s), .truncated = (t) }
#define NOTHING          SIDE(NULL, 0, STACK_NONE, false)
#define MISSED           SIDE(NULL, 0, STACK_MISSED, false)
#define ONE              SIDE(one, 3, STACK_TAKEN, false)
#define TWO              SIDE(two, 3, STACK_TAKEN, false)
#define SHORT            SIDE(one, 2, STACK_TAKEN, false)
#define CUT              SIDE(one, 3, STACK_TAKEN, true)
#define EMPTY            SIDE(NULL, 0, STACK_TAKEN, false)

enum { MAX_ROWS = 4 };

struct input {
	const char *comm; /* NULL ends a table */
	pid_t pid;
	struct stack kernel, user;
	uint64_t ns, times;
};

static const struct {
	const char *name;
	struct input program[MAX_ROWS], ring[MAX_ROWS];
	struct compared_intervals want; /* without examples, whose number is that of the rows that differ */
	const char *example; /* the first example */
	struct intervals_lost lost;
} pairs[] = {
	/* the same */
	{ "no rows", { { NULL } }, { { NULL } }, { 0 }, NULL },
	{ "one row", { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 5000, 3 } }, { .rows = 1 }, NULL },
	{ "in another order, so under other numbers",
	  { { "a", 1, ONE, TWO, 5000, 3 }, { "a", 1, TWO, ONE, 6000, 4 }, { "b", 2, CUT, MISSED, 7000, 1 } },
	  { { "b", 2, CUT, MISSED, 7000, 1 }, { "a", 1, TWO, ONE, 6000, 4 }, { "a", 1, ONE, TWO, 5000, 3 } },
	  { .rows = 3 }, NULL },
	{ "no time", { { "a", 1, ONE, TWO, 0, 3 } }, { { "a", 1, ONE, TWO, 0, 3 } }, { .rows = 1 }, NULL },
	{ "all the time there is",
	  { { "a", 1, ONE, TWO, UINT64_MAX, UINT64_MAX } }, { { "a", 1, ONE, TWO, UINT64_MAX, UINT64_MAX } },
	  { .rows = 1 }, NULL },
	{ "added up on one side",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 1000, 1 }, { "a", 1, ONE, TWO, 4000, 2 } },
	  { .rows = 1 }, NULL },

	/* intervals that the ring lost */
	{ "one is missed",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 1000, 2 } }, { .rows = 1, .missed = 1 }, NULL, { 1, 0 } },
	{ "a row of them",
	  { { "a", 1, ONE, TWO, 5000, 3 }, { "b", 1, ONE, TWO, 5000, 2 } }, { { "a", 1, ONE, TWO, 5000, 3 } },
	  { .rows = 2, .missed = 2 }, NULL, { 2, 0 } },
	{ "an unknown number is missed",
	  { { "a", 1, ONE, TWO, 5000, 3 }, { "b", 1, ONE, TWO, 5000, 2 } }, { { NULL } },
	  { .rows = 2, .missed = 5 }, NULL, { UINT64_MAX, 0 } },
	{ "more than were lost",
	  { { "a", 1, ONE, TWO, 5000, 3 }, { "b", 1, ONE, TWO, 5000, 2 } }, { { "a", 1, ONE, TWO, 5000, 2 } },
	  { .rows = 1, .other_times = 1, .only_program = 1 }, NULL, { 2, 0 } },
	{ "the ring has more",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 5000, 4 } }, { .rows = 1, .other_times = 1 }, NULL, { 9, 0 } },
	{ "the ring has other rows",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, TWO, TWO, 5000, 3 } },
	  { .rows = 1, .missed = 3, .only_ring = 1 }, NULL, { 9, 0 } },
	{ "as many, but too far apart",
	  { { "a", 1, ONE, TWO, 5000, 1 } }, { { "a", 1, ONE, TWO, 9000, 1 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 4000 }, NULL, { 0, 9 } },
	{ "one instead of two, from a CPU that was not seen",
	  { { "a", 1, ONE, TWO, 5000, 1 } }, { { "a", 1, ONE, TWO, 9000, 1 } },
	  { .rows = 1, .stretched = 1 }, NULL, { 1, 0 } },
	{ "the same in one row",
	  { { "a", 1, ONE, TWO, 5000, 2 } }, { { "a", 1, ONE, TWO, 9000, 1 } },
	  { .rows = 1, .missed = 1, .stretched = 1 }, NULL, { 1, 0 } },
	{ "the same, and nothing was lost but stacks",
	  { { "a", 1, ONE, TWO, 5000, 2 } }, { { "a", 1, ONE, TWO, 9000, 1 } },
	  { .rows = 1, .other_times = 1 }, NULL, { 0, 9 } },
	{ "more of them than switches that were not seen",
	  { { "a", 1, ONE, TWO, 5000, 1 }, { "b", 1, ONE, TWO, 5000, 1 } },
	  { { "a", 1, ONE, TWO, 9000, 1 }, { "b", 1, ONE, TWO, 9000, 1 } },
	  { .rows = 2, .other_time = 2, .apart_ns = 4000 }, NULL, { 1, 0 } },
	{ "shorter, which no loss explains",
	  { { "a", 1, ONE, TWO, 9000, 1 } }, { { "a", 1, ONE, TWO, 5000, 1 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 4000 }, NULL, { 9, 9 } },

	/* intervals that the program lost, and whose ends the ring missed */
	{ "a row that only the ring has",
	  { { "b", 1, TWO, ONE, 1000, 1 } }, { { "a", 1, ONE, TWO, 9000, 1 } },
	  { .rows = 2, .missed = 1, .surplus = 1 }, NULL, { 1, 0, 1 } },
	{ "one more in a row",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 9000, 4 } },
	  { .rows = 1, .surplus = 1 }, NULL, { 0, 0, 1 } },
	{ "one, and another one of the row is missed",
	  { { "a", 1, ONE, TWO, 9000, 2 } }, { { "a", 1, ONE, TWO, 5000, 2 } },
	  { .rows = 1, .missed = 1, .surplus = 1 }, NULL, { 1, 0, 1 } },
	{ "the same, and the ring missed none",
	  { { "a", 1, ONE, TWO, 9000, 2 } }, { { "a", 1, ONE, TWO, 5000, 2 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 2000 }, NULL, { 0, 0, 1 } },
	{ "the same, and the program lost none",
	  { { "a", 1, ONE, TWO, 9000, 2 } }, { { "a", 1, ONE, TWO, 5000, 2 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 2000 }, NULL, { 1, 0, 0 } },
	{ "more than the program lost",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 9000, 5 } },
	  { .rows = 1, .other_times = 1 }, NULL, { 9, 0, 1 } },
	{ "the program lost none",
	  { { NULL } }, { { "a", 1, ONE, TWO, 9000, 1 } }, { .only_ring = 1 }, NULL, { 9, 9, 0 } },
	{ "lost ones, and others without stacks",
	  { { "a", 1, ONE, TWO, 5000, 2 } },
	  { { "a", 1, ONE, TWO, 1000, 1 }, { "a", 1, MISSED, MISSED, 1000, 1 }, { "a", 1, TWO, TWO, 1000, 1 } },
	  { .rows = 3, .missed = 1, .unsampled = 1, .surplus = 1 }, NULL, { 0, 1, 1 } },

	/* intervals without stacks */
	{ "one without stacks",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 4000, 2 }, { "a", 1, MISSED, MISSED, 1000, 1 } },
	  { .rows = 2, .missed = 1, .unsampled = 1 }, NULL, { 0, 1 } },
	{ "one without stacks where both have such",
	  { { "a", 1, ONE, TWO, 5000, 3 }, { "a", 1, MISSED, NOTHING, 1000, 1 } },
	  { { "a", 1, ONE, TWO, 4000, 2 }, { "a", 1, MISSED, NOTHING, 2000, 2 } },
	  { .rows = 2, .missed = 1, .unsampled = 1 }, NULL, { 0, 1 } },
	{ "its stacks have another length there",
	  { { "a", 1, ONE, TWO, 5000, 1 } }, { { "a", 1, MISSED, MISSED, 5000, 1 } },
	  { .rows = 2, .missed = 1, .unsampled = 1 }, NULL, { 0, 1 } },
	{ "more without stacks than the kernel gave no sample of",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 1000, 1 }, { "a", 1, MISSED, MISSED, 1000, 2 } },
	  { .rows = 1, .other_times = 1, .only_ring = 1 }, NULL, { 0, 1 } },
	{ "more are missing than are without stacks",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 1000, 1 }, { "a", 1, MISSED, MISSED, 1000, 1 } },
	  { .rows = 1, .other_times = 1, .only_ring = 1 }, NULL, { 0, 2 } },
	{ "some lost, some without stacks",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 1000, 1 }, { "a", 1, MISSED, MISSED, 1000, 1 } },
	  { .rows = 2, .missed = 2, .unsampled = 1 }, NULL, { 1, 1 } },
	{ "with stacks, only in the ring",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 5000, 3 }, { "a", 1, TWO, MISSED, 1000, 1 } },
	  { .rows = 1, .only_ring = 1 }, NULL, { 0, 1 } },
	{ "no stack, and not missed",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 5000, 3 }, { "a", 1, NOTHING, NOTHING, 1000, 1 } },
	  { .rows = 1, .only_ring = 1 }, NULL, { 0, 1 } },

	/* time */
	{ "just near enough",
	  { { "a", 1, ONE, TWO, 5000, 1 } }, { { "a", 1, ONE, TWO, 6000, 1 } }, { .rows = 1, .apart_ns = 1000 }, NULL },
	{ "just near enough, the other way",
	  { { "a", 1, ONE, TWO, 6000, 1 } }, { { "a", 1, ONE, TWO, 5000, 1 } }, { .rows = 1, .apart_ns = 1000 }, NULL },
	{ "just too far",
	  { { "a", 1, ONE, TWO, 5000, 1 } }, { { "a", 1, ONE, TWO, 6001, 1 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 1001 },
	  "'a', process 1, kernel leaf 0xffffffff81000001, user leaf 0xffffffff81000001: bpf: 1 times, 5 us; "
	  "perfring: 1 times, 6 us" },
	{ "just too far, the other way",
	  { { "a", 1, ONE, TWO, 6001, 1 } }, { { "a", 1, ONE, TWO, 5000, 1 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 1001 }, NULL },
	{ "near enough for so many",
	  { { "a", 1, ONE, TWO, 0, 1000 } }, { { "a", 1, ONE, TWO, 1000000, 1000 } }, { .rows = 1, .apart_ns = 1000 },
	  NULL },
	{ "too far for so many",
	  { { "a", 1, ONE, TWO, 0, 1000 } }, { { "a", 1, ONE, TWO, 1000001, 1000 } },
	  { .rows = 1, .other_time = 1, .apart_ns = 1001 }, NULL },
	{ "the difference is rounded up",
	  { { "a", 1, ONE, TWO, 10, 1000 } }, { { "a", 1, ONE, TWO, 11, 1000 } }, { .rows = 1, .apart_ns = 1 }, NULL },
	{ "the largest difference",
	  { { "a", 1, ONE, TWO, 10, 1 }, { "b", 1, ONE, TWO, 200, 2 }, { "c", 1, ONE, TWO, 10, 1 } },
	  { { "a", 1, ONE, TWO, 60, 1 }, { "b", 1, ONE, TWO, 60, 2 }, { "c", 1, ONE, TWO, 10, 1 } },
	  { .rows = 3, .apart_ns = 70 }, NULL },
	{ "so many that a product would not fit",
	  { { "a", 1, ONE, TWO, 0, UINT64_MAX / 2 } }, { { "a", 1, ONE, TWO, UINT64_MAX, UINT64_MAX / 2 } },
	  { .rows = 1, .apart_ns = 3 }, NULL },
	{ "as far as can be",
	  { { "a", 1, ONE, TWO, 0, 1 } }, { { "a", 1, ONE, TWO, UINT64_MAX, 1 } },
	  { .rows = 1, .other_time = 1, .apart_ns = UINT64_MAX },
	  "'a', process 1, kernel leaf 0xffffffff81000001, user leaf 0xffffffff81000001: bpf: 1 times, 0 us; "
	  "perfring: 1 times, 18446744073709551 us" },

	/* numbers of intervals */
	{ "one more",
	  { { "a", 1, ONE, NOTHING, 5000, 3 } }, { { "a", 1, ONE, NOTHING, 5000, 4 } },
	  { .rows = 1, .other_times = 1 },
	  "'a', process 1, kernel leaf 0xffffffff81000001, user leaf none: bpf: 3 times, 5 us; "
	  "perfring: 4 times, 5 us" },
	{ "one less", { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 5000, 2 } },
	  { .rows = 1, .other_times = 1 }, NULL },
	{ "another number and another time count once",
	  { { "a", 1, ONE, TWO, 5000, 3 } }, { { "a", 1, ONE, TWO, 500000, 4 } },
	  { .rows = 1, .other_times = 1 }, NULL },
	{ "all intervals but one",
	  { { "a", 1, ONE, TWO, 5, UINT64_MAX } }, { { "a", 1, ONE, TWO, 5, UINT64_MAX - 1 } },
	  { .rows = 1, .other_times = 1 }, NULL },

	/* rows on one side only */
	{ "only in the program",
	  { { "a", 1, MISSED, ONE, 5000, 3 } }, { { NULL } }, { .only_program = 1 },
	  "'a', process 1, kernel leaf missed, user leaf 0xffffffff81000001: bpf: 3 times, 5 us; "
	  "perfring: 0 times, 0 us" },
	{ "only in the ring",
	  { { NULL } }, { { "a", -1, ONE, EMPTY, 5999, 3 } }, { .only_ring = 1 },
	  "'a', process -1, kernel leaf 0xffffffff81000001, user leaf none: bpf: 0 times, 0 us; "
	  "perfring: 3 times, 5 us" },
	{ "others, too",
	  { { "a", 1, ONE, TWO, 5, 1 }, { "b", 1, ONE, TWO, 5, 1 } },
	  { { "c", 1, ONE, TWO, 5, 1 }, { "b", 1, ONE, TWO, 5, 1 } },
	  { .rows = 1, .only_program = 1, .only_ring = 1 }, NULL },
#define APART(name, ...) \
	{ name, { { "a", 1, ONE, TWO, 5, 1 } }, { { __VA_ARGS__, 5, 1 } }, { .only_program = 1, .only_ring = 1 }, NULL }
	APART("another name", "b", 1, ONE, TWO),
	APART("a longer name", "aa", 1, ONE, TWO),
	APART("no name", "", 1, ONE, TWO),
	APART("another process", "a", 2, ONE, TWO),
	APART("another kernel stack", "a", 1, TWO, TWO),
	APART("another user stack", "a", 1, ONE, ONE),
	APART("exchanged stacks", "a", 1, TWO, ONE),
	APART("a shorter stack", "a", 1, SHORT, TWO),
	APART("a truncated stack", "a", 1, CUT, TWO),
	APART("a missed stack", "a", 1, ONE, MISSED),
	APART("no kernel stack", "a", 1, NOTHING, TWO),
	APART("no user stack", "a", 1, ONE, NOTHING),
	APART("an empty stack", "a", 1, EMPTY, TWO),
	{ "none, missed, empty",
	  { { "a", 1, NOTHING, NOTHING, 5, 1 }, { "a", 1, EMPTY, NOTHING, 6, 1 } },
	  { { "a", 1, EMPTY, NOTHING, 6, 1 }, { "a", 1, MISSED, NOTHING, 5, 1 } },
	  { .rows = 1, .only_program = 1, .only_ring = 1 }, NULL },

	/* rows without intervals */
	{ "nothing on either side", { { "a", 1, ONE, TWO, 5, 0 } }, { { "a", 1, ONE, TWO, 7, 0 } }, { 0 }, NULL },
	{ "nothing in the program", { { "a", 1, ONE, TWO, 5, 0 } }, { { NULL } }, { 0 }, NULL },
	{ "nothing in the ring", { { NULL } }, { { "a", 1, ONE, TWO, 5, 0 } }, { 0 }, NULL },
	{ "nothing in the program, something in the ring",
	  { { "a", 1, ONE, TWO, 5, 0 } }, { { "a", 1, ONE, TWO, 5, 1 } }, { .only_ring = 1 },
	  "'a', process 1, kernel leaf 0xffffffff81000001, user leaf 0xffffffff81000001: bpf: 0 times, 0 us; "
	  "perfring: 1 times, 0 us" },
	{ "something in the program, nothing in the ring",
	  { { "a", 1, ONE, TWO, 5, 1 } }, { { "a", 1, ONE, TWO, 5, 0 } }, { .only_program = 1 }, NULL },

	/* names */
	{ "a name of any bytes",
	  { { "a\n\033[2J\xff';%n", 1, NOTHING, NOTHING, 5, 1 } }, { { NULL } }, { .only_program = 1 },
	  "'a??[2J?';%n', process 1, kernel leaf none, user leaf none: bpf: 1 times, 0 us; perfring: 0 times, 0 us" },
	{ "the longest name, the largest numbers",
	  { { "123456789abcdef", INT32_MIN, ONE, ONE, UINT64_MAX, UINT64_MAX } },
	  { { "123456789abcdef", INT32_MIN, ONE, ONE, UINT64_MAX, UINT64_MAX - 1 } }, { .rows = 1, .other_times = 1 },
	  "'123456789abcdef', process -2147483648, kernel leaf 0xffffffff81000001, user leaf 0xffffffff81000001: "
	  "bpf: 18446744073709551615 times, 18446744073709551 us; "
	  "perfring: 18446744073709551614 times, 18446744073709551 us" },
};
/* clang-format on */

static struct rows *make(const struct input *in)
{
	struct rows *t = rows_new();
	size_t i;

	for (i = 0; i < MAX_ROWS && in[i].comm; i++) {
		char comm[COMM_LEN] = "";

		memcpy(comm, in[i].comm, strlen(in[i].comm));
		ck_assert_int_eq(row_add(t, comm, in[i].pid, &in[i].kernel, &in[i].user, in[i].ns, in[i].times), 0);
	}
	return t;
}

START_TEST(test_pair)
{
	const struct compared_intervals *want = &pairs[_i].want;
	uint64_t nr = want->other_times + want->other_time + want->only_program + want->only_ring;
	struct rows *program = make(pairs[_i].program), *ring = make(pairs[_i].ring);
	struct compared_intervals got;

	memset(&got, 0xff, sizeof(got));
	ck_assert_int_eq(compare_intervals(program, ring, &pairs[_i].lost, &got), 0);
	ck_assert_uint_eq(got.missed, want->missed);
	ck_assert_uint_eq(got.unsampled, want->unsampled);
	ck_assert_uint_eq(got.stretched, want->stretched);
	ck_assert_uint_eq(got.surplus, want->surplus);
	ck_assert_uint_eq(got.rows, want->rows);
	ck_assert_uint_eq(got.other_times, want->other_times);
	ck_assert_uint_eq(got.other_time, want->other_time);
	ck_assert_uint_eq(got.only_program, want->only_program);
	ck_assert_uint_eq(got.only_ring, want->only_ring);
	ck_assert_uint_eq(got.apart_ns, want->apart_ns);
	ck_assert_uint_eq(got.nr_examples, nr);
	ck_assert_int_eq(compared_equal(&got), !nr);
	if (pairs[_i].example)
		ck_assert_str_eq(got.examples[0], pairs[_i].example);
	rows_free(program);
	rows_free(ring);
}
END_TEST

static const struct intervals_lost nothing_lost;

/* Only as many examples as there is room for. */
START_TEST(test_examples)
{
	const struct stack none = NOTHING;
	struct rows *program = rows_new(), *ring = rows_new();
	struct compared_intervals got;
	char comm[COMM_LEN] = "a";
	pid_t pid;

	for (pid = 0; pid < 100; pid++) {
		ck_assert_int_eq(row_add(program, comm, pid, &none, &none, 1, 1), 0);
		ck_assert_int_eq(row_add(ring, comm, pid + 50, &none, &none, 1, 2), 0);
	}
	ck_assert_int_eq(compare_intervals(program, ring, &nothing_lost, &got), 0);
	ck_assert_uint_eq(got.rows, 50);
	ck_assert_uint_eq(got.other_times, 50);
	ck_assert_uint_eq(got.only_program, 50);
	ck_assert_uint_eq(got.only_ring, 50);
	ck_assert_uint_eq(got.nr_examples, INTERVALS_EXAMPLES);
	ck_assert(!compared_equal(&got));
	for (pid = 0; pid < INTERVALS_EXAMPLES; pid++)
		ck_assert_ptr_nonnull(strstr(got.examples[pid], "'a', process "));
	rows_free(program);
	rows_free(ring);
}
END_TEST

enum { MANY = 300000 };

/* Row @i: its stacks differ in one frame from those of others. */
static void add_one(struct rows *t, uint64_t i)
{
	uint64_t kernel[] = { 1, 2, i / 500, 4 }, user[] = { i % 500, 6, 7 };
	struct stack k = SIDE(kernel, 4, STACK_TAKEN, false), u = SIDE(user, 3, STACK_TAKEN, false);
	char comm[COMM_LEN] = "many";

	if (row_add(t, comm, 1, &k, &u, 1000 * i, i % 7 + 1))
		ck_abort_msg("no memory");
}

/* Many rows in opposite orders: fast only in linear time. */
START_TEST(test_many)
{
	struct rows *program = rows_new(), *ring = rows_new();
	struct compared_intervals got;
	uint64_t i;

	for (i = 0; i < MANY; i++) {
		add_one(program, i);
		add_one(ring, MANY - 1 - i);
	}
	ck_assert_int_eq(compare_intervals(program, ring, &nothing_lost, &got), 0);
	ck_assert_uint_eq(got.rows, MANY);
	ck_assert(compared_equal(&got));
	ck_assert_uint_eq(got.apart_ns, 0);
	rows_free(program);
	rows_free(ring);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compare_intervals");
	TCase *t = tcase_create("compare_intervals");

	tcase_add_loop_test(t, test_pair, 0, ARRAY_SIZE(pairs));
	tcase_add_test(t, test_examples);
	tcase_add_test(t, test_many);
	tcase_set_timeout(t, 60);
	suite_add_tcase(s, t);
	return unit_main(s);
}
