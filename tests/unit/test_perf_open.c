// SPDX-License-Identifier: Apache-2.0
/*
 * perf_open() against kernels that are not here: this program's own syscall() takes the place of libc's and
 * checks an attr in the order and with the answers of perf_copy_attr() and sys_perf_event_open()
 * (kernel/events/core.c).
 */
#include "tests/unit/unit.h"

#include "compat/perf_open.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/syscall.h>

/** struct fake_kernel - @size: of its struct perf_event_attr; @rest: its answer to an attr that it
 * understands. */
struct fake_kernel {
	const char *release;
	uint32_t size;
	bool cloexec, mmap2, comm_exec, clockid;
	bool max_stack; /* knows the field; others that are as large take no notice of it */
	int rest;
};

static const struct fake_kernel *kernel;
static bool knows_namespaces; /* since 4.12 */
static unsigned int calls;

/* What perf_copy_attr() does with a struct that is larger than the kernel's. */
static int check_size(struct perf_event_attr *attr)
{
	const unsigned char *bytes = (const unsigned char *)attr;
	uint32_t i;

	ck_assert_uint_ge(attr->size, PERF_ATTR_SIZE_VER0);
	ck_assert_uint_le(attr->size, sizeof(*attr));
	for (i = kernel->size; i < attr->size; i++) {
		if (bytes[i]) {
			attr->size = kernel->size;
			return -E2BIG;
		}
	}
	return 0;
}

/* PERF_FORMAT_LOST came with 6.0, when the struct had its newest size but one. */
static bool knows_lost(const struct fake_kernel *k)
{
	return k->size >= PERF_ATTR_SIZE_VER7;
}

static int fake_open(struct perf_event_attr *attr, unsigned long flags)
{
	int rc;

	if (flags & ~(kernel->cloexec ? PERF_FLAG_FD_CLOEXEC : 0UL))
		return -EINVAL;
	rc = check_size(attr);
	if (rc)
		return rc;
	if ((attr->read_format & PERF_FORMAT_LOST && !knows_lost(kernel)) || (attr->mmap2 && !kernel->mmap2) ||
	    (attr->comm_exec && !kernel->comm_exec) || (attr->use_clockid && !kernel->clockid) ||
	    (attr->namespaces && !knows_namespaces))
		return -EINVAL;
	if (kernel->rest)
		return kernel->rest;
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
		.watermark = 1,
		.wakeup_watermark = 4096,
		.exclude_callchain_kernel = 1,
		.sample_max_stack = 126,
		.use_clockid = 1,
		.clockid = 1,
	};
}

#define ALL_BITS  true, true, true, true
#define NEWEST    sizeof(struct perf_event_attr)
#define SIZE_3_10 PERF_ATTR_SIZE_VER3 /* 3.7: sample_regs_user, sample_stack_user */
#define SIZE_3_19 PERF_ATTR_SIZE_VER4
#define SIZE_4_1  PERF_ATTR_SIZE_VER5

/* What is left of mmap2, comm_exec, use_clockid and sample_max_stack. */
static const struct {
	struct fake_kernel kernel;
	bool mmap2, comm_exec, clockid, max_stack;
} accepted[] = {
	{ { "3.10", SIZE_3_10, false, false, false, false, false, 0 }, false, false, false, false },
	{ { "3.13", SIZE_3_10, false, false, false, false, false, 0 }, false, false, false, false },
	{ { "3.14", SIZE_3_10, true, false, false, false, false, 0 }, false, false, false, false },
	{ { "3.16", SIZE_3_10, true, true, true, false, false, 0 }, true, true, false, false },
	{ { "4.0", SIZE_3_19, true, true, true, false, false, 0 }, true, true, false, false },
	{ { "4.4", SIZE_4_1, ALL_BITS, false, 0 }, true, true, true, true }, /* accepted, though unknown */
	{ { "4.9", SIZE_4_1, ALL_BITS, true, 0 }, true, true, true, true },
	{ { "5.10", PERF_ATTR_SIZE_VER6, ALL_BITS, true, 0 }, true, true, true, true },
	{ { "6.x", NEWEST, ALL_BITS, true, 0 }, true, true, true, true },
	{ { "larger than ours", NEWEST + 64, ALL_BITS, true, 0 }, true, true, true, true },
	{ { "backports: mmap2 without comm_exec", SIZE_4_1, true, true, false, false, true, 0 },
	  false,
	  false,
	  false,
	  false }, /* newest first: what is left out before the right one is not tried again */
	{ { "backports: 4.8 but for clockid", SIZE_4_1, true, true, true, false, true, 0 }, true, true, false, false },
};

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
	want.read_format = knows_lost(kernel) ? PERF_FORMAT_LOST : 0;
	fd = perf_open(&attr, 17, 3);
	ck_assert_msg(fd >= 0, "%s: %s", kernel->release, strerror(-fd));
	ck_assert_int_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	close(fd);
	if (attr.size != sizeof(attr)) /* the kernel has said its size */
		want.size = kernel->size;
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_le(calls, 6 * 2 * 2);

	/* The next CPU's event is opened with what was accepted, at once but for the flag. */
	calls = 0;
	fd = perf_open(&attr, 17, 3);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_eq(calls, kernel->cloexec ? 1 : 2);
}
END_TEST

