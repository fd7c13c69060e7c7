// SPDX-License-Identifier: Apache-2.0
/* How user stacks are walked: by the options, and by the capabilities of the host. */
#include "core/cli/backends.h"
#include "core/cli/request.h"
#include "core/session/unwinder.h"
#include "tests/unit/unit.h"

#define BUDGET "stack copies would take "
#define PERIOD "with -c the number of stack copies is not known"

static char *dir;
static struct host host;
static struct session s;

static void setup(void)
{
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	memset(&s, 0, sizeof(s));
}

static void teardown(void)
{
	unit_rmdir(dir);
}

/* ---- options */

/*
 * @cpus: online CPUs; "": there is no such file, so one CPU is assumed; @why: the beginning of auto's reason to do
 * without copies
 */
static const struct {
	struct options options;
	const char *cpus;
	bool unwinds, proves;
	const char *why;
} choices[] = {
	{ { .sampling.freq_hz = 49 }, "0-1", true, true, NULL },
	{ { .sampling.freq_hz = 49, .unwind = UNWIND_BY_RULES }, "0-1", true, false, NULL },
	{ { .sampling.freq_hz = 49, .unwind = UNWIND_BY_FP }, "0-1", false, false, NULL },
	{ { .sampling.freq_hz = 49, .filter.no_user = true }, "0-1", false, false, NULL },
	{ { .sampling.freq_hz = 49, .unwind = UNWIND_BY_RULES, .filter.no_user = true }, "0-1", false, false, NULL },
	{ { .sampling.freq_hz = 49, .filter.no_kernel = true }, "0-1", true, true, NULL },
	{ { .sampling.freq_hz = 49, .input = "perf.data" }, "0-1", false, false, NULL },
	{ { .sampling.freq_hz = 49, .input = "perf.data", .unwind = UNWIND_BY_RULES }, "0-1", false, false, NULL },
	/* Threads may leave their CPUs at any rate. */
	{ { .sampling.freq_hz = 49, .off_cpu.wanted = true }, "0-1", false, false, NULL },
	{ { .sampling.freq_hz = 49, .off_cpu.wanted = true, .unwind = UNWIND_BY_RULES }, "0-1", true, false, NULL },

	/* 256 MiB a second are 16384 copies of 16 KiB. */
	{ { .sampling.freq_hz = 8192 }, "0-1", true, true, NULL },
	{ { .sampling.freq_hz = 8193 }, "0-1", false, false, BUDGET "256 MiB" },
	{ { .sampling.freq_hz = 8193, .cpu = 1 }, "0-1", true, true, NULL },
	{ { .sampling.freq_hz = 16385, .cpu = 1 }, "0-1", false, false, BUDGET "256 MiB" },
	{ { .sampling.freq_hz = 8193, .unwind = UNWIND_BY_RULES }, "0-1", true, false, NULL },
	{ { .sampling.freq_hz = 8193, .unwind = UNWIND_BY_FP }, "0-1", false, false, NULL },
	{ { .sampling.freq_hz = 8193, .dump_bytes = 8192 }, "0-1", true, true, NULL },
	{ { .sampling.freq_hz = 2050, .dump_bytes = 65528 }, "0-1", false, false, BUDGET },
	{ { .sampling.freq_hz = 99 }, "0-127", true, true, NULL },
	{ { .sampling.freq_hz = 999 }, "0-127", false, false, BUDGET "1998 MiB" },
	{ { .sampling.freq_hz = 999 }, "", true, true, NULL },
	{ { .sampling.freq_hz = UINT64_MAX }, "0-127", false, false, BUDGET },

	/* The period of a clock gives a rate; for other events the rate is unknown. */
	{ { .sampling.period = 1000000 }, "0-1", true, true, NULL },
	{ { .sampling.period = 200000 }, "0-1", true, true, NULL },
	{ { .sampling.period = 50000 }, "0-1", false, false, BUDGET },
	{ { .sampling.period = 1,
	    .sampling.event = &(struct event_type){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } },
	  "0-1",
	  false,
	  false,
	  PERIOD },
	{ { .sampling.period = 1,
	    .unwind = UNWIND_BY_RULES,
	    .sampling.event = &(struct event_type){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } },
	  "0-1",
	  true,
	  false,
	  NULL },
};

