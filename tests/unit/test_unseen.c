// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/tasks/filter.h"
#include "tests/unit/unit.h"

#include <sys/stat.h>

#define BYTES 4096

static char *dir;
static struct host host;

static void setup(void)
{
	static const char *const processes[] = { "1", "63", "64", "70", "1000" };
	char name[64];
	size_t i;

	dir = unit_tmpdir();
	unit_write(dir, "proc/sys/kernel/pid_max", "1024\n", 5);
	for (i = 0; i < ARRAY_SIZE(processes); i++) {
		snprintf(name, sizeof(name), "proc/%s/comm", processes[i]);
		unit_write(dir, name, "x\n", 2);
	}
	host = unit_host(dir);
}

static void teardown(void)
{
	unit_rmdir(dir);
}

/* Each process that existed and may be selected is taken once. */
static const struct {
	struct filter filter;
	pid_t there[8], not_there[8];
} taken[] = {
	{ { 0 }, { 1, 63, 64, 70, 1000 }, { 2, 65, 1024, 1025, 4000000, -1 } },
	{ { .ids = (pid_t[]){ 64, 70 }, .nr = 2 }, { 64, 70 }, { 1, 63, 1000 } },
	{ { .ids = (pid_t[]){ 64 }, .nr = 1, .by_tid = true }, { 1, 63, 64, 70, 1000 }, { 2 } },
	{ { .ids = (pid_t[]){ -5, 5000, 63 }, .nr = 3 }, { 63 }, { -5, 5000 } },
};

START_TEST(test_taken)
{
	struct unseen *u = unseen_new(&host, &taken[_i].filter);
	size_t i;

	ck_assert_ptr_nonnull(u);
	ck_assert(!unseen_take(u, 1));
	unseen_begin(u, &host);
	for (i = 0; taken[_i].not_there[i]; i++)
		ck_assert_msg(!unseen_take(u, taken[_i].not_there[i]), "%d", taken[_i].not_there[i]);
	for (i = 0; taken[_i].there[i]; i++) {
		ck_assert_msg(unseen_take(u, taken[_i].there[i]), "%d", taken[_i].there[i]);
		ck_assert_msg(!unseen_take(u, taken[_i].there[i]), "%d", taken[_i].there[i]);
	}
	ck_assert(!unseen_take(u, 0));
	ck_assert(!unseen_take(NULL, 1));
	ck_assert_int_eq(unseen_next(u), 0);
	ck_assert_int_eq(unseen_next(NULL), 0);
	unseen_delete(u);
}
END_TEST

/* The process ids of samples in a ring, as the kernel writes them. */
static unsigned char data[BYTES];
static struct perf_event_mmap_page page;

static void write_sample(uint32_t type, bool identifier, uint32_t pid)
{
	const uint64_t words[] = { 0, (uint64_t)7 << 32 | pid };
	struct perf_event_header h = { .type = type, .size = (uint16_t)(sizeof(h) + (identifier ? 16 : 8)) };

	memcpy(data + page.data_head, &h, sizeof(h));
	memcpy(data + page.data_head + sizeof(h), identifier ? words : words + 1, identifier ? 16 : 8);
	page.data_head += h.size;
}

