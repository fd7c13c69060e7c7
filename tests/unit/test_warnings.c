// SPDX-License-Identifier: Apache-2.0
#include "core/cli/backends.h"
#include "core/cli/warnings.h"
#include "core/host/event_types.h"
#include "core/session/state.h"
#include "core/symbols/perf_maps.h"
#include "tests/unit/printed.h"

static char *dir;
static struct host host;
static struct options options;
static struct session session;
static struct account total;
static struct perf_maps *maps;
static struct symbols *symbols;
static struct printed printed;

static void setup(void)
{
	dir = unit_tmpdir();
	host = unit_host(dir);
	unit_write(dir, "proc/kallsyms", "ffffffff81000000 T _text\n", 25);
	options = (struct options){ .tool = TOOL_PROFILE, .sampling.event = event_default() };
	session = (struct session){ .ways = ways_here, .request.host = &host, .files = { .host = &host } };
	session.events.request = &session.request;
	total = (struct account){ 0 };
	session.sink.tasks = tasks_new(&host);
	maps = perf_maps_new(&session.files);
	ck_assert(session.sink.tasks && maps);
	ck_assert_int_eq(symbols_open(session.sink.tasks,
				      &(struct symbols_cfg){ .files = &session.files, .perf_maps = maps }, &symbols,
				      NULL),
			 0);
}

static void teardown(void)
{
	symbols_free(symbols);
	perf_maps_free(maps);
	tasks_free(session.sink.tasks);
	unit_rmdir(dir);
}

/* ---- the samples of a recording that are not in its report */

static struct recorded_event more[] = { { (char *)"cycles", 7 }, { (char *)"a b", 8 } };

static const struct {
	uint64_t others, taken, undescribed;
	size_t nr_more;
	const char *event, *input, *printed;
} events[] = {
	{ 0, 5, 0, 0, NULL, "-", "" },
	{ 15, 5, 0, 2, "cycles", "-", "" }, /* the user has chosen one */
	{ 15, 0, 0, 2, "cycles", "-",
	  "profile: standard input has more samples, of other events: -e cycles (7), -e 'a b' (8)\n" },
	{ 15, 5, 0, 1, NULL, "x y", "profile: 'x y' has more samples, of other events: -e cycles (7)\n" },
	{ 19, 5, 4, 1, NULL, "x",
	  "profile: 'x' has more samples, of other events: -e cycles (7), of events that it does not describe (4)\n" },
	{ 4, 5, 4, 0, NULL, "x",
	  "profile: 'x' has more samples, of other events: of events that it does not describe (4)\n" },
};

START_TEST(test_events)
{
	options.event_name = events[_i].event;
	options.input = events[_i].input;
	total.stats.taken = events[_i].taken;
	session.recording.other_samples = events[_i].others;
	session.recording.undescribed_samples = events[_i].undescribed;
	session.recording.more = more;
	session.recording.nr_more = events[_i].nr_more;
	printed = printed_begin();
	tell_of_events(&options, &session, &total);
	printed_end(&printed, events[_i].printed);
}
END_TEST

/* Twenty are named. */
START_TEST(test_many_events)
{
	struct recorded_event many[22];
	char want[1024] = "profile: 'x' has more samples, of other events:";
	size_t i;

	for (i = 0; i < ARRAY_SIZE(many); i++)
		many[i] = (struct recorded_event){ (char *)"e", i };
	for (i = 0; i < 20; i++)
		snprintf(want + strlen(want), sizeof(want) - strlen(want), "%s -e e (%zu)", i ? "," : "", i);
	snprintf(want + strlen(want), sizeof(want) - strlen(want), ", and 2 more events\n");
	options.input = "x";
	session.recording.other_samples = 1;
	session.recording.more = many;
	session.recording.nr_more = ARRAY_SIZE(many);
	printed = printed_begin();
	tell_of_events(&options, &session, &total);
	printed_end(&printed, want);
}
END_TEST

/* ---- at the end of a run */

static void warn(void)
{
	const struct cpu_wait none = { 0 };

	printed = printed_begin();
	warn_of_run(&options, &session, symbols, &total, &none);
}

