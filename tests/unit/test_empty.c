// SPDX-License-Identifier: Apache-2.0
/* Reasons why a run has nothing to report: a session at its end, on a host that is a copy of /proc. */
#include "core/cli/empty.h"
#include "core/cli/request.h"
#include "core/events/event_rings.h"
#include "core/tasks/targets.h"
#include "tests/unit/unit.h"

#include <linux/perf_event.h>

#define MS (1000 * 1000ULL)

static pid_t one[] = { 5000001 }, three[] = { 5000001, 5000002, 5000003 };

#define PID .pids = one, .nr_pids = 1
#define OF_CPU(which)                                                                                                  \
	.cpu = which, .state_mask = -1, .off_cpu.max_ns = UINT64_MAX, .off_cpu.min_ns = 1000, .sampling.freq_hz = 50
#define RATE OF_CPU(-1)
#define WITHIN(min, max, state)                                                                                        \
	.off_cpu = { true, .min_ns = min, .max_ns = max }, .cpu = -1, .state_mask = state, .tool = TOOL_OFFCPUTIME
#define WAITING WITHIN(1000, UINT64_MAX, -1)

static const struct {
	struct options o;
	struct stats b;
	bool ran_known;
	uint64_t ran_ns, sampled_ms;
	const char *why; /* text after the name of the tool */
} rows[] = {
	/* processes and threads that the user named */
	{ { RATE, PID }, { .taken = 9, .filtered = 9 }, true, 0, 500, "0 samples: PID 5000001 did not run" },
	{ { RATE, PID, .filter.by_tid = true }, { 0 }, true, 0, 500, "0 samples: TID 5000001 did not run" },
	{ { RATE, .pids = three, .nr_pids = 3 }, { 0 }, true, 0, 500, "0 samples: none of the 3 processes ran" },
	{ { RATE, PID, .off_cpu.wanted = true, .off_cpu.open = true },
	  { .intervals_begun = 5, .intervals_filtered = 5 },
	  true,
	  0,
	  500,
	  "0 samples, 0 intervals: PID 5000001 did not run" },
	{ { RATE, PID },
	  { .taken = 9, .filtered = 9 },
	  true,
	  400000,
	  500,
	  "0 samples: PID 5000001 ran for 0.4 ms, less than the 20.0 ms from one sample to the next" },
	{ { RATE, .pids = three, .nr_pids = 3 },
	  { .taken = 9, .filtered = 9 },
	  true,
	  30 * MS,
	  500,
	  "0 samples: all 3 processes ran for 30.0 ms, but not when samples were taken" },
	/* unknown facts are not blamed */
	{ { RATE, PID }, { .taken = 9, .filtered = 9 }, false, 0, 500, "0 samples" },
	{ { RATE, PID, .filter.comm = "init" },
	  { .taken = 9, .filtered = 9 },
	  true,
	  99 * MS,
	  500,
	  "0 samples: all 9 that were taken are of idle CPUs or do not pass the filters (--comm)" },
	/* names */
	{ { RATE, .filter.comm = "sleeper" },
	  { .taken = 9, .filtered = 9 },
	  false,
	  0,
	  500,
	  "0 samples: no thread is called 'sleeper' now" },
	{ { RATE, .filter.comm = "\033[31m" },
	  { .taken = 9, .filtered = 9 },
	  false,
	  0,
	  500,
	  "0 samples: no thread is called '?[31m' now" },
	/* CPUs */
	{ { OF_CPU(3) },
	  { .taken = 9, .filtered = 9, .idle = 9 },
	  false,
	  0,
	  500,
	  "0 samples: CPU 3 was idle (-I keeps its samples)" },
	{ { RATE },
	  { .taken = 9, .filtered = 9, .idle = 9 },
	  false,
	  0,
	  500,
	  "0 samples: all CPUs were idle (-I keeps their samples)" },
	{ { OF_CPU(3), .groups.cgroup_map = "/map" },
	  { .taken = 9, .filtered = 9, .idle = 8 },
	  false,
	  0,
	  500,
	  "0 samples: all 9 that were taken are of idle CPUs or do not pass the filters (--cgroupmap, -C)" },
	/* the rate, and losses */
	{ { RATE },
	  { 0 },
	  false,
	  0,
	  19,
	  "0 samples: sampling lasted 19.0 ms, less than the 20.0 ms from one sample to the next" },
	{ { RATE }, { 0 }, false, 0, 2000, "0 samples" },
	{ { RATE }, { .taken = 4, .lost = 4 }, false, 0, 2000, "0 samples: 4 were lost" },
	{ { RATE, .filter.comm = "init" },
	  { .taken = 4, .lost = 3, .filtered = 1 },
	  false,
	  0,
	  2000,
	  "0 samples: 3 were lost" },
	/* recordings */
	{ { RATE, .input = "a\nb" }, { 0 }, false, 0, 0, "0 samples: 'a?b' has none" },
	{ { RATE, .input = "-" }, { 0 }, false, 0, 0, "0 samples: 'standard input' has none" },
	{ { RATE, .input = "x" },
	  { .taken = 3, .filtered = 3, .idle = 3 },
	  false,
	  0,
	  0,
	  "0 samples: all 3 in 'x' are of the idle task (-I keeps them)" },
	{ { RATE, .input = "x", PID },
	  { .taken = 3, .filtered = 3, .idle = 1 },
	  false,
	  0,
	  0,
	  "0 samples: none of the 3 in 'x' passes the filters" },
	/* time off the CPU */
	{ { WAITING, PID },
	  { .intervals_begun = 5, .intervals_filtered = 5 },
	  true,
	  0,
	  500,
	  "0 intervals: PID 5000001 did not run, and an interval begins when a thread leaves its CPU" },
	{ { WAITING, PID },
	  { .intervals_begun = 5, .intervals_filtered = 4, .intervals_open = 1 },
	  true,
	  5,
	  500,
	  "0 intervals: 1 were still open when tracing ended (--open-intervals reports them)" },
	{ { WAITING, PID },
	  { .intervals_begun = 5, .intervals_filtered = 5 },
	  true,
	  500 * MS,
	  500,
	  "0 intervals: PID 5000001 did not leave its CPU and come back" },
	{ { WITHIN(2 * MS, UINT64_MAX, 2), PID },
	  { .intervals_begun = 5, .intervals_filtered = 5 },
	  true,
	  5,
	  500,
	  "0 intervals: none passes -m 2000, --state 0x2" },
	{ { WITHIN(2 * MS, 3 * MS + 999, -1) },
	  { .intervals_begun = 8, .intervals_filtered = 5, .intervals_open = 2, .intervals_lost = 1 },
	  false,
	  0,
	  500,
	  "0 intervals: 5 were left out by -m 2000, -M 3000" },
	{ { WAITING, .kernel_threads = true },
	  { .intervals_begun = 5, .intervals_filtered = 5 },
	  false,
	  0,
	  500,
	  "0 intervals: none of the 5 that were seen passes the filters (-k)" },
	{ { WAITING }, { .intervals_begun = 5, .intervals_lost = 5 }, false, 0, 500, "0 intervals: 5 were lost" },
};

