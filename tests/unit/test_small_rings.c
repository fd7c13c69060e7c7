// SPDX-License-Identifier: Apache-2.0
/*
 * Rings with a limit for locked memory: this program's own syscall() opens events that are files in memory, and its own
 * mmap() refuses rings beyond the user's limit, like the kernel.
 */
#include "core/cli/request.h"
#include "core/events/event_rings.h"
#include "core/events/events.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { CPUS = 3, ONLINE = 2, MAX_FDS = 256, MAX_RINGS = 16 };

#define KIB ((size_t)1024)

static struct {
	bool is_event[MAX_FDS], is_dummy[MAX_FDS];
	bool has_dummy;
	unsigned int opened;
	size_t budget; /* pages */
	int code;      /* result beyond the budget */
	struct {
		void *at;
		size_t pages;
	} rings[MAX_RINGS];
	size_t nr_rings;
} kernel;

static size_t page_size;

long syscall(long nr, ...)
{
	const struct perf_event_attr *attr;
	bool dummy;
	va_list ap;
	int fd;

	va_start(ap, nr);
	attr = va_arg(ap, const struct perf_event_attr *);
	va_end(ap);
	dummy = nr == SYS_perf_event_open && attr && attr->config == PERF_COUNT_SW_DUMMY;
	if (nr != SYS_perf_event_open || (dummy && !kernel.has_dummy)) {
		errno = dummy ? ENOENT : ENOSYS;
		return -1;
	}
	fd = memfd_create("event", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_lt(fd, MAX_FDS);
	ck_assert_int_eq(ftruncate(fd, 16 << 20), 0);
	kernel.is_event[fd] = true;
	kernel.is_dummy[fd] = dummy;
	kernel.opened++;
	return fd;
}

static size_t locked(void)
{
	size_t i, pages = 0;

	for (i = 0; i < kernel.nr_rings; i++)
		pages += kernel.rings[i].pages;
	return pages;
}

void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t offset)
{
	size_t pages = len / (page_size ? page_size : 4096);
	void *at;

	if (fd < 0 || fd >= MAX_FDS || !kernel.is_event[fd])
		return mmap64(addr, len, prot, flags, fd, offset);
	if (locked() + pages > kernel.budget) {
		errno = -kernel.code;
		return MAP_FAILED;
	}
	at = mmap64(addr, len, prot, flags, fd, offset);
	ck_assert_ptr_ne(at, MAP_FAILED);
	ck_assert_uint_lt(kernel.nr_rings, MAX_RINGS);
	kernel.rings[kernel.nr_rings].at = at;
	kernel.rings[kernel.nr_rings++].pages = pages;
	return at;
}

int munmap(void *at, size_t len)
{
	static int (*next)(void *, size_t);
	size_t i;

	for (i = 0; i < kernel.nr_rings && kernel.rings[i].at != at; i++)
		;
	if (i < kernel.nr_rings) {
		ck_assert_uint_eq(kernel.rings[i].pages, len / page_size);
		kernel.rings[i] = kernel.rings[--kernel.nr_rings];
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "munmap");
	return next(at, len);
}

/* ---- runs */

static char *dir;
static struct host host;
static struct options options;
static struct session *session;

static void put(const char *name, const char *text)
{
	unit_write(dir, name, text, strlen(text));
}

static void setup(void)
{
	const struct rlimit rl = { 65536, 65536 };

	page_size = (size_t)sysconf(_SC_PAGESIZE);
	memset(&kernel, 0, sizeof(kernel));
	kernel.code = -EPERM;
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	put("devices/system/cpu/possible", "0-2\n");
	put("devices/system/cpu/online", "0-1\n");
	put("sys/kernel/perf_event_mlock_kb", "4\n");
	ck_assert_int_eq(setrlimit(RLIMIT_MEMLOCK, &rl), 0);
	options = (struct options){ .cpu = -1,
				    .sampling = { event_default(), 49, 0 },
				    .backend = "perfring",
				    .unwind = UNWIND_BY_FP,
				    .dump_bytes = 16384 };
}

static void teardown(void)
{
	session_free(session);
	ck_assert_uint_eq(locked(), 0);
	unit_rmdir(dir);
}

static int open_with_budget(size_t pages, struct err *err)
{
	kernel.budget = pages;
	session = request_session(&options, &host);
	ck_assert_ptr_nonnull(session);
	return session_open(session, err);
}

