// SPDX-License-Identifier: Apache-2.0
#include "core/cli/account.h"
#include "core/cli/backends.h"
#include "core/cli/request.h"
#include "tests/unit/unit.h"

static const struct counter_ops counter = { 0 };
static const struct way ring = { .name = "perfring" }, program = { .name = "bpf", .counter = &counter };

static struct request request_with(const struct options *o, bool both)
{
	struct request r = request_of(o, NULL);

	r.both = both;
	return r;
}

static char *printed_with(const struct options *o, bool both, const char *interval, const struct account *a)
{
	struct session session = { .request = request_with(o, both),
				   .ways = ways_here,
				   .reason = "why",
				   .events.nr_cpus = 2,
				   .way = &program,
				   .env.nr_counters = 1 };
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	account_print(f, &session, interval, a);
	fclose(f);
	return text;
}

static char *printed(enum tool tool, bool both, const char *interval, const struct account *a)
{
	const struct options o = { .tool = tool,
				   .sampling.event = tool == TOOL_PROFILE ? event_default() : NULL,
				   .off_cpu.wanted = tool == TOOL_OFFCPUTIME };

	return printed_with(&o, both, interval, a);
}

/* Intervals have statistics of their own. Lines that concern only samples are not printed. */
START_TEST(test_intervals)
{
	const struct account a = {
		.stats = { .taken = 90,
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
			   .intervals_disordered = 20,
			   .backward_records = 23,
			   .switches_unseen = 95,
			   .switches_unsampled = 22,
			   .intervals_passed = 5,
			   .intervals_received = 94,
			   .spilled_stack = 6,
			   .ring_records = 7,
			   .count_entries = 8,
			   .stack_entries = 9 },
		.unaccounted.intervals = -1,
		.rows = 11,
		.stacks = 12,
		.rings = { 4096, 8192 },
		.started_ns = 13,
		.sampled_ns = 14,
		.rows_compared = 15,
		.rows_different = 16,
		.apart_ns = 17,
		.missed = 12,
		.unsampled = 4,
		.surplus = 3,
		.unsure = 21,
		.reused = 24,
	};
	char *text = printed(TOOL_OFFCPUTIME, _i, _i ? "all" : NULL, &a);
	char want[2048];

	snprintf(
		want, sizeof(want), "%sbackend: %s\n%s%s%s", _i ? "interval: all\n" : "", _i ? "both" : "bpf",
		"backend_reason: why\n"
		"intervals_begun: 10\nintervals_counted: 4\nintervals_filtered: 3\nintervals_open: 2\n"
		"intervals_lost: 1\nintervals_without_room: 1\nintervals_spilled: 5\nswitches_unseen: "
		"95\nswitches_unsampled: 22\nintervals_clock_skewed: 20\n"
		"spilled_no_stack_room: 6\nspilled_no_count_room: 0\nspilled_to_unwind: 0\nspilled_unknown_process: 0\n"
		"spilled_without_pid: 0\n"
		"unwound_to_root: 0\nunwound_truncated: 0\nunwound_no_rules: 0\nunwound_bad: 0\n"
		"unwound_unknown_registers: 0\nunwound_to_uretprobe: 0\nunwound_by_kernel: 0\n"
		"user_stacks_unsure: 21\nuser_stacks_address_reused: 24\n",
		_i ? "clocks_apart: 18\nrows_compared: 15\nrows_different: 16\nintervals_not_compared: 19\n"
		     "largest_difference_ns: 17\n"
		   : "",
		"ring_records: 7\nring_bytes_read: 0\nring_records_lost: 0\nring_records_late: 0\n"
		"ring_records_backward: 23\nring_records_bad: 0\nring_bytes_queued: 0\nring_size: 4096\n"
		"ring_size_wanted: 0\nside_band_ring_size: 8192\ncount_table_used: "
		"8\nstack_table_used: 9\n"
		"kernel_code_reused: 0\nfiles_mismatched: 0\nfiles_timed_out: 0\nrows: 11\nstacks: 12\ncpus: "
		"2\ncpus_offline_ns: 0\n"
		"started_ns: 13\nsampled_ns: 14\nreader_nice: 0\n"
		"reader_realtime_priority: 0\nintervals_unaccounted: -1\n");
	ck_assert_str_eq(text, want);
	free(text);
}
END_TEST

