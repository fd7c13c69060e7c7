// SPDX-License-Identifier: Apache-2.0
#include "core/base/number.h"
#include "core/host/host.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

static char *top;
static struct host host;

static void setup(void)
{
	top = unit_tmpdir();
	host = unit_host(top);
}

static void teardown(void)
{
	unit_rmdir(top);
}

static void put(const char *name, const char *text)
{
	unit_write(top, name, text, strlen(text));
}

static const struct {
	const char *in;
	uint64_t max;
	int rc;
	uint64_t n;       /* 7: unchanged */
	const char *rest; /* the rest of the text */
} digits[] = {
	{ "0", 0, 0, 0, "" },
	{ "12", 12, 0, 12, "" },
	{ "0012,3", 99, 0, 12, ",3" },
	{ "5 ", 9, 0, 5, " " },
	{ "1e5", 9, 0, 1, "e5" },
	{ "0x10", 99, 0, 0, "x10" },
	{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX, "" },
	{ "18446744073709551616", UINT64_MAX, -ERANGE, 7, "" },
	{ "18446744073709551620x", UINT64_MAX, -ERANGE, 7, "x" },
	{ "184467440737095516150", UINT64_MAX, -ERANGE, 7, "" },
	{ "99999999999999999999999999999999999999999", UINT64_MAX, -ERANGE, 7, "" },
	{ "13", 12, -ERANGE, 7, "" },
	{ "1", 0, -ERANGE, 7, "" },
	{ "", 9, -EINVAL, 7, "" },
	{ " 5", 9, -EINVAL, 7, " 5" },
	{ "-5", 9, -EINVAL, 7, "-5" },
	{ "+5", 9, -EINVAL, 7, "+5" },
	{ "x", 9, -EINVAL, 7, "x" },
	{ "\xd9\xa1", 9, -EINVAL, 7, "\xd9\xa1" }, /* an Arabic digit */
};

START_TEST(test_digits)
{
	const char *s = digits[_i].in;
	uint64_t n = 7;

	ck_assert_int_eq(parse_digits(&s, 10, digits[_i].max, &n), digits[_i].rc);
	ck_assert_uint_eq(n, digits[_i].n);
	ck_assert_str_eq(s, digits[_i].rest);
}
END_TEST

static const struct {
	const char *in;
	size_t nr; /* 0: refused */
	int first, last;
} lists[] = {
	{ "0\n", 1, 0, 0 },
	{ "0", 1, 0, 0 },
	{ "0-3\n", 4, 0, 3 },
	{ "0-1,4\n", 3, 0, 4 },
	{ "0-3,5,8-11\n", 9, 0, 11 },
	{ "7-7\n", 1, 7, 7 },
	{ "65535\n", 1, 65535, 65535 },
	{ "0-65535\n", 65536, 0, 65535 },
	{ "0-63,128-191\n", 128, 0, 191 },
	{ "0-127,256-383,65535\n", 257, 0, 65535 },
	{ "", 0, 0, 0 },
	{ "\n", 0, 0, 0 },
	{ "x\n", 0, 0, 0 },
	{ ",\n", 0, 0, 0 },
	{ "0,\n", 0, 0, 0 },
	{ ",0\n", 0, 0, 0 },
	{ "0,,1\n", 0, 0, 0 },
	{ "0-\n", 0, 0, 0 },
	{ "-3\n", 0, 0, 0 },
	{ "0--3\n", 0, 0, 0 },
	{ "0-3-5\n", 0, 0, 0 },
	{ "3-0\n", 0, 0, 0 },
	{ "1,1\n", 0, 0, 0 },
	{ "2,1\n", 0, 0, 0 },
	{ "0-3,3\n", 0, 0, 0 },
	{ "0-3,2-5\n", 0, 0, 0 },
	{ " 0\n", 0, 0, 0 },
	{ "0 \n", 0, 0, 0 },
	{ "0, 1\n", 0, 0, 0 },
	{ "0\n\n", 0, 0, 0 },
	{ "0\n1\n", 0, 0, 0 },
	{ "0x1\n", 0, 0, 0 },
	{ "+1\n", 0, 0, 0 },
	{ "0-7:2/4\n", 0, 0, 0 },
	{ "65536\n", 0, 0, 0 },
	{ "0-65536\n", 0, 0, 0 },
	{ "4294967296\n", 0, 0, 0 },
	{ "0-18446744073709551616\n", 0, 0, 0 },
	{ "99999999999999999999\n", 0, 0, 0 },
};