/* All rings exist and are equal. */
static void assert_rings(size_t nr, size_t bytes)
{
	size_t i;

	ck_assert_uint_eq(kernel.nr_rings, nr);
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(kernel.rings[i].pages, 1 + bytes / page_size);
	ck_assert_uint_eq(session->events.rings.samples, bytes);
	ck_assert_uint_eq(events_ring_sizes(&session->events).samples, bytes);
}

/* Pages for both rings; each has one page more than its data. */
static const struct {
	bool unwinds;
	size_t pages, bytes; /* 0: no ring is permitted */
	uint32_t wakeup, dump;
	bool told;
} budgets[] = {
	{ false, 1000, 64 * KIB, 32768, 0, false },
	{ false, 258, 64 * KIB, 32768, 0, false },
	{ false, 257, 64 * KIB, 32768, 0, false },
	{ false, 130, 64 * KIB, 32768, 0, false },
	{ false, 66, 64 * KIB, 32768, 0, false },
	{ false, 65, 64 * KIB, 32768, 0, false },
	{ false, 34, 64 * KIB, 32768, 0, false },
	{ false, 33, 32 * KIB, 16384, 0, true },
	{ false, 18, 32 * KIB, 16384, 0, true },
	{ false, 17, 16 * KIB, 8192, 0, true },
	{ false, 9, 8 * KIB, 4096, 0, true },
	{ false, 5, 4 * KIB, 2048, 0, true },
	{ false, 4, 4 * KIB, 2048, 0, true },
	{ false, 3, 0, 0, 0, false },
	{ false, 1, 0, 0, 0, false },
	{ false, 0, 0, 0, 0, false },
	{ true, 3000, 512 * KIB, 131072, 16384, false },
	{ true, 513, 512 * KIB, 131072, 16384, false },
	{ true, 66, 128 * KIB, 65536, 16384, false },
	{ true, 65, 64 * KIB, 32768, 16384, false },
	{ true, 33, 32 * KIB, 16384, 8192, true },
	{ true, 10, 16 * KIB, 8192, 4096, true },
	{ true, 4, 4 * KIB, 2048, 1024, true },
	{ true, 3, 0, 0, 0, false },
};

static void assert_told(int row, const struct err *why)
{
	char rings[64], copies[64];

	snprintf(rings, sizeof(rings), "ring buffers have only %zu KiB", budgets[row].bytes / KIB);
	snprintf(copies, sizeof(copies), " and stack copies of %u bytes: ", budgets[row].dump);
	ck_assert_ptr_nonnull(strstr(why->msg, rings));
	ck_assert_ptr_nonnull(strstr(why->msg, budgets[row].unwinds ? copies : "KiB: "));
	ck_assert_ptr_nonnull(strstr(why->msg, "kernel.perf_event_mlock_kb is 4 and RLIMIT_MEMLOCK 6"));
}

START_TEST(test_budget)
{
	struct err err = { 0 }, why;

	options.unwind = budgets[_i].unwinds ? UNWIND_BY_RULES : UNWIND_BY_FP;
	if (!budgets[_i].bytes) {
		ck_assert_int_lt(open_with_budget(budgets[_i].pages, &err), 0);
		ck_assert_ptr_nonnull(strstr(err.msg, "cannot map "));
		return;
	}
	ck_assert_msg(open_with_budget(budgets[_i].pages, &err) == 0, "%s", err.msg);
	assert_rings(ONLINE, budgets[_i].bytes);
	ck_assert_uint_eq(session->events.attrs[EVENT_SAMPLES].wakeup_watermark, budgets[_i].wakeup);
	ck_assert_uint_eq(session->events.attrs[EVENT_SAMPLES].sample_stack_user, budgets[_i].dump);
	ck_assert_int_eq(events_small_rings(&session->events, &why), budgets[_i].told);
	if (budgets[_i].told)
		assert_told(_i, &why);
}
END_TEST

/*
 * If the two CPUs take up to 100 samples per second, each sample wakes the reader, who reads mappings: unless it reads
 * none, or the rings have other records, too.
 */
