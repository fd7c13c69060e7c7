// SPDX-License-Identifier: Apache-2.0
#include "core/report/quality.h"
#include "core/report/report.h"
#include "tests/row_key.h"
#include "tests/unit/unit.h"

/* ---- frames */

static const struct {
	struct symbol sym;
	unsigned int traits;
} frames[] = {
	{ { .name = "main", .module = "dd" }, LACKS_NOTHING },
	{ { .name = "main" }, LACKS_NOTHING },
	{ { .name = "made", .module = "//anon", .anonymous = true, .jit = true }, LACKS_NOTHING },
	{ { .name = "", .module = "dd" }, LACKS_SYMBOLS },
	{ { .module = "dd" }, LACKS_SYMBOLS },
	{ { .module = "dd", .has_function = true, .function = 0x4300 }, LACKS_SYMBOLS },
	{ { .module = "//anon", .anonymous = true }, LACKS_MAP },
	{ { .module = "[heap]", .anonymous = true }, LACKS_MAP },
	{ { .module = "memfd:doublemapper" }, LACKS_MAP },
	{ { .module = "memfd" }, LACKS_SYMBOLS },
	{ { .module = "[vdso]" }, LACKS_NOTHING },
	{ { .module = "[vsyscall]" }, LACKS_NOTHING },
	{ { .module = NULL }, LACKS_MAPPING },
	{ { .module = "libc.so.6" }, LACKS_SYMBOLS | FRAME_OF_LIBC },
	{ { .name = "qsort", .module = "libc-2.17.so" }, FRAME_OF_LIBC },
	{ { .name = "start_thread", .module = "libpthread-2.17.so" }, FRAME_OF_LIBC },
	{ { .name = "main", .module = "libcrypto.so.3" }, LACKS_NOTHING },
	{ { .name = "main", .module = "libc" }, LACKS_NOTHING },
	{ { .name = "main", .module = "ld-musl-x86_64.so.1" }, FRAME_OF_LIBC },
	{ { .name = "main", .module = "ld-linux-x86-64.so.2" }, LACKS_NOTHING },
	{ { .name = "main", .module = "l" }, LACKS_NOTHING },
	{ { .name = "main", .module = "li" }, LACKS_NOTHING },
	{ { .name = "main", .module = "lib" }, LACKS_NOTHING },
	{ { .name = "main", .module = "" }, LACKS_NOTHING },
};

START_TEST(test_frame)
{
	ck_assert_uint_eq(frame_traits(&frames[_i].sym), frames[_i].traits);
}
END_TEST

/* ---- stacks, root first: n named, s without symbols, m made at run time, u unmapped; in capitals: in the C library */

static const struct {
	const char *frames;
	bool called; /* the first one has a caller */
	bool incomplete, no_symbols, no_map;
} stacks[] = {
	{ "n", false, false, false, false },
	{ "nnnn", false, false, false, false },
	/* names: the leaf */
	{ "nnns", false, false, true, false },
	{ "nnnm", false, false, false, true },
	{ "nnnu", false, false, false, true },
	{ "sssm", false, false, false, true },
	{ "mmms", false, false, true, false },
	{ "s", false, false, true, false },
	/* names: half of the frames */
	{ "sn", false, false, true, false },
	{ "snn", false, false, false, false },
	{ "ssnnn", false, false, false, false },
	{ "ssnn", false, false, true, false },
	{ "mmnn", false, false, false, true },
	{ "smnn", false, false, true, false },
	{ "mmsnnn", false, false, false, true },
	/* names: without the C library's code before main(), or before the first function of a thread */
	{ "SSn", false, false, false, false },
	{ "SSnn", false, false, false, false },
	{ "SSsn", false, false, true, false },
	{ "SSsnn", false, false, false, false },
	{ "SSS", false, false, true, false },
	{ "SSN", false, false, false, false },
	{ "SNn", false, false, false, false },
	{ "sNSn", false, false, false, false }, /* _start of a program without symbols */
	{ "sSsn", false, false, true, false },
	{ "ssSn", false, false, true, false },
	{ "nSSn", false, false, false, false },
	{ "nSnS", false, false, true, false },
	{ "nnSSSn", false, false, true, false }, /* not at the root end */
	{ "SSmn", false, false, false, true },
	{ "mSn", false, false, false, true },
	/* callers that may be any numbers do not count */
	{ "nuuuunn", false, false, false, false },
	{ "nuusn", false, false, false, false },
	/* incomplete */
	{ "n", true, true, false, false },
	{ "nn", true, true, false, false },
	{ "un", false, true, false, false },
	{ "un", true, true, false, false },
	{ "u", false, false, false, true }, /* the mappings of the process are unknown */
	{ "unu", false, false, false, true },
	{ "mn", false, false, false, true }, /* without rules, not known */
	/* the C library's code before main() */
	{ "Nnn", true, false, false, false },
	{ "Snn", true, false, false, false },
	{ "Nn", true, false, false, false },
	{ "N", true, true, false, false },
	{ "NN", true, true, false, false },
	{ "NNn", true, true, false, false },
	{ "nNn", true, true, false, false },
};

