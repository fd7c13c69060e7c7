// SPDX-License-Identifier: Apache-2.0
#include "core/base/clock.h"
#include "core/host/cpu_wait.h"
#include "tests/unit/unit.h"

static const struct {
	const char *before, *after; /* schedstat; NULL: there is no such file */
	double seconds;             /* from one to the other */
	const char *why;            /* NULL: it did not starve */
	const char *what;           /* NULL: the report */
} rows[] = {
	{ "60 0 3\n", "60000000 14200000000 312\n", 15,
	  "the report took 15.0 s, of which this process waited 14.2 s for a CPU" },
	{ "60 0 3\n", "60000000 14200000000 312\n", 15,
	  "the start took 15.0 s, of which this process waited 14.2 s for a CPU", "the start" },
	/* what it waited before does not count */
	{ "60 180000000000 3\n", "60000000 182000000000 312\n", 6, NULL },
	{ "60 180000000000 3\n", "60000000 183000000000 312\n", 6,
	  "the report took 6.0 s, of which this process waited 3.0 s for a CPU" },
	/* a reader of a pipe that reads slowly */
	{ "60 1000000000 3\n", "60000000 8000000000 312\n", 100, NULL },
	{ "60 0 3\n", "60000000 4900000000 312\n", 5, NULL },
	/* other kernels, and a thread that has less than before */
	{ "0 0 0\n", "0 0 0\n", 15, NULL },
	{ "60 9000000000 3\n", "60000000 8000000000 312\n", 15, NULL },
	{ "60000000", "60000000", 15, NULL },
	{ "60 0 3\n", "", 15, NULL },
	{ NULL, NULL, 15, NULL },
};

static void write_schedstat(const char *top, const char *text)
{
	if (text)
		unit_write(top, "proc/self/schedstat", text, strlen(text));
}

START_TEST(test_cpu_wait)
{
	char *top = unit_tmpdir();
	struct host h = unit_host(top);
	struct err why = { 0 };
	struct cpu_wait w;

	write_schedstat(top, rows[_i].before);
	cpu_wait_begin(&h, &w, rows[_i].what ? rows[_i].what : "the report");
	write_schedstat(top, rows[_i].after);
	ck_assert_int_eq(cpu_wait_is_long(&h, &w, w.began_ns + (uint64_t)(rows[_i].seconds * NSEC_PER_SEC), &why),
			 rows[_i].why != NULL);
	if (rows[_i].why)
		ck_assert_str_eq(why.msg, rows[_i].why);
	unit_rmdir(top);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cpu_wait");
	TCase *tc = tcase_create("cpu_wait");

	tcase_add_loop_test(tc, test_cpu_wait, 0, ARRAY_SIZE(rows));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
