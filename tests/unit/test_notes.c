// SPDX-License-Identifier: Apache-2.0
/*
 * What a program in the kernel says of the samples it passes on, from the bytes in a ring to the rows: the rings are
 * files in memory, which the test writes to as the kernel does.
 */
#include "tests/unit/unit.h"

#include "backend-perfring/ring.h"
#include "bpf/layout.h"
#include "core/capture.h"
#include "core/compare.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#define RINGS     2
#define NOTES_ID  70 /* and the number of the ring */
#define SAMPLE_ID 50

/* ---- one note */

static const struct {
	const char *name;
	size_t size;
	struct bpf_note in;
	int rc, verdict;
} notes[] = {
	{ "counted", sizeof(struct bpf_note), { 0, BPF_COUNTED, 10, 11, "name" }, 0, NOTE_COUNTED },
	{ "filtered", sizeof(struct bpf_note), { 1, BPF_FILTERED, 10, 11, "name" }, 0, NOTE_FILTERED },
	{ "spilled", sizeof(struct bpf_note), { 1, BPF_SPILLED, 10, 11, "name" }, 0, NOTE_SPILLED },
	{ "left", sizeof(struct bpf_note), { 1, BPF_LEFT, 10, 11, "name" }, 0, NOTE_FILTERED },
	{ "with what the kernel adds", sizeof(struct bpf_note) + 4, { 0, BPF_COUNTED, 10, 11, "" }, 0, NOTE_COUNTED },
	{ "idle", sizeof(struct bpf_note), { 0, BPF_FILTERED, 0, 0, "swapper/0" }, 0, NOTE_FILTERED },
	{ "a full name", sizeof(struct bpf_note), { 0, BPF_COUNTED, 1, 1, "fifteen-letters" }, 0, NOTE_COUNTED },
	{ "short", sizeof(struct bpf_note) - 1, { 0, BPF_COUNTED, 10, 11, "name" }, -EBADMSG, 0 },
	{ "without a name", sizeof(struct bpf_note) - LAYOUT_COMM_LEN, { 0, BPF_COUNTED, 10, 11, "" }, -EBADMSG, 0 },
	{ "empty", 0, { 0 }, -EBADMSG, 0 },
	{ "of no set", sizeof(struct bpf_note), { BPF_SET_NONE, BPF_COUNTED, 10, 11, "name" }, -EBADMSG, 0 },
	{ "of any set", sizeof(struct bpf_note), { UINT32_MAX, BPF_COUNTED, 10, 11, "name" }, -EBADMSG, 0 },
	{ "unknown", sizeof(struct bpf_note), { 1, BPF_UNKNOWN, 10, 11, "name" }, 0, NOTE_UNKNOWN },
	{ "outside", sizeof(struct bpf_note), { 0, BPF_COUNTED, BPF_OUTSIDE, BPF_OUTSIDE, "o" }, 0, NOTE_COUNTED },
	{ "unnumbered", sizeof(struct bpf_note), { 0, BPF_UNNUMBERED, 0, 0, "name" }, 0, NOTE_UNNUMBERED },
	{ "no verdict", sizeof(struct bpf_note), { 0, BPF_UNNUMBERED + 1, 10, 11, "name" }, -EBADMSG, 0 },
	{ "any verdict", sizeof(struct bpf_note), { 0, UINT32_MAX, 10, 11, "name" }, -EBADMSG, 0 },
};