static struct options options_of(const struct options *row)
{
	struct options o = *row;

	o.cpu = o.cpu ? o.cpu : -1;
	o.sampling.event = o.sampling.event ? o.sampling.event : event_default();
	return o;
}

START_TEST(test_choice)
{
	struct options o = options_of(&choices[_i].options);

	if (*choices[_i].cpus)
		unit_write(dir, "devices/system/cpu/online", choices[_i].cpus, strlen(choices[_i].cpus));
	s.request = request_of(&o, &host);
	s.ways = o.input ? ways_recorded : ways_here;
	unwinder_choose(&s);
	ck_assert_int_eq(s.request.unwinds, choices[_i].unwinds);
	ck_assert_int_eq(s.request.proves, choices[_i].proves);
	ck_assert_int_eq(s.by_fp.code != 0, choices[_i].why != NULL);
	if (choices[_i].why)
		ck_assert_msg(!strncmp(s.by_fp.msg, choices[_i].why, strlen(choices[_i].why)), "%s", s.by_fp.msg);
}
END_TEST

/*
 * 32 MiB per second on a CPU are 512 copies of 64 KiB, and 1024 of half that size; 256 MiB on all CPUs are 4096 and
 * 8192. A copy is never smaller than 16 KiB, unless the user wants that.
 */
static const struct {
	struct options options;
	const char *cpus;
	uint32_t dump;
} sizes[] = {
	{ { .sampling.freq_hz = 49 }, "0-1", 65528 },
	{ { .sampling.freq_hz = 49, .unwind = UNWIND_BY_RULES }, "0-1", 65528 },
	{ { .sampling.freq_hz = 512 }, "0-1", 65528 },
	{ { .sampling.freq_hz = 513 }, "0-1", 32760 },
	{ { .sampling.freq_hz = 1024 }, "0-1", 32760 },
	{ { .sampling.freq_hz = 1025 }, "0-1", 16384 },
	{ { .sampling.freq_hz = 8193, .unwind = UNWIND_BY_RULES }, "0-1", 16384 },
	{ { .sampling.freq_hz = UINT64_MAX }, "0-1", 16384 },
	{ { .sampling.freq_hz = 64 }, "0-63", 65528 },
	{ { .sampling.freq_hz = 65 }, "0-63", 32760 },
	{ { .sampling.freq_hz = 128 }, "0-63", 32760 },
	{ { .sampling.freq_hz = 129 }, "0-63", 16384 },
	{ { .sampling.freq_hz = 129, .cpu = 3 }, "0-63", 65528 },
	{ { .sampling.period = 1000000 }, "0-1", 32760 },
	{ { .sampling.freq_hz = 49, .off_cpu.wanted = true, .unwind = UNWIND_BY_RULES }, "0-1", 16384 },
	{ { .sampling.period = 1,
	    .unwind = UNWIND_BY_RULES,
	    .sampling.event = &(struct event_type){ .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS } },
	  "0-1",
	  16384 },
	{ { .sampling.freq_hz = 49, .dump_bytes = 8 }, "0-1", 8 },
	{ { .sampling.freq_hz = 8193, .dump_bytes = 65528, .unwind = UNWIND_BY_RULES }, "0-1", 65528 },
};

START_TEST(test_sizes)
{
	struct options o = options_of(&sizes[_i].options);

	unit_write(dir, "devices/system/cpu/online", sizes[_i].cpus, strlen(sizes[_i].cpus));
	s.request = request_of(&o, &host);
	s.ways = o.input ? ways_recorded : ways_here;
	unwinder_choose(&s);
	ck_assert_uint_eq(s.request.dump_bytes, sizes[_i].dump);
	ck_assert_uint_eq(s.request.dump_least, o.dump_bytes ? o.dump_bytes : 16384);
}
END_TEST

/* ---- recordings */

