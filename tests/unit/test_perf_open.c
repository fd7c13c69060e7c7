// SPDX-License-Identifier: Apache-2.0
/*
 * perf_open() with fake kernels: this program's own syscall() replaces libc's, and checks an attr in the order and with
 * the answers of perf_copy_attr() and sys_perf_event_open() (kernel/events/core.c).
 */
#include "compat/perf_open.h"
#include "tests/kernels.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

#define BIT_MMAP2      (1ULL << 23)
#define BIT_COMM_EXEC  (1ULL << 24)
#define BIT_CLOCKID    (1ULL << 25)
#define BIT_NAMESPACES (1ULL << 28)
#define BIT_KSYMBOL    (1ULL << 29)

/*
 * struct fake_kernel - @version: see event_rules(); @size, @lacks: deviations from that; @rest: its answer to a valid
 * attr.
 */
struct fake_kernel {
	const char *release;
	int version;
	uint32_t size;
	uint64_t lacks; /* bits after read_format */
	int rest;
};

static const struct fake_kernel *kernel;
static int says_size = -1; /* always E2BIG with this size */
static unsigned int calls;

static struct event_rules rules_of(const struct fake_kernel *k)
{
	struct event_rules r = event_rules(k->version);

	if (k->size)
		r.size = k->size;
	r.bits &= ~k->lacks;
	return r;
}

static int fake_open(struct perf_event_attr *attr, unsigned long flags)
{
	struct event_rules rules = rules_of(kernel);
	int rc;

	ck_assert_uint_ge(attr->size, PERF_ATTR_SIZE_VER0);
	ck_assert_uint_le(attr->size, sizeof(*attr));
	rc = says_size >= 0 ? -E2BIG : event_answer(&rules, attr, flags);
	if (rc == -E2BIG)
		attr->size = says_size >= 0 ? (uint32_t)says_size : rules.size;
	if (rc || kernel->rest)
		return rc ? rc : kernel->rest;
	rc = open("/dev/null", O_RDONLY | (flags & PERF_FLAG_FD_CLOEXEC ? O_CLOEXEC : 0));
	ck_assert_int_ge(rc, 0);
	return rc;
}

long syscall(long nr, ...)
{
	struct perf_event_attr *attr;
	unsigned long flags;
	int cpu, group, rc;
	va_list ap;
	pid_t pid;

	va_start(ap, nr);
	attr = va_arg(ap, struct perf_event_attr *);
	pid = va_arg(ap, pid_t);
	cpu = va_arg(ap, int);
	group = va_arg(ap, int);
	flags = va_arg(ap, unsigned long);
	va_end(ap);
	if (nr != SYS_perf_event_open) {
		errno = ENOSYS;
		return -1;
	}
	ck_assert_int_eq(pid, 17);
	ck_assert_int_eq(cpu, 3);
	ck_assert_int_eq(group, -1);
	calls++;
	rc = fake_open(attr, flags);
	if (rc >= 0)
		return rc;
	errno = -rc;
	return -1;
}

static struct perf_event_attr wanted(void)
{
	return (struct perf_event_attr){
		.size = sizeof(struct perf_event_attr),
		.type = PERF_TYPE_SOFTWARE,
		.config = PERF_COUNT_SW_CPU_CLOCK,
		.sample_freq = 49,
		.freq = 1,
		.sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN,
		.read_format = PERF_FORMAT_LOST,
		.disabled = 1,
		.sample_id_all = 1,
		.mmap = 1,
		.mmap2 = 1,
		.comm = 1,
		.comm_exec = 1,
		.task = 1,
		.namespaces = 1,
		.ksymbol = 1,
		.context_switch = 1,
		.watermark = 1,
		.wakeup_watermark = 4096,
		.exclude_callchain_kernel = 1,
		.sample_max_stack = 126,
		.use_clockid = 1,
		.clockid = 1,
	};
}