START_TEST(test_note)
{
	unsigned char *raw = malloc(notes[_i].size + 4); /* as in a record: behind four bytes */
	struct sample_note got = { 0 };
	unsigned char whole[sizeof(struct bpf_note) + 4] = { 0 };

	memcpy(whole, &notes[_i].in, sizeof(notes[_i].in));
	memcpy(raw + 4, whole, notes[_i].size);
	ck_assert_msg(backend_bpf.note(raw + 4, notes[_i].size, &got) == notes[_i].rc, "%s", notes[_i].name);
	if (!notes[_i].rc) {
		ck_assert_uint_eq(got.set, notes[_i].in.set);
		ck_assert_int_eq((int)got.verdict, notes[_i].verdict);
		ck_assert_int_eq(got.left, notes[_i].in.verdict == BPF_LEFT);
		ck_assert_int_eq(got.pid, (pid_t)notes[_i].in.pid);
		ck_assert_int_eq(got.tid, (pid_t)notes[_i].in.tid);
		ck_assert_mem_eq(got.comm, notes[_i].in.comm, COMM_LEN);
	}
	free(raw);
}
END_TEST

/* ---- rings */

static char *dir;
static struct host host;
static struct options options;
static struct capture cap;
static struct capture_event events[RINGS];
static struct perf_event_mmap_page *pages[RINGS];
static struct backend *reader;
static struct backend_ops program;
static size_t page_size;
static int joined[RINGS]; /* the event whose ring the notes of an event go to */

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	size_t i;
	int to;

	va_start(ap, request);
	to = va_arg(ap, int);
	va_end(ap);
	ck_assert_uint_eq(request, PERF_EVENT_IOC_SET_OUTPUT);
	for (i = 0; i < RINGS; i++)
		if (events[i].notes_fd == fd)
			joined[i] = to;
	return 0;
}

static void open_ring(size_t i)
{
	int fd = memfd_create("ring", MFD_CLOEXEC);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)(2 * page_size)), 0);
	pages[i] = mmap(NULL, 2 * page_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	ck_assert_ptr_ne(pages[i], MAP_FAILED);
	events[i] = (struct capture_event){ .fd = fd, .cpu = (int)i, .samples = true, .notes_fd = dup(fd) };
	events[i].notes_id = NOTES_ID + i;
}

static void setup(void)
{
	struct err err;
	size_t i;

	dir = unit_tmpdir();
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	host = (struct host){ .proc = dir, .sys = dir };
	options = (struct options){ .cpu = -1 };
	program = (struct backend_ops){ .name = "program", .in_kernel = true, .note = backend_bpf.note };
	cap = (struct capture){ .options = &options, .host = &host, .asked = 125, .signal_fd = -1 };
	cap.attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
	cap.attr.sample_id_all = 1;
	cap.notes_attr.sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	cap.ring_bytes = page_size;
	cap.events = events;
	cap.nr_events = RINGS;
	cap.backends[0].ops = &program;
	cap.tasks = tasks_new(&host);
	for (i = 0; i < ARRAY_SIZE(cap.sets); i++)
		cap.sets[i].stacks = stacks_new();
	ck_assert_int_eq(backend_perfring.open(&reader, &cap, &err), 0);
	for (i = 0; i < RINGS; i++) {
		open_ring(i);
		ck_assert_int_eq(backend_perfring.attach(reader, i, &err), 0);
		ck_assert_int_eq(joined[i], events[i].fd);
	}
}

static void teardown(void)
{
	size_t i;

	backend_perfring.close(reader);
	for (i = 0; i < RINGS; i++) {
		munmap(pages[i], 2 * page_size);
		close(events[i].fd);
		close(events[i].notes_fd);
	}
	for (i = 0; i < ARRAY_SIZE(cap.sets); i++) {
		stacks_free(cap.sets[i].stacks);
		compare_free(cap.sets[i].compare);
	}
	tasks_free(cap.tasks);
	unit_rmdir(dir);
}

static void put(size_t ring, const void *bytes, size_t len)
{
	unsigned char *data = (unsigned char *)pages[ring] + page_size;
	size_t i;

	ck_assert_uint_eq(len % 8, 0);
	for (i = 0; i < len; i++)
		data[(pages[ring]->data_head + i) % page_size] = ((const unsigned char *)bytes)[i];
	pages[ring]->data_head += len;
}

static uint64_t now; /* each record is later than the one before */

struct sample_record {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t nr, ips[2];
};