START_TEST(test_list)
{
	int untouched = 7;
	struct cpu_list l = { .cpu = &untouched, .nr = 7 };
	size_t i;
	int rc;

	rc = cpu_list_parse(lists[_i].in, &l);
	if (!lists[_i].nr) {
		ck_assert_int_eq(rc, -EINVAL);
		ck_assert_ptr_eq(l.cpu, &untouched);
		ck_assert_uint_eq(l.nr, 7);
		return;
	}
	ck_assert_int_eq(rc, 0);
	ck_assert_uint_eq(l.nr, lists[_i].nr);
	ck_assert_int_eq(l.cpu[0], lists[_i].first);
	ck_assert_int_eq(l.cpu[l.nr - 1], lists[_i].last);
	for (i = 1; i < l.nr; i++)
		ck_assert_int_lt(l.cpu[i - 1], l.cpu[i]);
	cpu_list_release(&l);
	ck_assert_ptr_null(l.cpu);
	cpu_list_release(&l);
}
END_TEST

START_TEST(test_list_has)
{
	struct cpu_list l, none = { 0 };

	ck_assert_int_eq(cpu_list_parse("0-1,4", &l), 0);
	ck_assert(cpu_list_has(&l, 0) && cpu_list_has(&l, 1) && cpu_list_has(&l, 4));
	ck_assert(!cpu_list_has(&l, 2) && !cpu_list_has(&l, 5) && !cpu_list_has(&l, -1) && !cpu_list_has(&l, INT_MAX));
	ck_assert(!cpu_list_has(&none, 0));
	cpu_list_release(&l);
}
END_TEST

START_TEST(test_online)
{
	struct cpu_list l = { 0 };
	struct err err = { 0 };

	put("sys/devices/system/cpu/online", "0-1,4\n");
	ck_assert_int_eq(host_online_cpus(&host, &l, &err), 0);
	ck_assert_uint_eq(l.nr, 3);
	cpu_list_release(&l);
}
END_TEST

START_TEST(test_online_bad)
{
	static const char *const bad[] = { "", "\n", "garbage\n", "0-\n" };
	struct cpu_list l = { 0 };
	struct err err = { 0 };
	char want[600];

	put("sys/devices/system/cpu/online", bad[_i]);
	ck_assert_int_eq(host_online_cpus(&host, &l, &err), -EINVAL);
	snprintf(want, sizeof(want), "'%s/devices/system/cpu/online': not a list of CPUs", host.sys);
	ck_assert_str_eq(err.msg, want);
	ck_assert_int_eq(err.code, -EINVAL);
	ck_assert_ptr_null(l.cpu);
}
END_TEST

/* A list that may be there is not replaced by the CPUs on which this process may run. */
START_TEST(test_online_no_descriptor)
{
	struct cpu_list l = { 0 };
	struct err err = { 0 };
	char want[600];
	rlim_t before;
	int rc;

	put("sys/devices/system/cpu/online", "0-1,4\n");
	before = unit_limit_files(0);
	rc = host_online_cpus(&host, &l, &err);
	unit_limit_files(before);
	ck_assert_int_eq(rc, -EMFILE);
	snprintf(want, sizeof(want), "cannot read '%s/devices/system/cpu/online': %s", host.sys, strerror(EMFILE));
	ck_assert_str_eq(err.msg, want);
	ck_assert_ptr_null(l.cpu);
}
END_TEST

/* A list that stays open shows each change, and needs no other descriptor. */
START_TEST(test_online_again)
{
	static const struct {
		const char *text;
		size_t nr;
	} texts[] = { { "0-1\n", 2 }, { "0-1,4-9\n", 8 }, { "1\n", 1 } };
	struct cpu_list l = { 0 };
	int kept = 0, fd = 0;
	rlim_t before = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		put("sys/devices/system/cpu/online", texts[i].text);
		if (i)
			before = unit_limit_files(0);
		ck_assert_int_eq(host_online_again(&host, &kept, &l, NULL), 0);
		if (i)
			unit_limit_files(before);
		ck_assert_uint_eq(l.nr, texts[i].nr);
		cpu_list_release(&l);
		ck_assert_int_gt(kept, 0);
		ck_assert(!i || kept == fd);
		fd = kept;
	}
	ck_assert_int_eq(close(kept), 0);
}
END_TEST