static unsigned int traits_of(char c)
{
	static const char lacks[] = {
		[LACKS_NOTHING] = 'n', [LACKS_SYMBOLS] = 's', [LACKS_MAP] = 'm', [LACKS_MAPPING] = 'u'
	};
	unsigned int i;

	for (i = 0; i < LACKS_NR; i++)
		if ((c | 0x20) == lacks[i])
			return i | (c & 0x20 ? 0 : FRAME_OF_LIBC);
	ck_abort();
}

START_TEST(test_stack)
{
	const char *frames_of = stacks[_i].frames, *c;
	struct stack_quality q = { 0 };
	struct stack_end end;

	for (c = frames_of; *c; c++)
		stack_quality_add(&q, traits_of(*c));
	end.outermost = traits_of(frames_of[0]) | (stacks[_i].called ? FRAME_CALLED : 0);
	end.next = frames_of[1] ? traits_of(frames_of[1]) : end.outermost;
	end.leaf = q.leaf;
	ck_assert_uint_eq(stack_quality_names(&q), (unsigned int)stacks[_i].no_symbols << FLAW_NO_SYMBOLS |
							   (unsigned int)stacks[_i].no_map << FLAW_NO_MAP);
	ck_assert_int_eq(stack_end_is_missing(&end), stacks[_i].incomplete);
}
END_TEST

START_TEST(test_sums)
{
	struct quality a = { 0 }, b = { 0 };

	quality_count(&a, 0, 7, 1);
	quality_count(&a, 1u << FLAW_INCOMPLETE | 1u << FLAW_NO_MAP, 5, 2);
	quality_count(&b, 1u << FLAW_NO_MAP, UINT64_MAX - 6, UINT64_MAX);
	quality_add(&a, &b);
	ck_assert_uint_eq(a.all, UINT64_MAX);
	ck_assert_uint_eq(a.times, UINT64_MAX);
	ck_assert_uint_eq(a.flawed, UINT64_MAX - 1);
	ck_assert_uint_eq(a.by_flaw[FLAW_INCOMPLETE], 5);
	ck_assert_uint_eq(a.by_flaw[FLAW_NO_SYMBOLS], 0);
	ck_assert_uint_eq(a.by_flaw[FLAW_NO_MAP], UINT64_MAX - 1);
}
END_TEST

/* ---- a report */

enum { NOWHERE, START, MAIN, LIB, STRIPPED, MADE };

static const struct symbol world[] = {
	[START] = { .name = "_start", .module = "dd" },     [MAIN] = { .name = "main", .module = "dd" },
	[LIB] = { .name = "lib", .module = "l.so" },        [STRIPPED] = { .module = "gzip" },
	[MADE] = { .module = "//anon", .anonymous = true },
};

static unsigned int asked; /* number of calls */

static void name_kernel(void *ctx, uint64_t addr, bool is_return, struct symbol *out)
{
	(void)ctx;
	(void)addr;
	(void)is_return;
	*out = (struct symbol){ 0 };
}

static void name_user(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		      struct symbol *out)
{
	(void)ctx;
	(void)pid;
	(void)comm;
	(void)image;
	(void)is_return;
	*out = world[addr];
}

static bool is_called(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return)
{
	(void)image;
	(void)ctx;
	(void)is_return;
	ck_assert_int_eq(pid, 1);
	ck_assert_str_eq(comm, "a");
	asked++;
	return addr != START && addr != STRIPPED;
}

static void add(struct rows *rows, pid_t pid, const uint64_t *frames_of, uint32_t nr, enum stack_state state)
{
	const struct stack none = { .state = STACK_NONE };
	const struct stack user = { .frames = frames_of, .nr = nr, .state = state, .truncated = nr == 3 };

	ck_assert_int_eq(row_add(rows, "a", pid, &none, &user, 10, 2), 0);
}

