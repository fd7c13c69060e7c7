// SPDX-License-Identifier: Apache-2.0
#include "core/events/shortfall.h"
#include "tests/unit/unit.h"

#define MS  (1000 * 1000ULL)
#define SEC (1000 * MS)

static const struct {
	uint64_t period_ns, due_ns, due;
} dues[] = {
	{ 20408163, 10 * SEC, 490 }, /* -F 49, 5 s on two CPUs */
	{ 1001001, 10 * SEC, 9990 }, /* -F 999 */
	{ 10 * MS, 5 * SEC, 500 },   /* exactly */
	{ 10 * MS, 5 * SEC - 1, 499 },
	{ 10 * MS, 10 * MS - 1, 0 },
	{ 10 * MS, 0, 0 },
	{ 10000, SEC, 100000 },
	{ 9999, SEC, 100000 }, /* the kernel's shortest period */
	{ 1, SEC, 100000 },
	{ 0, SEC, 100000 },
	{ UINT64_MAX, UINT64_MAX, 1 },
	{ UINT64_MAX, UINT64_MAX - 1, 0 },
	{ 10000, UINT64_MAX, UINT64_MAX / 10000 },
};

START_TEST(test_due)
{
	ck_assert_uint_eq(shortfall_due(dues[_i].period_ns, dues[_i].due_ns), dues[_i].due);
	ck_assert_uint_ge(shortfall_period(dues[_i].period_ns), 10000);
	ck_assert_uint_eq(dues[_i].due_ns / shortfall_period(dues[_i].period_ns), dues[_i].due);
}
END_TEST

/* 1000 samples are due, unless a row has other values: 5 s at 100 Hz on two CPUs. */
#define RUN          .period_ns = 10 * MS, .nr_cpus = 2, .due_ns = 10 * SEC
#define BUSY_FOR(ns) RUN, .times_known = true, .busy_ns = ns
#define BUSY         BUSY_FOR(10 * SEC)
#define LATE         "timer interrupts came late"
#define LATE_IN_BPF  LATE ", or another BPF program or map access was running on those CPUs"
#define RATE         "kernel.perf_event_max_sample_rate"

