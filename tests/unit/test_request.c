// SPDX-License-Identifier: Apache-2.0
/* From command lines to requests, on a host that is an empty copy of /proc. */
#include "core/cli/options.h"
#include "core/cli/request.h"
#include "tests/unit/unit.h"

static const struct host host = { .proc = "/dev/null", .sys = "/dev/null" };
static struct options o;

static struct request asked(enum tool tool, const char *const *args)
{
	char *argv[24] = { "profile" };
	struct err err = { 0 };
	int argc = 1;

	for (; *args; args++)
		argv[argc++] = (char *)*args;
	ck_assert_msg(!options_parse(&o, tool, argc, argv, &host, &err), "%s", err.msg);
	return request_of(&o, &host);
}

#define ASKED(tool, ...) asked(tool, (const char *const[]){ __VA_ARGS__, NULL })

START_TEST(test_defaults)
{
	const struct request r = asked(TOOL_PROFILE, (const char *const[]){ NULL });
	const struct filter none = { 0 };

	ck_assert_ptr_eq(r.host, &host);
	ck_assert_ptr_eq(r.sampling.event, event_default());
	ck_assert_uint_eq(r.sampling.freq_hz, 49);
	ck_assert_uint_eq(r.sampling.period, 0);
	ck_assert(!r.off_cpu.wanted && !r.both && !r.backend && !r.input.path);
	ck_assert(!r.filter.nr && !r.filter.by_cpu && !r.filter.by_state && r.filter.threads == none.threads);
	ck_assert(!r.keeps_cgroups && !r.counts_entries && !r.writes_file);
	ck_assert_uint_eq(r.tables.counts, HASH_ENTRIES);
	ck_assert_uint_eq(r.tables.stacks, STACK_ENTRIES);
	ck_assert_uint_eq(r.duration_ns + r.interval_ns + r.dump_asked, 0);
	options_release(&o);
}
END_TEST

START_TEST(test_profile)
{
	const struct request r = ASKED(TOOL_PROFILE, "-c", "7", "-U", "-I", "--comm", "x", "--hash-storage-size", "3",
				       "--stack-storage-size", "5", "--stack-dump-size", "64", "--unwind", "dwarf",
				       "--stats", "-o", "out", "-i", "2", "9");

	ck_assert_uint_eq(r.sampling.period, 7);
	ck_assert_uint_eq(r.sampling.freq_hz, 0);
	ck_assert(r.filter.no_kernel && !r.filter.no_user && r.filter.idle);
	ck_assert_str_eq(r.filter.comm, "x");
	ck_assert_uint_eq(r.tables.counts, 3);
	ck_assert_uint_eq(r.tables.stacks, 5);
	ck_assert_uint_eq(r.dump_asked, 64);
	ck_assert_int_eq(r.unwind, UNWIND_BY_RULES);
	ck_assert(r.counts_entries && r.writes_file);
	ck_assert_uint_eq(r.interval_ns, 2000000000);
	ck_assert_uint_eq(r.duration_ns, 9000000000);
	options_release(&o);
}
END_TEST

START_TEST(test_input)
{
	const struct request r = ASKED(TOOL_PROFILE, "--input", "perf.data", "-e", "e", "-C", "3", "-p", "8,7",
				       "--symfs", "/", "--debug-dir", "/proc");

	ck_assert_str_eq(r.input.path, "perf.data");
	ck_assert_str_eq(r.input.event, "e");
	ck_assert(r.filter.by_cpu && r.filter.cpu == 3);
	ck_assert_uint_eq(r.filter.nr, 2);
	ck_assert_int_eq(r.filter.ids[0], 7);
	ck_assert_str_eq(r.symfs, "/");
	ck_assert_str_eq(r.debug_dir, "/proc");
	options_release(&o);
}
END_TEST

/* State 0 is a condition, too. */
START_TEST(test_offcputime)
{
	struct request r = ASKED(TOOL_OFFCPUTIME, "-u", "--state", "0", "-m", "10", "-M", "20", "--open-intervals");

	ck_assert_ptr_null(r.sampling.event);
	ck_assert(r.off_cpu.wanted && r.off_cpu.open);
	ck_assert_uint_eq(r.off_cpu.min_ns, 10000);
	ck_assert_uint_eq(r.off_cpu.max_ns, 20999);
	ck_assert(r.filter.threads == FILTER_USER_THREADS);
	ck_assert(r.filter.by_state && !r.filter.state_mask);
	options_release(&o);
	r = ASKED(TOOL_OFFCPUTIME, "-k", "--state", "2");
	ck_assert(!r.off_cpu.open);
	ck_assert(r.filter.threads == FILTER_KERNEL_THREADS);
	ck_assert(r.filter.by_state && r.filter.state_mask == 2);
	options_release(&o);
}
END_TEST

START_TEST(test_on_and_off)
{
	const struct request r = ASKED(TOOL_PROFILE, "--off-cpu", "--backend", "both");

	ck_assert_ptr_nonnull(r.sampling.event);
	ck_assert(r.off_cpu.wanted && r.off_cpu.open && r.both);
	options_release(&o);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("request");
	TCase *t = tcase_create("request");

	tcase_add_test(t, test_defaults);
	tcase_add_test(t, test_profile);
	tcase_add_test(t, test_input);
	tcase_add_test(t, test_offcputime);
	tcase_add_test(t, test_on_and_off);
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