START_TEST(test_samples)
{
	const struct account a = { .stats = { .taken = 10, .intervals_begun = 11 }, .unaccounted.samples = 2 };
	char *text = printed(TOOL_PROFILE, false, NULL, &a);

	ck_assert_ptr_nonnull(strstr(text, "\nsamples_taken: 10\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nsamples_unaccounted: 2\n"));
	ck_assert_ptr_nonnull(strstr(text, "\nthrottled: 0\n"));
	ck_assert_ptr_null(strstr(text, "intervals_"));
	free(text);
}
END_TEST

static const char *const of_samples[] = {
	"samples_due: 21",
	"samples_taken: 20",
	"samples_counted_in_kernel: 22",
	"samples_counted_from_ring: 23",
	"samples_filtered: 24",
	"samples_of_idle: 25",
	"samples_lost: 26",
	"samples_of_exiting_tasks: 27",
	"samples_outside_namespace: 28",
	"ring_samples_late: 29",
	"throttled: 30",
	"throttled_ns: 31",
	"samples_unaccounted: -2",
};
static const char *const of_intervals[] = {
	"intervals_begun: 40", "intervals_counted: 41",      "intervals_filtered: 42", "intervals_open: 43",
	"intervals_lost: 44",  "intervals_without_room: 45", "intervals_spilled: 46",
};
static const char *const of_both[] = {
	"samples_compared: 50", "samples_not_compared: 51", "differences_unexplained: 52", "clocks_apart: 53",
	"rows_compared: 54",    "rows_different: 55",       "largest_difference_ns: 56",
};
static const char *const of_neither[] = { "spilled_no_stack_room: 60", "ring_records_lost: 61", "rows: 62" };
static const char *const unaccounted_intervals[] = { "intervals_unaccounted: 3" };

static const struct account with_all = {
	.stats = { .taken = 20,
		   .counted_kernel = 22,
		   .counted_ring = 23,
		   .filtered = 24,
		   .idle = 25,
		   .lost = 26,
		   .dead_tasks = 27,
		   .outside = 28,
		   .late_samples = 29,
		   .throttled = 30,
		   .throttled_ns = 31,
		   .intervals_begun = 40,
		   .intervals_charged = 41,
		   .intervals_filtered = 42,
		   .intervals_open = 43,
		   .intervals_lost = 44,
		   .intervals_no_slot = 45,
		   .intervals_passed = 46,
		   .clocks_apart = 53,
		   .spilled_stack = 60,
		   .lost_records = 61 },
	.unaccounted = { .samples = -2, .intervals = 3 },
	.due_known = true,
	.due = 21,
	.compared = { .compared = 50, .unpaired = 51, .different = 52 },
	.rows_compared = 54,
	.rows_different = 55,
	.apart_ns = 56,
	.rows = 62,
};

/* Each of the lines is there, once; or none of them. */
static void assert_lines(const char *text, const char *const *lines, size_t nr, bool there)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		char line[64];
		const char *at;

		snprintf(line, sizeof(line), "\n%s\n", lines[i]);
		at = strstr(text, line);
		ck_assert_msg(!at == !there, "%s: %s", lines[i], text);
		ck_assert(!at || !strstr(at + 1, line));
		snprintf(line, sizeof(line), "\n%.*s", (int)strcspn(lines[i], ":") + 1, lines[i]);
		ck_assert_msg(there || !strstr(text, line), "%s: %s", lines[i], text);
	}
}

static const struct {
	bool on_cpu, off_cpu, both;
	const char *interval;
	bool unaccounted; /* intervals, too */
} groups[] = {
	{ true, true, false, NULL, true },  { true, true, true, NULL, true },    { true, true, true, "1", false },
	{ true, true, true, "all", true },  { true, false, false, NULL, false }, { true, false, true, "all", false },
	{ false, true, false, NULL, true }, { false, true, true, "2", false },
};

