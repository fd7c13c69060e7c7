// SPDX-License-Identifier: Apache-2.0
/*
 * Notes of a BPF program about the samples that it passes on, from the bytes in a ring to the rows. The rings are files
 * in memory, to which the test writes like the kernel.
 */
#include "backend-perfring/ring/ring.h"
#include "bpf/layout.h"
#include "core/rows/compare.h"
#include "tests/unit/rig.h"
#include "tests/unit/unit.h"

#include <stdarg.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>

#define RINGS     2
#define NOTES_ID  70 /* plus the number of the ring */
#define SAMPLE_ID 50
#define AWAY_ID   90  /* of notes about switches, plus the number of the ring */
#define SWITCH_ID 100 /* of the first switch event; the others are above it */

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
	{ "with the kernel's padding", sizeof(struct bpf_note) + 4, { 0, BPF_COUNTED, 10, 11, "" }, 0, NOTE_COUNTED },
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
	unsigned char *raw = malloc(notes[_i].size + 4); /* as in a record: after four bytes */
	struct sample_note got = { 0 };
	unsigned char whole[sizeof(struct bpf_note) + 4] = { 0 };

	memcpy(whole, &notes[_i].in, sizeof(notes[_i].in));
	memcpy(raw + 4, whole, notes[_i].size);
	ck_assert_msg(counter_bpf.note(raw + 4, notes[_i].size, &got) == notes[_i].rc, "%s", notes[_i].name);
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
static struct rig rig;
static struct event_place events[RINGS];
static struct perf_event_mmap_page *pages[RINGS];
static struct source *reader;
static struct counter_ops program;
static size_t page_size;
static int joined[RINGS]; /* by ring: the event into whose ring its notes go */
static unsigned int nr_joined;

/* The losses of an event, by its descriptor: only these events have losses. */
enum { FIRST_FD = 500, MAX_LOSING = 16 };

static uint64_t lost_by[MAX_LOSING];
static void (*meanwhile)(void); /* called before the next request for the losses */

ssize_t read(int fd, void *buf, size_t size)
{
	void (*first)(void) = meanwhile;
	struct event_counts counts = { 0 };

	if (fd < FIRST_FD || fd >= FIRST_FD + MAX_LOSING)
		return syscall(SYS_read, fd, buf, size);
	meanwhile = NULL;
	if (first)
		first();
	ck_assert_uint_ge(size, sizeof(counts));
	counts.lost = lost_by[fd - FIRST_FD];
	memcpy(buf, &counts, sizeof(counts));
	return sizeof(counts);
}

int ioctl(int fd, unsigned long request, ...)
{
	va_list ap;
	size_t i;
	int to;

	va_start(ap, request);
	to = va_arg(ap, int);
	va_end(ap);
	ck_assert_uint_eq(request, PERF_EVENT_IOC_SET_OUTPUT);
	nr_joined++;
	for (i = 0; i < RINGS; i++)
		if (events[i].notes[EVENT_SAMPLES].fd == fd)
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
	events[i] = rig_place();
	events[i].fd = fd;
	events[i].cpu = (int)i;
	events[i].samples = true;
	events[i].notes[EVENT_SAMPLES] = (struct joined_event){ dup(fd), EVENT_NOTES, NOTES_ID + i };
}

static void prepare(void)
{
	size_t i;

	dir = unit_tmpdir();
	page_size = (size_t)sysconf(_SC_PAGESIZE);
	host = (struct host){ .proc = dir, .sys = dir };
	program = (struct counter_ops){ .note = counter_bpf.note };
	rig_make(&rig, (struct request){ .host = &host, .sampling = { .event = event_default() }, .asked = 125 });
	rig.events.attrs[EVENT_SAMPLES].sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN;
	rig.events.attrs[EVENT_SAMPLES].sample_id_all = 1;
	rig.events.attrs[EVENT_NOTES].sample_type =
		PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_RAW;
	rig.events.rings.samples = page_size;
	rig.events.places = events;
	rig.events.nr_places = RINGS;
	rig.env.counters[0].ops = &program;
	rig.env.nr_counters = 1;
	rig.sink.tasks = tasks_new(&host);
	for (i = 0; i < ARRAY_SIZE(rig.sink.sets); i++)
		rig.sink.sets[i].samples = rows_new();
	for (i = 0; i < RINGS; i++)
		open_ring(i);
}

