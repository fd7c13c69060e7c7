// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/descendants.h"
#include "core/tasks/filter.h"
#include "core/tasks/tasks.h"
#include "tests/unit/unit.h"

#include <limits.h>

static const pid_t some[] = { 1, 7, 100, 4194304, INT_MAX };

static const struct {
	bool given, by_tid, idle;
	pid_t pid, tid;
	bool match;
} rows[] = {
	/* no filter: all but the idle tasks */
	{ false, false, false, 5, 6, true },
	{ false, true, false, 5, 6, true },
	{ false, false, false, -1, -1, true }, /* a dying task without ids */
	{ false, false, false, 0, 0, false },
	{ false, false, true, 0, 0, true },
	/* processes */
	{ true, false, false, 1, 1, true },
	{ true, false, false, 7, 8, true },
	{ true, false, false, 100, 7, true },
	{ true, false, false, INT_MAX, 3, true },
	{ true, false, false, 8, 7, false },
	{ true, false, false, 0, 7, false },
	{ true, false, false, 2, 2, false },
	{ true, false, false, INT_MAX - 1, 1, false },
	{ true, false, false, -1, -1, false },
	{ true, false, false, INT_MIN, 1, false },
	{ true, false, false, -7, 7, false },
	{ true, false, false, 7, 0, false },
	/* threads */
	{ true, true, false, 8, 7, true },
	{ true, true, false, 2, 4194304, true },
	{ true, true, false, 7, 8, false },
	{ true, true, false, 1, 2, false },
	{ true, true, false, 100, -1, false },
	/* idle tasks are never among the given ids */
	{ true, false, false, 0, 0, false },
	{ true, false, true, 0, 0, false },
	{ true, true, true, 0, 0, false },
};

START_TEST(test_match)
{
	struct filter f = { .by_tid = rows[_i].by_tid, .idle = rows[_i].idle };

	if (rows[_i].given) {
		f.ids = some;
		f.nr = ARRAY_SIZE(some);
	}
	ck_assert_int_eq(filter_match(&f, rows[_i].pid, rows[_i].tid, "any"), rows[_i].match);
}
END_TEST

/* The name given to --comm, and the thread's name from the kernel. */
static const struct {
	const char *wanted;
	char comm[COMM_LEN + 1];
	bool match;
} comms[] = {
	{ "dd", "dd", true },
	{ "dd", "dd\0garbage", true },
	{ "a", "a", true },
	{ "fifteen-letters", "fifteen-letters", true },
	{ "\1\377 ", "\1\377 ", true },
	{ "dd", "", false },
	{ "dd", "d", false },
	{ "d", "dd", false },
	{ "dd", "ddd", false },
	{ "dd", "DD", false },
	{ "dd", "dd ", false },
	{ "dd", " dd", false },
	{ "fifteen-letters", "fifteen-letterS", false },
	{ "fifteen-letters", "fifteen-letter", false },
	{ "fifteen-letters", "fifteen-lettersX", false }, /* not terminated: no thread has this name */
	{ "dd", "[outside]", false },
	{ "*", "dd", false },
};

START_TEST(test_comm)
{
	struct filter f = { .comm = comms[_i].wanted };

	ck_assert_int_eq(filter_match(&f, 5, 6, comms[_i].comm), comms[_i].match);
	/* all parts have to match */
	f.ids = some;
	f.nr = ARRAY_SIZE(some);
	ck_assert_int_eq(filter_match(&f, 7, 6, comms[_i].comm), comms[_i].match);
	ck_assert(!filter_match(&f, 5, 6, comms[_i].comm));
	ck_assert(!filter_match(&f, 0, 0, comms[_i].comm));
}
END_TEST

/* All ids of a long list are found, and none between them. */
START_TEST(test_many)
{
	enum { NR = 1000 };
	pid_t ids[NR];
	struct filter f = { .ids = ids };
	pid_t i;

	for (i = 0; i < NR; i++)
		ids[i] = 2 * i + 1;
	for (f.nr = 1; f.nr <= NR; f.nr += 111)
		for (i = 0; i <= 2 * NR; i++)
			ck_assert_int_eq(filter_match(&f, i, 1, ""), i % 2 == 1 && i < 2 * (pid_t)f.nr);
}
END_TEST

