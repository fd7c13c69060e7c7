// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "core/account.h"

static const struct backend_ops ring = { .name = "perfring" }, program = { .name = "bpf", .in_kernel = true };

static char *printed(enum tool tool, bool both, const char *interval, const struct account *a)
{
	struct options o = { .tool = tool };
	struct capture cap = { .options = &o, .both = both, .reason = "why", .nr_cpus = 2 };
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	cap.backends[0].ops = &program;
	account_print(f, &cap, interval, a);
	fclose(f);
	return text;
}

/* Intervals have books of their own, and nothing is said that is only about samples. */
START_TEST(test_intervals)
{
	const struct account a = {
		.books = { .taken = 90,
			   .lost = 91,
			   .outside = 3,
			   .late_samples = 92,
			   .throttled = 93,
			   .intervals_begun = 10,
			   .intervals_charged = 4,
			   .intervals_filtered = 3,
			   .intervals_open = 2,
			   .intervals_lost = 1,
			   .intervals_no_slot = 1,
			   .clocks_apart = 18,
			   .intervals_passed = 5,
			   .intervals_received = 94,
			   .spilled_stack = 6,
			   .ring_records = 7,
			   .count_entries = 8,
			   .stack_entries = 9 },
		.unaccounted = -1,
		.rows = 11,
		.stacks = 12,
		.ring_bytes = 4096,
		.started_ns = 13,
		.sampled_ns = 14,
		.rows_compared = 15,
		.rows_different = 16,
		.apart_ns = 17,
	};
	char *text = printed(TOOL_OFFCPUTIME, _i, _i ? "all" : NULL, &a);
	char want[2048];

	snprintf(want, sizeof(want), "%sbackend: %s\n%s%s%s", _i ? "interval: all\n" : "", _i ? "both" : "bpf",
		 "backend_reason: why\n"
		 "intervals_begun: 10\nintervals_charged: 4\nintervals_filtered: 3\nintervals_open: 2\n"
		 "intervals_lost: 1\nintervals_without_slot: 1\nintervals_passed_on: 5\n"
		 "spilled_no_stack_room: 6\nspilled_no_count_room: 0\nspilled_to_unwind: 0\nspilled_to_judge: 0\n"
		 "spilled_without_pid: 0\n"
		 "unwound_to_root: 0\nunwound_truncated: 0\nunwound_no_rules: 0\nunwound_bad: 0\n"
		 "unwound_by_kernel: 0\n",
		 _i ? "clocks_apart: 18\nrows_compared: 15\nrows_different: 16\nlargest_difference_ns: 17\n" : "",
		 "ring_records: 7\nring_bytes_read: 0\nring_records_lost: 0\nring_records_late: 0\n"
		 "ring_records_bad: 0\nring_size: 4096\ncount_table_used: 8\nstack_table_used: 9\n"
		 "files_mismatched: 0\nfiles_hung: 0\nrows: 11\nstacks: 12\ncpus: 2\ncpus_offline_ns: 0\n"
		 "started_ns: 13\nsampled_ns: 14\nintervals_unaccounted: -1\n");
	ck_assert_str_eq(text, want);
	free(text);
}
END_TEST

START_TEST(test_samples)
{
	const struct account a = { .books = { .taken = 10, .intervals_begun = 11 }, .unaccounted = 2 };
	char *text = printed(TOOL_PROFILE, false, NULL, &a);

	ck_assert_ptr_nonnull(strstr(text, "\nsamples_taken: 10\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nsamples_unaccounted: 2\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nthrottled: 0\n"));
	ck_assert_ptr_null(strstr(text, "intervals_"));
	free(text);
}
END_TEST