static const struct {
	struct shortfall s;
	const char *why; /* NULL: no warning */
} rows[] = {
	/* Enough samples, or nearly. */
	{ { BUSY, .taken = 1000 }, NULL },
	{ { BUSY, .taken = 1003 }, NULL },
	{ { BUSY, .taken = UINT64_MAX }, NULL },
	{ { BUSY, .taken = 950 }, NULL },
	{ { BUSY, .taken = 950, .include_idle = true, .throttled = 9, .throttled_ns = SEC }, NULL },
	{ { 0 }, NULL },
	{ { .include_idle = true, .times_known = true }, NULL },
	{ { .nr_cpus = 2, .period_ns = 10 * MS, .due_ns = 20 * MS, .include_idle = true }, NULL }, /* 2 due: rounding */
	{ { .nr_cpus = 2, .period_ns = 10 * MS, .due_ns = 60 * MS, .include_idle = true, .taken = 4 }, NULL },

	/* One cause. */
	{ { BUSY, .taken = 949 }, "5 % of the samples due (1000) were not taken: " LATE "." },
	{ { BUSY, .include_idle = true }, "100 % of the samples due (1000) were not taken: " LATE "." },
	{ { BUSY, .taken = 1, .in_kernel = true }, "99 % of the samples due (1000) were not taken: " LATE_IN_BPF "." },
	{ { BUSY, .taken = 620, .throttled = 412, .throttled_ns = 3800 * MS, .max_rate_start = 100,
	    .max_rate_end = 100 },
	  "38 % of the samples due (1000) were not taken: the kernel throttled the event 412 times (" RATE
	  " is 100)." },
	{ { BUSY, .taken = 500, .offline_ns = 5 * SEC },
	  "50 % of the samples due (1000) were not taken: CPUs were offline for 5.0 s." },
	{ { BUSY, .taken = 700, .steal_ns = 3 * SEC },
	  "30 % of the samples due (1000) were not taken: the hypervisor stole 3.0 s of the CPUs' time." },
	{ { BUSY, .taken = 300, .include_idle = true, .idle_ns = 10 * SEC },
	  "70 % of the samples due (1000) were not taken: timer interrupts of idle CPUs came late." },

	/* Several causes, in order of the samples that each accounts for. */
	{ { BUSY, .taken = 500, .offline_ns = 2 * SEC, .throttled = 3, .throttled_ns = 3 * SEC },
	  "50 % of the samples due (1000) were not taken: the kernel throttled the event 3 times; CPUs were offline "
	  "for "
	  "2.0 s." },
	{ { BUSY, .taken = 500, .offline_ns = 3 * SEC, .throttled = 1, .throttled_ns = 2 * SEC },
	  "50 % of the samples due (1000) were not taken: CPUs were offline for 3.0 s; the kernel throttled the event "
	  "1 time." },
	{ { BUSY, .taken = 500, .offline_ns = 490 * MS, .steal_ns = SEC },
	  "50 % of the samples due (1000) were not taken: " LATE "; the hypervisor stole 1.0 s of the CPUs' time." },
	{ { BUSY, .taken = 500, .offline_ns = 4900 * MS, .steal_ns = 100 * MS, .throttled = 5, .throttled_ns = 9 * MS },
	  "50 % of the samples due (1000) were not taken: CPUs were offline for 4.9 s." },
	/* The first one accounts for all: the second is not needed. */
	{ { BUSY, .taken = 500, .offline_ns = 9 * SEC, .steal_ns = 8 * SEC },
	  "50 % of the samples due (1000) were not taken: CPUs were offline for 9.0 s." },
	{ { BUSY, .taken = 200, .include_idle = true, .in_kernel = true, .throttled = 22, .throttled_ns = 1100 * MS,
	    .offline_ns = 1500 * MS, .steal_ns = SEC, .idle_ns = 2 * SEC, .max_rate_start = 100000,
	    .max_rate_end = 1000 },
	  "80 % of the samples due (1000) were not taken: " LATE_IN_BPF
	  "; timer interrupts of idle CPUs came late; CPUs "
	  "were offline for 1.5 s; the kernel throttled the event 22 times (" RATE
	  " was lowered from 100000 to 1000); the hypervisor stole 1.0 s of the CPUs' time." },
	/* Throttled, but for a negligible time; a time without a record. */
	{ { BUSY, .taken = 500, .throttled = 400 }, "50 % of the samples due (1000) were not taken: " LATE "." },
	{ { BUSY, .taken = 500, .throttled_ns = 5 * SEC }, "50 % of the samples due (1000) were not taken: " LATE "." },
	{ { BUSY, .taken = 500, .throttled = 1, .throttled_ns = UINT64_MAX, .offline_ns = UINT64_MAX },
	  "50 % of the samples due (1000) were not taken: the kernel throttled the event 1 time." },

	/* Idle CPUs explain only the remaining samples, and only as many as were due on them. */
	{ { BUSY, .taken = 300, .include_idle = true, .idle_ns = 10 * SEC, .throttled = 2, .throttled_ns = 6 * SEC },
	  "70 % of the samples due (1000) were not taken: the kernel throttled the event 2 times; timer interrupts of "
	  "idle "
	  "CPUs came late." },
	{ { BUSY, .taken = 300, .include_idle = true, .idle_ns = 3 * SEC, .idle_taken = 300 },
	  "70 % of the samples due (1000) were not taken: " LATE "." },
	{ { BUSY, .taken = 300, .include_idle = true, .idle_ns = 3 * SEC, .idle_taken = 100 },
	  "70 % of the samples due (1000) were not taken: " LATE "; timer interrupts of idle CPUs came late." },

	/* Idle samples not requested: they are neither missing nor due. */
	{ { BUSY, .taken = 300, .idle_ns = 7 * SEC }, NULL },
	{ { BUSY, .idle_ns = 10 * SEC }, NULL },
	{ { BUSY, .idle_ns = UINT64_MAX, .idle_taken = UINT64_MAX }, NULL },
	{ { BUSY, .taken = 300, .idle_ns = 10 * SEC, .throttled = 26, .throttled_ns = 7 * SEC }, NULL },
	{ { BUSY, .taken = 900, .idle_ns = 8 * SEC, .idle_taken = 700 }, NULL },
	{ { BUSY, .taken = 900, .idle_ns = 8 * SEC, .idle_taken = 800, .throttled = 7, .throttled_ns = SEC },
	  "50 % of the samples due (200 outside the idle task) were not taken: the kernel throttled the event 7 "
	  "times." },
	/* It is unknown how many idle samples were taken: perhaps none. */
	{ { BUSY, .taken = 900, .idle_ns = 8 * SEC, .throttled = 7, .throttled_ns = SEC }, NULL },
	{ { BUSY, .taken = 100, .idle_ns = 8 * SEC, .throttled = 7, .throttled_ns = SEC },
	  "50 % of the samples due (200 outside the idle task) were not taken: the kernel throttled the event 7 "
	  "times." },
	/* More idle samples than were due in the idle time: interrupts of idle CPUs. */
	{ { BUSY, .taken = 1000, .idle_ns = 8 * SEC, .idle_taken = 1000 }, NULL },
	{ { BUSY, .taken = 900, .idle_ns = 8 * SEC, .idle_taken = 2000, .steal_ns = SEC },
	  "50 % of the samples due (200 outside the idle task) were not taken: the hypervisor stole 1.0 s of the CPUs' "
	  "time." },
	{ { BUSY, .taken = 100, .idle_ns = 5 * SEC, .idle_taken = 300 },
	  "100 % of the samples due (500 outside the idle task) were not taken: " LATE "." },
	/* Some time is in no counter: outside the idle task, no samples are due for it. */
	{ { BUSY_FOR(40 * MS), .taken = 500, .idle_ns = 9 * SEC, .idle_taken = 500, .throttled = 26,
	    .throttled_ns = SEC },
	  NULL },
	{ { BUSY_FOR(500 * MS), .taken = 520, .idle_ns = 9 * SEC, .idle_taken = 500, .throttled = 26,
	    .throttled_ns = SEC },
	  "60 % of the samples due (50 outside the idle task) were not taken: the kernel throttled the event 26 "
	  "times." },
	{ { BUSY_FOR(SEC), .taken = 500, .idle_ns = 5 * SEC, .idle_taken = 400, .offline_ns = 3 * SEC,
	    .steal_ns = SEC },
	  "80 % of the samples due (500 outside the idle task) were not taken: CPUs were offline for 3.0 s; the "
	  "hypervisor "
	  "stole 1.0 s of the CPUs' time." },
	{ { BUSY_FOR(0), .include_idle = true, .taken = 500, .idle_ns = 2 * SEC },
	  "50 % of the samples due (1000) were not taken: " LATE "; timer interrupts of idle CPUs came late." },
	/* Idle time is counted in ticks: 2 CPUs, 2 ticks each, and the last sample; and a hundredth. */
	{ { BUSY, .taken = 984, .idle_ns = 9800 * MS, .idle_taken = 980 }, NULL },
	{ { BUSY, .taken = 983, .idle_ns = 9800 * MS, .idle_taken = 980 },
	  "85 % of the samples due (20 outside the idle task) were not taken: " LATE "." },
	/* Without idle times, only samples with another cause are missing. */
	{ { RUN }, NULL },
	{ { RUN, .taken = 300, .in_kernel = true }, NULL },
	{ { RUN, .taken = 300, .offline_ns = 500 * MS }, NULL },
	{ { RUN, .taken = 300, .offline_ns = 2 * SEC },
	  "20 % of the samples due (1000) were not taken: CPUs were offline for 2.0 s." },
	{ { RUN, .taken = 300, .include_idle = true }, "70 % of the samples due (1000) were not taken: " LATE "." },

	/* The longest run. */
	{ { .period_ns = 1, .nr_cpus = UINT64_MAX, .due_ns = UINT64_MAX, .include_idle = true, .steal_ns = UINT64_MAX },
	  NULL },
	{ { .period_ns = 1,
	    .nr_cpus = 65536,
	    .due_ns = UINT64_MAX,
	    .include_idle = true,
	    .throttled = UINT64_MAX,
	    .throttled_ns = UINT64_MAX,
	    .max_rate_start = UINT64_MAX,
	    .max_rate_end = 1 },
	  "100 % of the samples due (1844674407370955) were not taken: the kernel throttled the event "
	  "18446744073709551615 times (" RATE " was lowered from 18446744073709551615 to 1)." },
};

