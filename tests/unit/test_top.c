// SPDX-License-Identifier: Apache-2.0
#include "core/report/report.h"
#include "tests/unit/unit.h"

#define MAX_FRAMES 3

struct in {
	const char *comm;
	const char *frames[MAX_FRAMES]; /* root first; "k:" marks kernel frames */
	uint64_t value;
	bool before;
};

static const struct in one[] = {
	{ "busy", { "main", "work" }, 60, false },
	{ "busy", { "main" }, 10, false },
	{ "other", { "main", "k:syscall", "k:read" }, 25, false },
	{ "a\x1b[m", { "g\xc3\xb6_with_a_long_name_that_does_not_fit" }, 5, false },
	{ 0 },
};

static const struct in calls[] = { { "busy", { "main", "work" }, 60, false }, { 0 } };

static const struct in nothing[] = { { 0 } };

static const struct in two[] = {
	{ "busy", { "main", "work" }, 300, false },    { "busy", { "main", "rest" }, 700, false },
	{ "old name", { "main", "work" }, 100, true }, { "old name", { "main", "gone" }, 200, true },
	{ "old name", { "main", "rest" }, 700, true }, { 0 },
};

static const struct report_about samples = { .header = "Sampling", .cpus = 2, .period_ns = 10000000 };
static const struct report_about times = { .unit = UNIT_USEC, .off_cpu = true };
static const struct report_counts counts = { .due = 200,
					     .taken = 101,
					     .counted = 100,
					     .lost = 1,
					     .incomplete = { 2, 80 },
					     .unnamed = { 7, 100 },
					     .seconds = 1,
					     .known = true };
static const struct report_counts intervals = { .taken = 9, .counted = 7, .lost = 2, .intervals = true, .known = true };

/* clang-format off */
static const struct {
	const struct in *in;
	const struct report_about *about;
	const struct report_counts *counts;
	struct report_cfg cfg;
	unsigned int interval;
	const char *out;
} tables[] = {
	{ one, &samples, &counts, { .limit = 30 }, 0,
	  "Sampling\n\n"
	  "       %    CPUs     samples  task\n"
	  "   70.00    0.70          70  busy\n"
	  "   25.00    0.25          25  other\n"
	  "    5.00    0.05           5  a?[m\n\n"
	  "  self %   total %     samples  module  function\n"
	  "   60.00     60.00          60  prog    work\n"
	  "   25.00     25.00          25  kernel  read\n"
	  "   10.00     95.00          10  prog    main\n"
	  "    5.00      5.00           5  prog    g\xc3\xb6_with_a_long_name_that_does_not_fit\n\n"
	  "25.0 % in the kernel, 75.0 % in programs; CPUs were idle for 49.5 %\n"
	  "2.5 % of the user stacks are incomplete, 7.0 % lack names\n"
	  "100 samples counted, 1 lost\n" },
	{ one, &samples, NULL, { .limit = 2, .by_total = true, .width = 60 }, 2,
	  "Sampling\n\nInterval 2, 1.000 secs\n\n"
	  "       %    CPUs     samples  task\n"
	  "   70.00       -          70  busy\n"
	  "   25.00       -          25  other\n"
	  "            and 1 more task (--limit)\n\n"
	  "  self %   total %     samples  module  function\n"
	  "   10.00     95.00          95  prog    main\n"
	  "   60.00     60.00          60  prog    work\n"
	  "            and 3 more functions (--limit)\n\n"
	  "25.0 % in the kernel, 75.0 % in programs\n" },
	{ one, &times, NULL, { .limit = 30, .width = 55 }, 0,
	  "\n"
	  "       %    CPUs          us  task\n"
	  "   70.00       -          70  busy\n"
	  "   25.00       -          25  other\n"
	  "    5.00       -           5  a?[m\n\n"
	  "  self %   total %          us  module  function\n"
	  "   60.00     60.00          60  prog    work\n"
	  "   25.00     25.00          25  kernel  read\n"
	  "   10.00     95.00          10  prog    main\n"
	  "    5.00      5.00           5  prog    g\xc3\xb6_with_a_lon..\n\n"
	  "25.0 % in the kernel, 75.0 % in programs\n" },
	{ calls, &times, &intervals, { .limit = 30 }, 0,
	  "\n"
	  "       %    CPUs          us  task\n"
	  "  100.00       -          60  busy\n\n"
	  "  self %   total %          us  module  function\n"
	  "  100.00    100.00          60  prog    work\n\n"
	  "0.0 % in the kernel, 100.0 % in programs\n"
	  "0.0 % of the user stacks are incomplete, 0.0 % lack names\n"
	  "7 intervals counted, 2 lost\n" },
	{ calls, &samples, NULL, { .limit = 30 }, 0,
	  "Sampling\n\n"
	  "       %    CPUs     samples  task\n"
	  "  100.00       -          60  busy\n\n"
	  "  self %   total %     samples  module  function\n"
	  "  100.00    100.00          60  prog    work\n\n"
	  "0.0 % in the kernel, 100.0 % in programs\n" },
	{ calls, &samples, NULL, { .limit = 30, .by_total = true }, 0,
	  "Sampling\n\n"
	  "       %    CPUs     samples  task\n"
	  "  100.00       -          60  busy\n\n"
	  "  self %   total %     samples  module  function\n"
	  "  100.00    100.00          60  prog    work\n"
	  "    0.00    100.00          60  prog    main\n\n"
	  "0.0 % in the kernel, 100.0 % in programs\n" },
	{ nothing, &samples, NULL, { .limit = 30 }, 0,
	  "Sampling\n\n"
	  "       %    CPUs     samples  task\n\n"
	  "  self %   total %     samples  module  function\n\n"
	  "0.0 % in the kernel, 0.0 % in programs\n" },
	{ two, &samples, &counts, { .limit = 30, .compared = true }, 0,
	  "Sampling\n\n"
	  "before %   after %    change     noise     module  function\n"
	  "   20.00      0.00    -20.00      6.36  -  prog    gone\n"
	  "   10.00     30.00    +20.00      8.69  +  prog    work\n"
	  "   70.00     70.00     +0.00     10.27     prog    rest\n\n"
	  "1000 samples before, 1000 after. Changes are in points; + and - are beyond what chance does.\n" },
	{ two, &samples, &counts, { .limit = 1, .compared = true, .absolute = true, .by_total = true }, 0,
	  "Sampling\n\n"
	  "before %   after %    change     noise     module  function\n"
	  "   20.00      0.00    -20.00      7.09  -  prog    gone\n"
	  "            and 3 more functions (--limit)\n\n"
	  "1000 samples before, 1000 after. Changes are in points, of all before; + and - are beyond what chance does.\n" },
};
/* clang-format on */