static char *top;
static struct host host;

static void setup(void)
{
	top = unit_tmpdir();
	host = unit_host(top);
	unit_write(top, "proc/1/task/1/comm", "init\n", 5);
	unit_write(top, "proc/1/task/1/stat", "1 (init) S 0", 12);
}

static void teardown(void)
{
	unit_rmdir(top);
}

static char *explained(const struct options *o, struct session *s, const struct account *total)
{
	size_t size;
	char *text;
	FILE *f = open_memstream(&text, &size);

	empty_explain(f, o, s, total);
	fclose(f);
	return text;
}

/* The host permits only the threads of this user. That is printed if no other cause is known. */
START_TEST(test_of_user)
{
	struct options o = { RATE, .sampling.event = event_default() };
	struct session s = { .events.followed = (struct followed *)&o };
	struct account total = { .sampled_ns = 2000 * MS };
	char *text;

	s.request = request_of(&o, &host);
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text,
			 "profile: 0 samples: only the threads of this user are sampled (--list-backends tells why)\n");
	free(text);
	total.stats.taken = total.stats.lost = 4;
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text, "profile: 0 samples: 4 were lost\n");
	free(text);
}
END_TEST

START_TEST(test_causes)
{
	struct options o = rows[_i].o;
	struct session s = { .ran_known = rows[_i].ran_known, .ran_ns = rows[_i].ran_ns };
	const struct account total = { .stats = rows[_i].b, .sampled_ns = rows[_i].sampled_ms * MS };
	char want[512], *text;

	o.sampling.event = o.tool == TOOL_PROFILE ? event_default() : NULL;
	s.request = request_of(&o, &host);
	snprintf(want, sizeof(want), "%s: %s\n", tool_name(o.tool), rows[_i].why);
	text = explained(&o, &s, &total);
	ck_assert(empty_is(&total));
	ck_assert_str_eq(text, want);
	free(text);
}
END_TEST