/* Nine rows of process 1, leaf first, and one of another process without a user stack. */
static struct rows *make_rows(void)
{
	static const uint64_t whole[] = { MAIN, START }, broken[] = { LIB, MAIN }, broken_too[] = { MAIN, LIB },
			      same_root[] = { LIB, LIB, MAIN, MAIN }, cut[] = { LIB, LIB, MAIN },
			      stripped[] = { STRIPPED, STRIPPED }, made[] = { MADE, START }, lost[] = { MAIN, NOWHERE };
	struct rows *rows = rows_new();

	ck_assert_ptr_nonnull(rows);
	add(rows, 1, whole, 2, STACK_TAKEN);
	add(rows, 1, broken, 2, STACK_TAKEN);
	add(rows, 1, broken_too, 2, STACK_TAKEN);
	add(rows, 1, same_root, 4, STACK_TAKEN);
	add(rows, 1, cut, 3, STACK_TAKEN);
	add(rows, 1, stripped, 2, STACK_TAKEN);
	add(rows, 1, made, 2, STACK_TAKEN);
	add(rows, 1, lost, 2, STACK_TAKEN);
	add(rows, 1, NULL, 0, STACK_MISSED);
	add(rows, 2, NULL, 0, STACK_TAKEN);
	return rows;
}

static void report(struct report_quality *q, const struct rows *rows, const struct report_cfg *cfg, bool called)
{
	const struct report_names names = { .kernel = name_kernel,
					    .user = name_user,
					    .called = called ? is_called : NULL };
	const struct report_part parts[] = {
		{ .rows = rows, .names = &names, .quality = q, .weight = 1 },
		{ .rows = rows, .names = &names, .quality = q, .root = "off-cpu", .weight = 3 }
	};
	FILE *out = fopen("/dev/null", "we");
	struct report_output o;

	ck_assert_ptr_nonnull(out);
	ck_assert_int_eq(report_begin(&o, out, cfg->form, NULL, NULL), 0);
	ck_assert_int_eq(report_rows(&o, parts, 2, cfg, NULL), 0);
	ck_assert_int_eq(report_end(&o, true, NULL), 0);
	fclose(out);
}

static const struct {
	bool by_fp, called;
	uint64_t incomplete, flawed;
} reports[] = {
	{ false, true, 0, 80 },
	{ true, true, 160, 240 },
	{ true, false, 40, 120 },
};

START_TEST(test_report)
{
	const struct report_cfg cfg = { .form = _i ? &report_text : &report_folded, .unit = 1000 };
	struct report_quality q = { .by_fp = reports[_i].by_fp };
	struct rows *rows = make_rows();
	const struct task_quality *t;

	asked = 0;
	report(&q, rows, &cfg, reports[_i].called);
	ck_assert_uint_eq(q.tasks.nr, 1);
	t = report_quality_find(&q, &(struct task_key){ "a", 1 });
	ck_assert_ptr_nonnull(t);
	ck_assert_uint_eq(t->of.all, 9 * 10 * 4);
	ck_assert_uint_eq(t->of.times, 9 * 2 * 2);
	ck_assert_uint_eq(t->of.by_flaw[FLAW_INCOMPLETE], reports[_i].incomplete);
	ck_assert_uint_eq(t->of.by_flaw[FLAW_NO_SYMBOLS], 40);
	ck_assert_uint_eq(t->of.by_flaw[FLAW_NO_MAP], 40);
	ck_assert_uint_eq(t->of.flawed, reports[_i].flawed);
	/* Each outermost frame is looked up once for each part: START, MAIN, LIB, STRIPPED, NOWHERE. */
	ck_assert_uint_eq(asked, reports[_i].by_fp && reports[_i].called ? 10 : 0);
	ck_assert_ptr_null(report_quality_find(&q, &(struct task_key){ "a", 2 }));
	ck_assert_ptr_null(report_quality_find(&q, &(struct task_key){ "b", 1 }));
	report_quality_release(&q);
	rows_free(rows);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("quality");
	TCase *t = tcase_create("quality");

	tcase_add_loop_test(t, test_frame, 0, ARRAY_SIZE(frames));
	tcase_add_loop_test(t, test_stack, 0, ARRAY_SIZE(stacks));
	tcase_add_test(t, test_sums);
	tcase_add_loop_test(t, test_report, 0, ARRAY_SIZE(reports));
	suite_add_tcase(s, t);
	return unit_main(s);
}