/* @copies: the recording has stack copies */
static const struct {
	struct options options;
	bool copies;
	int rc;
	bool unwinds, proves;
} recorded[] = {
	{ { .unwind = UNWIND_AUTO }, true, 0, true, true },
	{ { .unwind = UNWIND_AUTO }, false, 0, false, false },
	{ { .unwind = UNWIND_AUTO, .filter.no_user = true }, true, 0, false, false },
	{ { .unwind = UNWIND_BY_RULES }, true, 0, true, false },
	{ { .unwind = UNWIND_BY_RULES }, false, -EINVAL, false, false },
	{ { .unwind = UNWIND_BY_FP }, true, 0, false, false },
	{ { .unwind = UNWIND_BY_FP }, false, 0, false, false },
};

START_TEST(test_recorded)
{
	struct options o = options_of(&recorded[_i].options);
	struct err err;

	o.input = "perf.data";
	s.request = request_of(&o, &host);
	s.ways = ways_recorded;
	unwinder_choose(&s);
	s.recording.copies = recorded[_i].copies;
	ck_assert_int_eq(unwinder_recorded(&s, &err), recorded[_i].rc);
	ck_assert_int_eq(s.request.unwinds, recorded[_i].unwinds);
	ck_assert_int_eq(s.request.proves, recorded[_i].proves);
}
END_TEST

/* ---- the host */

/* @rc: result of opening the events, @dump: accepted size of the copies; @refused: result of mmap(2) */
static const struct {
	enum unwind_mode unwind;
	int rc, refused;
	uint32_t dump;
	bool gives_up;
} answers[] = {
	{ UNWIND_AUTO, -EINVAL, 0, 16384, true },     { UNWIND_AUTO, -ENOSYS, 0, 16384, true },
	{ UNWIND_AUTO, -EOPNOTSUPP, 0, 16384, true }, { UNWIND_AUTO, 0, -EPERM, 8192, true },
	{ UNWIND_AUTO, 0, -ENOMEM, 1024, true },      { UNWIND_AUTO, 0, -EPERM, 16384, false },
	{ UNWIND_AUTO, 0, 0, 16384, false },          { UNWIND_AUTO, -EACCES, 0, 16384, false },
	{ UNWIND_AUTO, -EMFILE, 0, 16384, false },    { UNWIND_AUTO, -ENODEV, 0, 16384, false },
	{ UNWIND_AUTO, -EPERM, -EPERM, 1024, false }, { UNWIND_BY_RULES, -EINVAL, 0, 16384, false },
	{ UNWIND_BY_RULES, 0, -EPERM, 8192, false },  { UNWIND_BY_FP, -EINVAL, 0, 0, false },
};

START_TEST(test_answer)
{
	struct options o = options_of(&(struct options){ .sampling.freq_hz = 49, .unwind = answers[_i].unwind });
	bool unwinds = o.unwind != UNWIND_BY_FP;
	struct err err;

	err_set(&err, answers[_i].rc, "the reason");
	s.request = request_of(&o, &host);
	s.ways = o.input ? ways_recorded : ways_here;
	s.events.request = &s.request;
	unwinder_choose(&s);
	s.events.attrs[EVENT_SAMPLES].sample_stack_user = answers[_i].dump;
	s.events.ring_refused = answers[_i].refused;
	s.events.rings.samples = 65536;
	ck_assert_int_eq(unwinder_give_up(&s, answers[_i].rc, &err), answers[_i].gives_up);
	ck_assert_int_eq(s.request.unwinds, unwinds && !answers[_i].gives_up);
	ck_assert_int_eq(s.by_fp.code != 0, answers[_i].gives_up);
	if (answers[_i].gives_up)
		ck_assert_ptr_nonnull(strstr(s.by_fp.msg, answers[_i].rc ? "the reason" : "stack copies of"));
	/* Only once. */
	ck_assert(!unwinder_give_up(&s, answers[_i].rc, &err) || !answers[_i].gives_up);
	/* If the copies were not the reason, they are requested again. */
	unwinder_choose(&s);
	ck_assert_int_eq(s.request.unwinds, unwinds);
	ck_assert_int_eq(s.by_fp.code, 0);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("unwinder");
	TCase *tc = tcase_create("unwinder");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_choice, 0, ARRAY_SIZE(choices));
	tcase_add_loop_test(tc, test_sizes, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tc, test_recorded, 0, ARRAY_SIZE(recorded));
	tcase_add_loop_test(tc, test_answer, 0, ARRAY_SIZE(answers));
	suite_add_tcase(suite, tc);
	return unit_main(suite);
}
