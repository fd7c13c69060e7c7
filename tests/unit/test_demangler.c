// SPDX-License-Identifier: Apache-2.0
/* A worker process as it is, with a demangle() that does what the name says. */
#include "core/files/worker.h"
#include "core/symbols/demangle.h"
#include "core/symbols/demangler.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

static pid_t self;

bool demangle_may(const char *name)
{
	return name[0] == '_';
}

bool demangle(const char *name, char *out, size_t size)
{
	ck_assert_int_ne(getpid(), self);
	if (!strncmp(name, "_crash", strlen("_crash")))
		__builtin_trap();
	while (!strcmp(name, "_slow"))
		;
	if (!strcmp(name, "_open") && open("/dev/null", O_RDONLY) >= 0) /* not confined */
		return false;
	if (!strcmp(name, "_none"))
		return false;
	ck_assert_uint_eq(size, DEMANGLED_MAX);
	if (!strncmp(name, "_long", strlen("_long")))
		snprintf(out, size, "%0*d", (int)size - 1, 0);
	else
		snprintf(out, size, "(%s)", name);
	return true;
}

static struct demangler *d;

static void setup(void)
{
	self = getpid();
	d = demangler_new();
	ck_assert_ptr_nonnull(d);
}

static void teardown(void)
{
	demangler_free(d);
}

static void check_read(const char *const *names, const char *const *want, size_t nr)
{
	const char *out[64];
	size_t i;

	ck_assert_uint_le(nr, ARRAY_SIZE(out));
	ck_assert_int_eq(demangler_read(d, names, nr, out), 0);
	for (i = 0; i < nr; i++) {
		ck_assert_int_eq(out[i] != NULL, want[i] != NULL);
		ck_assert(!want[i] || !strcmp(out[i], want[i]));
	}
}

static void check_works(void)
{
	static const char *const names[] = { "", "_a", "main", "_none", "_", "_b" };
	static const char *const want[] = { NULL, "(_a)", NULL, NULL, "(_)", "(_b)" };

	check_read(names, want, ARRAY_SIZE(names));
}

/* @want: a part of what is said of names that were not read; NULL: nothing is. */
static void check_skipped(const char *want)
{
	struct err why;

	ck_assert_int_eq(demangler_skipped(d, &why), want != NULL);
	ck_assert(!want || strstr(why.msg, want));
}

/* No process is made for nothing. */
START_TEST(test_nothing)
{
	static const char *const names[] = { "main", "", "Z_" };
	static const char *const want[] = { NULL, NULL, NULL };
	int fds = unit_open_fds();

	check_read(names, want, 0);
	check_read(names, want, ARRAY_SIZE(names));
	ck_assert_int_eq(unit_open_fds(), fds);
	demangler_free(NULL);
}
END_TEST

START_TEST(test_works)
{
	check_works();
	check_works();
	check_skipped(NULL);
}
END_TEST

START_TEST(test_confined)
{
	static const char *const names[] = { "_open" };
	static const char *const want[] = { "(_open)" };

	check_read(names, want, 1);
}
END_TEST

enum { MANY = 20000 };

/* More than fits into any message, with names among them that are not asked for. */
START_TEST(test_many)
{
	static char text[MANY][64];
	static const char *names[MANY], *out[MANY];
	char want[80];
	int i;

	for (i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), "%s%0*d", i % 3 ? "_" : "plain", i % 40 + 1, i);
		names[i] = i % 7 ? text[i] : "_none";
	}
	demangler_read(d, names, MANY, out);
	for (i = 0; i < MANY; i++) {
		snprintf(want, sizeof(want), "(%s)", text[i]);
		if (i % 7 && i % 3)
			ck_assert_str_eq(out[i], want);
		else
			ck_assert_ptr_null(out[i]);
	}
}
END_TEST

