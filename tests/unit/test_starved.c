// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/host/starved.h"
#include "tests/unit/unit.h"

#define SAID   "the report came 15.0 s after the sampling: "
#define REMEDY " (kernel.sched_autogroup_enabled is 1: as root, echo -20 > /proc/self/autogroup)"

static const struct {
	const char *schedstat, *enabled, *autogroup; /* contents of the files; NULL: there is none */
	double late;                                 /* seconds */
	const char *why;                             /* NULL: it did not starve */
} rows[] = {
	{ "60000000 14200000000 312\n", NULL, NULL, 15, SAID "this process waited 14.2 s for a CPU" },
	{ "60000000 7500000000 312\n", NULL, NULL, 15, SAID "this process waited 7.5 s for a CPU" },
	{ "60000000 7400000000 312\n", NULL, NULL, 15, NULL },
	{ "60000000 900000000 312\n", NULL, NULL, 1, NULL },
	/* a setting is blamed only if another value of it would help */
	{ "60 14200000000 312\n", "1\n", "/autogroup-97 nice 0\n", 15,
	  SAID "this process waited 14.2 s for a CPU" REMEDY },
	{ "60 14200000000 312\n", "0\n", "/autogroup-97 nice 0\n", 15, SAID "this process waited 14.2 s for a CPU" },
	{ "60 14200000000 312\n", "1\n", "/autogroup-97 nice -20\n", 15, SAID "this process waited 14.2 s for a CPU" },
	{ "60 14200000000 312\n", "1\n", "", 15, SAID "this process waited 14.2 s for a CPU" },
	{ "60 14200000000 312\n", "1\n", NULL, 15, SAID "this process waited 14.2 s for a CPU" },
	/* other kernels, and none of these files */
	{ "0 0 0\n", "1\n", "/autogroup-97 nice 0\n", 15, NULL },
	{ "60000000", NULL, NULL, 15, NULL },
	{ "", NULL, NULL, 15, NULL },
	{ NULL, NULL, NULL, 15, NULL },
};

static void write_if(const char *top, const char *name, const char *text)
{
	if (text)
		unit_write(top, name, text, strlen(text));
}

START_TEST(test_starved)
{
	char *top = unit_tmpdir();
	struct host h = unit_host(top);
	struct err why = { 0 };

	write_if(top, "proc/self/schedstat", rows[_i].schedstat);
	write_if(top, "proc/self/autogroup", rows[_i].autogroup);
	write_if(top, "proc/sys/kernel/sched_autogroup_enabled", rows[_i].enabled);
	ck_assert_int_eq(host_starved(&h, (uint64_t)(rows[_i].late * NSEC_PER_SEC), &why), rows[_i].why != NULL);
	if (rows[_i].why)
		ck_assert_str_eq(why.msg, rows[_i].why);
	unit_rmdir(top);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("starved");
	TCase *tc = tcase_create("starved");

	tcase_add_loop_test(tc, test_starved, 0, ARRAY_SIZE(rows));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