START_TEST(test_look)
{
	struct events events = { .attrs[EVENT_SAMPLES].sample_type = _i ? PERF_SAMPLE_IDENTIFIER : 0, .nr_places = 2 };
	struct source_env env = { .events = &events };
	struct cpu_rings rings[2] = {
		[1].samples = { .page = &page, .data = data, .bytes = BYTES, .lock = PTHREAD_MUTEX_INITIALIZER }
	};
	struct source b = { .env = &env, .rings = rings };
	const struct filter all = { 0 };

	page = (struct perf_event_mmap_page){ 0 };
	ck_assert_int_eq(rings_look(&b), -1);
	b.unseen = unseen_new(&host, &all);
	ck_assert_ptr_nonnull(b.unseen);
	unseen_begin(b.unseen, &host);
	ck_assert_int_eq(rings_look(&b), 0);
	write_sample(PERF_RECORD_SAMPLE, _i, 64);
	write_sample(PERF_RECORD_SAMPLE, _i, 64);
	write_sample(PERF_RECORD_COMM, _i, 63);
	write_sample(PERF_RECORD_SAMPLE, _i, 2);
	write_sample(PERF_RECORD_SAMPLE, _i, 0);
	write_sample(PERF_RECORD_SAMPLE, _i, (uint32_t)-1);
	write_sample(PERF_RECORD_SAMPLE, _i, 1000);
	ck_assert_int_eq(rings_look(&b), 1);
	ck_assert_int_eq(rings_look(&b), 0);
	ck_assert_int_eq(unseen_next(b.unseen), 64);
	ck_assert_int_eq(unseen_next(b.unseen), 2);
	ck_assert_int_eq(unseen_next(b.unseen), 1000);
	ck_assert_int_eq(unseen_next(b.unseen), 0);
	ck_assert(unseen_take(b.unseen, 64));
	ck_assert(!unseen_take(b.unseen, 2)); /* it is new */
	write_sample(PERF_RECORD_SAMPLE, _i, 63);
	ck_assert_int_eq(rings_look(&b), 1);
	ck_assert_int_eq(unseen_next(b.unseen), 63);
	unseen_delete(b.unseen);
}
END_TEST

/* Samples of processes that are not wanted are passed over. */
START_TEST(test_wanted)
{
	struct events events = { .nr_places = 1 };
	struct source_env env = { .events = &events };
	struct cpu_rings rings[] = {
		{ .samples = { .page = &page, .data = data, .bytes = BYTES, .lock = PTHREAD_MUTEX_INITIALIZER } }
	};
	const struct filter two = { .ids = (pid_t[]){ 70, 300 }, .nr = 2 },
			    threads = { .ids = (pid_t[]){ 70 }, .nr = 1, .by_tid = true };
	struct source b = { .env = &env, .rings = rings, .unseen = unseen_new(&host, _i ? &threads : &two) };

	page = (struct perf_event_mmap_page){ 0 };
	ck_assert_ptr_nonnull(b.unseen);
	write_sample(PERF_RECORD_SAMPLE, false, 64);
	ck_assert_int_eq(rings_look(&b), _i);
	write_sample(PERF_RECORD_SAMPLE, false, 70);
	ck_assert_int_eq(rings_look(&b), 1);
	ck_assert_int_eq(unseen_next(b.unseen), _i ? 64 : 70);
	unseen_delete(b.unseen);
}
END_TEST

/* More processes than the list for the reader holds: the reader finds the others when it reads their samples. */
START_TEST(test_many)
{
	struct events events = { .nr_places = 1 };
	struct source_env env = { .events = &events };
	struct cpu_rings rings[] = {
		{ .samples = { .page = &page, .data = data, .bytes = BYTES, .lock = PTHREAD_MUTEX_INITIALIZER } }
	};
	pid_t ids[100], pid;
	const struct filter some = { .ids = ids, .nr = ARRAY_SIZE(ids) };
	struct source b = { .env = &env, .rings = rings, .unseen = unseen_new(&host, &some) };
	size_t i;

	page = (struct perf_event_mmap_page){ 0 };
	ck_assert_ptr_nonnull(b.unseen);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		ids[i] = (pid_t)(i + 200);
	unseen_begin(b.unseen, &host);
	for (i = 0; i < ARRAY_SIZE(ids); i++)
		write_sample(PERF_RECORD_SAMPLE, false, (uint32_t)ids[i]);
	ck_assert_int_eq(rings_look(&b), 1);
	for (i = 0; (pid = unseen_next(b.unseen)); i++)
		ck_assert_int_eq(pid, ids[i]);
	ck_assert_uint_gt(i, 10);
	for (; i < ARRAY_SIZE(ids); i++)
		ck_assert(unseen_take(b.unseen, ids[i]));
	unseen_delete(b.unseen);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unseen");
	TCase *tc = tcase_create("unseen");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_taken, 0, ARRAY_SIZE(taken));
	tcase_add_loop_test(tc, test_look, 0, 2);
	tcase_add_loop_test(tc, test_wanted, 0, 2);
	tcase_add_test(tc, test_many);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