static void sample_of(size_t ring, uint64_t id, pid_t pid)
{
	struct sample_record r = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(r) },
				   .id = id,
				   .pid = (uint32_t)pid,
				   .tid = (uint32_t)pid,
				   .time = ++now,
				   .cpu = (uint32_t)ring,
				   .nr = 2,
				   .ips = { PERF_CONTEXT_USER, 0x401000 } };

	put(ring, &r, sizeof(r));
}

static void sample(size_t ring, pid_t pid)
{
	sample_of(ring, SAMPLE_ID + ring, pid);
}

struct note_record {
	struct perf_event_header header;
	uint64_t id;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint32_t raw_size;
	unsigned char raw[sizeof(struct bpf_note)];
	uint32_t padding; /* of the raw data, as the kernel has it */
};
_Static_assert(sizeof(struct note_record) % 8 == 0, "as a record is");

static void note_of(size_t ring, uint32_t verdict, uint32_t set, pid_t pid, const char *comm)
{
	struct bpf_note n = { .set = set, .verdict = verdict, .pid = (uint32_t)pid };
	struct note_record r = { .header = { PERF_RECORD_SAMPLE, 0, sizeof(r) },
				 .id = NOTES_ID + ring,
				 .time = ++now,
				 .raw_size = sizeof(r.raw) + sizeof(r.padding) };

	n.tid = n.pid;
	memcpy(n.comm, comm, strlen(comm));
	memcpy(r.raw, &n, sizeof(n));
	put(ring, &r, sizeof(r));
}

struct lost_record {
	struct perf_event_header header;
	uint64_t id, lost;
	uint32_t pid, tid;
	uint64_t time;
	uint32_t cpu, reserved;
	uint64_t identifier;
};

static void lose(size_t ring, uint64_t nr)
{
	struct lost_record r = {
		.header = { PERF_RECORD_LOST, 0, sizeof(r) }, .lost = nr, .time = ++now, .identifier = SAMPLE_ID
	};

	put(ring, &r, sizeof(r));
}

static void drain(void)
{
	struct err err;

	ck_assert_int_eq(backend_perfring.drain(reader, &err), 0);
}

static void end(unsigned int ended, unsigned int set, struct books *books)
{
	struct err err;

	cap.ended = ended;
	cap.set = set;
	*books = (struct books){ 0 };
	ck_assert_int_eq(backend_perfring.end(reader, &err), 0);
	backend_perfring.stats(reader, books);
}

static uint64_t value_of(unsigned int set, const char *comm, pid_t pid)
{
	struct stack_row row;
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < stacks_nr_rows(cap.sets[set].stacks); i++) {
		stacks_row(cap.sets[set].stacks, i, &row);
		if (!strcmp(row.comm, comm) && row.pid == pid)
			value += row.value;
	}
	return value;
}

/* Each ring has its own, also where they are read in turns, and where a note is read before its sample is there. */
START_TEST(test_pairs)
{
	struct books books;

	note_of(0, BPF_SPILLED, 0, 10, "ten");
	note_of(1, BPF_SPILLED, 0, 20, "twenty");
	drain();
	sample(1, 21); /* whatever ids the record has */
	sample(0, -1);
	note_of(0, BPF_SPILLED, 0, 30, "thirty");
	sample(0, 30);
	end(0, 0, &books);
	ck_assert_uint_eq(value_of(0, "ten", 10), 1);
	ck_assert_uint_eq(value_of(0, "twenty", 20), 1);
	ck_assert_uint_eq(value_of(0, "thirty", 30), 1);
	ck_assert_uint_eq(books.ring_samples, 3);
	ck_assert_uint_eq(books.counted_ring, 3);
	ck_assert_uint_eq(books.ring_records, 6);
	ck_assert_uint_eq(books.bad_records, 0);
	ck_assert_uint_eq(books.dead_tasks, 0);
}
END_TEST