START_TEST(test_compared)
{
	const struct compared_intervals c = {
		.rows = 10, .other_times = 1, .other_time = 2, .only_program = 3, .only_ring = 4, .apart_ns = 5
	};
	struct account a = { 0 }, total = { .rows_compared = 1, .rows_different = 1, .apart_ns = 6 };

	account_compared(&a, &c);
	ck_assert_uint_eq(a.rows_compared, 17);
	ck_assert_uint_eq(a.rows_different, 10);
	ck_assert_uint_eq(a.apart_ns, 5);
	account_add(&total, &a);
	ck_assert_uint_eq(total.rows_compared, 18);
	ck_assert_uint_eq(total.rows_different, 11);
	ck_assert_uint_eq(total.apart_ns, 6);
	a.apart_ns = 7;
	account_add(&total, &a);
	ck_assert_uint_eq(total.apart_ns, 7);
}
END_TEST

#define LOST   "WARNING: 5 intervals off the CPU could not be counted: "
#define NOROOM LOST "a ring had no room for their switches. To change that, "
#define TIME   "or give the profiler more CPU time.\n"

static const struct {
	enum tool tool;
	const struct backend_ops *ops;
	struct books books;
	const char *text;
} losses[] = {
	{ TOOL_OFFCPUTIME, &ring, { .intervals_begun = 10, .intervals_charged = 10 }, "" },
	{ TOOL_OFFCPUTIME, &ring, { .intervals_lost = 5 }, LOST "not all switches of their threads were seen.\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .intervals_no_slot = 3 },
	  LOST "there are more threads than the BPF program has room for; --backend=perfring has.\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .intervals_no_slot = 2 },
	  LOST "not all switches of their threads were seen.\n" },
	{ TOOL_OFFCPUTIME,
	  &ring,
	  { .intervals_lost = 5, .lost_records = 9, .lost_notes = 9 },
	  NOROOM "count in the kernel (--backend=bpf), or fewer intervals (-p), " TIME },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .lost_records = 9, .lost_notes = 9 },
	  NOROOM "count fewer intervals (-p, -m), " TIME },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .lost_records = 9, .lost_notes = 9, .spilled_stack = 3, .spilled_count = 2 },
	  NOROOM "raise --stack-storage-size (16384), count fewer intervals (-p, -m), " TIME },
	{ TOOL_OFFCPUTIME, /* there is no option for that table */
	  &program,
	  { .intervals_lost = 5, .lost_records = 9, .lost_notes = 9, .spilled_stack = 2, .spilled_count = 3 },
	  NOROOM "count fewer intervals (-p, -m), " TIME },
	{ TOOL_OFFCPUTIME,
	  &ring,
	  { .lost_records = 4 },
	  "WARNING: 4 records about switches, tasks and mappings were lost: some names may be wrong.\n" },
	{ TOOL_OFFCPUTIME, &ring, { .lost = 4, .lost_records = 4, .taken = 9 }, "" }, /* there are no samples */
	{ TOOL_PROFILE, &ring, { .intervals_lost = 5 }, "" },
	{ TOOL_PROFILE,
	  &ring,
	  { .lost = 4, .lost_records = 6, .taken = 9 },
	  "WARNING: 4 stack traces could not be displayed. A ring had no room for them: lower the rate (-F), " TIME
	  "WARNING: 2 records about tasks and mappings were lost: some names may be wrong.\n" },
};

START_TEST(test_losses)
{
	struct options o = { .tool = losses[_i].tool, .stack_entries = 16384, .hash_entries = 40960 };
	struct capture cap = { .options = &o };
	struct account a = { .books = losses[_i].books };
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	cap.backends[0].ops = losses[_i].ops;
	account_print_losses(f, &cap, &a);
	fclose(f);
	ck_assert_str_eq(text, losses[_i].text);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("account");
	TCase *t = tcase_create("account");

	tcase_add_loop_test(t, test_intervals, 0, 2);
	tcase_add_test(t, test_samples);
	tcase_add_test(t, test_compared);
	tcase_add_loop_test(t, test_losses, 0, ARRAY_SIZE(losses));
	suite_add_tcase(s, t);
	return unit_main(s);
}