static const struct {
	struct recording recording;
	const char *printed;
} recordings[] = {
	{ { 0 }, "" },
	{ { .unfinished = true }, "WARNING: perf record did not finish 'x': names may be missing.\n" },
	{ { .damaged = 1, .damaged_in = "part", .damaged_at = 5, .left_out = 6 },
	  "WARNING: part in 'x' is damaged at offset 5: 6 bytes were left out.\n" },
	{ { .damaged = 2, .damaged_in = "", .damaged_at = 5, .left_out = 6 },
	  "WARNING: 'x' is damaged in 2 places, first at offset 5: 6 bytes were left out.\n" },
	{ { .damaged_in = "", .missing = 9, .truncated = true },
	  "WARNING: 'x' ends early: 9 bytes of its records are missing.\n" },
	{ { .truncated = true, .header_lost = true },
	  "WARNING: 'x' ends within a record: the records before it were read.\n" },
	{ { .header_lost = true },
	  "WARNING: 'x' has lost parts of its header, which follow the records: names may be missing.\n" },
};

START_TEST(test_recording)
{
	options.input = "x";
	session.recording = recordings[_i].recording;
	warn();
	printed_end(&printed, recordings[_i].printed);
}
END_TEST

START_TEST(test_run)
{
	char want[2048];

	total.unaccounted = (struct unaccounted){ .samples = -2, .intervals = 3 };
	total.reused = 4;
	total.stats.hidden = 5;
	err_set(&session.events.refused, -EMFILE, "too many");
	err_set(&session.sink.first_refused, -ENOMEM, "no room");
	err_set(&session.sink.unwinders.failed, -EIO, "libunwind failed");
	session.sink.unwinders.nr_faults = 6;
	session.sink.unwinders.fault = -EACCES;
	if (_i)
		options.sampling.event = NULL;
	snprintf(want, sizeof(want),
		 "WARNING: -2 samples are not accounted for: this is a bug in profile.\n"
		 "WARNING: 3 intervals are not accounted for: this is a bug in profile.\n"
		 "WARNING: a CPU that came online was not %s: too many\n"
		 "WARNING: processes that ended early may lack names: no room\n"
		 "WARNING: 4 %s have frames at addresses where the process mapped different files: these frames are "
		 "[unknown].\n"
		 "WARNING: 5 %s were filtered because the mount namespaces of their tasks cannot be read (give it "
		 "CAP_SYS_PTRACE).\n"
		 "WARNING: libunwind failed.\n"
		 "WARNING: unwind rules could not be read for at least 6 user stacks: %s\n",
		 _i ? "traced" : "sampled", _i ? "intervals" : "samples", _i ? "intervals" : "samples",
		 strerror(EACCES));
	warn();
	printed_end(&printed, want);
}
END_TEST

/* ---- at its beginning */

START_TEST(test_limits)
{
	static pid_t pids[] = { 10, 11 };
	static const char zombie[] = "State:\tZ (zombie)\nThreads:\t1\n", sleeps[] = "State:\tS (sleeping)\n";
	char want[1024];

	unit_write(dir, "proc/10/status", zombie, strlen(zombie));
	unit_write(dir, "proc/11/status", sleeps, strlen(sleeps));
	options.pids = pids;
	options.nr_pids = 2;
	err_set(&session.events.user_only, -EACCES, "not permitted");
	err_set(&session.events.unfollowed, -EMFILE, "3 threads are not followed");
	err_set(&session.by_fp, -EPERM, "copies are refused");
	host.foreign = _i;
	if (_i)
		options.sampling.event = NULL;
	snprintf(want, sizeof(want),
		 "profile: %s: not permitted\n"
		 "profile: 3 threads are not followed\n"
		 "%s"
		 "profile: user stacks are walked by frame pointers: copies are refused\n"
		 "%s",
		 _i ? "stacks cannot be taken" : "only user code is sampled",
		 _i ? "" : "profile: PID 10 is a zombie: it has ended, and its parent has not waited for it\n",
		 _i ? "profile: /proc is of another PID namespace: processes that run already have no symbols, and "
		      "with perfring no names (mount a /proc of this namespace: unshare --mount-proc)\n"
		    : "");
	printed = printed_begin();
	warn_of_limits(&options, &session);
	printed_end(&printed, want);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("warnings");
	TCase *tc = tcase_create("warnings");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_events, 0, ARRAY_SIZE(events));
	tcase_add_test(tc, test_many_events);
	tcase_add_loop_test(tc, test_recording, 0, ARRAY_SIZE(recordings));
	tcase_add_loop_test(tc, test_run, 0, 2);
	tcase_add_loop_test(tc, test_limits, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