static void setup(void)
{
	struct err err;
	size_t i;

	prepare();
	ck_assert_int_eq(source_rings.open(&reader, &rig.env, &err), 0);
	for (i = 0; i < RINGS; i++) {
		ck_assert_int_eq(source_rings.attach(reader, i, &err), 0);
		ck_assert_int_eq(joined[i], events[i].fd);
	}
}

static void teardown(void)
{
	size_t i;

	source_rings.close(reader);
	for (i = 0; i < RINGS; i++) {
		munmap(pages[i], 2 * page_size);
		close(events[i].fd);
		close(events[i].notes[EVENT_SAMPLES].fd);
	}
	for (i = 0; i < ARRAY_SIZE(rig.sink.sets); i++) {
		rows_free(rig.sink.sets[i].samples);
		compare_free(rig.sink.sets[i].compare);
	}
	tasks_free(rig.sink.tasks);
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
	uint32_t padding; /* of the raw data, as in the kernel's format */
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

	ck_assert_int_eq(source_rings.drain(reader, &err), 0);
}

static void end(unsigned int ended, unsigned int set, struct stats *stats)
{
	struct err err;

	rig.sink.ended = ended;
	rig.sink.set = set;
	*stats = (struct stats){ 0 };
	ck_assert_int_eq(source_rings.end(reader, &err), 0);
	source_rings.stats(reader, stats);
}

static uint64_t value_of(unsigned int set, const char *comm, pid_t pid)
{
	struct row row;
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < rows_nr(rig.sink.sets[set].samples); i++) {
		rows_get(rig.sink.sets[set].samples, i, &row);
		if (!strcmp(row.key.comm, comm) && row.key.pid == pid)
			value += row.value;
	}
	return value;
}

/* Each ring keeps its own note, also if rings are read in turns, and if a note is read before its sample is there. */
START_TEST(test_pairs)
{
	struct stats stats;

	note_of(0, BPF_SPILLED, 0, 10, "ten");
	note_of(1, BPF_SPILLED, 0, 20, "twenty");
	drain();
	sample(1, 21); /* the ids in the record do not matter */
	sample(0, -1);
	note_of(0, BPF_SPILLED, 0, 30, "thirty");
	sample(0, 30);
	end(0, 0, &stats);
	ck_assert_uint_eq(value_of(0, "ten", 10), 1);
	ck_assert_uint_eq(value_of(0, "twenty", 20), 1);
	ck_assert_uint_eq(value_of(0, "thirty", 30), 1);
	ck_assert_uint_eq(stats.ring_samples, 3);
	ck_assert_uint_eq(stats.counted_ring, 3);
	ck_assert_uint_eq(stats.ring_records, 6);
	ck_assert_uint_eq(stats.bad_records, 0);
	ck_assert_uint_eq(stats.dead_tasks, 0);
}
END_TEST

/* A note is used once. A note whose sample was lost is not used; the later of two is. */
START_TEST(test_alone)
{
	struct stats stats;

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
	end(0, 0, &stats);
	ck_assert_uint_eq(value_of(0, "once", 10), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(value_of(0, ":13", 13), 1);
	ck_assert_uint_eq(value_of(0, "second", 15), 1);
	ck_assert_uint_eq(value_of(0, "after", 16), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 5);
	ck_assert_uint_eq(stats.lost_records, 4);
	ck_assert_uint_eq(stats.bad_records, 0);
}
END_TEST

/* An invalid note is refused, and its sample is treated as without a note. */
START_TEST(test_bad)
{
	struct stats stats;

	note_of(0, BPF_UNNUMBERED + 1, 0, 66, "bad");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 2, 66, "bad");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 0, 67, "good");
	note_of(0, BPF_SPILLED, UINT32_MAX, 66, "bad");
	sample(0, 10);
	sample_of(0, NOTES_ID, 66); /* not a note of that kind */
	sample(0, 10);
	end(0, 0, &stats);
	ck_assert_uint_eq(value_of(0, ":10", 10), 4);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 4);
	ck_assert_uint_eq(stats.ring_samples, 4);
	ck_assert_uint_eq(stats.bad_records, 4);
	ck_assert_uint_eq(stats.bad_samples, 0);
}
END_TEST