static const struct {
	struct sampling sampling; /* with the default event */
	int cpu;
	bool kernel_only, shared;
	const char *comm;
	uint32_t wakeup;
} few_samples[] = {
	{ { NULL, 49, 0 }, -1, false, false, NULL, 1 },
	{ { NULL, 50, 0 }, -1, false, false, NULL, 1 },
	{ { NULL, 51, 0 }, -1, false, false, NULL, 32768 },
	{ { NULL, 100, 0 }, 1, false, false, NULL, 1 },
	{ { NULL, 0, 20000000 }, -1, false, false, NULL, 1 },
	{ { NULL, 0, 19000000 }, -1, false, false, NULL, 32768 },
	{ { NULL, 0, UINT64_MAX }, -1, false, false, NULL, 1 },
	{ { NULL, 49, 0 }, -1, true, false, NULL, 32768 },
	{ { NULL, 49, 0 }, -1, false, true, NULL, 32768 },
	{ { NULL, 49, 0 }, -1, false, false, "bash", 32768 },
};

START_TEST(test_few_samples)
{
	struct err err = { 0 };

	kernel.has_dummy = !few_samples[_i].shared;
	options.sampling = few_samples[_i].sampling;
	options.sampling.event = event_default();
	options.cpu = few_samples[_i].cpu;
	options.filter.no_user = few_samples[_i].kernel_only;
	options.filter.comm = few_samples[_i].comm;
	ck_assert_msg(open_with_budget(1000, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(session->events.wakes_at_samples, few_samples[_i].wakeup == 1);
	ck_assert_uint_eq(session->events.attrs[EVENT_SAMPLES].wakeup_watermark, few_samples[_i].wakeup);
}
END_TEST

/* If tasks and mappings have rings of their own, these shrink first; if not even the smallest fit, all share. */
static const struct {
	size_t pages; /* for all four rings */
	size_t samples, side;
	bool told;
} both_budgets[] = {
	{ 1000, 64 * KIB, 512 * KIB, false },
	{ 292, 64 * KIB, 512 * KIB, false },
	{ 291, 64 * KIB, 256 * KIB, false },
	{ 163, 64 * KIB, 128 * KIB, false },
	{ 99, 64 * KIB, 64 * KIB, false },
	{ 67, 32 * KIB, 64 * KIB, true },
	{ 51, 32 * KIB, 32 * KIB, true },
	{ 10, 4 * KIB, 8 * KIB, true },
	{ 8, 4 * KIB, 4 * KIB, true },
	{ 7, 8 * KIB, 0, true },
	{ 4, 4 * KIB, 0, true },
	{ 3, 0, 0, false },
	{ 0, 0, 0, false },
};

START_TEST(test_both_budgets)
{
	struct err err = { 0 }, why;
	struct ring_sizes least;

	kernel.has_dummy = true;
	if (!both_budgets[_i].samples) {
		ck_assert_int_lt(open_with_budget(both_budgets[_i].pages, &err), 0);
		return;
	}
	ck_assert_msg(open_with_budget(both_budgets[_i].pages, &err) == 0, "%s", err.msg);
	least = events_ring_sizes(&session->events);
	ck_assert_uint_eq(least.samples, both_budgets[_i].samples);
	ck_assert_uint_eq(least.side, both_budgets[_i].side);
	ck_assert_int_eq(session->events.apart, both_budgets[_i].side > 0);
	ck_assert_uint_eq(kernel.nr_rings, session->events.apart ? 2 * ONLINE : ONLINE);
	ck_assert_uint_le(session->events.attrs[EVENT_SIDE_BAND].wakeup_watermark,
			  both_budgets[_i].side ? both_budgets[_i].side / 2 : 32768);
	ck_assert_int_eq(events_small_rings(&session->events, &why), both_budgets[_i].told);
}
END_TEST

/*
 * Copy sizes cannot be halved for ever. The default size is halved, down to 16 KiB, if the rings do not hold half a
 * second of copies.
 */
static const struct {
	uint32_t asked;
	size_t pages;
	uint32_t dump;
} dumps[] = {
	{ 65528, 3000, 65528 }, { 65528, 66, 32760 }, { 65528, 4, 1016 }, { 1000, 4, 1000 },
	{ 1032, 4, 512 },       { 8, 4, 8 },          { 1024, 4, 1024 },  { 0, 3000, 65528 },
	{ 0, 1026, 65528 },     { 0, 1025, 32760 },   { 0, 513, 16384 },  { 0, 34, 16384 },
	{ 0, 4, 1024 },
};

START_TEST(test_dump)
{
	struct err err = { 0 };

	options.unwind = UNWIND_BY_RULES;
	options.dump_bytes = dumps[_i].asked;
	ck_assert_msg(open_with_budget(dumps[_i].pages, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(session->events.attrs[EVENT_SAMPLES].sample_stack_user, dumps[_i].dump);
	ck_assert_uint_eq(session->events.attrs[EVENT_SAMPLES].sample_stack_user % 8, 0);
}
END_TEST

/* Events are opened again only if they do not fit the rings. */
START_TEST(test_opened_once)
{
	struct err err = { 0 };
	unsigned int once;

	ck_assert_msg(open_with_budget(1000, &err) == 0, "%s", err.msg);
	once = kernel.opened;
	session_free(session);
	ck_assert_msg(open_with_budget(34, &err) == 0, "%s", err.msg);
	ck_assert_uint_eq(kernel.opened, 2 * once);
	session_free(session);
	ck_assert_msg(open_with_budget(33, &err) == 0, "%s", err.msg);
	ck_assert_uint_gt(kernel.opened, 3 * once);
	ck_assert_uint_le(kernel.opened, 4 * once);
}
END_TEST

START_TEST(test_error)
{
	struct err err = { 0 };

	ck_assert_msg(open_with_budget(4, &err) == 0, "%s", err.msg);
	ck_assert_int_eq(events_ring_error(&session->events, 1, -EPERM, &err), -EPERM);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot map a ring of 4 KiB on CPU 1: "));
	ck_assert_ptr_nonnull(strstr(err.msg, "kernel.perf_event_mlock_kb is 4 and RLIMIT_MEMLOCK 6"));
	ck_assert_int_eq(events_ring_error(&session->events, 1, -ENOMEM, &err), -ENOMEM);
	ck_assert_ptr_null(strstr(err.msg, "kernel."));
}
END_TEST

/* Without memory, no setting is blamed. */
START_TEST(test_no_memory)
{
	struct err err = { 0 }, why;

	kernel.code = -ENOMEM;
	ck_assert_msg(open_with_budget(18, &err) == 0, "%s", err.msg);
	assert_rings(ONLINE, 32 * KIB);
	ck_assert(events_small_rings(&session->events, &why));
	ck_assert_str_eq(why.msg, "ring buffers have only 32 KiB: Cannot allocate memory");
}
END_TEST

START_TEST(test_other_refusal)
{
	struct err err = { 0 };

	kernel.code = -EINVAL;
	ck_assert_int_eq(open_with_budget(16, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "cannot map a ring of 64 KiB on CPU 0: Invalid argument"));
}
END_TEST

/* The memory of a run's rings is not given to the ring of a CPU that comes online. */
START_TEST(test_late_cpu)
{
	struct err err = { 0 };
	size_t i;

	ck_assert_msg(open_with_budget(40, &err) == 0, "%s", err.msg);
	assert_rings(ONLINE, 64 * KIB);
	ck_assert_int_eq(session->env.source->start(session->source, &err), 0);
	ck_assert_int_eq(session->events.places[ONLINE].cpu, ONLINE);
	session->events.places[ONLINE].fd = (int)syscall(SYS_perf_event_open, &session->events.attrs[EVENT_SAMPLES]);
	ck_assert_int_eq(session->env.source->attach(session->source, ONLINE, &err), 0);
	ck_assert_uint_eq(locked(), 17 + 17 + 5);
	for (i = 0; i < CPUS; i++)
		ck_assert_uint_eq(session->events.places[i].ring_bytes, (i < ONLINE ? 64 : 16) * KIB);
	ck_assert_uint_eq(events_ring_sizes(&session->events).samples, 16 * KIB);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("small_rings");
	TCase *tc = tcase_create("small_rings");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_budget, 0, ARRAY_SIZE(budgets));
	tcase_add_loop_test(tc, test_few_samples, 0, ARRAY_SIZE(few_samples));
	tcase_add_loop_test(tc, test_both_budgets, 0, ARRAY_SIZE(both_budgets));
	tcase_add_loop_test(tc, test_dump, 0, ARRAY_SIZE(dumps));
	tcase_add_test(tc, test_opened_once);
	tcase_add_test(tc, test_error);
	tcase_add_test(tc, test_no_memory);
	tcase_add_test(tc, test_other_refusal);
	tcase_add_test(tc, test_late_cpu);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