/* Descendants of process 7, which has executed its program; all other parts match. */
static const struct {
	bool given, by_tid, idle;
	const char *comm;
	pid_t pid, tid;
	bool match;
} trees[] = {
	{ false, false, false, NULL, 7, 7, true },
	{ false, false, false, NULL, 7, 9, true },
	{ false, false, false, NULL, 8, 8, true },
	{ false, false, false, "any", 8, 8, true },
	{ true, false, false, "any", 7, 7, true },
	{ false, false, false, NULL, 1, 7, false },
	{ false, false, false, NULL, 9, 7, false },
	{ false, false, false, NULL, 6, 6, false },
	{ false, false, false, NULL, -1, -1, false },
	{ false, false, false, NULL, INT_MIN, INT_MIN, false },
	{ false, false, false, NULL, INT_MAX, INT_MAX, false },
	{ false, false, false, NULL, 0, 0, false },
	{ false, false, true, NULL, 0, 0, false },
	{ false, false, false, NULL, 8, 0, false },
	{ false, false, false, "other", 8, 8, false },
	{ false, false, false, "other", 9, 9, false },
	{ true, false, false, NULL, 8, 8, false },
	{ true, false, false, NULL, 1, 1, false },
	{ true, true, false, NULL, 8, 9, false },
};

START_TEST(test_tree)
{
	struct filter f = { .by_tid = trees[_i].by_tid, .idle = trees[_i].idle, .comm = trees[_i].comm };

	if (trees[_i].given) {
		f.ids = some;
		f.nr = ARRAY_SIZE(some);
	}
	f.tree = descendants_new(7);
	ck_assert(!filter_match(&f, 7, 7, "any"));
	ck_assert_int_eq(descendants_exec(f.tree, 7), 0);
	ck_assert_int_eq(descendants_fork(f.tree, 8, 7), 0);
	ck_assert_int_eq(descendants_fork(f.tree, 9, 6), 0);
	ck_assert_int_eq(filter_match(&f, trees[_i].pid, trees[_i].tid, "any"), trees[_i].match);
	descendants_free(f.tree);
}
END_TEST

/* An interval off the CPU that begins on CPU 3, of a thread with or without a user stack. */
static const struct {
	struct filter f;
	bool has_user, could_run;
	uint64_t waits;
	bool cpu, thread, state;
} intervals[] = {
	{ { 0 }, true, true, 0, true, true, true },
	{ { 0 }, false, false, 2, true, true, true },
	{ { .cpu = 2, .state_mask = 2 }, true, true, 0, true, true, true },
	{ { .by_cpu = true, .cpu = 3 }, true, true, 0, true, true, true },
	{ { .by_cpu = true }, true, true, 0, false, true, true },
	{ { .by_cpu = true, .cpu = UINT32_MAX }, true, true, 0, false, true, true },
	{ { .threads = FILTER_USER_THREADS }, true, true, 0, true, true, true },
	{ { .threads = FILTER_USER_THREADS }, false, true, 0, true, false, true },
	{ { .threads = FILTER_KERNEL_THREADS }, true, true, 0, true, false, true },
	{ { .threads = FILTER_KERNEL_THREADS }, false, true, 0, true, true, true },
	{ { .by_state = true }, true, true, 0, true, true, true },
	{ { .by_state = true }, true, true, 2, true, true, true },
	{ { .by_state = true }, true, false, 2, true, true, false },
	{ { .by_state = true, .state_mask = 3 }, true, false, 2, true, true, true },
	{ { .by_state = true, .state_mask = 3 }, true, false, 6, true, true, true },
	{ { .by_state = true, .state_mask = 3 }, true, false, 4, true, true, false },
	{ { .by_state = true, .state_mask = 3 }, true, true, 2, true, true, false },
};

START_TEST(test_interval)
{
	const struct filter *f = &intervals[_i].f;

	ck_assert_int_eq(filter_match_cpu(f, 3), intervals[_i].cpu);
	ck_assert_int_eq(filter_match_thread(f, intervals[_i].has_user), intervals[_i].thread);
	ck_assert_int_eq(filter_match_state(f, intervals[_i].could_run, intervals[_i].waits), intervals[_i].state);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("filter");
	TCase *t = tcase_create("filter");

	tcase_add_loop_test(t, test_match, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(t, test_comm, 0, ARRAY_SIZE(comms));
	tcase_add_test(t, test_many);
	tcase_add_loop_test(t, test_tree, 0, ARRAY_SIZE(trees));
	tcase_add_loop_test(t, test_interval, 0, ARRAY_SIZE(intervals));
	suite_add_tcase(s, t);
	return unit_main(s);
}