/* Refused for a reason that no option changes: that reason is what the caller must hear of, on old kernels
 * too. */
static const struct fake_kernel refusing[] = {
	{ "6.x", NEWEST, ALL_BITS, true, -EINVAL },
	{ "6.x", NEWEST, ALL_BITS, true, -EACCES },
	{ "6.x", NEWEST, ALL_BITS, true, -EPERM },
	{ "6.x", NEWEST, ALL_BITS, true, -ENOENT },
	{ "6.x", NEWEST, ALL_BITS, true, -ENODEV },
	{ "6.x", NEWEST, ALL_BITS, true, -EMFILE },
	{ "6.x", NEWEST, ALL_BITS, true, -E2BIG },
	{ "4.9", SIZE_4_1, ALL_BITS, true, -EINVAL },
	{ "4.4", SIZE_4_1, ALL_BITS, false, -EACCES },
	{ "4.0", SIZE_3_19, true, true, true, false, false, -EINVAL },
	{ "4.0", SIZE_3_19, true, true, true, false, false, -EACCES },
	{ "4.0", SIZE_3_19, true, true, true, false, false, -ENODEV },
	{ "3.14", SIZE_3_10, true, false, false, false, false, -EACCES },
	{ "3.10", SIZE_3_10, false, false, false, false, false, -EINVAL },
	{ "3.10", SIZE_3_10, false, false, false, false, false, -EACCES },
	{ "3.10", SIZE_3_10, false, false, false, false, false, -ENOENT },
	{ "3.10", SIZE_3_10, false, false, false, false, false, -ENODEV },
	{ "3.10", SIZE_3_10, false, false, false, false, false, -EMFILE },
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
	ck_assert_uint_le(calls, 6 * 2 * 2);
}
END_TEST

/* E2BIG with a size that cannot be: nothing is cleared, nothing is tried again. */
static const uint32_t bad_sizes[] = { 0, 8, PERF_ATTR_SIZE_VER0 - 1 };

START_TEST(test_bad_size)
{
	struct fake_kernel k = { "bad", bad_sizes[_i], ALL_BITS, true, 0 };
	struct perf_event_attr attr = wanted(), want = wanted();

	kernel = &k;
	calls = 0;
	ck_assert_int_eq(perf_open(&attr, 17, 3), -E2BIG);
	ck_assert_mem_eq(&attr, &want, sizeof(attr));
	ck_assert_uint_eq(calls, 1);
}
END_TEST

/* Between the number of lost records and the deepest stack, by their age. */
START_TEST(test_namespaces)
{
	static const struct fake_kernel k4_9 = { "4.9", SIZE_4_1, true, true, true, true, true, 0 };
	struct perf_event_attr attr = wanted();
	int fd;

	kernel = &k4_9;
	knows_namespaces = _i;
	attr.namespaces = 1;
	fd = perf_open(&attr, 17, 3);
	ck_assert_int_ge(fd, 0);
	close(fd);
	ck_assert_uint_eq(attr.namespaces, _i);
	ck_assert_uint_eq(attr.read_format, 0);
	ck_assert_uint_eq(attr.sample_max_stack, 126);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("perf_open");
	TCase *tc = tcase_create("perf_open");

	tcase_add_loop_test(tc, test_accepted, 0, ARRAY_SIZE(accepted));
	tcase_add_loop_test(tc, test_refused, 0, ARRAY_SIZE(refusing));
	tcase_add_loop_test(tc, test_bad_size, 0, ARRAY_SIZE(bad_sizes));
	tcase_add_loop_test(tc, test_namespaces, 0, 2);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