/* A descriptor that cannot be read, here of a pipe or a directory, is closed, and the list opened again. */
START_TEST(test_online_again_unreadable)
{
	struct cpu_list l = { 0 };
	int ends[2] = { -1, -1 }, kept, bad;

	put("sys/devices/system/cpu/online", "0-1,4\n");
	if (_i)
		ends[0] = open(host.sys, O_RDONLY | O_CLOEXEC);
	else
		ck_assert_int_eq(pipe(ends), 0);
	kept = bad = fcntl(ends[0], F_DUPFD_CLOEXEC, 100);
	ck_assert_int_ge(bad, 100);
	ck_assert_int_eq(host_online_again(&host, &kept, &l, NULL), 0);
	ck_assert_uint_eq(l.nr, 3);
	cpu_list_release(&l);
	ck_assert_int_eq(fcntl(bad, F_GETFD), -1);
	ck_assert_int_gt(kept, 0);
	ck_assert_int_eq(close(kept), 0);
	close(ends[0]);
	if (!_i)
		close(ends[1]);
}
END_TEST

/* A list as long as the kernel's largest page: each second CPU of 20000. */
START_TEST(test_online_long)
{
	struct cpu_list l = { 0 };
	char *text = malloc(70000);
	size_t len = 0;
	int cpu;

	for (cpu = 0; cpu < 20000; cpu += 2)
		len += snprintf(text + len, 70000 - len, "%s%d", cpu ? "," : "", cpu);
	put("sys/devices/system/cpu/online", text);
	ck_assert_int_eq(host_online_cpus(&host, &l, NULL), 0);
	ck_assert_uint_eq(l.nr, 10000);
	ck_assert_int_eq(l.cpu[9999], 19998);
	cpu_list_release(&l);
	free(text);
}
END_TEST

START_TEST(test_possible)
{
	struct cpu_list l = { 0 };
	struct err err = { 0 };
	char want[600];

	put("sys/devices/system/cpu/online", "0\n");
	put("sys/devices/system/cpu/possible", "0-63,128-191,65535\n");
	ck_assert_int_eq(host_possible_cpus(&host, &l, &err), 0);
	ck_assert_uint_eq(l.nr, 129);
	ck_assert_int_eq(l.cpu[64], 128);
	ck_assert_int_eq(l.cpu[128], 65535);
	ck_assert(cpu_list_has(&l, 191) && !cpu_list_has(&l, 64) && !cpu_list_has(&l, 192));
	cpu_list_release(&l);

	put("sys/devices/system/cpu/possible", "0-63,128-65536\n");
	ck_assert_int_eq(host_possible_cpus(&host, &l, &err), -EINVAL);
	snprintf(want, sizeof(want), "'%s/devices/system/cpu/possible': not a list of CPUs", host.sys);
	ck_assert_str_eq(err.msg, want);
	ck_assert_ptr_null(l.cpu);
}
END_TEST

START_TEST(test_possible_without_sys)
{
	struct cpu_list l = { 0 }, online = { 0 };

	ck_assert_int_eq(host_possible_cpus(&host, &l, NULL), 0);
	ck_assert_int_eq(host_online_cpus(&host, &online, NULL), 0);
	ck_assert_uint_eq(l.nr, online.nr);
	ck_assert_mem_eq(l.cpu, online.cpu, l.nr * sizeof(*l.cpu));
	cpu_list_release(&l);
	cpu_list_release(&online);
}
END_TEST

#define STAT_HEAD "cpu  9 9 9 9 9 9 9 9 9 9\n"
#define STAT_CPU0 "cpu0 10 11 12 13 14 15 16 17 18 19\n"

