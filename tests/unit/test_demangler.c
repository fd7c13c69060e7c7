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
	if (!strcmp(name, "_crash"))
		__builtin_trap();
	while (!strcmp(name, "_slow"))
		;
	if (!strcmp(name, "_open") && open("/dev/null", O_RDONLY) >= 0) /* not confined */
		return false;
	if (!strcmp(name, "_none"))
		return false;
	ck_assert_uint_eq(size, DEMANGLED_MAX);
	if (!strcmp(name, "_long"))
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
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		names[i] = i % 2 ? "_long" : "_a";
	demangler_read(d, names, ARRAY_SIZE(names), out);
	for (i = 0; i < ARRAY_SIZE(names); i++)
		ck_assert_uint_eq(strlen(out[i]), i % 2 ? DEMANGLED_MAX - 1 : strlen("(_a)"));
}
END_TEST

/* What costs the names of its message, and no others. The worker's limit of time does not hold below valgrind. */
static const char *const bad[] = { "_crash", "_slow" };

START_TEST(test_bad)
{
	static const char *const nothing[] = { NULL, NULL, NULL };
	const char *const names[] = { "_a", bad[_i], "_b" };
	int fds = unit_open_fds();

	if (_i && unit_below_valgrind())
		return;
	check_read(names, nothing, ARRAY_SIZE(names));
	ck_assert_int_eq(unit_open_fds(), fds);
	check_works();
	check_skipped(": one of them takes too long, or crashes");
}
END_TEST

/* It is tried again the next time. Valgrind lets a process have files beyond its limit. */
START_TEST(test_no_process)
{
	static const char *const names[] = { "_a" }, *const nothing[] = { NULL };
	struct rlimit before, none;

	if (unit_below_valgrind())
		return;
	getrlimit(RLIMIT_NOFILE, &before);
	none = (struct rlimit){ 0, before.rlim_max };
	setrlimit(RLIMIT_NOFILE, &none);
	check_read(names, nothing, 1);
	setrlimit(RLIMIT_NOFILE, &before);
	check_works();
	check_skipped(": no process could be started");
}
END_TEST

START_TEST(test_bad_among_many)
{
	static const char *names[MANY], *out[MANY];
	size_t i, lost = 0;

	for (i = 0; i < MANY; i++)
		names[i] = i == MANY / 2 ? "_crash" : "_good";
	demangler_read(d, names, MANY, out);
	for (i = 0; i < MANY; i++)
		lost += !out[i];
	ck_assert_uint_gt(lost, 0);
	ck_assert_uint_le(lost, WORKER_MESSAGE_MAX / sizeof("_good"));
	ck_assert_ptr_null(out[MANY / 2]);
	ck_assert_ptr_nonnull(out[0]);
	ck_assert_ptr_nonnull(out[MANY - 1]);
}
END_TEST

/* A program that has many such names has no more of ours killed. */
START_TEST(test_given_up)
{
	static const char *const crash[] = { "_crash" }, *const good[] = { "_a" }, *const nothing[] = { NULL };
	int i;

	for (i = 0; i < 7; i++)
		check_read(crash, nothing, 1);
	check_works();
	check_read(crash, nothing, 1);
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
	tcase_add_test(tc, test_given_up);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
