// SPDX-License-Identifier: Apache-2.0
#include "core/cli/progress_line.h"
#include "tests/unit/unit.h"

#define SECOND   (1000 * 1000 * 1000ULL)
#define FOR_EVER UINT64_MAX

static const struct {
	enum tool tool;
	bool on_cpu, off_cpu;
	struct progress p;
	size_t width;
	const char *text;
} rows[] = {
	{ TOOL_PROFILE,
	  true,
	  false,
	  { SECOND / 2, 5 * SECOND - SECOND / 2, 7, 0, 0 },
	  79,
	  "profile: 0:05 left, 7 samples, 0 lost" },
	{ TOOL_PROFILE, true, false, { SECOND, 0, 0, 0, 3 }, 79, "profile: 0:00 left, 0 samples, 3 lost" },
	{ TOOL_PROFILE,
	  true,
	  false,
	  { 59 * SECOND, FOR_EVER, 1204, 9, 0 },
	  79,
	  "profile: 0:59, 1204 samples, 0 lost (Ctrl-C to end)" },
	{ TOOL_PROFILE,
	  true,
	  true,
	  { 600 * SECOND, FOR_EVER, 1204, 9, 0 },
	  79,
	  "profile: 10:00, 1204 samples, 9 intervals, 0 lost (Ctrl-C to end)" },
	{ TOOL_OFFCPUTIME,
	  false,
	  true,
	  { 0, 3599 * SECOND, 5, 9, 0 },
	  79,
	  "offcputime: 59:59 left, 9 intervals, 0 lost" },
	{ TOOL_OFFCPUTIME,
	  false,
	  true,
	  { 0, 3600 * SECOND, 5, 9, 0 },
	  79,
	  "offcputime: 1:00:00 left, 9 intervals, 0 lost" },
	{ TOOL_OFFCPUTIME,
	  false,
	  true,
	  { 0, 999999999 * SECOND, 5, 9, 0 },
	  79,
	  "offcputime: 277777:46:39 left, 9 intervals, 0 lost" },
	/* a narrow terminal */
	{ TOOL_PROFILE, true, false, { SECOND, 4 * SECOND, 7, 0, 0 }, 19, "profile: 0:04 left," },
	{ TOOL_PROFILE, true, false, { SECOND, 4 * SECOND, 7, 0, 0 }, 0, "" },
};

START_TEST(test_text)
{
	const struct options o = { .tool = rows[_i].tool,
				   .sampling.event = rows[_i].on_cpu ? event_default() : NULL,
				   .off_cpu.wanted = rows[_i].off_cpu };
	char out[128];

	ck_assert_str_eq(progress_line_text(&o, &rows[_i].p, rows[_i].width, out), rows[_i].text);
}
END_TEST

/* The longest line fits. */
START_TEST(test_long)
{
	const struct options o = { .tool = TOOL_OFFCPUTIME, .sampling.event = event_default(), .off_cpu.wanted = true };
	const struct progress p = { 0, 999999999 * SECOND, UINT64_MAX, UINT64_MAX, UINT64_MAX };
	char out[128];

	ck_assert_uint_lt(strlen(progress_line_text(&o, &p, 1000, out)), sizeof(out) - 1);
	ck_assert_ptr_nonnull(strstr(out, " lost"));
}
END_TEST

int main(void)
{
	Suite *s = suite_create(__FILE__);
	TCase *t = tcase_create("progress_line");

	tcase_add_loop_test(t, test_text, 0, ARRAY_SIZE(rows));
	tcase_add_test(t, test_long);
	suite_add_tcase(s, t);
	return unit_main(s);
}