/* The id of another ring's notes means nothing in this ring. */
START_TEST(test_other_id)
{
	struct stats stats;

	sample_of(0, NOTES_ID + 1, 10);
	end(0, 0, &stats);
	ck_assert_uint_eq(stats.ring_samples, 1);
	ck_assert_uint_eq(value_of(0, ":10", 10), 1);
}
END_TEST

/* The note has the interval of its sample; a sample of a reported interval comes too late. */
START_TEST(test_intervals)
{
	struct stats stats;

	note_of(0, BPF_SPILLED, 0, 10, "a");
	sample(0, 10);
	drain();
	note_of(1, BPF_SPILLED, 1, 10, "b");
	sample(1, 10);
	note_of(0, BPF_SPILLED, 0, 10, "c");
	sample(0, 10);
	end(0, 1, &stats);
	ck_assert_uint_eq(stats.ring_samples, 2);
	ck_assert_uint_eq(stats.counted_ring, 2);
	ck_assert_uint_eq(stats.late_samples, 0);
	ck_assert_uint_eq(value_of(0, "a", 10), 1);
	ck_assert_uint_eq(value_of(0, "c", 10), 1);
	note_of(0, BPF_SPILLED, 0, 10, "late");
	sample(0, 10);
	sample(0, 11); /* without a note: the current interval */
	end(1, 1, &stats);
	ck_assert_uint_eq(stats.ring_samples, 2);
	ck_assert_uint_eq(stats.late_samples, 1);
	ck_assert_uint_eq(value_of(1, "b", 10), 1);
	ck_assert_uint_eq(value_of(1, ":11", 11), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 2);
	ck_assert_uint_eq(rows_total(rig.sink.sets[1].samples), 2);
}
END_TEST

/* When a ring is detached, its note is dropped. */
START_TEST(test_detach)
{
	struct stats stats;
	struct err err;

	note_of(0, BPF_SPILLED, 0, 10, "ten");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 0, 11, "gone");
	ck_assert_int_eq(source_rings.detach(reader, 0, &err), 0);
	ck_assert_uint_eq(pages[0]->data_tail, pages[0]->data_head);
	ck_assert_int_eq(source_rings.attach(reader, 0, &err), 0);
	sample(0, 12);
	end(0, 0, &stats);
	ck_assert_uint_eq(value_of(0, "ten", 10), 1);
	ck_assert_uint_eq(value_of(0, ":12", 12), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 2);
}
END_TEST

/*
 * The program could not find the ids of the task, so the reader filters the sample. In a PID namespace it also filters
 * samples without a note.
 */
START_TEST(test_unnumbered)
{
	static const pid_t wanted[] = { 10, 11 };
	struct stats stats;

	rig.request.filter = (struct filter){ wanted, ARRAY_SIZE(wanted), false, false };
	rig.request.in_pidns = _i;
	note_of(0, BPF_UNNUMBERED, 0, 0, "not yet");
	sample(0, 10);
	note_of(1, BPF_UNNUMBERED, 0, 0, "not yet");
	sample(1, 20);
	note_of(0, BPF_UNNUMBERED, 0, 0, "not yet");
	sample(0, 0); /* with a user stack: a task outside */
	sample(0, 11);
	sample(0, 21);
	note_of(0, BPF_SPILLED, 0, 11, "eleven");
	sample(0, 11);
	end(0, 0, &stats);
	ck_assert_uint_eq(value_of(0, ":10", 10), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(value_of(0, "eleven", 11), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), _i ? 3 : 4);
	ck_assert_uint_eq(stats.counted_ring, _i ? 3 : 4);
	ck_assert_uint_eq(stats.filtered, _i ? 3 : 2);
	ck_assert_uint_eq(stats.spilled_filtered, stats.filtered);
	ck_assert_uint_eq(stats.outside, 1);
	ck_assert_uint_eq(stats.bad_records, 0);
}
END_TEST

/* --backend=both: samples counted in the kernel are in the reader's rows, and nowhere else. */
START_TEST(test_both)
{
	struct compare_counts counts;
	struct stats stats;

	rig.request.both = true;
	rig.sink.sets[0].compare = compare_new(&rig.request.filter);
	note_of(0, BPF_COUNTED, 0, 10, ":10");
	sample(0, 10);
	note_of(0, BPF_SPILLED, 0, 11, ":11");
	sample(0, 11);
	note_of(0, BPF_FILTERED, 0, 0, "swapper/0");
	sample(0, 12);
	note_of(0, BPF_COUNTED, 0, 13, "thirteen");
	sample(0, 13);
	sample(0, 14);
	end(0, 0, &stats);
	compare_counts(rig.sink.sets[0].compare, &counts);
	ck_assert_uint_eq(counts.compared, 4);
	ck_assert_uint_eq(counts.unpaired, 1);
	ck_assert_uint_eq(counts.different, 2); /* the pending one, too: this was the end */
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(rows_total(compare_rows(rig.sink.sets[0].compare)), 5);
}
END_TEST