#define NEWEST     LINUX(6, 18)
#define LARGER     (sizeof(struct perf_event_attr) + 64)
#define MMAP       0, 0, 0, 0, 0, 0, 0, 0
#define MMAP2      1, 1, 0, 0, 0, 0, 0, 0
#define CLOCK      1, 1, 1, 0, 0, 0, 0, 0
#define SWITCHES   1, 1, 1, 1, 1, 0, 0, 0
#define NAMESPACES 1, 1, 1, 1, 1, 1, 0, 0
#define KSYMBOL    1, 1, 1, 1, 1, 1, 1, 0
#define EVERYTHING 1, 1, 1, 1, 1, 1, 1, 1

/*
 * Which of these features remain: mmap2, comm_exec, use_clockid, context_switch, sample_max_stack, namespaces, ksymbol
 * and the number of lost records.
 */
static const struct {
	struct fake_kernel kernel;
	int mmap2, comm_exec, clockid, context_switch, max_stack, namespaces, ksymbol, lost;
} accepted[] = {
	{ { "3.10", LINUX(3, 10) }, MMAP },
	{ { "3.12", LINUX(3, 12) }, MMAP }, /* has mmap2, disabled */
	{ { "3.13", LINUX(3, 13) }, MMAP },
	{ { "3.14", LINUX(3, 14) }, MMAP }, /* has PERF_FLAG_FD_CLOEXEC */
	{ { "3.16", LINUX(3, 16) }, MMAP2 },
	{ { "3.19", LINUX(3, 19) }, MMAP2 },
	{ { "4.0", LINUX(4, 0) }, MMAP2 },
	{ { "4.1", LINUX(4, 1) }, CLOCK },    /* sample_max_stack is dropped with other missing features */
	{ { "4.4", LINUX(4, 4) }, SWITCHES }, /* sample_max_stack is accepted up to 4.7, though unknown */
	{ { "3.10.el7", LINUX(4, 7) }, SWITCHES },
	{ { "4.9", LINUX(4, 9) }, SWITCHES },
	{ { "4.12", LINUX(4, 12) }, NAMESPACES },
	{ { "4.14", LINUX(4, 14) }, NAMESPACES },
	{ { "5.0", LINUX(5, 0) }, NAMESPACES },
	{ { "5.1", LINUX(5, 1) }, KSYMBOL },
	{ { "5.4", LINUX(5, 4) }, KSYMBOL },
	{ { "5.10", LINUX(5, 10) }, KSYMBOL },
	{ { "6.0", LINUX(6, 0) }, EVERYTHING },
	{ { "6.x", NEWEST }, EVERYTHING },
	{ { "larger than ours", NEWEST, LARGER }, EVERYTHING },
	/* Backports. The newest features are left out first; they stay out when an older one was the right one. */
	{ { "4.9 without mmap2", LINUX(4, 9), 0, BIT_MMAP2 }, 0, 1, 0, 0, 0, 0, 0, 0 },
	{ { "4.9 without comm_exec", LINUX(4, 9), 0, BIT_COMM_EXEC }, MMAP },
	{ { "4.9 without clockid", LINUX(4, 9), 0, BIT_CLOCKID }, MMAP2 },
	{ { "6.x without ksymbol", NEWEST, 0, BIT_KSYMBOL }, NAMESPACES },
	{ { "6.x without namespaces", NEWEST, 0, BIT_NAMESPACES }, SWITCHES },
	{ { "6.x without clockid", NEWEST, 0, BIT_CLOCKID }, MMAP2 },
	{ { "6.x without mmap2", NEWEST, 0, BIT_MMAP2 }, 0, 1, 0, 0, 0, 0, 0, 0 },
};

/* An attempt for each thing to do without, with and without the flag, and of another size. */
#define MOST_CALLS ((1 + 8) * 2 * 2)