/* With samples and intervals each has its lines, and both report missing ones: neither hides the other. */
START_TEST(test_groups)
{
	bool on = groups[_i].on_cpu, off = groups[_i].off_cpu, both = groups[_i].both;
	struct options o = { .tool = on ? TOOL_PROFILE : TOOL_OFFCPUTIME,
			     .sampling.event = on ? event_default() : NULL,
			     .off_cpu.wanted = off };
	struct account a = with_all;
	char *text;

	a.due_known = on;
	text = printed_with(&o, both, groups[_i].interval, &a);
	assert_lines(text, of_samples, ARRAY_SIZE(of_samples), on);
	assert_lines(text, of_intervals, ARRAY_SIZE(of_intervals), off);
	assert_lines(text, of_both, 3, both && on);
	assert_lines(text, of_both + 3, ARRAY_SIZE(of_both) - 3, both && off);
	assert_lines(text, of_neither, ARRAY_SIZE(of_neither), true);
	assert_lines(text, unaccounted_intervals, 1, groups[_i].unaccounted);
	free(text);
}
END_TEST

/* The two sums are neither confused nor added up. */
START_TEST(test_added)
{
	struct account total = { .unaccounted = { .samples = 10, .intervals = -20 } };

	account_add(&total, &with_all);
	ck_assert_int_eq(total.unaccounted.samples, 8);
	ck_assert_int_eq(total.unaccounted.intervals, -17);
	ck_assert_uint_eq(total.stats.taken, 20);
	ck_assert_uint_eq(total.stats.intervals_begun, 40);
}
END_TEST

