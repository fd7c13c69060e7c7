// SPDX-License-Identifier: Apache-2.0
/* Hosts and containers with limits, by copies of their /proc and /sys. */
#include "core/tasks/cgroup_limits.h"
#include "tests/unit/unit.h"

#define GIB (1ULL << 30)
#define V2  "sys/fs/cgroup/"
#define V1  "sys/fs/cgroup/memory/"

static char *top;
static struct host host;

static void setup(void)
{
	top = unit_tmpdir();
	host = unit_host(top);
	unit_write(top, "proc/meminfo", "MemTotal: 4194304 kB\n", strlen("MemTotal: 4194304 kB\n"));
}

static void teardown(void)
{
	unit_rmdir(top);
}

static const struct {
	const char *cgroups; /* /proc/self/cgroup */
	struct {
		const char *file, *text;
	} files[4];
	uint64_t limit;
} rows[] = {
	{ NULL, { { NULL } }, 4 * GIB },
	{ "", { { NULL } }, 4 * GIB },
	{ "0::/\n", { { NULL } }, 4 * GIB },
	{ "0::/a/b\n", { { V2 "a/b/memory.max", "1073741824\n" } }, GIB },
	{ "0::/a/b\n", { { V2 "a/b/memory.max", "max\n" } }, 4 * GIB },
	{ "0::/a/b\n", { { V2 "a/b/memory.max", "max\n" }, { V2 "a/memory.max", "2147483648\n" } }, 2 * GIB },
	{ "0::/a/b\n", { { V2 "a/b/memory.max", "3221225472\n" }, { V2 "a/memory.max", "2147483648\n" } }, 2 * GIB },
	{ "0::/a/b\n", { { V2 "a/b/memory.max", "1073741824\n" }, { V2 "a/memory.max", "2147483648\n" } }, GIB },
	{ "0::/a/b\n", { { V2 "a/b/memory.max", "9223372036854771712\n" } }, 4 * GIB },
	/* a container, with a namespace and without */
	{ "0::/\n", { { V2 "memory.max", "1073741824\n" } }, GIB },
	{ "0::/docker/abc\n", { { V2 "memory.max", "1073741824\n" } }, GIB },
	{ "0::/../a\n", { { V2 "memory.max", "1073741824\n" }, { V2 "../a/memory.max", "1073741824\n" } }, 4 * GIB },
	/* the limit of another cgroup */
	{ "0::/a/b\n", { { V2 "a/c/memory.max", "1073741824\n" } }, 4 * GIB },
	{ "0::/a/b\n", { { V2 "a/b/c/memory.max", "1073741824\n" } }, 4 * GIB },
	/* version 1 */
	{ "4:cpu,cpuacct:/x\n3:memory:/a\n0::/\n", { { V1 "a/memory.limit_in_bytes", "1073741824\n" } }, GIB },
	{ "3:blkio,memory:/a\n", { { V1 "a/memory.limit_in_bytes", "1073741824\n" } }, GIB },
	{ "3:memory,blkio:/a\n", { { V1 "memory.limit_in_bytes", "1073741824\n" } }, GIB },
	{ "3:memoryx:/a\n", { { V1 "a/memory.limit_in_bytes", "1073741824\n" } }, 4 * GIB },
	{ "3:cpu:/memory\n", { { V1 "memory/memory.limit_in_bytes", "1073741824\n" } }, 4 * GIB },
	{ "3:memory:/a\n", { { V1 "a/memory.limit_in_bytes", "9223372036854771712\n" } }, 4 * GIB },
	/* no such files */
	{ "0::/a\n", { { V2 "a/memory.max", "" } }, 4 * GIB },
	{ "0::/a\n", { { V2 "a/memory.max", "\n" } }, 4 * GIB },
	{ "0::/a\n", { { V2 "a/memory.max", "0\n" } }, 4 * GIB },
	{ "0::/a\n", { { V2 "a/memory.max", "12x\n" } }, 4 * GIB },
	{ "0::/a\n", { { V2 "a/memory.max", "-5\n" } }, 4 * GIB },
	{ "0::/a\n", { { V2 "a/memory.max", "99999999999999999999\n" } }, 4 * GIB },
	{ "nonsense\n", { { V2 "memory.max", "1073741824\n" } }, 4 * GIB },
	{ "0:\n", { { V2 "memory.max", "1073741824\n" } }, 4 * GIB },
	{ ":\n:\n::\n", { { V2 "memory.max", "1073741824\n" } }, 4 * GIB },
};