START_TEST(test_explain)
{
	struct err why = { 0 };

	ck_assert_int_eq(shortfall_explain(&rows[_i].s, &why), !!rows[_i].why);
	ck_assert_str_eq(why.msg, rows[_i].why ? rows[_i].why : "");
}
END_TEST

/* A throttled event, at 100 Hz and at 4999 Hz. */
static const struct {
	uint64_t period_ns, start, end;
	const char *blame;
} settings[] = {
	{ 10 * MS, 100, 100, " (" RATE " is 100)" },
	{ 10 * MS, 1000, 1000, " (" RATE " is 1000)" }, /* with 1000 ticks a second: one sample a tick */
	{ 10 * MS, 50, 100, " (" RATE " is 100)" },
	{ 10 * MS, 0, 100, " (" RATE " is 100)" },
	{ 10 * MS, 100000, 1, " (" RATE " was lowered from 100000 to 1)" },
	{ 10 * MS, 100, 100000, " (" RATE " was 100 at first)" },
	{ 10 * MS, 100, 0, " (" RATE " was 100 at first)" },
	{ 200040, 100000, 200, " (" RATE " was lowered from 100000 to 200)" },
	{ 200040, 5000, 5000, " (" RATE " is 5000)" },
	{ 10000, 100000, 100000, " (" RATE " is 100000)" },
	{ 1, 100000, 100000, " (" RATE " is 100000)" },
	{ 200040, 6022, 6022, " (" RATE " is 6022)" },
	/* Room for the rate, or the rate was not read. */
	{ 200040, 6023, 6023, "" },
	{ 200040, 100000, 100000, "" },
	{ 200040, 100000, 50000, "" },
	{ 10 * MS, 0, 0, "" },
	{ 10 * MS, 0, 100000, "" },
	{ 10 * MS, 100000, 0, "" },
	{ 10 * MS, UINT64_MAX, UINT64_MAX, "" },
};