START_TEST(test_event)
{
	struct options o = { RATE, PID, .sampling.event = event_find("page-faults") };
	struct session s = { .request = request_of(&o, &host), .ran_known = true, .ran_ns = 5 };
	const struct account total = { .stats = { 0 } };
	char *text = explained(&o, &s, &total);

	ck_assert_str_eq(text, "profile: 0 samples: PID 5000001 ran for 0.0 ms, and the event page-faults did not "
			       "occur often enough\n");
	free(text);
	o.nr_pids = 0;
	s.request = request_of(&o, &host);
	s.ran_known = false;
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text, "profile: 0 samples: the event page-faults did not occur often enough\n");
	free(text);
	o.input = "x";
	s.request = request_of(&o, &host);
	s.recording = (struct recording){ .event = "cycles", .other_samples = 7 };
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text, "profile: 0 samples: 'x' has none of cycles, and 7 of other events\n");
	free(text);
}
END_TEST

START_TEST(test_user_code)
{
	struct options o = { RATE, PID, .sampling.event = event_default() };
	struct session s = { .request = request_of(&o, &host), .ran_known = true, .ran_ns = 50 * MS };
	const struct account total = { .stats = { 0 } };
	char *text;

	s.events.attrs[EVENT_SAMPLES].exclude_kernel = 1;
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text, "profile: 0 samples: PID 5000001 ran for 50.0 ms, and only user code is sampled\n");
	free(text);
	o.nr_pids = 0;
	s.ran_first = true;
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text,
			 "profile: 0 samples: the first process of the command ran for 50.0 ms, and only user code "
			 "is sampled\n");
	free(text);
	o.nr_pids = 1;
	s.events.followed = (struct followed *)&o;
	text = explained(&o, &s, &total);
	ck_assert_str_eq(
		text,
		"profile: 0 samples: PID 5000001 ran for 50.0 ms, and samples are taken only of user code of threads "
		"that may be sampled and run for 20.0 ms or more\n");
	free(text);
	s.events.attrs[EVENT_SAMPLES].exclude_kernel = 0;
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text,
			 "profile: 0 samples: PID 5000001 ran for 50.0 ms, and samples are taken only of threads that "
			 "may be sampled and run for 20.0 ms or more\n");
	free(text);
}
END_TEST

/* No process has such ids. */
START_TEST(test_ended)
{
	struct options o = { RATE, PID, .sampling.event = event_default() };
	struct session s = { .request = request_of(&o, &host) };
	const struct account total = { .stats = { .taken = 9, .filtered = 9 } };
	char *text;

	s.targets = targets_new(&host, one, 1, true);
	ck_assert_ptr_nonnull(s.targets);
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text, "profile: 0 samples: PID 5000001 has ended\n");
	free(text);
	targets_free(s.targets);
}
END_TEST

static const struct {
	const char *events; /* NULL: there is no such file */
	const char *why;
} groups[] = {
	{ "populated 0\nfrozen 0\n", "no task is in cgroup '%s' now" },
	{ "populated 1\nfrozen 0\n", "all 9 that were taken are of idle CPUs or do not pass the filters (--cgroup)" },
	{ NULL, "all 9 that were taken are of idle CPUs or do not pass the filters (--cgroup)" },
};

START_TEST(test_cgroup)
{
	struct options o = { RATE, .sampling.event = event_default(), .groups.cgroup = top };
	struct session s = { .request = request_of(&o, &host) };
	const struct account total = { .stats = { .taken = 9, .filtered = 9 } };
	char want[1024], why[512], *text;

	if (groups[_i].events)
		unit_write(top, "cgroup.events", groups[_i].events, strlen(groups[_i].events));
	snprintf(why, sizeof(why), groups[_i].why, top);
	snprintf(want, sizeof(want), "profile: 0 samples: %s\n", why);
	text = explained(&o, &s, &total);
	ck_assert_str_eq(text, want);
	free(text);
}
END_TEST

START_TEST(test_not_empty)
{
	ck_assert(!empty_is(&(struct account){ .rows = 1 }));
}
END_TEST

int main(void)
{
	Suite *s = suite_create(__FILE__);
	TCase *t = tcase_create("empty");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_causes, 0, ARRAY_SIZE(rows));
	tcase_add_test(t, test_of_user);
	tcase_add_test(t, test_event);
	tcase_add_test(t, test_user_code);
	tcase_add_test(t, test_ended);
	tcase_add_loop_test(t, test_cgroup, 0, ARRAY_SIZE(groups));
	tcase_add_test(t, test_not_empty);
	suite_add_tcase(s, t);
	return unit_main(s);
}
