// SPDX-License-Identifier: Apache-2.0
/* The comparisons of --backend=both and --unwind=both: their messages, and whether they call the results different. */
#include "core/cli/agreement.h"
#include "core/host/event_types.h"
#include "core/session/state.h"
#include "tests/unit/printed.h"

static struct session session;
static struct account account;
static struct agreement agreement;
static struct printed printed;

static void setup(void)
{
	session = (struct session){ 0 };
	account = (struct account){ 0 };
	agreement = (struct agreement){ 0 };
}

/* ---- unwinders */

#define EXPLAINED                                                                                                      \
	" stacks differ between the unwinders, explained: 2 of functions that pop their registers, 3 of signal "       \
	"trampolines without rules, 4 of PLT entries and beginnings of functions without rules, 5 of other code "      \
	"without rules, 6 of code that was made at run time, 7 of callers whose frames are not above.\n"

static const struct {
	uint64_t n[UNWINDERS_NR];
	bool differ;
	const char *printed;
} unwinders[] = {
	{ { 0 }, false, "" },
	{ { [UNWINDERS_EQUAL] = 9 }, false, "" },
	{ { 100, 2, 3, 4, 5, 6, 7, 0 }, false, "27 of 127" EXPLAINED },
	{ { 100, 2, 3, 4, 5, 6, 7, 2 },
	  true,
	  "27 of 129" EXPLAINED "The unwinders disagree: 2 of 129 stacks.\n  first\n  second\n" },
	{ { [UNWINDERS_DIFFERENT] = 1 }, true, "The unwinders disagree: 1 of 1 stacks.\n  first\n  second\n" },
};

START_TEST(test_unwinders)
{
	session.sink.unwinders = (struct unwinders_notes){ .examples = { "first", "second" }, .nr = 2 };
	memcpy(account.stats.unwinders, unwinders[_i].n, sizeof(unwinders[_i].n));
	printed = printed_begin();
	agreement_of_unwinders(&agreement, &session, &account);
	printed_end(&printed, unwinders[_i].printed);
	ck_assert_int_eq(agreement.differ, unwinders[_i].differ);
}
END_TEST

/* ---- samples that the reader has dropped */

static const struct {
	struct stats stats;
	struct compare_counts compared;
	bool compares, told; /* both backends count samples; the kernel counts lost records */
	uint64_t unread;
} readers[] = {
	{ { .taken = 20 }, { .compared = 12, .unpaired = 3 }, true, true, 5 },
	{ { .taken = 20 }, { .compared = 17, .unpaired = 3 }, true, true, 0 },
	{ { .taken = 20 }, { .compared = 12, .unpaired = 3 }, true, false, 0 },
	{ { .taken = 20 }, { .compared = 12, .unpaired = 3 }, false, true, 0 },
	{ { .taken = 20, .lost_here = 1, .lost_notes = 1, .bad_samples = 1, .late_samples = 1 },
	  { .compared = 12, .unpaired = 3 },
	  true,
	  true,
	  1 },
	{ { .taken = 20, .lost_here = 5 }, { .compared = 12, .unpaired = 3 }, true, true, 0 },
	{ { .taken = 20, .lost_here = 50 }, { .compared = 12, .unpaired = 3 }, true, true, 0 },
};

START_TEST(test_reader)
{
	char want[256] = "";

	session.request.both = readers[_i].compares;
	session.request.sampling.event = event_default();
	session.events.attrs[EVENT_SAMPLES].read_format = readers[_i].told ? PERF_FORMAT_LOST : 0;
	account.stats = readers[_i].stats;
	account.compared = readers[_i].compared;
	printed = printed_begin();
	agreement_of_reader(&agreement, &session, &account);
	if (readers[_i].unread)
		snprintf(want, sizeof(want),
			 "The backends disagree: perfring did not read %d of 20 samples, and no ring buffer lost "
			 "these.\n",
			 (int)readers[_i].unread);
	printed_end(&printed, want);
	ck_assert_int_eq(agreement.differ, readers[_i].unread != 0);
}
END_TEST

/* ---- intervals off the CPU */

static const struct {
	uint64_t missed, unsampled, surplus, reopened;
	struct compared_intervals result;
	const char *printed;
} intervals[] = {
	{ .result.rows = 9, .printed = "" },
	{ .missed = 4,
	  .printed = "WARNING: 4 intervals were seen by bpf alone, and not compared: records of their switches were "
		     "lost.\n" },
	{ .missed = 4,
	  .reopened = 1,
	  .printed = "WARNING: 4 intervals were seen by bpf alone, and not compared: the event of a CPU was opened "
		     "anew.\n" },
	{ .unsampled = 5,
	  .printed = "WARNING: 5 intervals have stacks from bpf alone, and were not compared: the kernel gave no "
		     "sample of their switches.\n" },
	{ .surplus = 2,
	  .printed = "WARNING: 2 intervals were seen by perfring alone, and not compared: a CPU had just come "
		     "online, and bpf lost them.\n" },
	{ .result = { .rows = 9,
		      .other_times = 1,
		      .other_time = 2,
		      .only_program = 3,
		      .only_ring = 4,
		      .nr_examples = 1,
		      .examples = { "one" } },
	  .printed = "The backends disagree about 10 of 16 rows: 1 are of another number of intervals, 2 of times too "
		     "far apart, 3 only bpf has, and 4 only perfring; a ring lost 6 records.\n  one\n" },
};

START_TEST(test_explain_intervals)
{
	agreement.intervals = intervals[_i].result;
	account_compared(&account, &agreement.intervals);
	account.missed = intervals[_i].missed;
	account.unsampled = intervals[_i].unsampled;
	account.surplus = intervals[_i].surplus;
	account.stats.reopened = intervals[_i].reopened;
	account.stats.lost_records = 6;
	printed = printed_begin();
	agreement_explain_intervals(&agreement, &account);
	printed_end(&printed, intervals[_i].printed);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("agreement");
	TCase *tc = tcase_create("agreement");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_unwinders, 0, ARRAY_SIZE(unwinders));
	tcase_add_loop_test(tc, test_reader, 0, ARRAY_SIZE(readers));
	tcase_add_loop_test(tc, test_explain_intervals, 0, ARRAY_SIZE(intervals));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