/* Few of these answers fit into a reply. */
START_TEST(test_long)
{
	const char *names[60], *out[60];
	char text[60][16];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++) {
		snprintf(text[i], sizeof(text[i]), i % 2 ? "_long%zu" : "_%08zu", i);
		names[i] = text[i];
	}
	demangler_read(d, names, ARRAY_SIZE(names), out);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_uint_eq(strlen(out[i]), i % 2 ? DEMANGLED_MAX - 1 : strlen("(_00000000)"));
}
END_TEST

/* What costs itself, and no other name. The worker's limit of time does not hold below valgrind. */
static const char *const bad[] = { "_crash", "_slow" };

START_TEST(test_bad)
{
	static const char *const want[] = { "(_a)", NULL, "(_b)", NULL };
	const char *const names[] = { "_a", bad[_i], "_b", bad[_i] };
	int fds = unit_open_fds();

	if (_i && unit_below_valgrind())
		return;
	check_read(names, want, ARRAY_SIZE(names));
	demangler_renew(d);
	check_read(names, want, ARRAY_SIZE(names));
	check_works();
	ck_assert_int_le(unit_open_fds(), fds + 1);
	check_skipped(": one of them takes too long, or crashes");
}
END_TEST

/* It is tried again in the next report. Valgrind lets a process have files beyond its limit. */
START_TEST(test_no_process)
{
	static const char *const names[] = { "_c" }, *const nothing[] = { NULL };
	struct rlimit before, none;

	if (unit_below_valgrind())
		return;
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	check_read(names, nothing, 1);
	setrlimit(RLIMIT_NOFILE, &before);
	check_read(names, nothing, 1); /* each pass over a report has the same */
	demangler_renew(d);
	check_works();
	check_skipped(": no process could be started");
}
END_TEST

START_TEST(test_bad_among_many)
{
	static char text[MANY][16];
	static const char *names[MANY], *out[MANY];
	size_t i;

	for (i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), i == MANY / 2 ? "_crash" : "_good%zu", i);
		names[i] = text[i];
	}
	demangler_read(d, names, MANY, out);
	for (i = 0; i < MANY; i++)
		ck_assert_int_eq(!out[i], i == MANY / 2);
}
END_TEST

/* The names that are asked for in another order, and another number, have the same answers until the next report. */
START_TEST(test_same_answers)
{
	static char text[MANY][16];
	static const char *names[MANY], *reversed[MANY], *out[MANY], *again[MANY];
	size_t i;

	for (i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), i % (MANY / 10) == 7 ? "_crash%zu" : "_good%zu", i);
		names[i] = reversed[MANY - 1 - i] = text[i];
	}
	demangler_read(d, names, MANY, out);
	ck_assert_ptr_nonnull(out[0]);
	ck_assert_ptr_null(out[MANY - 1]); /* beyond 8 bad names */
	demangler_read(d, reversed, MANY, again);
	for (i = 0; i < MANY; i++)
		ck_assert_ptr_eq(again[MANY - 1 - i], out[i]);
}
END_TEST

/* A program that has many such names has no more of ours killed: 8 in each report, 64 in all. */
START_TEST(test_given_up)
{
	static const char *const good[] = { "_a" }, *const nothing[] = { NULL }, *const want[] = { "(_a)" };
	char text[16];
	const char *const name[] = { text };
	int i, j;

	for (j = 0; j < 8; j++) {
		check_read(good, want, 1);
		for (i = 0; i < 8; i++) {
			snprintf(text, sizeof(text), "_crash%d", 8 * j + i);
			check_read(name, nothing, 1);
		}
		snprintf(text, sizeof(text), "_b%d", j);
		check_read(name, nothing, 1);
		check_read(good, want, 1);
		demangler_renew(d);
	}
	check_read(good, nothing, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("demangler");
	TCase *tc = tcase_create("demangler");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_nothing);
	tcase_add_test(tc, test_works);
	tcase_add_test(tc, test_confined);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_long);
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_test(tc, test_no_process);
	tcase_add_test(tc, test_bad_among_many);
	tcase_add_test(tc, test_same_answers);
	tcase_add_test(tc, test_given_up);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