START_TEST(test_setting)
{
	const struct shortfall s = {
		.period_ns = settings[_i].period_ns,
		.nr_cpus = 1,
		.due_ns = 10 * SEC,
		.throttled = 3,
		.throttled_ns = 10 * SEC,
		.max_rate_start = settings[_i].start,
		.max_rate_end = settings[_i].end,
	};
	struct err why = { 0 };
	char want[256];

	ck_assert(shortfall_explain(&s, &why));
	snprintf(want, sizeof(want), ": the kernel throttled the event 3 times%s.", settings[_i].blame);
	ck_assert_ptr_nonnull(strchr(why.msg, ':'));
	ck_assert_str_eq(strchr(why.msg, ':'), want);
}
END_TEST

/* No text is truncated: all five causes, with the longest numbers. */
START_TEST(test_longest)
{
	static const char *const parts[] = { "18446744073709551615 times",
					     "lowered from 18446744073709551615 to 100999",
					     "offline",
					     "stole",
					     "of idle CPUs",
					     "another BPF program" };
	const uint64_t each = UINT64_MAX / 5;
	const struct shortfall s = {
		.period_ns = 1,
		.nr_cpus = 1,
		.due_ns = UINT64_MAX,
		.include_idle = true,
		.in_kernel = true,
		.throttled = UINT64_MAX,
		.throttled_ns = each,
		.offline_ns = each,
		.times_known = true,
		.steal_ns = each,
		.idle_ns = each,
		.max_rate_start = UINT64_MAX,
		.max_rate_end = 100999,
	};
	struct err why = { 0 };
	size_t i;

	ck_assert(shortfall_explain(&s, &why));
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		ck_assert_msg(strstr(why.msg, parts[i]), "no '%s' in '%s'", parts[i], why.msg);
	ck_assert_uint_lt(strlen(why.msg), sizeof(why.msg) - 1);
}
END_TEST

/* ---- sums of intervals */

#define EACH(n)                                                                                                        \
	.taken = 1 * (n), .idle_taken = 2 * (n), .throttled = 3 * (n), .throttled_ns = 4 * (n), .offline_ns = 5 * (n), \
	.steal_ns = 6 * (n), .idle_ns = 7 * (n), .busy_ns = 8 * (n), .due_ns = 9 * (n)
#define SAME .period_ns = 10 * MS, .nr_cpus = 2, .include_idle = true, .in_kernel = true

