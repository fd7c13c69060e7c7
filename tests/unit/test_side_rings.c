// SPDX-License-Identifier: Apache-2.0
/*
 * A CPU with two rings, one for samples and one for tasks and mappings: the memory that each may use, their losses, and
 * records that two events have written. The rings are files in memory, to which the test writes like the kernel.
 */
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

#include <sys/mman.h>

enum { CPU_ID = 7, TARGET_ID = 8 };

#define KEPT_PAGES 512

enum ring_kind { SAMPLES, SIDE, NR };

static char *dir;
static struct host host;
static struct rig rig;
static struct event_place event;
static struct perf_event_mmap_page *pages[NR];
static struct source *reader;
static size_t page_size;
static uint64_t now;

static int open_ring(enum ring_kind kind)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)(2 * page_size)), 0);
	pages[kind] = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(pages[kind], MAP_FAILED);
	return fd;
}

static void setup(void)
{
	struct err err;

	dir = unit_tmpdir();
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	now = 0;
	host = (struct host){ .proc = dir, .sys = dir };
	rig_make(&rig, (struct request){ .host = &host, .sampling = { .event = event_default() }, .asked = 125 });
	rig.events.apart = true;
	rig.events.attrs[EVENT_SAMPLES].sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
	rig.events.attrs[EVENT_SAMPLES].sample_id_all = rig.events.attrs[EVENT_SIDE_BAND].sample_id_all = 1;
	rig.events.attrs[EVENT_SIDE_BAND].sample_type =
		PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER;
	rig.events.rings = (struct ring_sizes){ page_size, page_size };
	rig.events.kept_bytes_max = KEPT_PAGES * page_size;
	event = rig_place();
	event.fd = open_ring(SAMPLES);
	event.samples = true;
	event.side.fd = open_ring(SIDE);
	event.side.tasks_id = CPU_ID;
	rig.events.places = &event;
	rig.events.nr_places = 1;
	rig.sink.tasks = tasks_new(&host);
	rig.sink.sets[0].samples = rows_new();
	ck_assert_int_eq(source_rings.open(&reader, &rig.env, &err), 0);
	ck_assert_int_eq(source_rings.attach(reader, 0, &err), 0);
}

static void teardown(void)
{
	size_t i;

	source_rings.close(reader);
	for (i = 0; i < NR; i++)
		munmap(pages[i], 2 * page_size);
	close(event.fd);
	close(event.side.fd);
	rows_free(rig.sink.sets[0].samples);
	tasks_free(rig.sink.tasks);
	unit_rmdir(dir);
}

static size_t room(enum ring_kind kind)
{
	return page_size - (pages[kind]->data_head - pages[kind]->data_tail);
}

static void put(enum ring_kind kind, const void *bytes, size_t len)
{
	unsigned char *data = (unsigned char *)pages[kind] + page_size;
	size_t i;

	ck_assert_uint_le(len, room(kind));
	for (i = 0; i < len; i++)
		data[(pages[kind]->data_head + i) % page_size] = ((const unsigned char *)bytes)[i];
	__atomic_store_n(&pages[kind]->data_head, pages[kind]->data_head + len, __ATOMIC_RELEASE);
}

struct sample_record {
	struct perf_event_header header;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t nr, ips[2];
};

static void sample(pid_t pid)
{
	struct sample_record r = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(r) },
				   .pid = (uint32_t)pid,
				   .tid = (uint32_t)pid,
				   .time = ++now,
				   .nr = 2,
				   .ips = { PERF_CONTEXT_USER, 0x401000 } };

	put(SAMPLES, &r, sizeof(r));
}

/* The end of each record that is not a sample. */
struct sample_id {
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
};

struct task_record {
	struct perf_event_header header;
	uint32_t pid, ppid, tid, ptid;
	uint64_t time;
	struct sample_id id;
};

static void task(uint32_t type, pid_t pid, uint64_t writer)
{
	struct task_record r = { .header = { type, 0, sizeof(r) },
				 .pid = (uint32_t)pid,
				 .ppid = 1,
				 .tid = (uint32_t)pid,
				 .ptid = 1,
				 .id = { .identifier = writer } };

	r.time = r.id.time = ++now;
	put(SIDE, &r, sizeof(r));
}

struct lost_record {
	struct perf_event_header header;
	uint64_t of, lost;
	struct sample_id id;
};

/* The ring for samples has no identifiers. */
static void lose(enum ring_kind kind, uint64_t nr)
{
	struct lost_record r = { .lost = nr, .id = { .time = ++now } };
	size_t size = sizeof(r) - (kind == SAMPLES ? sizeof(r.id.identifier) : 0);

	r.header = (struct perf_event_header){ PERF_RECORD_LOST, 0, (uint16_t)size };
	put(kind, &r, size);
}