/* ---- samples and switches in one ring */

/* Numbers of switch events of threads: many, or a few. */
enum { MANY = 900, FEW = 3 };

/* @nr: events beside that of CPU 0 */
static void setup_kinds(enum switch_source switches, bool in_kernel, size_t nr)
{
	struct err err;
	size_t i;

	prepare();
	rig.request.off_cpu = (struct off_cpu){ .wanted = true, .max_ns = UINT64_MAX };
	rig.events.switches = switches;
	rig.events.sched_switch = (struct sched_switch){ 1, { 0, 16 }, { 16, 4 }, { 24, 8 }, { 20, 4 } };
	rig.events.attrs[EVENT_SWITCHES] = rig.events.attrs[EVENT_SAMPLES];
	rig.events.attrs[EVENT_SWITCHES].sample_type |= PERF_SAMPLE_RAW;
	rig.events.attrs[EVENT_SWITCH_NOTES] = rig.events.attrs[EVENT_SWITCHES];
	rig.env.counters[0].ops = &program;
	rig.env.counters[1].ops = &counter_bpf_switches;
	rig.env.nr_counters = in_kernel ? 2 : 0;
	for (i = 0; i < ARRAY_SIZE(rig.sink.sets); i++) {
		rig.sink.sets[i].intervals = rows_new();
		rig.sink.sets[i].ring_intervals = in_kernel ? rows_new() : NULL;
	}
	for (i = 0; i < RINGS; i++)
		events[i].notes[EVENT_SWITCHES] =
			(struct joined_event){ dup(events[i].fd), EVENT_SWITCH_NOTES, AWAY_ID + i };
	/* In no order, with sampling events in between. */
	events[0].more = calloc(nr, sizeof(*events[0].more));
	events[0].nr_more = nr;
	for (i = 0; i < nr; i++)
		events[0].more[i] = i % 3 == 1 ? (struct joined_event){ FIRST_FD + MAX_LOSING, EVENT_SAMPLES, 0 }
					       : (struct joined_event){ FIRST_FD + MAX_LOSING, EVENT_SWITCHES,
									SWITCH_ID + 10 * (i * 7 % nr) };
	memset(lost_by, 0, sizeof(lost_by));
	nr_joined = 0;
	now = 0;
	ck_assert_int_eq(source_rings.open(&reader, &rig.env, &err), 0);
	for (i = 0; i < RINGS; i++)
		ck_assert_int_eq(source_rings.attach(reader, i, &err), 0);
	ck_assert_uint_eq(nr_joined, RINGS * MEASURED_NR + nr);
}

static void teardown_kinds(void)
{
	size_t i;

	for (i = 0; i < RINGS; i++)
		close(events[i].notes[EVENT_SWITCHES].fd);
	for (i = 0; i < ARRAY_SIZE(rig.sink.sets); i++) {
		rows_free(rig.sink.sets[i].intervals);
		rows_free(rig.sink.sets[i].ring_intervals);
	}
	free(events[0].more);
	teardown();
}

/* A record with stacks and raw data. */
static void put_raw(size_t ring, uint64_t id, pid_t pid, const void *raw, uint32_t size)
{
	struct {
		struct sample_record sample;
		uint32_t raw_size;
		unsigned char raw[100];
	} r = { .sample.id = id,
		.sample.pid = (uint32_t)pid,
		.sample.tid = (uint32_t)pid,
		.sample.time = ++now,
		.sample.cpu = (uint32_t)ring,
		.sample.nr = 2,
		.sample.ips = { PERF_CONTEXT_USER, 0x401000 },
		.raw_size = size + 4 };
	size_t whole = sizeof(r.sample) + sizeof(r.raw_size) + r.raw_size;

	ck_assert_uint_le(size + 4, sizeof(r.raw));
	memcpy(r.raw, raw, size);
	r.sample.header = (struct perf_event_header){ PERF_RECORD_SAMPLE, 0, (uint16_t)whole };
	put(ring, &r, whole);
}

