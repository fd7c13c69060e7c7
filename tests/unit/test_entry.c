// SPDX-License-Identifier: Apache-2.0
#include "core/report/entry.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

enum { HIDDEN, OLD, FAST, SLOW, FAULT, OTHER, CAREFUL, EARLY };

static const char *const known[] = {
	[OLD] = "system_call_fastpath",
	[FAST] = "entry_SYSCALL_64_fastpath",
	[SLOW] = "entry_SYSCALL_64_after_hwframe",
	[FAULT] = "page_fault",
	[OTHER] = "system_call_fastpath_not",
	[CAREFUL] = "retint_careful",
	[EARLY] = "system_call_after_swapgs",
};

static void name(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	ck_assert(is_return);
	*out = (struct symbol){ .name = known[addr] };
}

static const struct report_names names = { .kernel = name };

static const struct {
	const char *what;
	uint64_t kernel[2]; /* the second one is the outermost frame */
	uint32_t nr;
	bool no_user;
	uint64_t samples, intervals; /* expected: how many of 5 samples and 3 intervals are unsure */
} rows[] = {
	{ "3.10", { OTHER, OLD }, 2, false, 5, 3 },
	{ "4.4", { OTHER, FAST }, 2, false, 5, 3 },
	{ "in that code itself", { FAST }, 1, false, 5, 3 },
	{ "preempted", { OTHER, CAREFUL }, 2, false, 5, 3 },
	{ "before registers are saved", { EARLY }, 1, false, 5, 3 },
	{ "called from code that calls nothing", { OTHER, EARLY }, 2, false, 0, 0 },
	{ "4.15", { OTHER, SLOW }, 2, false, 0, 0 },
	{ "in an interrupt of it", { FAST, FAULT }, 2, false, 0, 0 },
	{ "almost", { FAST, OTHER }, 2, false, 0, 0 },
	{ "hidden", { OTHER, HIDDEN }, 2, false, 0, 0 },
	{ "not in the kernel", { 0 }, 0, false, 0, 0 },
	{ "no user stack", { OTHER, FAST }, 2, true, 0, 0 },
};

START_TEST(test_row)
{
	static const uint64_t frames[] = { 1, 2 };
	const struct stack kernel = { .frames = rows[_i].kernel, .nr = rows[_i].nr, .state = STACK_TAKEN };
	const struct stack user = { .frames = frames, .nr = 2, .state = STACK_TAKEN }, none = { .state = STACK_NONE };
	struct rows *all = rows_new();
	char comm[COMM_LEN] = "a";

	ck_assert_int_eq(row_add(all, comm, 1, &kernel, rows[_i].no_user ? &none : &user, 5, 3), 0);
	ck_assert_int_eq(row_add(all, comm, 2, &none, &user, 100, 100), 0);
	ck_assert_msg(report_unsure_stacks(all, false, &names) == rows[_i].samples, "%s", rows[_i].what);
	ck_assert_msg(report_unsure_stacks(all, true, &names) == rows[_i].intervals, "%s", rows[_i].what);
	rows_free(all);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("entry");
	TCase *t = tcase_create("entry");

	tcase_add_loop_test(t, test_row, 0, ARRAY_SIZE(rows));
	suite_add_tcase(s, t);
	return unit_main(s);
}