START_TEST(test_accepted)
{
	struct perf_event_attr attr = wanted(), want = wanted();
	int fd;

	kernel = &accepted[_i].kernel;
	calls = 0;
	want.size = attr.size;
	want.mmap2 = accepted[_i].mmap2;
	want.comm_exec = accepted[_i].comm_exec;
	want.use_clockid = accepted[_i].clockid;
	want.clockid = accepted[_i].clockid;
	want.sample_max_stack = accepted[_i].max_stack ? 126 : 0;
	want.namespaces = accepted[_i].namespaces;
	want.ksymbol = accepted[_i].ksymbol;
	want.context_switch = accepted[_i].context_switch;
	want.read_format = accepted[_i].lost ? PERF_FORMAT_LOST : 0;
	fd = perf_open(&attr, 17, 3);
	ck_assert_msg(fd >= 0, "%s: %s", kernel->release, strerror(-fd));
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	if (attr.size != sizeof(attr)) /* the kernel has returned its size */
		want.size = rules_of(kernel).size;
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_le(calls, MOST_CALLS);

	/* The next CPU's event is opened with the accepted attr at once, except for the flag. */
	calls = 0;
	fd = perf_open(&attr, 17, 3);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_eq(calls, kernel->version >= LINUX(3, 14) ? 1 : 2);
}
END_TEST

/* Refused for a reason that no option changes: the caller must get that reason, on old kernels, too. */
static const struct fake_kernel refusing[] = {
	{ "6.x", NEWEST, .rest = -EINVAL },        { "6.x", NEWEST, .rest = -EACCES },
	{ "6.x", NEWEST, .rest = -EPERM },         { "6.x", NEWEST, .rest = -ENOENT },
	{ "6.x", NEWEST, .rest = -ENODEV },        { "6.x", NEWEST, .rest = -EMFILE },
	{ "6.x", NEWEST, .rest = -E2BIG },         { "6.x", NEWEST, .rest = -ENOMEM },
	{ "4.9", LINUX(4, 9), .rest = -EINVAL },   { "4.9", LINUX(4, 9), .rest = -EACCES },
	{ "4.4", LINUX(4, 4), .rest = -EACCES },   { "4.4", LINUX(4, 4), .rest = -EOPNOTSUPP },
	{ "4.0", LINUX(4, 0), .rest = -EINVAL },   { "4.0", LINUX(4, 0), .rest = -EACCES },
	{ "4.0", LINUX(4, 0), .rest = -ENODEV },   { "3.14", LINUX(3, 14), .rest = -EACCES },
	{ "3.10", LINUX(3, 10), .rest = -EINVAL }, { "3.10", LINUX(3, 10), .rest = -EACCES },
	{ "3.10", LINUX(3, 10), .rest = -ENOENT }, { "3.10", LINUX(3, 10), .rest = -ENODEV },
	{ "3.10", LINUX(3, 10), .rest = -EMFILE },
};

START_TEST(test_refused)
{
	struct perf_event_attr attr = wanted(), want = wanted();
	int rc;

	kernel = &refusing[_i];
	calls = 0;
	rc = perf_open(&attr, 17, 3);
	ck_assert_msg(rc == kernel->rest, "%s: %d instead of %d", kernel->release, rc, kernel->rest);
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_le(calls, MOST_CALLS);
}
END_TEST

/* E2BIG with an impossible size: nothing is cleared or tried again. */
static const int bad_sizes[] = { 0, 8, PERF_ATTR_SIZE_VER0 - 1, sizeof(struct perf_event_attr) };

START_TEST(test_bad_size)
{
	struct fake_kernel k = { "bad", NEWEST };
	struct perf_event_attr attr = wanted(), want = wanted();

	kernel = &k;
	calls = 0;
	says_size = bad_sizes[_i];
	ck_assert_int_eq(perf_open(&attr, 17, 3), -E2BIG);
	says_size = -1;
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_eq(calls, 1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_open");
	TCase *tc = tcase_create("perf_open");

	tcase_add_loop_test(tc, test_accepted, 0, ARRAY_SIZE(accepted));
	tcase_add_loop_test(tc, test_refused, 0, ARRAY_SIZE(refusing));
	tcase_add_loop_test(tc, test_bad_size, 0, ARRAY_SIZE(bad_sizes));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