/* A note serves once; one whose sample was lost serves none; the later of two serves. */
START_TEST(test_alone)
{
	struct books books;

	note_of(0, BPF_SPILLED, 0, 10, "once");
	sample(0, 10);
	sample(0, 11);
	note_of(0, BPF_SPILLED, 0, 12, "lost");
	lose(0, 1);
	sample(0, 13);
	note_of(0, BPF_SPILLED, 0, 14, "first");
	note_of(0, BPF_SPILLED, 0, 15, "second");
	sample(0, 15);
	lose(0, 3);
	note_of(0, BPF_SPILLED, 0, 16, "after");
	sample(0, 16);
	note_of(1, BPF_SPILLED, 0, 17, "last");
	end(0, 0, &books);
	ck_assert_uint_eq(value_of(0, "once", 10), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(value_of(0, ":13", 13), 1);
	ck_assert_uint_eq(value_of(0, "second", 15), 1);
	ck_assert_uint_eq(value_of(0, "after", 16), 1);
	ck_assert_uint_eq(stacks_total(cap.sets[0].stacks), 5);
	ck_assert_uint_eq(books.lost_records, 4);
	ck_assert_uint_eq(books.bad_records, 0);
}
END_TEST

/* A note that says nothing sensible is refused, and its sample is as without one. */
START_TEST(test_bad)
{
	struct books books;

	note_of(0, BPF_UNNUMBERED + 1, 0, 66, "bad");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 2, 66, "bad");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 0, 67, "good");
	note_of(0, BPF_SPILLED, UINT32_MAX, 66, "bad");
	sample(0, 10);
	sample_of(0, NOTES_ID, 66); /* not of that form */
	sample(0, 10);
	end(0, 0, &books);
	ck_assert_uint_eq(value_of(0, ":10", 10), 4);
	ck_assert_uint_eq(stacks_total(cap.sets[0].stacks), 4);
	ck_assert_uint_eq(books.ring_samples, 4);
	ck_assert_uint_eq(books.bad_records, 4);
	ck_assert_uint_eq(books.bad_samples, 0);
}
END_TEST

/* What another ring's notes are called means nothing in this one. */
START_TEST(test_other_id)
{
	struct books books;

	sample_of(0, NOTES_ID + 1, 10);
	end(0, 0, &books);
	ck_assert_uint_eq(books.ring_samples, 1);
	ck_assert_uint_eq(value_of(0, ":10", 10), 1);
}
END_TEST

/* The program says which interval; a sample of one that has been reported comes too late. */
START_TEST(test_intervals)
{
	struct books books;

	note_of(0, BPF_SPILLED, 0, 10, "a");
	sample(0, 10);
	drain();
	note_of(1, BPF_SPILLED, 1, 10, "b");
	sample(1, 10);
	note_of(0, BPF_SPILLED, 0, 10, "c");
	sample(0, 10);
	end(0, 1, &books);
	ck_assert_uint_eq(books.ring_samples, 2);
	ck_assert_uint_eq(books.counted_ring, 2);
	ck_assert_uint_eq(books.late_samples, 0);
	ck_assert_uint_eq(value_of(0, "a", 10), 1);
	ck_assert_uint_eq(value_of(0, "c", 10), 1);
	note_of(0, BPF_SPILLED, 0, 10, "late");
	sample(0, 10);
	sample(0, 11); /* without a note: of the interval that is on */
	end(1, 1, &books);
	ck_assert_uint_eq(books.ring_samples, 2);
	ck_assert_uint_eq(books.late_samples, 1);
	ck_assert_uint_eq(value_of(1, "b", 10), 1);
	ck_assert_uint_eq(value_of(1, ":11", 11), 1);
	ck_assert_uint_eq(stacks_total(cap.sets[0].stacks), 2);
	ck_assert_uint_eq(stacks_total(cap.sets[1].stacks), 2);
}
END_TEST