static void switched(size_t ring, uint64_t id, int from, int to)
{
	const struct {
		char comm[16];
		int32_t prev, next;
		uint64_t state;
	} raw = { "worker", from, to, 1 };

	put_raw(ring, id, from, &raw, sizeof(raw));
}

static void away_note(size_t ring, uint64_t id, uint32_t kind, uint32_t thread, uint64_t ns, uint32_t set)
{
	struct bpf_switch_note n = { .kind = kind, .id = thread, .ns = ns, .who.set = set };

	if (kind == BPF_SWITCH_BEGIN)
		n.who = (struct bpf_note){ set, BPF_SPILLED, thread, thread, "away" };
	put_raw(ring, id, (pid_t)thread, &n, sizeof(n));
}

static bool is_switch_id(uint64_t id)
{
	size_t i;

	for (i = 0; i < events[0].nr_more; i++)
		if (events[0].more[i].id == id)
			return true;
	return false;
}

/* The id alone decides: all ids of switch events, and no others, however many there are. */
START_TEST(test_ids)
{
	uint64_t switches = 0, samples = 0, id;
	size_t nr = _i ? MANY : FEW, i;
	struct stats stats;

	setup_kinds(SWITCHES_BY_TRACEPOINT, false, nr);
	for (i = 0; i < nr; i++) {
		id = SWITCH_ID + 10 * i;
		if (is_switch_id(id)) {
			switched(0, id, switches % 2 ? 20 : 10, switches % 2 ? 10 : 20);
			switches++;
		} else {
			sample_of(0, id, 10);
			samples++;
		}
		sample_of(0, id + 1, 10);
		sample_of(0, id - 1, 10);
		samples += 2;
		drain();
	}
	sample(0, 10);
	sample_of(0, 0, 10); /* an id of no switch event */
	sample_of(0, UINT64_MAX, 10);
	sample_of(1, SWITCH_ID, 10); /* the id of another ring */
	samples += 4;
	end(0, 0, &stats);
	ck_assert_uint_eq(switches, nr - (nr + 1) / 3);
	ck_assert_uint_eq(stats.ring_samples, samples);
	ck_assert_uint_eq(stats.counted_ring, samples);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), samples);
	ck_assert_uint_eq(stats.intervals_begun, switches);
	ck_assert_uint_eq(stats.intervals_charged, switches - 1);
	ck_assert_uint_eq(stats.intervals_open, 1);
	ck_assert_uint_eq(stats.bad_records, 0);
	ck_assert_uint_eq(stats.ring_records, samples + switches);
	teardown_kinds();
}
END_TEST

/* A record is decoded as its own kind or not at all, and not counted as the other. */
START_TEST(test_bad_switch)
{
	struct stats stats;

	setup_kinds(SWITCHES_BY_TRACEPOINT, false, FEW);
	sample_of(0, SWITCH_ID, 10); /* without raw data */
	put_raw(0, SWITCH_ID, 10, "shorter", 8);
	sample(0, 10);
	end(0, 0, &stats);
	ck_assert_uint_eq(stats.bad_records, 2);
	ck_assert_uint_eq(stats.bad_samples, 0);
	ck_assert_uint_eq(stats.ring_samples, 1);
	ck_assert_uint_eq(stats.intervals_begun, 0);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].intervals), 0);
	teardown_kinds();
}
END_TEST

/* A ring that is attached again belongs to other events. */
START_TEST(test_ids_anew)
{
	struct stats stats;
	struct err err;

	setup_kinds(SWITCHES_BY_TRACEPOINT, false, FEW);
	switched(0, SWITCH_ID, 10, 20);
	ck_assert_int_eq(source_rings.detach(reader, 0, &err), 0);
	events[0].nr_more = 1;
	events[0].more[0].id = 5;
	ck_assert_int_eq(source_rings.attach(reader, 0, &err), 0);
	sample_of(0, SWITCH_ID, 10);
	switched(0, 5, 20, 30);
	end(0, 0, &stats);
	ck_assert_uint_eq(stats.intervals_begun, 2);
	ck_assert_uint_eq(stats.ring_samples, 1);
	ck_assert_uint_eq(stats.bad_records, 0);
	teardown_kinds();
}
END_TEST

