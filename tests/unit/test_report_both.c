// SPDX-License-Identifier: Apache-2.0
#include "core/report/both.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

#define MAX_ROWS 4

static void name_it(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	static const char *const names[] = { "main", "read", "write" };

	(void)ctx;
	(void)is_return;
	*out = (struct symbol){ names[addr - 1], 0, NULL };
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	(void)pid;
	(void)comm;
	(void)image;
	name_it(ctx, addr, is_return, out);
}

static const struct report_names world = { NULL, name_it, name_user };

/* A row with a user stack of one frame. */
struct input {
	uint64_t value; /* 0 ends a table */
	const char *comm;
	pid_t pid;
	uint64_t frame;
};

static struct rows *make(const struct input *in)
{
	struct rows *t = rows_new();
	size_t i;

	ck_assert_ptr_nonnull(t);
	for (i = 0; i < MAX_ROWS && in[i].value; i++) {
		const struct stack user = { &in[i].frame, 1, STACK_TAKEN, false }, none = { .state = STACK_NONE };
		char comm[COMM_LEN] = "";

		memcpy(comm, in[i].comm, strlen(in[i].comm));
		ck_assert_int_eq(row_add(t, comm, in[i].pid, &none, &user, in[i].value, in[i].value), 0);
	}
	return t;
}

#define HEAD       "--- bpf\n+++ perfring\n"
#define P(c, s, f) s "    " f "\n" s "    -                " c " (1)\n"
#define V(s, v)    s "        " v "\n" s "\n"
#define FOLDED     &report_folded
#define TEXT       &report_text
#define ROW(c, v, f)                                                                                                   \
	{                                                                                                              \
		(v), (c), 1, (f)                                                                                       \
	}

static const struct {
	const char *name;
	const struct report_writer *form;
	struct input program[MAX_ROWS], ring[MAX_ROWS], explained[MAX_ROWS];
	enum report_agreement agreement;
	const char *want;
} rows[] = {
	{ "equal",
	  FOLDED,
	  { ROW("a", 1, 1), ROW("b", 2, 2) },
	  { ROW("a", 1, 1), ROW("b", 2, 2) },
	  { { 0 } },
	  REPORTS_EQUAL,
	  "" },
	{ "equal, text", TEXT, { ROW("a", 1, 1) }, { ROW("a", 1, 1) }, { { 0 } }, REPORTS_EQUAL, "" },
	{ "equal, in another order",
	  FOLDED,
	  { ROW("a", 1, 1), ROW("b", 2, 2) },
	  { ROW("b", 2, 2), ROW("a", 1, 1) },
	  { { 0 } },
	  REPORTS_EQUAL,
	  "" },
	{ "equal, whatever is explained",
	  FOLDED,
	  { ROW("a", 1, 1) },
	  { ROW("a", 1, 1) },
	  { ROW("x", 9, 3) },
	  REPORTS_EQUAL,
	  "" },
	{ "equal where it is printed",
	  FOLDED,
	  { { 1, "a", 1, 1 } },
	  { { 1, "a", 2, 1 } },
	  { { 0 } },
	  REPORTS_EQUAL,
	  "" },
	{ "empty", FOLDED, { { 0 } }, { { 0 } }, { { 0 } }, REPORTS_EQUAL, "" },
	{ "empty, text", TEXT, { { 0 } }, { { 0 } }, { { 0 } }, REPORTS_EQUAL, "" },

	{ "explained",
	  FOLDED,
	  { ROW("a", 1, 1), ROW("b", 2, 2) },
	  { ROW("a", 3, 1) },
	  { ROW("b", 2, 2), ROW("a", 1, 1) },
	  REPORTS_EXPLAINED,
	  "" },
	{ "explained, text", TEXT, { ROW("a", 1, 1) }, { ROW("b", 1, 1) }, { ROW("a", 1, 1) }, REPORTS_EXPLAINED, "" },
	{ "explained, all of it", FOLDED, { { 0 } }, { ROW("a", 1, 1) }, { { 0 } }, REPORTS_EXPLAINED, "" },

	{ "a value",
	  FOLDED,
	  { ROW("a", 1, 1), ROW("b", 3, 2) },
	  { ROW("a", 1, 1), ROW("b", 4, 2) },
	  { ROW("a", 1, 1), ROW("b", 4, 2) },
	  REPORTS_DIFFERENT,
	  HEAD "-b;read 3\n+b;read 4\n" },
	{ "a value, text",
	  TEXT,
	  { ROW("a", 1, 1) },
	  { ROW("a", 2, 1) },
	  { ROW("a", 2, 1) },
	  REPORTS_DIFFERENT,
	  HEAD P("a", "-", "main") V("-", "1") P("a", "+", "main") V("+", "2") },
	{ "a pid, text",
	  TEXT,
	  { { 1, "a", 1, 1 } },
	  { { 1, "a", 2, 1 } },
	  { { 1, "a", 2, 1 } },
	  REPORTS_DIFFERENT,
	  HEAD P("a", "-", "main") V("-", "1") "+    main\n+    -                a (2)\n" V("+", "1") },
	{ "a row of the program alone",
	  FOLDED,
	  { ROW("a", 1, 1), ROW("b", 2, 2) },
	  { ROW("b", 2, 2) },
	  { ROW("b", 2, 2) },
	  REPORTS_DIFFERENT,
	  HEAD "-a;main 1\n" },
	{ "a row of the ring alone",
	  FOLDED,
	  { { 0 } },
	  { ROW("b", 2, 3) },
	  { ROW("b", 2, 3) },
	  REPORTS_DIFFERENT,
	  HEAD "+b;write 2\n" },
	/* explained differences are corrected in the diff */
	{ "explained in part",
	  FOLDED,
	  { ROW("new", 1, 1), ROW("b", 2, 2) },
	  { ROW("old", 1, 1), ROW("b", 3, 2) },
	  { ROW("new", 1, 1), ROW("b", 3, 2) },
	  REPORTS_DIFFERENT,
	  HEAD "-b;read 2\n+b;read 3\n" },
	{ "explained wrongly",
	  FOLDED,
	  { ROW("a", 1, 1) },
	  { ROW("b", 1, 1) },
	  { { 0 } },
	  REPORTS_DIFFERENT,
	  HEAD "-a;main 1\n" },
};