static int fetch(void)
{
	struct err err;

	return source_rings.fetch(reader, &err);
}

static void end(struct stats *stats)
{
	struct err err;

	*stats = (struct stats){ 0 };
	ck_assert_int_eq(source_rings.end(reader, &err), 0);
	source_rings.stats(reader, stats);
}

/* Fill more than half of the ring with samples, so that it is emptied. Return: how many were added */
static size_t fill_half(void)
{
	size_t nr = 0;

	for (; room(SAMPLES) >= page_size / 2; nr++)
		sample(10);
	return nr;
}

/* Fill the ring and have it emptied into memory until the memory is full. */
static size_t fill_memory(enum ring_kind kind)
{
	size_t nr = 0;

	for (;;) {
		while (room(kind) >= 128) {
			nr++;
			if (kind == SAMPLES)
				sample(10);
			else
				task(PERF_RECORD_FORK, 10, CPU_ID);
		}
		ck_assert_int_ge(fetch(), 0);
		if (room(kind) < 128)
			return nr;
		ck_assert_uint_lt(nr, 1000000);
	}
}

/* Three quarters are for samples. When samples have used all of theirs, tasks still have theirs, and the reverse. */
START_TEST(test_memory)
{
	const size_t record[NR] = { sizeof(struct sample_record), sizeof(struct task_record) };
	const size_t share[NR] = { KEPT_PAGES / 4 * 3, KEPT_PAGES / 4 }; /* in pages */
	enum ring_kind first = _i ? SIDE : SAMPLES, second = _i ? SAMPLES : SIDE;
	size_t nr[NR];
	struct stats stats;

	nr[first] = fill_memory(first);
	nr[second] = fill_memory(second);
	ck_assert_uint_ge(nr[first] * record[first], share[first] * page_size);
	ck_assert_uint_ge(nr[second] * record[second], share[second] * page_size);
	/* The last page that was moved to memory may exceed the limit, and another page is left in the ring. */
	ck_assert_uint_le(nr[first] * record[first], (share[first] + 2) * page_size);
	ck_assert_uint_le(nr[second] * record[second], (share[second] + 2) * page_size);
	ck_assert_int_eq(fetch(), 1); /* the reader has to read */
	end(&stats);
	ck_assert_uint_eq(stats.ring_samples, nr[SAMPLES]);
	ck_assert_uint_eq(stats.counted_ring, nr[SAMPLES]);
	ck_assert_uint_eq(stats.started, nr[SIDE]);
	ck_assert_uint_ge(rig.events.kept_bytes, (KEPT_PAGES - 2) * page_size);
	ck_assert_uint_eq(room(SAMPLES), page_size);
	ck_assert_uint_eq(room(SIDE), page_size);
	/* There is room again. */
	fill_half();
	ck_assert_int_eq(fetch(), 0);
	ck_assert_uint_eq(room(SAMPLES), page_size);
}
END_TEST

/* Samples may wait in a ring with much room; tasks may not. */
START_TEST(test_waits)
{
	while (room(SAMPLES) - sizeof(struct sample_record) >= page_size / 2) {
		sample(10);
		ck_assert_int_eq(fetch(), 0);
		ck_assert_uint_lt(room(SAMPLES), page_size);
	}
	ck_assert_uint_eq(fill_half(), 1);
	task(PERF_RECORD_FORK, 10, CPU_ID);
	ck_assert_int_eq(fetch(), 0);
	ck_assert_uint_eq(room(SAMPLES), page_size);
	ck_assert_uint_eq(room(SIDE), page_size);
}
END_TEST

static const struct {
	uint32_t type;
	uint64_t writers[4], tasks_id;
	uint64_t applied;
} twice[] = {
	{ PERF_RECORD_FORK, { CPU_ID }, CPU_ID, 1 },
	{ PERF_RECORD_FORK, { TARGET_ID, CPU_ID }, CPU_ID, 1 },
	{ PERF_RECORD_FORK, { CPU_ID, TARGET_ID, 9 }, CPU_ID, 1 },
	/* the same task again, whatever happened in between */
	{ PERF_RECORD_FORK, { CPU_ID, CPU_ID }, CPU_ID, 2 },
	{ PERF_RECORD_FORK, { TARGET_ID, CPU_ID, TARGET_ID, CPU_ID }, CPU_ID, 2 },
	/* the event of the CPU writes none */
	{ PERF_RECORD_FORK, { TARGET_ID }, 0, 1 },
	{ PERF_RECORD_FORK, { TARGET_ID, 9 }, 0, 2 },
};