/* A note about a switch between a note about a sample and that sample does not affect them. */
START_TEST(test_two_kinds)
{
	struct stats stats;

	setup_kinds(SWITCHES_BY_PROGRAM, true, 0);
	note_of(0, BPF_SPILLED, 0, 10, "ten");
	away_note(0, AWAY_ID, BPF_SWITCH_BEGIN, 7, 1000, 0);
	sample(0, 10);
	away_note(1, AWAY_ID + 1, BPF_SWITCH_BEGIN, 8, 2000, 0);
	note_of(1, BPF_SPILLED, 0, 20, "twenty");
	sample(1, 20);
	away_note(0, AWAY_ID, BPF_SWITCH_END, 8, 5000, 0); /* on another CPU */
	end(0, 0, &stats);
	ck_assert_uint_eq(value_of(0, "ten", 10), 1);
	ck_assert_uint_eq(value_of(0, "twenty", 20), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 2);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].intervals), 3000);
	ck_assert_uint_eq(stats.ring_samples, 2);
	ck_assert_uint_eq(stats.counted_ring, 2);
	ck_assert_uint_eq(stats.intervals_received, 2);
	ck_assert_uint_eq(stats.intervals_charged, 1);
	ck_assert_uint_eq(stats.intervals_open, 1);
	ck_assert_uint_eq(stats.bad_records, 0);
	teardown_kinds();
}
END_TEST

/* The two kinds are not confused, nor records of other rings or intervals. */
START_TEST(test_bad_kinds)
{
	struct stats stats;

	setup_kinds(SWITCHES_BY_PROGRAM, true, 0);
	away_note(0, NOTES_ID, BPF_SWITCH_BEGIN, 7, 1000, 0);     /* not a note of that kind */
	sample_of(0, AWAY_ID, 66);                                /* the same */
	away_note(0, AWAY_ID, BPF_SWITCH_CHARGE + 1, 7, 1000, 0); /* no such kind */
	away_note(0, AWAY_ID, BPF_SWITCH_BEGIN, 0, 1000, 0);      /* the idle task */
	away_note(0, AWAY_ID, BPF_SWITCH_BEGIN, 7, 1000, 9);      /* no such set */
	sample_of(1, AWAY_ID, 11);                                /* of another ring */
	away_note(0, AWAY_ID, BPF_SWITCH_BEGIN, 7, 1000, 1);      /* too late */
	sample(0, 10);
	end(0, 0, &stats);
	ck_assert_uint_eq(stats.bad_records, 5);
	ck_assert_uint_eq(stats.bad_samples, 0);
	ck_assert_uint_eq(stats.late_samples, 0);
	ck_assert_uint_eq(stats.intervals_received, 0);
	ck_assert_uint_eq(stats.ring_samples, 2);
	ck_assert_uint_eq(value_of(0, ":10", 10), 1);
	ck_assert_uint_eq(value_of(0, ":11", 11), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].intervals), 0);
	teardown_kinds();
}
END_TEST

/* --backend=both: all four kinds in one ring. A switch that the program has not seen does not count. */
START_TEST(test_four_kinds)
{
	struct compare_counts counts;
	struct stats stats;

	setup_kinds(SWITCHES_BY_TRACEPOINT, true, FEW);
	rig.request.both = true;
	rig.sink.sets[0].compare = compare_new(&rig.request.filter);
	away_note(0, AWAY_ID, BPF_SWITCH_SEEN, 20, 1000, 0);
	note_of(0, BPF_COUNTED, 0, 10, ":10");
	switched(0, SWITCH_ID, 10, 20);
	sample(0, 10);
	switched(0, SWITCH_ID, 40, 50); /* not seen by the program */
	away_note(0, AWAY_ID, BPF_SWITCH_SEEN, 10, 3000, 0);
	switched(0, SWITCH_ID, 20, 10);
	end(0, 0, &stats);
	compare_counts(rig.sink.sets[0].compare, &counts);
	ck_assert_uint_eq(counts.compared, 1);
	ck_assert_uint_eq(counts.unpaired, 0);
	ck_assert_uint_eq(counts.different, 0);
	ck_assert_uint_eq(rows_total(compare_rows(rig.sink.sets[0].compare)), 1);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].samples), 0);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].intervals), 0);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].ring_intervals), 2000);
	ck_assert_uint_eq(stats.ring_samples, 1);
	ck_assert_uint_eq(stats.intervals_received, 0);
	ck_assert_uint_eq(stats.bad_records, 0);
	teardown_kinds();
}
END_TEST