static const struct {
	struct shortfall to, more, sum;
} sums_of[] = {
	/* the first one: all values, including rates */
	{ { 0 },
	  { SAME, EACH(10), .times_known = true, .max_rate_start = 100, .max_rate_end = 50 },
	  { SAME, EACH(10), .times_known = true, .max_rate_start = 100, .max_rate_end = 50 } },
	{ { 0 }, { SAME, EACH(10) }, { SAME, EACH(10) } },
	{ { 0 }, { SAME }, { SAME } },
	/* the rate at the first beginning and at the last end */
	{ { SAME, EACH(10), .times_known = true, .max_rate_start = 100, .max_rate_end = 50 },
	  { SAME, EACH(3), .times_known = true, .max_rate_start = 50, .max_rate_end = 25 },
	  { SAME, EACH(13), .times_known = true, .max_rate_start = 100, .max_rate_end = 25 } },
	{ { SAME, EACH(10), .max_rate_start = 0, .max_rate_end = 50 },
	  { SAME, .max_rate_start = 50, .max_rate_end = 0 },
	  { SAME, EACH(10), .max_rate_start = 0, .max_rate_end = 0 } },
	/* times are known if those of every interval are */
	{ { SAME, EACH(1), .times_known = true }, { SAME, EACH(1) }, { SAME, EACH(2) } },
	{ { SAME, EACH(1) }, { SAME, EACH(1), .times_known = true }, { SAME, EACH(2) } },
	{ { SAME }, { SAME, EACH(1), .times_known = true }, { SAME, EACH(1) } },
	/* a CPU has come online, or is offline */
	{ { .period_ns = 10 * MS, .nr_cpus = 3, .include_idle = true, .in_kernel = true, EACH(1) },
	  { SAME, EACH(1) },
	  { .period_ns = 10 * MS, .nr_cpus = 3, .include_idle = true, .in_kernel = true, EACH(2) } },
	{ { SAME, EACH(1) },
	  { .period_ns = 10 * MS, .nr_cpus = 3, .include_idle = true, .in_kernel = true, EACH(1) },
	  { .period_ns = 10 * MS, .nr_cpus = 3, .include_idle = true, .in_kernel = true, EACH(2) } },
};

START_TEST(test_add)
{
	struct shortfall to = sums_of[_i].to;
	const struct shortfall *want = &sums_of[_i].sum;

	shortfall_add(&to, &sums_of[_i].more);
	ck_assert_uint_eq(to.period_ns, want->period_ns);
	ck_assert_uint_eq(to.nr_cpus, want->nr_cpus);
	ck_assert_uint_eq(to.due_ns, want->due_ns);
	ck_assert_uint_eq(to.taken, want->taken);
	ck_assert_uint_eq(to.idle_taken, want->idle_taken);
	ck_assert_int_eq(to.include_idle, want->include_idle);
	ck_assert_int_eq(to.in_kernel, want->in_kernel);
	ck_assert_uint_eq(to.throttled, want->throttled);
	ck_assert_uint_eq(to.throttled_ns, want->throttled_ns);
	ck_assert_uint_eq(to.offline_ns, want->offline_ns);
	ck_assert_int_eq(to.times_known, want->times_known);
	ck_assert_uint_eq(to.steal_ns, want->steal_ns);
	ck_assert_uint_eq(to.idle_ns, want->idle_ns);
	ck_assert_uint_eq(to.busy_ns, want->busy_ns);
	ck_assert_uint_eq(to.max_rate_start, want->max_rate_start);
	ck_assert_uint_eq(to.max_rate_end, want->max_rate_end);
}
END_TEST

/* ---- a command whose threads are followed */

#define OF_SECOND "the CPU time of the command, 1.00 s, is worth about 100 samples, of which "
#define COMMAND   .period_ns = 10 * MS, .due_ns = SEC, .cpu_ns = SEC, .times_known = true
#define FOLLOWED  COMMAND, .followed_known = true, .followed_ns = SEC
#define LET_ONLY(n)                                                                                                    \
	"the kernel let only " n " s of it be sampled (it excludes set-user-ID programs, and programs that you "       \
	"cannot read)"
#define STARTED(n) "it started " n ", and up to the last 10 ms of each are not sampled (choose a higher rate)"
#define NOT_KNOWN                                                                                                      \
	"it is not known why: threads that run for less than 10 ms, set-user-ID programs and programs that "           \
	"you cannot read have no samples, and timer interrupts may have come late"

