// SPDX-License-Identifier: Apache-2.0
#include "core/events/watch.h"
#include "tests/unit/unit.h"

#define TICK (10 * 1000 * 1000ULL)
#define HEAD "cpu  1 1 1 1 1 1 1 1 1 1\n"
#define TAIL "intr 5 0 0\nctxt 1\n"

/* A CPU's line: user, idle, steal; the other fields have numbers, too. */
#define CPU(n, user, idle, steal) "cpu" #n " " #user " 1 2 " #idle " 3 4 5 " #steal " 0 0\n"

static char *dir;
static struct host host;

static void setup(void)
{
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
}

static void teardown(void)
{
	unit_rmdir(dir);
}

/* NULL: the file is not there. */
static void show(const char *name, const char *text)
{
	char path[4096];

	if (text) {
		unit_write(dir, name, text, strlen(text));
		return;
	}
	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static void show_all(const char *stat, const char *max_rate)
{
	show("stat", stat);
	show("sys/kernel/perf_event_max_sample_rate", max_rate);
}

static struct watch *watch(const int *cpu, size_t nr)
{
	int copy[8]; /* not valid any more when the watch is used */
	const struct cpu_list cpus = { copy, nr };
	struct watch *w;

	memcpy(copy, cpu, nr * sizeof(*cpu));
	w = watch_new(&host, &cpus);
	memset(copy, -1, sizeof(copy));
	ck_assert_ptr_nonnull(w);
	return w;
}

static const int two[] = { 0, 3 };

/* CPUs 0 and 3 are watched. */
static const struct {
	const char *name, *before, *before_rate, *after, *after_rate;
	bool known;
	uint64_t busy, idle, steal; /* ticks */
	uint64_t rate_start, rate_end;
} rows[] = {
	{ "known", HEAD CPU(0, 10, 20, 30) CPU(3, 5, 5, 5) TAIL, "100000\n",
	  HEAD CPU(0, 17, 120, 31) CPU(3, 6, 25, 5) TAIL, "100000\n", true, 8, 120, 1, 100000, 100000 },
	{ "nothing passed", HEAD CPU(0, 1, 2, 3) CPU(3, 4, 5, 6), "1\n", HEAD CPU(0, 1, 2, 3) CPU(3, 4, 5, 6), "1\n",
	  true, 0, 0, 0, 1, 1 },
	{ "others are not watched", HEAD CPU(0, 0, 0, 0) CPU(1, 0, 0, 0) CPU(3, 0, 0, 0) CPU(4, 0, 0, 0), NULL,
	  HEAD CPU(0, 1, 2, 3) CPU(1, 100, 100, 100) CPU(3, 1, 1, 1) CPU(4, 100, 100, 100), NULL, true, 2, 3, 4, 0, 0 },
	{ "time that went back", HEAD CPU(0, 9, 9, 9) CPU(3, 0, 0, 9), NULL, HEAD CPU(0, 1, 1, 10) CPU(3, 1, 1, 1),
	  NULL, true, 1, 1, 1, 0, 0 },

	/* a CPU is missing: only the values of the other */
	{ "gone", HEAD CPU(0, 0, 0, 0) CPU(3, 0, 0, 0), "100\n", HEAD CPU(0, 5, 6, 7), "100\n", true, 5, 6, 7, 100,
	  100 },
	{ "come", HEAD CPU(3, 0, 0, 0), "100\n", HEAD CPU(0, 50, 60, 70) CPU(3, 1, 2, 3), "100\n", true, 1, 2, 3, 100,
	  100 },
	{ "one gone, the other come", HEAD CPU(0, 1, 1, 1), "100\n", HEAD CPU(3, 2, 2, 2), "100\n", false, 0, 0, 0, 100,
	  100 },
	{ "never there", HEAD CPU(1, 1, 1, 1), "100\n", HEAD CPU(1, 2, 2, 2), "100\n", false, 0, 0, 0, 100, 100 },

	/* not known */
	{ "no file", NULL, "100\n", NULL, "100\n", false, 0, 0, 0, 100, 100 },
	{ "no file at first", NULL, "100\n", HEAD CPU(0, 1, 1, 1), "100\n", false, 0, 0, 0, 100, 100 },
	{ "no file later", HEAD CPU(0, 1, 1, 1), "100\n", NULL, "100\n", false, 0, 0, 0, 100, 100 },
	{ "empty", "", "", HEAD CPU(0, 1, 1, 1), "", false, 0, 0, 0, 0, 0 },
	{ "no times", HEAD CPU(0, 1, 1, 1), "x\n", HEAD "cpu0 1 2 3\n", "1x\n", false, 0, 0, 0, 0, 0 },
	{ "not numbers", HEAD "cpu0 a b c d e f g h i j\n", NULL, HEAD CPU(0, 1, 1, 1), NULL, false, 0, 0, 0, 0, 0 },
	{ "CPUs twice", HEAD CPU(0, 0, 0, 0), NULL, HEAD CPU(0, 1, 1, 1) CPU(0, 1, 1, 1), NULL, false, 0, 0, 0, 0, 0 },

	/* the rate */
	{ "lowered", NULL, "100000\n", NULL, "25\n", false, 0, 0, 0, 100000, 25 },
	{ "raised", NULL, "25\n", NULL, "100000\n", false, 0, 0, 0, 25, 100000 },
	{ "not there at first", NULL, NULL, NULL, "100\n", false, 0, 0, 0, 0, 100 },
	{ "not there later", NULL, "100\n", NULL, NULL, false, 0, 0, 0, 100, 0 },
	{ "no rate", NULL, "0\n", NULL, "-1\n", false, 0, 0, 0, 0, 0 },
	{ "too large", NULL, "99999999999999999999\n", NULL, "9223372036854775807\n", false, 0, 0, 0, 0, INT64_MAX },
};

static void assert_seen(const char *name, const struct shortfall *got, const struct shortfall *want)
{
	ck_assert_msg(got->times_known == want->times_known, "%s: known %d", name, got->times_known);
	ck_assert_msg(got->busy_ns == want->busy_ns, "%s: busy %llu", name, (unsigned long long)got->busy_ns);
	ck_assert_msg(got->idle_ns == want->idle_ns, "%s: idle %llu", name, (unsigned long long)got->idle_ns);
	ck_assert_msg(got->steal_ns == want->steal_ns, "%s: steal %llu", name, (unsigned long long)got->steal_ns);
	ck_assert_msg(got->max_rate_start == want->max_rate_start, "%s: first %llu", name,
		      (unsigned long long)got->max_rate_start);
	ck_assert_msg(got->max_rate_end == want->max_rate_end, "%s: then %llu", name,
		      (unsigned long long)got->max_rate_end);
}

START_TEST(test_seen)
{
	/* Old values are overwritten; fields that do not belong to the watch are unchanged. */
	struct shortfall s = { .times_known = true,
			       .busy_ns = 7,
			       .idle_ns = 7,
			       .steal_ns = 7,
			       .max_rate_start = 7,
			       .max_rate_end = 7,
			       .taken = 7,
			       .throttled_ns = 7,
			       .offline_ns = 7,
			       .period_ns = 7 };
	const struct shortfall want = {
		.times_known = rows[_i].known,
		.busy_ns = rows[_i].busy * TICK,
		.idle_ns = rows[_i].idle * TICK,
		.steal_ns = rows[_i].steal * TICK,
		.max_rate_start = rows[_i].rate_start,
		.max_rate_end = rows[_i].rate_end,
	};
	struct watch *w = watch(two, ARRAY_SIZE(two));

	show_all(rows[_i].before, rows[_i].before_rate);
	watch_begin(w);
	show_all(rows[_i].after, rows[_i].after_rate);
	watch_end(w, &s);
	assert_seen(rows[_i].name, &s, &want);
	ck_assert_uint_eq(s.taken, 7);
	ck_assert_uint_eq(s.throttled_ns, 7);
	ck_assert_uint_eq(s.offline_ns, 7);
	ck_assert_uint_eq(s.period_ns, 7);
	watch_free(w);
}
END_TEST

/* An interval begins where the previous one ended, even if that end could not be read. */
START_TEST(test_intervals)
{
	static const int one[] = { 0 };
	struct watch *w = watch(one, ARRAY_SIZE(one));
	struct shortfall s = { 0 };

	show_all(HEAD CPU(0, 0, 0, 0), "400\n");
	watch_begin(w);
	show_all(HEAD CPU(0, 10, 20, 30), "300\n");
	watch_end(w, &s);
	assert_seen("first", &s,
		    &(struct shortfall){ .times_known = true,
					 .busy_ns = 10 * TICK,
					 .idle_ns = 20 * TICK,
					 .steal_ns = 30 * TICK,
					 .max_rate_start = 400,
					 .max_rate_end = 300 });
	show_all(HEAD CPU(0, 11, 22, 33), "200\n");
	watch_end(w, &s);
	assert_seen("second", &s,
		    &(struct shortfall){ .times_known = true,
					 .busy_ns = TICK,
					 .idle_ns = 2 * TICK,
					 .steal_ns = 3 * TICK,
					 .max_rate_start = 300,
					 .max_rate_end = 200 });
	show_all(NULL, "100\n");
	watch_end(w, &s);
	assert_seen("not seen", &s, &(struct shortfall){ .max_rate_start = 200, .max_rate_end = 100 });
	show_all(HEAD CPU(0, 20, 30, 40), NULL);
	watch_end(w, &s);
	assert_seen("nothing to begin with", &s, &(struct shortfall){ .max_rate_start = 100 });
	show_all(HEAD CPU(0, 21, 30, 40), "50\n");
	watch_end(w, &s);
	assert_seen("seen again", &s, &(struct shortfall){ .times_known = true, .busy_ns = TICK, .max_rate_end = 50 });
	/* and another run may begin */
	show_all(HEAD CPU(0, 100, 100, 100), "60\n");
	watch_begin(w);
	show_all(HEAD CPU(0, 101, 100, 100), "70\n");
	watch_end(w, &s);
	assert_seen("another run", &s,
		    &(struct shortfall){
			    .times_known = true, .busy_ns = TICK, .max_rate_start = 60, .max_rate_end = 70 });
	watch_free(w);
}
END_TEST

/* Ended without a beginning, and without CPUs. */
START_TEST(test_nothing)
{
	struct watch *w = watch(two, ARRAY_SIZE(two));
	struct shortfall s = { 0 };

	show_all(HEAD CPU(0, 1, 1, 1), "100\n");
	watch_end(w, &s);
	assert_seen("no begin", &s, &(struct shortfall){ .max_rate_end = 100 });
	watch_free(w);
	w = watch(two, 0);
	watch_begin(w);
	watch_end(w, &s);
	assert_seen("no CPU", &s, &(struct shortfall){ .max_rate_start = 100, .max_rate_end = 100 });
	watch_free(w);
	watch_free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("watch");
	TCase *tc = tcase_create("watch");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_seen, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, test_intervals);
	tcase_add_test(tc, test_nothing);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