static const struct {
	const char *text; /* NULL: no such file */
	int rc;
	struct {
		uint64_t idle, steal, busy; /* in ticks; idle 0: not listed */
	} cpu[4];                           /* CPUs 0, 2, 3 and 65535 */
} stats[] = {
	{ STAT_HEAD STAT_CPU0 "intr 1 2 3\n", 0, { { 27, 17, 64 } } },
	{ STAT_HEAD STAT_CPU0, 0, { { 27, 17, 64 } } },
	{ STAT_HEAD "cpu0 1 1 1 2 3 1 1 5\n", 0, { { 5, 5, 5 } } },
	{ STAT_HEAD "cpu0 1 1 1 2 3 1 1 5 7 8 9 10\n", 0, { { 5, 5, 5 } } },
	{ STAT_HEAD "cpu1 1 1 1 1 1 1 1 1 1 1\ncpu2 0 0 0 7 1 0 0 2 0 0\nintr 0\n", 0, { [1] = { 8, 2 } } },
	{ STAT_HEAD STAT_CPU0 "cpu1 0 0 0 1 1 0 0 1 0 0\ncpu3 0 0 0 3 0 0 0 1 0 0\ncpu65535 0 0 0 6 1 0 0 5 0 0\n",
	  0,
	  { { 27, 17, 64 }, { 0, 0 }, { 3, 1 }, { 7, 5 } } },
	{ STAT_HEAD "cpu7 0 0 0 1 1 0 0 1 0 0\n", 0, { { 0 } } },
	/* Lines after the CPUs are ignored. */
	{ STAT_HEAD STAT_CPU0 "intr 1\ncpu2 garbage\n", 0, { { 27, 17, 64 } } },
	{ NULL, -ENOENT },
	{ "", -EINVAL },
	{ "\n", -EINVAL },
	{ "intr 1 2 3\n", -EINVAL },
	{ STAT_CPU0, -EINVAL },
	{ STAT_CPU0 "cpu2 1 1 1 2 3 1 1 5\n", -EINVAL },
	{ "intr 1 2 3\n" STAT_HEAD STAT_CPU0, -EINVAL },
	{ STAT_HEAD, -EINVAL },
	{ STAT_HEAD "intr 1 2 3\n", -EINVAL },
	{ STAT_HEAD STAT_CPU0 "cpu2 1 1 1 2 3 1 1 5", -EINVAL },
	{ STAT_HEAD STAT_CPU0 "cpu2 1 1 1 2 3 1 1 5 ", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 2 3 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 2 3\n", -EINVAL },
	{ STAT_HEAD "cpu0\n", -EINVAL },
	{ STAT_HEAD "cpu\n", -EINVAL },
	{ STAT_HEAD "cpux 1 1 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu-1 1 1 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu65536 1 1 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu4294967296 1 1 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 -1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 1 1 1 1 1x\n", -EINVAL },
	{ STAT_HEAD "cpu0  1 1 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0\t1 1 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 18446744073709551616 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 18446744073709551615 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD "cpu0 1 1 1 1 1 1 1 9223372036854775807\n", -EINVAL },
	{ STAT_HEAD "cpu0 1844674407370 1844674407370 1 1 1 1 1 1\n", -EINVAL },
	{ STAT_HEAD STAT_CPU0 STAT_CPU0, -EINVAL },
	{ STAT_HEAD "cpu2 1 1 1 1 1 1 1 1\n" STAT_CPU0, -EINVAL },
};

START_TEST(test_cpu_times)
{
	struct cpu_list l = { 0 };
	struct cpu_times out[4];
	uint64_t tick_ns = 1000000000 / sysconf(_SC_CLK_TCK);
	struct err err = { 0 };
	size_t i;

	if (stats[_i].text)
		put("proc/stat", stats[_i].text);
	memset(out, 7, sizeof(out));
	ck_assert_int_eq(cpu_list_parse("0,2-3,65535", &l), 0);
	ck_assert_int_eq(host_cpu_times(&host, &l, out, &err), stats[_i].rc);
	ck_assert_int_eq(err.code, stats[_i].rc);
	for (i = 0; i < ARRAY_SIZE(out); i++) {
		ck_assert_int_eq(out[i].listed, stats[_i].cpu[i].idle > 0);
		ck_assert_uint_eq(out[i].idle_ns, stats[_i].cpu[i].idle * tick_ns);
		ck_assert_uint_eq(out[i].steal_ns, stats[_i].cpu[i].steal * tick_ns);
		ck_assert_uint_eq(out[i].busy_ns, stats[_i].cpu[i].busy * tick_ns);
	}
	cpu_list_release(&l);
}
END_TEST

/* Every other CPU of 8000 is online, with numbers of any length, and more interrupts than fit into a line. */
START_TEST(test_cpu_times_huge)
{
	static const char big[] = "200000000000";
	struct cpu_times *out = calloc(8000, sizeof(*out));
	size_t size = 2 << 20, len = 0, i;
	char *text = malloc(size);
	struct cpu_list l = { 0 };

	len += snprintf(text, size, "%s", STAT_HEAD);
	for (i = 0; i < 8000; i += 2)
		len += snprintf(text + len, size - len, "cpu%zu %s %s %s %zu 1 %s %s %zu %s %s\n", i, big, big, big, i,
				big, big, i + 5, big, big);
	len += snprintf(text + len, size - len, "intr 1");
	while (len < size - 10)
		len += snprintf(text + len, size - len, " 0");
	put("proc/stat", text);
	ck_assert_int_eq(cpu_list_parse("0-7999", &l), 0);
	ck_assert_int_eq(host_cpu_times(&host, &l, out, NULL), 0);
	for (i = 0; i < 8000; i++) {
		ck_assert_int_eq(out[i].listed, i % 2 == 0);
		ck_assert_uint_eq(out[i].idle_ns * sysconf(_SC_CLK_TCK), i % 2 ? 0 : (i + 1) * 1000000000);
		ck_assert_uint_eq(out[i].steal_ns * sysconf(_SC_CLK_TCK), i % 2 ? 0 : (i + 5) * 1000000000);
	}
	cpu_list_release(&l);
	free(text);
	free(out);
}
END_TEST

/* A line longer than any CPU's: after blanks, or of digits. */
START_TEST(test_cpu_times_long_line)
{
	static const char *const head[] = { "cpu ", STAT_HEAD "cpu0 ", STAT_HEAD "cpu0 1 1 1 1 1 1 1 1 ",
					    STAT_HEAD "cpu" };
	int cpu = 0;
	struct cpu_list l = { &cpu, 1 };
	struct cpu_times out;
	char text[5000];

	memset(text, '0', sizeof(text));
	memcpy(text, head[_i], strlen(head[_i]));
	text[sizeof(text) - 2] = '\n';
	text[sizeof(text) - 1] = 0;
	put("proc/stat", text);
	ck_assert_int_eq(host_cpu_times(&host, &l, &out, NULL), -EINVAL);
	ck_assert(!out.listed);
}
END_TEST

static const struct {
	struct cpu_times before, after, passed;
} times[] = {
	{ { true, 10, 20, 30 }, { true, 15, 27, 41 }, { true, 5, 7, 11 } },
	{ { true, 10, 20 }, { true, 10, 20 }, { true, 0, 0 } },
	{ { true, 0, 0 }, { true, UINT64_MAX, 1 }, { true, UINT64_MAX, 1 } },
	{ { true, 10, 20 }, { true, 9, 27 }, { true, 0, 7 } },
	{ { true, 10, 20, 30 }, { true, 15, 0, 31 }, { true, 5, 0, 1 } },
	{ { true, 10, 20, 30 }, { true, 15, 27, 29 }, { true, 5, 7, 0 } },
	{ { true, 10, 20 }, { false, 0, 0 }, { false, 0, 0 } },
	{ { false, 0, 0 }, { true, 10, 20 }, { false, 0, 0 } },
	{ { false, 0, 0 }, { false, 0, 0 }, { false, 0, 0 } },
};

START_TEST(test_cpu_times_passed)
{
	struct cpu_times sum = { 0 }, all = { 0 }, before[ARRAY_SIZE(times)], after[ARRAY_SIZE(times)];
	size_t i;

	cpu_times_passed(&times[_i].before, &times[_i].after, 1, &sum);
	ck_assert_int_eq(sum.listed, times[_i].passed.listed);
	ck_assert_uint_eq(sum.idle_ns, times[_i].passed.idle_ns);
	ck_assert_uint_eq(sum.steal_ns, times[_i].passed.steal_ns);
	ck_assert_uint_eq(sum.busy_ns, times[_i].passed.busy_ns);

	for (i = 0; i < ARRAY_SIZE(times); i++) {
		before[i] = times[i].before;
		after[i] = times[i].after;
	}
	before[2] = after[2] = (struct cpu_times){ 0 }; /* the sum would not fit */
	cpu_times_passed(before, after, ARRAY_SIZE(times), &all);
	ck_assert(all.listed);
	ck_assert_uint_eq(all.idle_ns, 15);
	ck_assert_uint_eq(all.steal_ns, 21);
	ck_assert_uint_eq(all.busy_ns, 12);
}
END_TEST

START_TEST(test_online_without_sys)
{
	struct cpu_list l = { 0 };
	cpu_set_t set;
	int cpu;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
	ck_assert_int_eq(host_online_cpus(&host, &l, NULL), 0);
	ck_assert_uint_eq(l.nr, CPU_COUNT(&set));
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		ck_assert_int_eq(cpu_list_has(&l, cpu), !!CPU_ISSET(cpu, &set));
	cpu_list_release(&l);
}
END_TEST

static const struct {
	const char *text; /* NULL: no such file */
	int rc;
	long long n; /* 7: unchanged */
} settings[] = {
	{ "100000\n", 0, 100000 },
	{ "0\n", 0, 0 },
	{ "-1\n", 0, -1 },
	{ "2", 0, 2 },
	{ "9223372036854775807\n", 0, LLONG_MAX },
	{ "-9223372036854775807\n", 0, -LLONG_MAX },
	{ "9223372036854775808\n", -EINVAL, 7 },
	{ "99999999999999999999\n", -EINVAL, 7 },
	{ NULL, -ENOENT, 7 },
	{ "", -EINVAL, 7 },
	{ "\n", -EINVAL, 7 },
	{ "-\n", -EINVAL, 7 },
	{ "--1\n", -EINVAL, 7 },
	{ "+1\n", -EINVAL, 7 },
	{ " 1\n", -EINVAL, 7 },
	{ "1 \n", -EINVAL, 7 },
	{ "1\n\n", -EINVAL, 7 },
	{ "4\t4\t1\t7\n", -EINVAL, 7 },
	{ "0x10\n", -EINVAL, 7 },
	{ "none\n", -EINVAL, 7 },
	{ "0000000000000000000000000000000000000000000000000000000000000000000000001\n", -EFBIG, 7 },
};

START_TEST(test_setting)
{
	long long n = 7;

	if (settings[_i].text)
		put("proc/sys/kernel/it", settings[_i].text);
	ck_assert_int_eq(host_setting(&host, "kernel/it", &n), settings[_i].rc);
	ck_assert_int_eq(n, settings[_i].n);
}
END_TEST

#define GROUPS "4 24 27 30 46 100 118 4294967294 "
#define LONG   GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS GROUPS

static const struct {
	const char *text; /* NULL: no such task */
	int rc;
	const char *value; /* of CapEff, for which there is room for 7 bytes */
} fields[] = {
	{ "CapEff:\t01ff\n", 0, "01ff" },
	{ "CapEff:01ff\n", 0, "01ff" },
	{ "CapEff:\t 1234567\n", 0, "1234567" },
	{ "CapEff:\t\n", 0, "" },
	{ "Name:\tx\nCapEff:\t1\t2\nCapEff:\t3\n", 0, "1\t2" },
	{ "Groups:\t" LONG "\nCapEff:\t1\n", 0, "1" },
	{ "Groups:\t" LONG "CapEff:\t2\nCapEff:\t1\n", 0, "1" },
	{ "CapEff:\t12345678\n", -EFBIG, "" },
	{ "CapEff:\t" LONG "\n", -EFBIG, "" },
	{ "CapEff:\t1", -EFBIG, "" },
	{ "CapEff:", -EFBIG, "" },
	{ "CapEff\t1\n", -ENOENT, "" },
	{ "capeff:\t1\n", -ENOENT, "" },
	{ " CapEff:\t1\n", -ENOENT, "" },
	{ "CapEffX:\t1\nXCapEff:\t1\n", -ENOENT, "" },
	{ "Name:\tCapEff:\t1\n", -ENOENT, "" },
	{ "", -ENOENT, "" },
	{ "\n\n", -ENOENT, "" },
	{ NULL, -ENOENT, "" },
};

START_TEST(test_task_field)
{
	char value[8] = "", name[5000];

	if (fields[_i].text)
		put("proc/self/status", fields[_i].text);
	ck_assert_int_eq(host_task_field(&host, "self", "CapEff", value, sizeof(value)), fields[_i].rc);
	ck_assert_str_eq(value, fields[_i].value);
	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_int_eq(host_task_field(&host, name, "CapEff", value, sizeof(value)), -ENAMETOOLONG);
	put("proc/7/status/it", "");
	ck_assert_int_lt(host_task_field(&host, "7", "CapEff", value, sizeof(value)), 0);
}
END_TEST

START_TEST(test_setting_name)
{
	char name[5000];
	long long n = 7;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_int_eq(host_setting(&host, name, &n), -ENAMETOOLONG);
	put("proc/sys/kernel/it/is", "1\n");
	ck_assert_int_eq(host_setting(&host, "kernel/it", &n), -EISDIR);
	ck_assert_int_eq(n, 7);
}
END_TEST

static const struct {
	const char *text;
	uint64_t bytes;
} memory[] = {
	{ "MemTotal:        1048576 kB\nMemFree:          100 kB\n", 1ULL << 30 },
	{ "MemFree:          100 kB\nMemTotal:\t1 kB\n", 1024 },
	{ "MemTotal: 18014398509481983 kB\n", 18014398509481983ULL * 1024 },
	{ "MemTotal: 18014398509481984 kB\n", 0 },
	{ "MemTotal: 99999999999999999999 kB\n", 0 },
	{ NULL, 0 },
	{ "", 0 },
	{ "MemTotal", 0 },
	{ "MemTotal:", 0 },
	{ "MemTotal: kB\n", 0 },
	{ "MemTotal: -1 kB\n", 0 },
	{ "MemTotal: 1\n", 0 },
	{ "MemTotal: 1 MB\n", 0 },
	{ "XMemTotal: 1 kB\n", 0 },
	{ "MemTotalX: 1 kB\n", 0 },
	{ "memtotal: 1 kB\n", 0 },
};

START_TEST(test_memory)
{
	if (memory[_i].text)
		put("proc/meminfo", memory[_i].text);
	ck_assert_uint_eq(host_memory_bytes(&host), memory[_i].bytes);
}
END_TEST

static const struct {
	const char *status; /* status of /proc/42; NULL: none */
	int is_process;
	pid_t tgid;
} tasks[] = {
	{ "Name:\tdd\nUmask:\t0022\nState:\tR (running)\nTgid:\t42\nNgid:\t0\nPid:\t42\n", 1, 42 },
	{ "Name:\tdd\nState:\tR (running)\nTgid:\t42\nPid:\t42\n", 1, 42 },
	{ "Name:\tdd\nState:\tS (sleeping)\nTgid:\t40\nPid:\t42\n", 0, 40 },
	{ "Name:\tTgid:\t40\nTgid:\t42\n", 1, 42 },
	{ "Name:\tx\\nTgid:\t40\nTgid:\t42\n", 1, 42 },
	{ NULL, 0, 0 },
	{ "", 0, 0 },
	{ "Name:\tdd\n", 0, 0 },
	{ "Tgid", 0, 0 },
	{ "Tgid:", 0, 0 },
	{ "Tgid:\t\n", 0, 0 },
	{ "Tgid:\t42", 0, 0 },
	{ "Tgid:\t42x\n", 0, 0 },
	{ "Tgid:\t-42\n", 0, 0 },
	{ "Tgid:\t2147483648\n", 0, 0 },
	{ "Tgid:\t4294967338\n", 0, 0 },
};

START_TEST(test_process)
{
	pid_t tgid = 7;

	if (tasks[_i].status)
		put("proc/42/status", tasks[_i].status);
	ck_assert_int_eq(host_is_process(&host, 42, &tgid), tasks[_i].is_process);
	ck_assert_int_eq(tgid, tasks[_i].tgid);
	ck_assert_int_eq(host_is_thread(&host, 42), !!tasks[_i].status);
}
END_TEST

static const struct {
	const char *status;
	bool process, thread; /* the process is a zombie, the thread is */
} zombies[] = {
	{ "Name:\tx\nState:\tZ (zombie)\nThreads:\t1\n", true, true },
	{ "Name:\tx\nState:\tZ (zombie)\nThreads:\t3\n", false, true },
	{ "Name:\tx\nState:\tZ (zombie)\n", true, true },
	{ "Name:\tx\nState:\tS (sleeping)\nThreads:\t1\n", false, false },
	{ "Name:\tZ\nThreads:\t1\n", false, false },
	{ NULL, false, false },
};

START_TEST(test_zombie)
{
	struct host foreign = { .proc = host.proc, .sys = host.sys, .foreign = true };

	if (zombies[_i].status)
		put("proc/42/status", zombies[_i].status);
	ck_assert_int_eq(host_is_zombie(&host, 42, true), zombies[_i].process);
	ck_assert_int_eq(host_is_zombie(&host, 42, false), zombies[_i].thread);
	ck_assert(!host_is_zombie(&foreign, 42, true));
}
END_TEST

/* A /proc of another PID namespace has other processes under these numbers: it is not read. */
START_TEST(test_foreign)
{
	struct host foreign = { .proc = host.proc, .sys = host.sys, .foreign = true };
	pid_t tgid = 77;

	put("proc/2147483647/status", "Name:\tx\nTgid:\t2147483647\n");
	ck_assert_int_eq(host_is_process(&host, INT_MAX, &tgid), 1);
	ck_assert_str_ne(host_tasks(&foreign), host.proc);
	ck_assert_str_eq(host_tasks(&host), host.proc);
	ck_assert_int_eq(host_is_process(&foreign, INT_MAX, &tgid), 0);
	ck_assert_int_eq(tgid, 0);
	ck_assert_int_eq(host_is_process(&foreign, 0, &tgid), 0);
	ck_assert_int_eq(host_is_process(&foreign, getpid(), &tgid), 1);
	ck_assert_int_eq(host_is_thread(&foreign, getpid()), 1);
	ck_assert_int_eq(host_is_thread(&foreign, INT_MAX), 0);
	ck_assert_int_eq(host_is_thread(&foreign, 0), 0);
}
END_TEST

START_TEST(test_here)
{
	struct cpu_list l = { 0 };
	struct cpu_times first;
	pid_t tgid = 0;

	ck_assert_int_eq(host_is_process(&host_here, getpid(), &tgid), 1);
	ck_assert_int_eq(tgid, getpid());
	ck_assert_int_eq(host_is_thread(&host_here, (pid_t)syscall(SYS_gettid)), 1);
	ck_assert_int_eq(host_is_process(&host_here, INT_MAX, &tgid), 0);
	ck_assert_int_eq(host_is_thread(&host_here, INT_MAX), 0);
	ck_assert_uint_gt(host_memory_bytes(&host_here), 1 << 20);
	ck_assert_int_eq(host_online_cpus(&host_here, &l, NULL), 0);
	ck_assert_uint_ge(l.nr, 1);
	l.nr = 1;
	ck_assert_int_eq(host_cpu_times(&host_here, &l, &first, NULL), 0);
	ck_assert(first.listed);
	ck_assert_uint_gt(first.idle_ns, 0);
	cpu_list_release(&l);
	ck_assert_int_eq(host_possible_cpus(&host_here, &l, NULL), 0);
	ck_assert(cpu_list_has(&l, 0));
	cpu_list_release(&l);
}
END_TEST

/* If the path of /proc or /sys is too long, no file is found there. */
START_TEST(test_long_top)
{
	char name[5000];
	struct host h = { .proc = name, .sys = name };
	struct cpu_list l = { 0 };
	struct cpu_times times_of_none;
	long long n;
	pid_t tgid;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = 0;
	ck_assert_int_eq(host_setting(&h, "kernel/it", &n), -ENAMETOOLONG);
	ck_assert_uint_eq(host_memory_bytes(&h), 0);
	ck_assert_int_eq(host_is_process(&h, 1, &tgid), 0);
	ck_assert_int_eq(host_is_thread(&h, 1), 0);
	ck_assert_int_eq(host_online_cpus(&h, &l, NULL), 0);
	cpu_list_release(&l);
	ck_assert_int_eq(host_cpu_times(&h, &l, &times_of_none, NULL), -ENAMETOOLONG);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("host");
	TCase *text = tcase_create("text"), *files = tcase_create("files");

	tcase_add_loop_test(text, test_digits, 0, ARRAY_SIZE(digits));
	tcase_add_loop_test(text, test_list, 0, ARRAY_SIZE(lists));
	tcase_add_test(text, test_list_has);
	tcase_add_loop_test(text, test_cpu_times_passed, 0, ARRAY_SIZE(times));
	suite_add_tcase(s, text);

	tcase_add_checked_fixture(files, setup, teardown);
	tcase_add_test(files, test_online);
	tcase_add_loop_test(files, test_online_bad, 0, 4);
	tcase_add_test(files, test_online_no_descriptor);
	tcase_add_test(files, test_online_again);
	tcase_add_loop_test(files, test_online_again_unreadable, 0, 2);
	tcase_add_test(files, test_online_long);
	tcase_add_test(files, test_online_without_sys);
	tcase_add_test(files, test_possible);
	tcase_add_test(files, test_possible_without_sys);
	tcase_add_loop_test(files, test_cpu_times, 0, ARRAY_SIZE(stats));
	tcase_add_test(files, test_cpu_times_huge);
	tcase_add_loop_test(files, test_cpu_times_long_line, 0, 4);
	tcase_add_loop_test(files, test_setting, 0, ARRAY_SIZE(settings));
	tcase_add_test(files, test_setting_name);
	tcase_add_loop_test(files, test_task_field, 0, ARRAY_SIZE(fields));
	tcase_add_loop_test(files, test_memory, 0, ARRAY_SIZE(memory));
	tcase_add_loop_test(files, test_process, 0, ARRAY_SIZE(tasks));
	tcase_add_test(files, test_foreign);
	tcase_add_loop_test(files, test_zombie, 0, ARRAY_SIZE(zombies));
	tcase_add_test(files, test_here);
	tcase_add_test(files, test_long_top);
	suite_add_tcase(s, files);
	return unit_main(s);
}