START_TEST(test_compared)
{
	const struct compared_intervals c = { .rows = 10,
					      .other_times = 1,
					      .other_time = 2,
					      .only_program = 3,
					      .only_ring = 4,
					      .surplus = 8,
					      .apart_ns = 5 };
	struct account a = { 0 }, total = { .rows_compared = 1, .rows_different = 1, .apart_ns = 6 };

	account_compared(&a, &c);
	ck_assert_uint_eq(a.rows_compared, 17);
	ck_assert_uint_eq(a.rows_different, 10);
	ck_assert_uint_eq(a.apart_ns, 5);
	ck_assert_uint_eq(a.surplus, 8);
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
#define NOROOM LOST "a ring had no room for their switches: "
#define TIME   "or give the profiler more CPU time.\n"

static const struct {
	enum tool tool;
	const struct way *way;
	struct stats stats;
	const char *text;
} losses[] = {
	{ TOOL_OFFCPUTIME, &ring, { .intervals_begun = 10, .intervals_charged = 10 }, "" },
	{ TOOL_OFFCPUTIME, &ring, { .intervals_lost = 5 }, LOST "some switches of their threads were not seen.\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .intervals_no_slot = 3 },
	  LOST "the BPF program has no room for so many threads (try --backend=perfring).\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .intervals_no_slot = 2 },
	  LOST "some switches of their threads were not seen.\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .switches_unseen = 2, .reopened = 1 },
	  LOST "a CPU came online, and its first switches could not be recorded.\n" },
	{ TOOL_OFFCPUTIME,
	  &ring,
	  { .intervals_lost = 5, .reopened = 1 },
	  LOST "a CPU came online, and its first switches could not be recorded.\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .switches_unseen = 3, .reopened = 1 },
	  LOST "the kernel did not report some switches of their threads.\n" },
	{ TOOL_OFFCPUTIME,
	  &program,
	  { .intervals_lost = 5, .switches_unseen = 6 },
	  LOST "the kernel did not report some switches of their threads.\n" },
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
	{ TOOL_PROFILE,
	  &ring,
	  { .lost = 4, .lost_records = 6, .taken = 9 },
	  "WARNING: 4 stack traces could not be displayed. A ring had no room for them: lower the rate (-F), " TIME
	  "WARNING: 2 records about tasks and mappings were lost: some names may be wrong.\n" },
	{ TOOL_PROFILE,
	  &ring,
	  { .unwound = { [UNWOUND_ROOT] = 95, [UNWOUND_NO_RULES] = 1, [UNWOUND_BAD] = 1, [UNWOUND_UNKNOWN] = 3 } },
	  "" },
	/* A large part of a small number. */
	{ TOOL_PROFILE,
	  &ring,
	  { .unwound = { [UNWOUND_ROOT] = 9, [UNWOUND_NO_RULES] = 3, [UNWOUND_BAD] = 3, [UNWOUND_UNKNOWN] = 3 } },
	  "" },
	{ TOOL_PROFILE,
	  &ring,
	  { .unwound = { [UNWOUND_ROOT] = 93, [UNWOUND_NO_RULES] = 2, [UNWOUND_BAD] = 1, [UNWOUND_UNKNOWN] = 7 } },
	  "WARNING: 10 of 103 user stacks are incomplete: the kernel did not report all registers of tasks in system "
	  "calls (see UNWINDING in profile(8)).\n" },
	{ TOOL_PROFILE,
	  &ring,
	  { .unwound = { [UNWOUND_ROOT] = 94, [UNWOUND_NO_RULES] = 4, [UNWOUND_BAD] = 2, [UNWOUND_UNKNOWN] = 4 } },
	  "WARNING: 10 of 104 user stacks are incomplete: their code has neither unwind rules nor frame pointers, its "
	  "file was removed, replaced or not read, or it ran on another stack (see UNWINDING in profile(8)).\n" },
	{ TOOL_PROFILE,
	  &ring,
	  { .unwound = { [UNWOUND_ROOT] = 93, [UNWOUND_BAD] = 5, [UNWOUND_UNKNOWN] = 5, [UNWOUND_PROBED] = 7 } },
	  "WARNING: 17 of 110 user stacks are incomplete: a uretprobe has replaced the return address of a function "
	  "(see UNWINDING in profile(8)).\n" },
};

#define SAMPLES(nr) "WARNING: " nr " stack traces could not be displayed. A ring had no room for them: "
#define IN_KERNEL   "count in the kernel (--backend=bpf), or fewer intervals (-p), lower the rate (-F), "
#define FEWER       "count fewer intervals (-p), lower the rate (-F), "
#define NAMES(nr)   "WARNING: " nr " records about switches, tasks and mappings were lost: some names may be wrong.\n"

/* profile --off-cpu: losses of samples and of intervals are reported separately. */
static const struct {
	const struct way *way;
	bool both;
	struct stats stats;
	const char *text;
} both_losses[] = {
	{ &ring, false, { .taken = 9, .intervals_begun = 9 }, "" },
	{ &ring, false, { .lost = 4, .lost_records = 4 }, SAMPLES("4") IN_KERNEL TIME },
	{ &ring, false, { .intervals_lost = 5 }, LOST "some switches of their threads were not seen.\n" },
	{ &ring,
	  false,
	  { .lost = 4, .lost_records = 9, .intervals_lost = 5 },
	  SAMPLES("4") IN_KERNEL TIME NOROOM IN_KERNEL TIME NAMES("5") },
	{ &program,
	  false,
	  { .lost = 4, .lost_records = 20, .lost_notes = 6, .lost_switch_notes = 7, .intervals_lost = 5 },
	  SAMPLES("4") FEWER TIME NOROOM FEWER TIME NAMES("3") },
	{ &program,
	  false,
	  { .lost = 4, .lost_records = 17, .lost_notes = 6, .lost_switch_notes = 7 },
	  SAMPLES("4") FEWER TIME },
	{ &program, false, { .lost_records = 7, .lost_switch_notes = 7 }, "" },
	{ &program, false, { .lost_records = 8, .lost_switch_notes = 7 }, NAMES("1") },
	{ &program, true, { .lost_records = 8 }, "" }, /* the comparison reports it */
	{ &program,
	  false,
	  { .lost = 4, .lost_records = 4, .intervals_lost = 5, .intervals_no_slot = 3 },
	  SAMPLES("4") FEWER TIME LOST "the BPF program has no room for so many threads (try --backend=perfring).\n" },
	{ &program,
	  false,
	  { .lost = 4, .lost_records = 4, .intervals_lost = 5, .spilled_count = 3, .spilled_stack = 2 },
	  SAMPLES("4") "raise --hash-storage-size (40960), " FEWER TIME NOROOM
		       "raise --hash-storage-size (40960), " FEWER TIME },
	{ &program,
	  false,
	  { .intervals_lost = 5, .lost_records = 4, .lost_switch_notes = 4, .spilled_count = 2, .spilled_stack = 3 },
	  NOROOM "raise --stack-storage-size (16384), " FEWER TIME },
};

static void check_capture(const struct session *session, const struct stats *stats, const char *want)
{
	const struct account a = { .stats = *stats, .rings = { .samples = 65536, .side = 32768 } };
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	account_print_losses(f, session, &a);
	fclose(f);
	ck_assert_str_eq(text, want);
	free(text);
}

static void check_losses(const struct options *o, bool both, const struct way *way, const struct stats *stats,
			 const char *want)
{
	const struct session session = {
		.request = request_with(o, both), .ways = ways_here, .way = way, .env.nr_counters = way->counter != NULL
	};

	check_capture(&session, stats, want);
}

#define APART(nr) "WARNING: " nr " records about tasks and mappings were lost: some names may be wrong"
#define NO_ROOM   " A ring had no room for them: "

/* If tasks and mappings have rings of their own, each loss is reported separately, with the remedy for it. */
static const struct {
	bool both, off_cpu, of_targets, limited, tree;
	struct stats stats;
	const char *text;
} apart[] = {
	{ .text = "" },
	{ .stats = { .taken = 9, .lost = 4, .lost_records = 4 }, .text = SAMPLES("4") "lower the rate (-F), " TIME },
	{ .stats = { .lost_records = 6, .lost_side_band = 6 },
	  .text = APART("6") "." NO_ROOM "profile some processes only (-p), " TIME },
	{ .of_targets = true,
	  .stats = { .lost_records = 6, .lost_side_band = 6 },
	  .text = APART("6") "." NO_ROOM TIME },
	{ .of_targets = true,
	  .limited = true,
	  .stats = { .lost_records = 6, .lost_side_band = 6 },
	  .text = APART("6") "." NO_ROOM "raise kernel.perf_event_mlock_kb (516: the rings have only 32 KiB), " TIME },
	{ .of_targets = true,
	  .tree = true,
	  .stats = { .lost_records = 1, .lost_side_band = 1 },
	  .text = APART("1") ", and processes of the command missing." NO_ROOM TIME },
	{ .limited = true,
	  .stats = { .taken = 9, .lost = 4, .lost_records = 6, .lost_side_band = 2 },
	  .text = SAMPLES(
		  "4") "raise kernel.perf_event_mlock_kb (516: the rings have only 64 KiB), lower the rate "
		       "(-F), " TIME APART(
			       "2") "." NO_ROOM
				    "raise kernel.perf_event_mlock_kb (516: the rings have only 32 KiB), profile some "
				    "processes only (-p), " TIME },
	{ .both = true,
	  .stats = { .lost_records = 9, .lost_side_band = 2 },
	  .text = APART("2") "." NO_ROOM "profile some processes only (-p), " TIME },
	{ .off_cpu = true,
	  .stats = { .lost_records = 9, .lost_side_band = 2 },
	  .text = "WARNING: 7 records about switches were lost.\n" APART(
		  "2") "." NO_ROOM "profile some processes only (-p), " TIME },
	{ .off_cpu = true,
	  .stats = { .lost_records = 2, .lost_side_band = 2, .intervals_lost = 5 },
	  .text = LOST "some switches of their threads were not seen.\n" APART(
		  "2") "." NO_ROOM "profile some processes only (-p), " TIME },
};

START_TEST(test_apart)
{
	const struct options o = { .sampling.event = event_default(),
				   .off_cpu.wanted = apart[_i].off_cpu,
				   .tables = { 40960, 16384 } };
	char *dir = unit_tmpdir();
	const struct host host = { .proc = dir, .sys = dir };
	struct session session = {
		.request = request_with(&o, apart[_i].both),
		.ways = ways_here,
		.events = { .apart = true,
			    .side_of_targets = apart[_i].of_targets,
			    .ring_refused = apart[_i].limited ? -EPERM : 0 },
		.way = &ring,
	};

	unit_write(dir, "sys/kernel/perf_event_mlock_kb", "516\n", 4);
	session.request.host = &host;
	session.request.filter.tree = apart[_i].tree ? (void *)&session : NULL;
	check_capture(&session, &apart[_i].stats, apart[_i].text);
	unit_rmdir(dir);
}
END_TEST

START_TEST(test_both_losses)
{
	const struct options o = { .sampling.event = event_default(),
				   .off_cpu.wanted = true,
				   .tables = { 40960, 16384 } };

	check_losses(&o, both_losses[_i].both, both_losses[_i].way, &both_losses[_i].stats, both_losses[_i].text);
}
END_TEST

START_TEST(test_losses)
{
	const struct options o = { .tool = losses[_i].tool,
				   .sampling.event = losses[_i].tool == TOOL_PROFILE ? event_default() : NULL,
				   .off_cpu.wanted = losses[_i].tool == TOOL_OFFCPUTIME,
				   .tables = { 40960, 16384 } };

	check_losses(&o, false, losses[_i].way, &losses[_i].stats, losses[_i].text);
}
END_TEST

/* Samples that no ring returned but none has lost were dropped by the reader. */
static const struct {
	bool both, off_cpu_only, told;
	struct stats stats;
	struct compare_counts compared;
	uint64_t not_compared, unread;
} unread[] = {
	{ true, false, true, { .taken = 100 }, { .compared = 100 }, 0, 0 },
	{ true, false, true, { .taken = 100 }, { .compared = 90, .unpaired = 10 }, 0, 0 },
	{ true, false, true, { .taken = 100 }, { .compared = 99 }, 1, 1 },
	{ true, false, true, { .taken = 100 }, { 0 }, 100, 100 },
	{ true, false, true, { .taken = 100, .lost_here = 5 }, { .compared = 95 }, 5, 0 },
	{ true, false, true, { .taken = 100, .lost_here = 5 }, { .compared = 94 }, 6, 1 },
	{ true, false, true, { .taken = 100, .lost_here = 5 }, { .compared = 100 }, 0, 0 },
	{ true,
	  false,
	  true,
	  { .taken = 100, .lost_here = 5, .lost_notes = 4, .bad_samples = 3, .late_samples = 2 },
	  { .compared = 86 },
	  14,
	  0 },
	/* records about names are not samples */
	{ true,
	  false,
	  true,
	  { .taken = 100, .lost_records = 9, .lost_side_band = 9, .lost_switch_notes = 9 },
	  { .compared = 91 },
	  9,
	  9 },
	/* not known */
	{ true, false, false, { .taken = 100 }, { .compared = 90 }, 10, 0 },
	/* no comparison */
	{ false, false, true, { .taken = 100 }, { 0 }, 100, 0 },
	{ true, true, true, { .taken = 100 }, { 0 }, 100, 0 },
};

START_TEST(test_unread)
{
	const struct options o = { .sampling.event = unread[_i].off_cpu_only ? NULL : event_default() };
	const struct account a = { .stats = unread[_i].stats, .compared = unread[_i].compared };
	struct session session = { .request = request_with(&o, unread[_i].both) };

	session.events.attrs[EVENT_SAMPLES].read_format = unread[_i].told ? PERF_FORMAT_LOST : 0;
	ck_assert_uint_eq(account_not_compared(&a), unread[_i].not_compared);
	ck_assert_uint_eq(account_unread(&session, &a), unread[_i].unread);
}
END_TEST

/* Intervals that may be missing, from earlier reports and from this one. */
static const struct {
	struct stats before, now;
	uint64_t missed, without, surplus; /* reported before */
	struct intervals_lost want;
} unseen[] = {
	{ .want = { 0, 0 } },
	/* if nothing was lost, missed intervals are a fault of the reader */
	{ .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_unended = 3 }, .want = { 0, 0 } },
	{ .now = { .intervals_gone = 2 }, .want = { 2, 0 } },
	{ .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_unended = 3, .lost_records = 1 },
	  .want = { 8, 0 } },
	{ .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_unended = 3, .reopened = 1 },
	  .want = { 8, 0 } },
	{ .now = { .intervals_begun = 4, .intervals_seen = 9, .reopened = 1 }, .want = { 0, 0 } },
	/* an interval that the reader gave up is counted in a later report if it was still open */
	{ .before = { .intervals_gone = 5, .reopened = 1 }, .want = { 5, 0 } },
	{ .before = { .intervals_gone = 5, .reopened = 1 },
	  .now = { .intervals_begun = 9, .intervals_seen = 4 },
	  .missed = 3,
	  .want = { 2, 0 } },
	{ .before = { .intervals_gone = 5 }, .missed = 5, .want = { 0, 0 } },
	{ .before = { .intervals_gone = 5 }, .missed = UINT64_MAX, .want = { 0, 0 } },
	{ .before = { .switches_unsampled = 3 }, .now = { .switches_unsampled = 5 }, .want = { 0, 8 } },
	{ .before = { .switches_unsampled = 3 }, .without = 2, .missed = 9, .want = { 0, 1 } },
	{ .before = { .switches_unsampled = 3 }, .without = 4, .want = { 0, 0 } },
	/* the reader has such that the program lost, if a CPU came online */
	{ .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 3, .reopened = 1 },
	  .want = { 5, 0, 3 } },
	{ .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 7, .reopened = 1 },
	  .want = { 5, 0, 5 } },
	{ .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 3, .lost_records = 1 },
	  .want = { 5, 0, 0 } },
	{ .before = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 1, .reopened = 1 },
	  .now = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 2 },
	  .want = { 5, 0, 3 } },
	{ .before = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 3, .reopened = 1 },
	  .surplus = 2,
	  .want = { 5, 0, 1 } },
	{ .before = { .intervals_begun = 9, .intervals_seen = 4, .intervals_lost = 3, .reopened = 1 },
	  .surplus = 4,
	  .want = { 5, 0, 0 } },
};

