// SPDX-License-Identifier: Apache-2.0
/* A real worker process, with a demangle() that does what each name says. */
#include "core/base/clock.h"
#include "core/files/worker.h"
#include "core/symbols/demangle.h"
#include "core/symbols/demangler.h"
#include "tests/unit/fake_signal.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

static pid_t self;
static unsigned int *nr_asked; /* number of calls of demangle(); shared with the worker */

/* Use CPU time of this thread. */
static void use_cpu(uint64_t ns)
{
	uint64_t until = own_cpu_ns() + ns;

	while (own_cpu_ns() < until)
		;
}

bool demangle_may(const char *name)
{
	return name[0] == '_';
}

bool demangle(const char *name, char *out, size_t size)
{
	ck_assert_int_ne(getpid(), self);
	++*nr_asked;
	if (!strncmp(name, "_crash", strlen("_crash")))
		__builtin_trap();
	while (!strcmp(name, "_slow"))
		;
	if (!strncmp(name, "_5ms", strlen("_5ms")))
		use_cpu(5 * 1000 * 1000);
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
	nr_asked = mmap(NULL, sizeof(*nr_asked), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	ck_assert_ptr_ne(nr_asked, MAP_FAILED);
	d = demangler_new(0);
	ck_assert_ptr_nonnull(d);
}

/* With -i 1. */
static void set_interval(void)
{
	demangler_free(d);
	d = demangler_new(NSEC_PER_SEC);
	ck_assert_ptr_nonnull(d);
}

static void teardown(void)
{
	demangler_free(d);
	munmap(nr_asked, sizeof(*nr_asked));
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

/* @want: a part of the warning about names that were not read; NULL: no warning. */
static void check_skipped(const char *want)
{
	struct err why;

	ck_assert_int_eq(demangler_skipped(d, &why), want != NULL);
	ck_assert(!want || strstr(why.msg, want));
}

/* No process is started without names. */
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

/* More names than fit into any message, some of which are not requested. */
START_TEST(test_many)
{
	static char text[MANY][64];
	static const char *names[MANY], *out[MANY];
	char want[80];
	int nr = unit_times(MANY), i; /* with valgrind, a report has time for fewer */

	for (i = 0; i < nr; i++) {
		snprintf(text[i], sizeof(text[i]), "%s%0*d", i % 3 ? "_" : "plain", i % 40 + 1, i);
		names[i] = i % 7 ? text[i] : "_none";
	}
	demangler_read(d, names, (size_t)nr, out);
	for (i = 0; i < nr; i++) {
		snprintf(want, sizeof(want), "(%s)", text[i]);
		if (i % 7 && i % 3)
			ck_assert_str_eq(out[i], want);
		else
			ck_assert_ptr_null(out[i]);
	}
}
END_TEST

/* Only a few of these answers fit into a reply. */
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

/* A bad name costs only itself. The worker's limit of time does not work with valgrind. */
static const char *const bad[] = { "_crash", "_slow" };

START_TEST(test_bad)
{
	static const char *const want[] = { "(_a)", NULL, "(_b)", NULL };
	const char *const names[] = { "_a", bad[_i], "_b", bad[_i] };
	int fds = unit_open_fds();
	unsigned int asked;

	if (_i && unit_below_valgrind())
		return;
	check_read(names, want, ARRAY_SIZE(names));
	demangler_renew(d);
	asked = *nr_asked;
	check_read(names, want, ARRAY_SIZE(names));
	ck_assert_uint_eq(*nr_asked, asked);
	check_works();
	ck_assert_int_le(unit_open_fds(), fds + 1);
	check_skipped(": demangling takes too long or crashes");
}
END_TEST

/* If no worker can be started, the next report tries again. Valgrind permits files beyond the limit. */
START_TEST(test_no_process)
{
	static const char *const names[] = { "_c" }, *const nothing[] = { NULL };
	rlim_t before;

	if (unit_below_valgrind())
		return;
	before = unit_limit_files(0);
	check_read(names, nothing, 1);
	unit_limit_files(before);
	check_read(names, nothing, 1); /* each pass over a report gets the same answer */
	demangler_renew(d);
	check_works();
	check_skipped(": no process could be started");
}
END_TEST

START_TEST(test_bad_among_many)
{
	static char text[MANY][16];
	static const char *names[MANY], *out[MANY];
	size_t nr = (size_t)unit_times(MANY), i; /* with valgrind, a report has time for fewer */

	for (i = 0; i < nr; i++) {
		snprintf(text[i], sizeof(text[i]), i == nr / 2 ? "_crash" : "_good%zu", i);
		names[i] = text[i];
	}
	demangler_read(d, names, nr, out);
	/* Below valgrind, good ones, too, may take more CPU time than they have. */
	for (i = 0; i < nr; i++)
		ck_assert(i == nr / 2 ? !out[i] : out[i] || unit_below_valgrind());
}
END_TEST

/* Names in another order, and another number of them, get the same answers until the next report. */
START_TEST(test_same_answers)
{
	static char text[MANY][16];
	static const char *names[MANY], *reversed[MANY], *out[MANY], *again[MANY];
	size_t i;

	for (i = 0; i < MANY; i++) {
		snprintf(text[i], sizeof(text[i]), i % (MANY / 100) == 7 ? "_crash%zu" : "_good%zu", i);
		names[i] = reversed[MANY - 1 - i] = text[i];
	}
	demangler_read(d, names, MANY, out);
	ck_assert_ptr_nonnull(out[0]);
	ck_assert_ptr_null(out[MANY - 1]); /* after 64 bad names */
	demangler_read(d, reversed, MANY, again);
	for (i = 0; i < MANY; i++)
		ck_assert_ptr_eq(again[MANY - 1 - i], out[i]);
}
END_TEST

/* A program with many names that crash the worker kills no more than 64 workers. Names that were read stay readable. */
START_TEST(test_given_up)
{
	static const char *const good[] = { "_a" }, *const new[] = { "_b" };
	static const char *const nothing[] = { NULL }, *const a[] = { "(_a)" };
	char text[16];
	const char *const name[] = { text };
	int i;

	check_read(good, a, 1);
	for (i = 0; i < 64; i++) {
		check_read(good, a, 1);
		snprintf(text, sizeof(text), "_crash%d", i);
		check_read(name, nothing, 1);
		demangler_renew(d);
	}
	check_read(good, a, 1);
	check_read(new, nothing, 1);
}
END_TEST

/* Names that were read before the signal stay readable. */
START_TEST(test_signal)
{
	static const char *const a[] = { "_a" }, *const both[] = { "_a", "_b" };
	static const char *const want_a[] = { "(_a)" }, *const want_both[] = { "(_a)", NULL };

	check_read(a, want_a, 1);
	fake_signal_begin();
	check_read(both, want_both, 2);
	check_skipped(": a signal left no time to read them");
	fake_signal_end();
	check_read(both, want_both, 2); /* each pass over a report gets the same answer */
}
END_TEST

enum { COSTLY = 40 };

/* Return: how many of COSTLY names, 5 ms each, were read. */
static unsigned int read_costly(void)
{
	const char *names[COSTLY], *out[COSTLY];
	char text[COSTLY][16];
	unsigned int i, nr = 0;

	for (i = 0; i < COSTLY; i++) {
		snprintf(text[i], sizeof(text[i]), "_5ms%u", i);
		names[i] = text[i];
	}
	ck_assert_int_eq(demangler_read(d, names, COSTLY, out), 0);
	for (i = 0; i < COSTLY; i++)
		nr += out[i] != NULL;
	return nr;
}

/*
 * A report has 50 ms, and then finishes the current message: all names are read in several reports, and then kept. On a
 * busy host the elapsed time of a report may end first.
 */
START_TEST(test_time_of_a_report)
{
	unsigned int nr = 0, before, reports, asked;

	if (unit_below_valgrind())
		return;
	set_interval();
	for (reports = 0; nr < COSTLY; reports++) {
		before = nr;
		nr = read_costly();
		ck_assert_uint_ge(nr, before);
		ck_assert_uint_le(nr, before + (50 + 2 * 10 + 5) / 5);
		ck_assert_uint_eq(read_costly(), nr); /* each pass over a report gets the same answer */
		demangler_renew(d);
	}
	ck_assert_uint_gt(reports, 1);
	check_skipped(": a report has no time to read all of them");
	asked = *nr_asked;
	ck_assert_uint_eq(read_costly(), COSTLY);
	ck_assert_uint_eq(*nr_asked, asked);
}
END_TEST

/* A report without intervals has time for all of these; a name of 5 ms is not bad. */
START_TEST(test_time_of_a_run)
{
	if (unit_below_valgrind())
		return;
	ck_assert_uint_eq(read_costly(), COSTLY);
	ck_assert_uint_eq(*nr_asked, COSTLY);
	check_skipped(NULL);
}
END_TEST

/* Many long names are dropped when another report begins. */
START_TEST(test_not_kept)
{
	const char *names[1000], *out[1000];
	char text[1000][16];
	size_t i, report, want;

	for (report = 0; report < 7; report++) {
		for (i = 0; i < ARRAY_SIZE(names); i++) {
			snprintf(text[i], sizeof(text[i]), "_long%zu", report * ARRAY_SIZE(names) + i);
			names[i] = text[i];
		}
		*nr_asked = 0;
		demangler_read(d, names, ARRAY_SIZE(names), out);
		demangler_renew(d);
		demangler_read(d, names, ARRAY_SIZE(names), out);
		/* 4 MiB each: in the fifth report more than 16 MiB are kept, and all of it is dropped. */
		want = (report == 4 ? 2 : 1) * ARRAY_SIZE(names);
		/* Below valgrind, one may take more CPU time than it has. The next reading includes it again. */
		ck_assert(*nr_asked == want || (*nr_asked > want && unit_below_valgrind()));
		demangler_renew(d);
	}
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
	tcase_add_test(tc, test_signal);
	tcase_add_test(tc, test_time_of_a_report);
	tcase_add_test(tc, test_time_of_a_run);
	tcase_add_test(tc, test_not_kept);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
