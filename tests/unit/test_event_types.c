// SPDX-License-Identifier: Apache-2.0
#include "core/host/event_types.h"
#include "tests/unit/unit.h"

#include <limits.h>
#include <linux/perf_event.h>

/* type and config as numbers, from perf list's man page and linux/perf_event.h */
static const struct {
	const char *in, *name;
	uint32_t type;
	uint64_t config;
} good[] = {
	{ "cpu-clock", "cpu-clock", 1, 0 },
	{ "task-clock", "task-clock", 1, 1 },
	{ "page-faults", "page-faults", 1, 2 },
	{ "faults", "page-faults", 1, 2 },
	{ "context-switches", "context-switches", 1, 3 },
	{ "cs", "context-switches", 1, 3 },
	{ "cpu-migrations", "cpu-migrations", 1, 4 },
	{ "migrations", "cpu-migrations", 1, 4 },
	{ "minor-faults", "minor-faults", 1, 5 },
	{ "major-faults", "major-faults", 1, 6 },
	{ "alignment-faults", "alignment-faults", 1, 7 },
	{ "emulation-faults", "emulation-faults", 1, 8 },
	{ "cycles", "cycles", 0, 0 },
	{ "cpu-cycles", "cycles", 0, 0 },
	{ "instructions", "instructions", 0, 1 },
	{ "cache-references", "cache-references", 0, 2 },
	{ "cache-misses", "cache-misses", 0, 3 },
	{ "branches", "branches", 0, 4 },
	{ "branch-instructions", "branches", 0, 4 },
	{ "branch-misses", "branch-misses", 0, 5 },
	{ "bus-cycles", "bus-cycles", 0, 6 },
	{ "stalled-cycles-frontend", "stalled-cycles-frontend", 0, 7 },
	{ "idle-cycles-frontend", "stalled-cycles-frontend", 0, 7 },
	{ "stalled-cycles-backend", "stalled-cycles-backend", 0, 8 },
	{ "idle-cycles-backend", "stalled-cycles-backend", 0, 8 },
	{ "ref-cycles", "ref-cycles", 0, 9 },
};

static const char *const bad[] = {
	"",
	" ",
	"cpu",
	"cpu-clock ",
	" cpu-clock",
	"cpu_clock",
	"CPU-CLOCK",
	"cpu-cloc",
	"cpu-clocks",
	"cycles:u",
	"cycles,",
	"r01c2",
	"0",
	"(null)",
	"dummy",
	"bpf-output",
	"L1-dcache-loads",
	"mem:0x0",
	"sched:sched_switch",
	"cs\n",
	"faults;",
};

START_TEST(test_good)
{
	const struct event_type *e = event_find(good[_i].in);

	ck_assert_ptr_nonnull(e);
	ck_assert_str_eq(e->name, good[_i].name);
	ck_assert_uint_eq(e->type, good[_i].type);
	ck_assert_uint_eq(e->config, good[_i].config);
}
END_TEST

START_TEST(test_bad)
{
	ck_assert_ptr_null(event_find(bad[_i]));
}
END_TEST

START_TEST(test_table)
{
	const struct event_type *e;
	unsigned int i, names = 0;

	for (i = 0; (e = event_at(i)); i++) {
		ck_assert_ptr_eq(event_find(e->name), e); /* also: names are unique */
		names++;
		if (!e->alias)
			continue;
		ck_assert_ptr_eq(event_find(e->alias), e);
		names++;
	}
	ck_assert_uint_eq(names, ARRAY_SIZE(good));
	ck_assert_ptr_null(event_at(i + 1));
	ck_assert_ptr_null(event_at(UINT_MAX));
}
END_TEST

START_TEST(test_default)
{
	ck_assert_ptr_eq(event_default(), event_find("cpu-clock"));
	ck_assert_uint_eq(event_default()->type, PERF_TYPE_SOFTWARE);
	ck_assert_uint_eq(event_default()->config, PERF_COUNT_SW_CPU_CLOCK);
}
END_TEST

/* Two events have samples due at a rate: the clocks. */
START_TEST(test_clock)
{
	const struct event_type hardware = { "no clock", NULL, PERF_TYPE_HARDWARE, PERF_COUNT_SW_CPU_CLOCK };
	const struct event_type *e;
	unsigned int i, clocks = 0;

	for (i = 0; (e = event_at(i)); i++) {
		ck_assert_int_eq(event_is_clock(e), !strcmp(e->name, "cpu-clock") || !strcmp(e->name, "task-clock"));
		clocks += event_is_clock(e);
	}
	ck_assert_uint_eq(clocks, 2);
	ck_assert(event_is_clock(event_default()));
	ck_assert(!event_is_clock(&hardware));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("event_types");
	TCase *tc = tcase_create("event_types");

	tcase_add_loop_test(tc, test_good, 0, ARRAY_SIZE(good));
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, test_table);
	tcase_add_test(tc, test_default);
	tcase_add_test(tc, test_clock);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