START_TEST(test_unseen)
{
	const struct account before = { .stats = unseen[_i].before,
					.missed = unseen[_i].missed,
					.unsampled = unseen[_i].without,
					.surplus = unseen[_i].surplus };
	const struct account a = { .stats = unseen[_i].now };
	struct account total = { 0 };
	struct intervals_lost lost;

	account_add(&total, &before);
	lost = account_lost(&total, &a);
	ck_assert_uint_eq(lost.unseen, unseen[_i].want.unseen);
	ck_assert_uint_eq(lost.unsampled, unseen[_i].want.unsampled);
	ck_assert_uint_eq(lost.surplus, unseen[_i].want.surplus);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("account");
	TCase *t = tcase_create("account");

	tcase_add_loop_test(t, test_intervals, 0, 2);
	tcase_add_loop_test(t, test_unseen, 0, ARRAY_SIZE(unseen));
	tcase_add_test(t, test_samples);
	tcase_add_loop_test(t, test_groups, 0, ARRAY_SIZE(groups));
	tcase_add_test(t, test_added);
	tcase_add_test(t, test_compared);
	tcase_add_loop_test(t, test_losses, 0, ARRAY_SIZE(losses));
	tcase_add_loop_test(t, test_unread, 0, ARRAY_SIZE(unread));
	tcase_add_loop_test(t, test_both_losses, 0, ARRAY_SIZE(both_losses));
	tcase_add_loop_test(t, test_apart, 0, ARRAY_SIZE(apart));
	suite_add_tcase(s, t);
	return unit_main(s);
}