START_TEST(test_limits)
{
	size_t i;

	if (rows[_i].cgroups)
		unit_write(top, "proc/self/cgroup", rows[_i].cgroups, strlen(rows[_i].cgroups));
	for (i = 0; i < ARRAY_SIZE(rows[_i].files) && rows[_i].files[i].file; i++)
		unit_write(top, rows[_i].files[i].file, rows[_i].files[i].text, strlen(rows[_i].files[i].text));
	ck_assert_uint_eq(memory_limit(&host), rows[_i].limit);
}
END_TEST

#define CPU "sys/fs/cgroup/cpu/"

static const struct {
	const char *cgroups;
	struct {
		const char *file, *text;
	} files[4];
	uint64_t limit;
} realtime[] = {
	{ NULL, { { NULL } }, 0 },
	{ "1:cpu:/\n", { { NULL } }, 0 },
	{ "1:cpu:/\n", { { CPU "cpu.rt_runtime_us", "950000\n" } }, 950000 },
	{ "1:cpu:/\n", { { CPU "cpu.rt_runtime_us", "-1\n" } }, 0 },
	{ "2:cpu,cpuacct:/a\n",
	  { { CPU "cpu.rt_runtime_us", "950000\n" }, { CPU "a/cpu.rt_runtime_us", "500\n" } },
	  500 },
	{ "2:cpuacct,cpu:/a/b\n", { { CPU "a/cpu.rt_runtime_us", "500\n" } }, 500 },
	{ "1:cpu:/a\n",
	  { { CPU "a/cpu.rt_runtime_us", "50000\n" }, { CPU "a/cpu.rt_period_us", "100000\n" } },
	  500000 },
	{ "1:cpu:/a\n", { { CPU "a/cpu.rt_runtime_us", "5\n" }, { CPU "a/cpu.rt_period_us", "0\n" } }, 5 },
	{ "1:cpu:/a\n",
	  { { CPU "a/cpu.rt_runtime_us", "18446744073709551615\n" }, { CPU "a/cpu.rt_period_us", "100000\n" } },
	  UINT64_MAX },
	{ "1:cpuset:/a\n", { { CPU "a/cpu.rt_runtime_us", "500\n" } }, 0 },
	{ "0::/a\n", { { CPU "a/cpu.rt_runtime_us", "500\n" }, { V2 "a/cpu.rt_runtime_us", "500\n" } }, 0 },
};

START_TEST(test_realtime)
{
	size_t i;

	if (realtime[_i].cgroups)
		unit_write(top, "proc/self/cgroup", realtime[_i].cgroups, strlen(realtime[_i].cgroups));
	for (i = 0; i < ARRAY_SIZE(realtime[_i].files) && realtime[_i].files[i].file; i++)
		unit_write(top, realtime[_i].files[i].file, realtime[_i].files[i].text,
			   strlen(realtime[_i].files[i].text));
	ck_assert_uint_eq(realtime_limit_us(&host), realtime[_i].limit);
}
END_TEST

/* Without /proc/meminfo only the limit of the cgroup is known. */
START_TEST(test_no_meminfo)
{
	unit_write(top, "proc/meminfo", "", 0);
	ck_assert_uint_eq(memory_limit(&host), 0);
	unit_write(top, "proc/self/cgroup", "0::/\n", 5);
	unit_write(top, "sys/fs/cgroup/memory.max", "4096\n", 5);
	ck_assert_uint_eq(memory_limit(&host), 4096);
}
END_TEST

/* A path may have 4096 bytes, or more than fit. */
START_TEST(test_long_path)
{
	char text[9000];

	memset(text, '/', sizeof(text));
	memcpy(text, "0::", 3);
	memcpy(text + _i, "\n", 2);
	unit_write(top, "proc/self/cgroup", text, strlen(text));
	unit_write(top, "sys/fs/cgroup/memory.max", "4096\n", 5);
	ck_assert_uint_eq(memory_limit(&host), 4096);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("cgroup_limits");
	TCase *tc = tcase_create("cgroup_limits");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_limits, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, test_realtime, 0, ARRAY_SIZE(realtime));
	tcase_add_test(tc, test_no_meminfo);
	tcase_add_loop_test(tc, test_long_path, 4090, 4110);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