static const struct {
	struct shortfall s;
	const char *why; /* NULL: nothing */
} commands[] = {
	/* Too few samples are due, or at least half of them were taken. */
	{ { .period_ns = 10 * MS }, NULL },
	{ { .period_ns = 10 * MS, .due_ns = 119 * MS, .cpu_ns = 119 * MS }, NULL },
	{ { FOLLOWED, .taken = 50 }, NULL },
	{ { FOLLOWED, .taken = 100 }, NULL },
	{ { FOLLOWED, .taken = UINT64_MAX }, NULL },
	/* No period is shorter than 10 us. */
	{ { .period_ns = 1, .due_ns = SEC, .cpu_ns = SEC, .taken = 60000 }, NULL },

	/* One cause. */
	{ { FOLLOWED, .taken = 49 }, OF_SECOND "49 were taken: " LATE "." },
	{ { COMMAND }, OF_SECOND "0 were taken: " NOT_KNOWN "." },
	{ { COMMAND, .followed_known = true }, OF_SECOND "0 were taken: " LET_ONLY("0.00") "." },
	{ { COMMAND, .followed_known = true, .followed_ns = 310 * MS, .taken = 30 },
	  OF_SECOND "30 were taken: " LET_ONLY("0.31") "." },
	{ { FOLLOWED, .started = 600 }, OF_SECOND "0 were taken: " STARTED("600 threads and processes") "." },
	{ { FOLLOWED, .steal_ns = 3 * SEC }, OF_SECOND "0 were taken: the hypervisor stole 3.0 s of the CPUs' time." },
	{ { FOLLOWED, .throttled = 1, .throttled_ns = SEC },
	  OF_SECOND "0 were taken: the kernel throttled the event 1 time." },
	{ { FOLLOWED, .throttled = 7, .throttled_ns = SEC, .max_rate_start = 100, .max_rate_end = 100 },
	  OF_SECOND "0 were taken: the kernel throttled the event 7 times (" RATE " is 100)." },

	/* Causes that do not account for it: few threads, throttling that is over, steal time that was not read. */
	{ { FOLLOWED, .started = 9 }, OF_SECOND "0 were taken: " LATE "." },
	{ { FOLLOWED, .throttled = 7, .throttled_ns = 50 * MS }, OF_SECOND "0 were taken: " LATE "." },
	{ { FOLLOWED, .throttled_ns = SEC }, OF_SECOND "0 were taken: " LATE "." },
	{ { .period_ns = 10 * MS,
	    .due_ns = SEC,
	    .cpu_ns = SEC,
	    .followed_known = true,
	    .followed_ns = SEC,
	    .steal_ns = SEC },
	  OF_SECOND "0 were taken: " LATE "." },
	/* Events have run longer than the CPU time, or a little less. */
	{ { COMMAND, .followed_known = true, .followed_ns = 3 * SEC }, OF_SECOND "0 were taken: " LATE "." },
	{ { COMMAND, .followed_known = true, .followed_ns = 950 * MS }, OF_SECOND "0 were taken: " LATE "." },
	/* The kernel's part of short threads; and more than that. */
	{ { COMMAND, .followed_known = true, .followed_ns = 820 * MS, .started = 600 },
	  OF_SECOND "0 were taken: " STARTED("600 threads and processes") "." },
	{ { COMMAND, .followed_known = true, .followed_ns = 400 * MS, .started = 600 },
	  OF_SECOND "0 were taken: " STARTED("600 threads and processes") "." },
	{ { COMMAND, .followed_known = true, .followed_ns = 350 * MS, .started = 149 },
	  OF_SECOND "0 were taken: " LET_ONLY("0.35") "; " STARTED("149 threads and processes") "." },
	/* Only a part of the steal time hit the command. */
	{ { FOLLOWED, .nr_cpus = 8, .started = 1, .steal_ns = 3 * SEC },
	  OF_SECOND "0 were taken: the hypervisor stole 3.0 s of the CPUs' time; " LATE "." },
	{ { FOLLOWED, .nr_cpus = 8, .steal_ns = 200 * MS }, OF_SECOND "0 were taken: " LATE "." },

	/* The largest cause first. */
	{ { FOLLOWED, .started = 30 }, OF_SECOND "0 were taken: " LATE "; " STARTED("30 threads and processes") "." },
	{ { FOLLOWED, .started = 160 }, OF_SECOND "0 were taken: " STARTED("160 threads and processes") "; " LATE "." },
	{ { COMMAND, .followed_known = true, .followed_ns = 400 * MS, .steal_ns = 300 * MS, .started = 1 },
	  OF_SECOND "0 were taken: " LET_ONLY("0.40") "; the hypervisor stole 0.3 s of the CPUs' time; " LATE "." },
	{ { COMMAND, .followed_known = true, .followed_ns = 800 * MS, .started = 20, .throttled = 2,
	    .throttled_ns = 250 * MS, .steal_ns = 150 * MS },
	  OF_SECOND "0 were taken: " LATE "; the kernel throttled the event 2 times; " LET_ONLY(
		  "0.80") "; the hypervisor stole 0.1 s of the CPUs' time; " STARTED("20 threads and processes") "." },
	/* Known causes, and an unknown rest. */
	{ { COMMAND, .steal_ns = 300 * MS },
	  OF_SECOND "0 were taken: " NOT_KNOWN "; the hypervisor stole 0.3 s of the CPUs' time." },
	{ { COMMAND, .started = 1000 }, OF_SECOND "0 were taken: " STARTED("1000 threads and processes") "." },

	/* Only user code: a part of the CPU time is due, and the same part of the followed time. */
	{ { .period_ns = 10 * MS,
	    .due_ns = SEC,
	    .cpu_ns = 4 * SEC,
	    .followed_known = true,
	    .followed_ns = 2 * SEC,
	    .taken = 48 },
	  OF_SECOND "48 were taken: " LET_ONLY("0.50") "." },
	{ { .period_ns = 10 * MS, .due_ns = SEC, .cpu_ns = 4 * SEC, .followed_known = true, .followed_ns = 4 * SEC },
	  OF_SECOND "0 were taken: " LATE "." },

	/* Few samples. */
	{ { .period_ns = 20408163,
	    .due_ns = 300 * MS,
	    .cpu_ns = 300 * MS,
	    .followed_known = true,
	    .followed_ns = SEC,
	    .started = 1 },
	  "the CPU time of the command, 0.30 s, is worth about 14 samples, of which 0 were taken: " LATE "." },
	{ { .period_ns = 20408163,
	    .due_ns = 300 * MS,
	    .cpu_ns = 300 * MS,
	    .followed_known = true,
	    .followed_ns = SEC,
	    .started = 3 },
	  "the CPU time of the command, 0.30 s, is worth about 14 samples, of which 0 were taken: " LATE
	  "; it started 3 threads and processes, and up to the last 20.4 ms of each are not sampled (choose a higher "
	  "rate)." },
	/* The largest numbers. */
	{ { .period_ns = 1,
	    .due_ns = UINT64_MAX,
	    .cpu_ns = UINT64_MAX,
	    .followed_known = true,
	    .followed_ns = 1,
	    .started = UINT64_MAX,
	    .throttled = UINT64_MAX,
	    .throttled_ns = UINT64_MAX },
	  "the CPU time of the command, 18446744073.71 s, is worth about 1844674407370955 samples, of which 0 were "
	  "taken: it started 18446744073709551615 threads and processes, and up to the last 0.01 ms of each are not "
	  "sampled (choose "
	  "a higher rate)." },
};

START_TEST(test_command)
{
	struct err why = { 0 };
	bool said = shortfall_explain_command(&commands[_i].s, &why);

	ck_assert_int_eq(said, !!commands[_i].why);
	ck_assert_str_eq(why.msg, commands[_i].why ? commands[_i].why : "");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("shortfall");
	TCase *c = tcase_create("shortfall");

	tcase_add_loop_test(c, test_due, 0, ARRAY_SIZE(dues));
	tcase_add_loop_test(c, test_explain, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(c, test_setting, 0, ARRAY_SIZE(settings));
	tcase_add_test(c, test_longest);
	tcase_add_loop_test(c, test_add, 0, ARRAY_SIZE(sums_of));
	tcase_add_loop_test(c, test_command, 0, ARRAY_SIZE(commands));
	suite_add_tcase(s, c);
	return unit_main(s);
}