/*
 * The clock goes backwards between two records of one switch. With both backends, if the note seemed to come
 * after its switch, the switch would count as not seen, and an interval would be missing. Samples, which are written in
 * interrupts, stay in the order of their times.
 */
START_TEST(test_clock_goes_back)
{
	struct stats stats;

	setup_kinds(SWITCHES_BY_TRACEPOINT, true, FEW);
	rig.request.both = true;
	rig.sink.sets[0].compare = compare_new(&rig.request.filter);
	now += 100;
	away_note(0, AWAY_ID, BPF_SWITCH_SEEN, 20, 1000, 0);
	now -= 10;
	switched(0, SWITCH_ID, 10, 20);
	note_of(0, BPF_COUNTED, 0, 20, ":20");
	sample(0, 20);
	drain();
	now += 3;
	away_note(0, AWAY_ID, BPF_SWITCH_SEEN, 10, 3000, 0);
	now -= 2;
	switched(0, SWITCH_ID, 20, 10);
	now += 50;
	away_note(0, AWAY_ID, BPF_SWITCH_SEEN, 20, 7000, 0);
	switched(0, SWITCH_ID, 10, 20);
	end(0, 0, &stats);
	ck_assert_uint_eq(rows_total(rig.sink.sets[0].ring_intervals), 2000 + 4000);
	ck_assert_uint_eq(rows_total(compare_rows(rig.sink.sets[0].compare)), 1);
	ck_assert_uint_eq(stats.backward_records, 3);
	ck_assert_uint_eq(stats.bad_records, 0);
	teardown_kinds();
}
END_TEST

/* Fill the ring until there may be no room for one more. */
static void fill_ring(void)
{
	while (pages[0]->data_head - pages[0]->data_tail < page_size / 4 * 3)
		sample_of(0, SAMPLE_ID, 11);
}

static void fill_and_lose(void)
{
	fill_ring();
	lost_by[0] = 3;
}

/*
 * The reader has made room, and before it asks for the losses, the ring is full again: these losses come after the read
 * records. A thread that comes back on another CPU may have been back before.
 */
START_TEST(test_filled_again)
{
	struct stats stats;
	struct err err;

	setup_kinds(SWITCHES_BY_TRACEPOINT, false, FEW);
	rig.events.attrs[EVENT_SAMPLES].read_format = PERF_FORMAT_LOST;
	ck_assert_int_eq(source_rings.detach(reader, 1, &err), 0);
	events[1].more = calloc(1, sizeof(*events[1].more));
	events[1].more[0] = (struct joined_event){ FIRST_FD + MAX_LOSING, EVENT_SWITCHES, 7 };
	events[1].nr_more = 1;
	ck_assert_int_eq(source_rings.attach(reader, 1, &err), 0);
	events[0].more[0].fd = FIRST_FD;
	switched(0, SWITCH_ID, 10, 20);
	fill_ring();
	meanwhile = fill_and_lose;
	drain();
	ck_assert_ptr_null(meanwhile);
	drain();
	switched(1, 7, 30, 10);
	end(0, 0, &stats);
	ck_assert_uint_eq(stats.intervals_begun, 2);
	ck_assert_uint_eq(stats.intervals_charged, 0);
	ck_assert_uint_eq(stats.intervals_lost, 1);
	ck_assert_uint_eq(stats.intervals_open, 1);
	free(events[1].more);
	teardown_kinds();
}
END_TEST

/* The losses of an interval, by the counts of the events of CPU 0. @samples: this CPU samples. */
struct losses {
	uint64_t sampled, followed, switches[2], notes, away;
};