START_TEST(test_written_twice)
{
	struct stats stats;
	size_t i;

	event.side.tasks_id = twice[_i].tasks_id;
	for (i = 0; i < ARRAY_SIZE(twice[_i].writers) && twice[_i].writers[i]; i++)
		task(twice[_i].type, 10, twice[_i].writers[i]);
	end(&stats);
	ck_assert_uint_eq(stats.started, twice[_i].applied);
	ck_assert_uint_eq(stats.bad_records, 0);
}
END_TEST

/* The same for the end of a task. A sample without a pid is of the task whose EXIT was the last on its CPU. */
START_TEST(test_ended_twice)
{
	struct row row;
	struct stats stats;

	task(PERF_RECORD_FORK, 10, CPU_ID);
	task(PERF_RECORD_EXIT, 10, _i ? TARGET_ID : CPU_ID);
	sample(-1);
	end(&stats);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 1);
	rows_get(rig.sink.sets[0].samples, 0, &row);
	ck_assert_int_eq(row.key.pid, _i ? -1 : 10);
}
END_TEST

/* Lost names are not lost samples, and the reverse; if a ring has both, either may be missing. */
static const struct {
	enum ring_kind from;
	bool apart, names;
} losses[] = {
	{ SAMPLES, true, false },
	{ SIDE, true, true },
	{ SAMPLES, false, true },
};

START_TEST(test_lost)
{
	bool side = losses[_i].from == SIDE;
	struct stats stats;

	rig.events.apart = losses[_i].apart;
	lose(losses[_i].from, 5);
	sample(10);
	end(&stats);
	ck_assert_uint_eq(stats.lost_records, 5);
	ck_assert_uint_eq(stats.lost_side_band, side ? 5 : 0);
	ck_assert_uint_eq(stats.lost_here, side ? 0 : 5);
	ck_assert_uint_eq(stats.counted_ring, 1);
	ck_assert_int_eq(rig.sink.gap, losses[_i].names);
}
END_TEST

/* A damaged record costs those behind it in the same reading, but neither earlier nor later ones, in either ring. */
START_TEST(test_damaged)
{
	const struct perf_event_header bad = { PERF_RECORD_SAMPLE, 0, 12 };
	enum ring_kind kind = _i ? SIDE : SAMPLES;
	struct stats stats;
	size_t nr;

	nr = fill_half();
	put(kind, &bad, sizeof(bad));
	fetch();
	ck_assert_uint_eq(room(SAMPLES), page_size);
	nr += fill_half();
	task(PERF_RECORD_FORK, 10, CPU_ID);
	fetch();
	nr += fill_half();
	put(kind, &bad, sizeof(bad));
	if (kind == SAMPLES)
		sample(10);
	else
		task(PERF_RECORD_FORK, 12, CPU_ID);
	fetch();
	ck_assert_uint_eq(room(SAMPLES), page_size);
	sample(10);
	task(PERF_RECORD_FORK, 11, CPU_ID);
	end(&stats);
	ck_assert_uint_eq(stats.counted_ring, nr + 1);
	ck_assert_uint_eq(stats.started, 2);
	ck_assert_uint_eq(stats.bad_records, 2);
}
END_TEST

/* A name comes before a later sample, whichever ring is emptied into memory first. */
START_TEST(test_order)
{
	struct stats stats;
	struct row row;
	struct {
		struct perf_event_header header;
		uint32_t pid, tid;
		char comm[8];
		struct sample_id id;
	} comm = { .header = { PERF_RECORD_COMM, 0, sizeof(comm) }, .pid = 10, .tid = 10, .comm = "early" };

	comm.id = (struct sample_id){ .time = ++now, .identifier = CPU_ID };
	if (_i & 1)
		put(SIDE, &comm, sizeof(comm));
	fill_half();
	if (_i & 2)
		fetch();
	if (!(_i & 1))
		put(SIDE, &comm, sizeof(comm));
	if (_i & 4)
		fetch();
	end(&stats);
	ck_assert_uint_eq(rows_nr(rig.sink.sets[0].samples), 1);
	rows_get(rig.sink.sets[0].samples, 0, &row);
	ck_assert_str_eq(row.key.comm, "early");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("side_rings");
	TCase *tc = tcase_create("side_rings");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_memory, 0, 2);
	tcase_add_test(tc, test_waits);
	tcase_add_loop_test(tc, test_written_twice, 0, ARRAY_SIZE(twice));
	tcase_add_loop_test(tc, test_ended_twice, 0, 2);
	tcase_add_loop_test(tc, test_lost, 0, (int)ARRAY_SIZE(losses));
	tcase_add_loop_test(tc, test_damaged, 0, 2);
	tcase_add_loop_test(tc, test_order, 0, 8);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