static void free_pair(const struct report_pair *pair)
{
	rows_free((struct rows *)pair->program);
	rows_free((struct rows *)pair->ring);
	rows_free((struct rows *)pair->explained);
}

START_TEST(test_both)
{
	const struct report_pair pair = { make(rows[_i].program), make(rows[_i].ring), make(rows[_i].explained) };
	const struct report_cfg cfg = { .form = rows[_i].form };
	enum report_agreement agreement = (enum report_agreement)77;
	struct err err = { 0 };
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_both(out, &pair, &world, &cfg, &agreement, &err), 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(err.code, 0);
	ck_assert_msg(agreement == rows[_i].agreement, "%s: %d", rows[_i].name, agreement);
	ck_assert_msg(!strcmp(got, rows[_i].want), "%s: got\n%s\nwant\n%s", rows[_i].name, got, rows[_i].want);
	free(got);
	free_pair(&pair);
}
END_TEST

/* Without an output, only the comparison is done, and not in printed units. */
START_TEST(test_only_compared)
{
	const struct report_pair pair = { make(rows[_i].program), make(rows[_i].ring), make(rows[_i].explained) };
	const struct report_cfg cfg = { .form = rows[_i].form, .unit = 1000 };
	enum report_agreement agreement = (enum report_agreement)77;
	struct err err = { 0 };

	ck_assert_int_eq(report_both(NULL, &pair, &world, &cfg, &agreement, &err), 0);
	ck_assert_int_eq(err.code, 0);
	ck_assert_msg(agreement == rows[_i].agreement, "%s: %d", rows[_i].name, agreement);
	free_pair(&pair);
}
END_TEST

static struct rows *many(uint64_t value)
{
	struct rows *t = rows_new();
	uint32_t i;

	for (i = 0; i < 5000; i++) {
		const uint64_t frame = 1 + i % 3;
		const struct stack user = { &frame, 1, STACK_TAKEN, false }, none = { .state = STACK_NONE };
		char comm[COMM_LEN] = "";

		snprintf(comm, sizeof(comm), "%u", i);
		ck_assert_int_eq(row_add(t, comm, 1, &none, &user, value, value), 0);
	}
	return t;
}

/* A long diff is cut, and ends with the number of missing rows. */
START_TEST(test_long)
{
	const struct report_pair pair = { many(1), many(2), many(2) };
	const struct report_cfg cfg = { .form = _i ? &report_text : &report_folded };
	const char *last = "... and 9000 more rows differ\n";
	enum report_agreement agreement;
	struct err err = { 0 };
	char *got = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&got, &len);

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_both(out, &pair, &world, &cfg, &agreement, &err), 0);
	ck_assert_int_eq(fclose(out), 0);
	ck_assert_int_eq(agreement, REPORTS_DIFFERENT);
	ck_assert_uint_gt(len, strlen(last));
	ck_assert_str_eq(got + len - strlen(last), last);
	free(got);
	free_pair(&pair);
}
END_TEST

/* A full disk. */
START_TEST(test_full_disk)
{
	const struct report_pair pair = { many(1), many(2), many(2) };
	const struct report_cfg cfg = { .form = _i ? &report_text : &report_folded };
	enum report_agreement agreement;
	FILE *out = fopen("/dev/full", "we");
	struct err err = { 0 };

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_both(out, &pair, &world, &cfg, &agreement, &err), -ENOSPC);
	ck_assert_int_eq(err.code, -ENOSPC);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot write"));
	ck_assert_ptr_nonnull(strstr(err.msg, "No space left on device"));
	fclose(out);
	free_pair(&pair);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_both");
	TCase *tc = tcase_create("report_both");

	tcase_add_loop_test(tc, test_both, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, test_only_compared, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, test_long, 0, 2);
	tcase_add_loop_test(tc, test_full_disk, 0, 2);
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