static uint32_t label_of(struct report *r, const char *name)
{
	bool kernel = !strncmp(name, "k:", 2);
	const struct report_frame frame = {
		.name = kernel ? name + 2 : name,
		.module = kernel ? "kernel" : "prog",
		.kind = kernel ? REPORT_FRAME_KERNEL : REPORT_FRAME_USER,
	};
	uint32_t label;

	ck_assert_int_eq(report_frame(r, &frame, &label), 0);
	return label;
}

static void add(struct report *r, const struct in *in)
{
	uint32_t labels[MAX_FRAMES];
	struct report_named row = { .labels = labels, .value = in->value, .times = in->value, .before = in->before };

	ck_assert_int_eq(report_label(r, in->comm, &row.comm), 0);
	for (; row.nr < MAX_FRAMES && in->frames[row.nr]; row.nr++)
		labels[row.nr] = label_of(r, in->frames[row.nr]);
	ck_assert_int_eq(report_add_named(r, &row), 0);
}

START_TEST(test_table)
{
	struct report_output o;
	struct report *r;
	struct err err = { 0 };
	const struct in *in;
	char *got = NULL;
	size_t len;
	FILE *out = open_memstream(&got, &len);

	ck_assert_int_eq(report_begin(&o, out, &report_top, tables[_i].about, &err), 0);
	report_interval(&o, tables[_i].interval, 1);
	ck_assert_int_eq(report_new(&report_top, &tables[_i].cfg, &r, &err), 0);
	for (in = tables[_i].in; in->comm; in++)
		add(r, in);
	ck_assert_int_eq(report_print(r, &o, tables[_i].counts, &err), 0);
	report_free(r);
	ck_assert_int_eq(report_end(&o, true, &err), 0);
	fclose(out);
	ck_assert_str_eq(got, tables[_i].out);
	free(got);
}
END_TEST

/* The tables of an interval have only that interval. */
START_TEST(test_intervals)
{
	const struct report_cfg cfg = { .limit = 30 };
	struct report_output o;
	struct report *r;
	struct err err = { 0 };
	char *got = NULL, *second;
	size_t len;
	FILE *out = open_memstream(&got, &len);
	unsigned int i;

	ck_assert_int_eq(report_begin(&o, out, &report_top, NULL, &err), 0);
	for (i = 1; i <= 2; i++) {
		report_interval(&o, i, 1);
		ck_assert_int_eq(report_new(&report_top, &cfg, &r, &err), 0);
		add(r, &one[i]);
		ck_assert_int_eq(report_print(r, &o, &counts, &err), 0);
		report_free(r);
	}
	ck_assert_int_eq(report_end(&o, true, &err), 0);
	fclose(out);
	second = strstr(got, "Interval 2");
	ck_assert_ptr_nonnull(second);
	ck_assert_ptr_null(strstr(second, "busy"));
	ck_assert_ptr_nonnull(strstr(second, "  100.00    100.00          25  kernel  read\n"));
	free(got);
}
END_TEST

/* Shares of stacks are those of all reports together; a report without stacks does not change them. */
START_TEST(test_sum)
{
	const struct report_counts read = { .taken = 5, .counted = 5 };
	struct report_counts sum = read;

	report_counts_add(&sum, &counts);
	ck_assert(sum.known);
	ck_assert_uint_eq(sum.counted, 105);
	ck_assert_double_eq(report_share_percent(&sum.incomplete), 2.5);
	report_counts_add(&sum, &(struct report_counts){ .incomplete = { 8, 20 }, .unnamed = { 13, 100 } });
	ck_assert_double_eq(report_share_percent(&sum.incomplete), 10);
	ck_assert_double_eq(report_share_percent(&sum.unnamed), 10);
}
END_TEST

START_TEST(test_stopped)
{
	const struct report_cfg cfg = { .limit = 30 };
	struct report_output o;
	struct err err = { 0 };
	FILE *out = fopen("/dev/null", "we");

	ck_assert_int_eq(report_begin(&o, out, &report_top, NULL, &err), 0);
	o.cfg = &cfg;
	ck_assert_int_eq(report_end(&o, false, &err), 0);
	fclose(out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("top");
	TCase *tc = tcase_create("top");

	tcase_add_loop_test(tc, test_table, 0, ARRAY_SIZE(tables));
	tcase_add_test(tc, test_intervals);
	tcase_add_test(tc, test_sum);
	tcase_add_test(tc, test_stopped);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