/* A ring that goes takes its note with it. */
START_TEST(test_detach)
{
	struct books books;
	struct err err;

	note_of(0, BPF_SPILLED, 0, 10, "ten");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 0, 11, "gone");
	ck_assert_int_eq(backend_perfring.detach(reader, 0, &err), 0);
	ck_assert_uint_eq(pages[0]->data_tail, pages[0]->data_head);
	ck_assert_int_eq(backend_perfring.attach(reader, 0, &err), 0);
	sample(0, 12);
	end(0, 0, &books);
	ck_assert_uint_eq(value_of(0, "ten", 10), 1);
	ck_assert_uint_eq(value_of(0, ":12", 12), 1);
	ck_assert_uint_eq(stacks_total(cap.sets[0].stacks), 2);
}
END_TEST

/* Whose it is only the reader can tell; it filters, too. In a pid namespace that may be so where there is no note. */
START_TEST(test_unnumbered)
{
	static const pid_t wanted[] = { 10, 11 };
	struct books books;

	cap.filter = (struct filter){ wanted, ARRAY_SIZE(wanted), false, false };
	cap.in_pidns = _i;
	note_of(0, BPF_UNNUMBERED, 0, 0, "not yet");
	sample(0, 10);
	note_of(1, BPF_UNNUMBERED, 0, 0, "not yet");
	sample(1, 20);
	note_of(0, BPF_UNNUMBERED, 0, 0, "not yet");
	sample(0, 0); /* with a user stack: outside */
	sample(0, 11);
	sample(0, 21);
	note_of(0, BPF_SPILLED, 0, 11, "eleven");
	sample(0, 11);
	end(0, 0, &books);
	ck_assert_uint_eq(value_of(0, ":10", 10), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(value_of(0, "eleven", 11), 1);
	ck_assert_uint_eq(stacks_total(cap.sets[0].stacks), _i ? 3 : 4);
	ck_assert_uint_eq(books.counted_ring, _i ? 3 : 4);
	ck_assert_uint_eq(books.filtered, _i ? 3 : 2);
	ck_assert_uint_eq(books.spilled_filtered, books.filtered);
	ck_assert_uint_eq(books.outside, 1);
	ck_assert_uint_eq(books.bad_records, 0);
}
END_TEST

/* --backend=both: what is counted in the kernel is in the reader's rows, and nowhere else. */
START_TEST(test_both)
{
	struct compare_counts counts;
	struct books books;

	cap.both = true;
	cap.sets[0].compare = compare_new(&cap.filter);
	note_of(0, BPF_COUNTED, 0, 10, ":10");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 0, 11, ":11");
	sample(0, 11);
	note_of(0, BPF_FILTERED, 0, 0, "swapper/0");
	sample(0, 12);
	note_of(0, BPF_COUNTED, 0, 13, "thirteen");
	sample(0, 13);
	sample(0, 14);
	end(0, 0, &books);
	compare_counts(cap.sets[0].compare, &counts);
	ck_assert_uint_eq(counts.compared, 4);
	ck_assert_uint_eq(counts.unpaired, 1);
	ck_assert_uint_eq(counts.different, 2); /* what was pending, too: this was the end */
	ck_assert_uint_eq(stacks_total(cap.sets[0].stacks), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(stacks_total(compare_rows(cap.sets[0].compare)), 5);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("notes");
	TCase *one = tcase_create("note"), *rings = tcase_create("rings");

	tcase_add_loop_test(one, test_note, 0, ARRAY_SIZE(notes));
	tcase_add_checked_fixture(rings, setup, teardown);
	tcase_add_test(rings, test_pairs);
	tcase_add_test(rings, test_alone);
	tcase_add_test(rings, test_bad);
	tcase_add_test(rings, test_other_id);
	tcase_add_test(rings, test_intervals);
	tcase_add_test(rings, test_detach);
	tcase_add_loop_test(rings, test_unnumbered, 0, 2);
	tcase_add_test(rings, test_both);
	suite_add_tcase(s, one);
	suite_add_tcase(s, rings);
	return unit_main(s);
}