static const struct {
	bool samples;
	struct losses first, second;
	uint64_t want[2][4]; /* lost_records, lost_here, lost_notes, lost_switch_notes */
} lossy[] = {
	{ true, { 0 }, { 0 }, { { 0 }, { 0 } } },
	{ true, { .sampled = 5 }, { .sampled = 5 }, { { 5, 5, 0, 0 }, { 0 } } },
	{ true, { .sampled = 5, .followed = 2 }, { .sampled = 6, .followed = 4 }, { { 7, 7, 0, 0 }, { 3, 3, 0, 0 } } },
	{ false, { .sampled = 5 }, { .sampled = 6 }, { { 5, 0, 0, 0 }, { 1, 0, 0, 0 } } },
	{ true, { .switches = { 3, 4 } }, { .switches = { 3, 5 } }, { { 7, 0, 0, 0 }, { 1, 0, 0, 0 } } },
	{ false, { .switches = { 3, 4 } }, { .switches = { 3, 4 } }, { { 7, 0, 0, 0 }, { 0 } } },
	{ true, { .notes = 3 }, { .notes = 5 }, { { 3, 0, 3, 0 }, { 2, 0, 2, 0 } } },
	{ true, { .away = 3 }, { .away = 5 }, { { 3, 0, 0, 3 }, { 2, 0, 0, 2 } } },
	{ true, { 1, 2, { 4, 8 }, 16, 32 }, { 2, 2, { 4, 9 }, 17, 33 }, { { 63, 3, 16, 32 }, { 4, 1, 1, 1 } } },
	/* closed events take their counts with them */
	{ true, { .sampled = 5, .followed = 5 }, { .sampled = 6 }, { { 10, 10, 0, 0 }, { 0 } } },
	{ true, { .switches = { 5, 0 }, .sampled = 1 }, { .sampled = 2 }, { { 6, 1, 0, 0 }, { 1, 1, 0, 0 } } },
};

static void set_losses(const struct losses *l)
{
	const uint64_t by[] = { l->sampled, l->followed, l->switches[0], l->switches[1], l->notes, l->away };

	memcpy(lost_by, by, sizeof(by));
}

START_TEST(test_lost_by_kind)
{
	struct stats stats;
	int fds[RINGS], note_fds[RINGS];
	unsigned int set;
	size_t i;

	setup_kinds(SWITCHES_BY_TRACEPOINT, true, FEW);
	rig.events.attrs[EVENT_SAMPLES].read_format = PERF_FORMAT_LOST;
	for (i = 0; i < RINGS; i++) {
		fds[i] = events[i].fd;
		note_fds[i] = events[i].notes[EVENT_SAMPLES].fd;
		close(events[i].notes[EVENT_SWITCHES].fd);
		events[i].fd = events[i].notes[EVENT_SAMPLES].fd = events[i].notes[EVENT_SWITCHES].fd = -1;
	}
	events[0].samples = lossy[_i].samples;
	events[0].fd = FIRST_FD;
	events[0].more[1].fd = FIRST_FD + 1;
	events[0].more[0].fd = FIRST_FD + 2;
	events[0].more[2].fd = FIRST_FD + 3;
	events[0].notes[EVENT_SAMPLES].fd = FIRST_FD + 4;
	events[0].notes[EVENT_SWITCHES].fd = FIRST_FD + 5;
	for (set = 0; set < 2; set++) {
		set_losses(set ? &lossy[_i].second : &lossy[_i].first);
		end(set, 1, &stats);
		ck_assert_uint_eq(stats.lost_records, lossy[_i].want[set][0]);
		ck_assert_uint_eq(stats.lost_here, lossy[_i].want[set][1]);
		ck_assert_uint_eq(stats.lost_notes, lossy[_i].want[set][2]);
		ck_assert_uint_eq(stats.lost_switch_notes, lossy[_i].want[set][3]);
	}
	for (i = 0; i < RINGS; i++) {
		events[i].fd = fds[i];
		events[i].notes[EVENT_SAMPLES].fd = note_fds[i];
		events[i].notes[EVENT_SWITCHES].fd = -1;
	}
	teardown_kinds();
}
END_TEST

int main(void)
{
	Suite *s = suite_create("notes");
	TCase *one = tcase_create("note"), *rings = tcase_create("rings"), *kinds = tcase_create("kinds");

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
	tcase_add_loop_test(kinds, test_ids, 0, 2);
	tcase_add_test(kinds, test_bad_switch);
	tcase_add_test(kinds, test_ids_anew);
	tcase_add_test(kinds, test_two_kinds);
	tcase_add_test(kinds, test_bad_kinds);
	tcase_add_test(kinds, test_four_kinds);
	tcase_add_test(kinds, test_clock_goes_back);
	tcase_add_test(kinds, test_filled_again);
	tcase_add_loop_test(kinds, test_lost_by_kind, 0, ARRAY_SIZE(lossy));
	suite_add_tcase(s, rings);
	suite_add_tcase(s, kinds);
	return unit_main(s);
}
