// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata.h"
#include "backend-perfring/recording/perfdata_header.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/perfdata_image.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#ifdef HAVE_ZSTD
#define ZSTD 1
#else
#define ZSTD 0
#endif

/* ---- reading */

enum how { REGULAR, STREAM };

/* The result of reading everything. */
struct seen {
	int opened, rc;
	struct err err;
	size_t records, nr_events, nr_build_ids;
	size_t of[4]; /* samples by event; the last: of no event */
	struct perfdata_counts counts;
	char names[3][32];
	char host[2][32];
	struct perfdata_build_id build_id; /* the first one; @path and @id are in the next fields */
	char path[64];
	unsigned char id[20];
};

static void look(struct perfdata *pd, struct seen *s)
{
	size_t i;

	s->nr_events = perfdata_nr_events(pd);
	for (i = 0; i < s->nr_events && i < ARRAY_SIZE(s->names); i++)
		snprintf(s->names[i], sizeof(s->names[i]), "%s", perfdata_event(pd, i)->name);
	snprintf(s->host[0], sizeof(s->host[0]), "%s", perfdata_hostname(pd));
	snprintf(s->host[1], sizeof(s->host[1]), "%s", perfdata_osrelease(pd));
	s->counts = perfdata_counts(pd);
	if (perfdata_build_id(pd, 0, &s->build_id)) {
		snprintf(s->path, sizeof(s->path), "%s", s->build_id.path);
		memcpy(s->id, s->build_id.id, s->build_id.size);
	}
	while (perfdata_build_id(pd, s->nr_build_ids, &s->build_id))
		s->nr_build_ids++;
}

static void read_records(struct perfdata *pd, struct seen *s)
{
	const struct perf_event_header *record;
	size_t event;

	while ((s->rc = perfdata_next(pd, &record, &s->err)) == 1) {
		ck_assert_uint_eq((uintptr_t)record % 8, 0);
		ck_assert_uint_eq(record->size % 8, 0);
		ck_assert_uint_ge(record->size, 8);
		ck_assert(record->type < 64 || record->type == PERFDATA_FINISHED_ROUND);
		s->records++;
		event = perfdata_event_of(pd, record);
		if (record->type == PERF_RECORD_SAMPLE)
			s->of[event < 3 ? event : 3]++;
		else
			ck_assert_uint_lt(event, perfdata_nr_events(pd));
	}
	/* At the end, it stays at the end. */
	if (!s->rc)
		ck_assert_int_eq(perfdata_next(pd, &record, &s->err), 0);
}

/* Give standard input the first @size bytes, in a file or a pipe. */
static void give_stdin(size_t size, enum how how)
{
	int fds[2];

	if (how == REGULAR) {
		fds[0] = memfd_create("image", MFD_CLOEXEC);
		ck_assert_int_ge(fds[0], 0);
		ck_assert_int_eq(write(fds[0], image.bytes, size), (ssize_t)size);
	} else {
		ck_assert_int_eq(pipe2(fds, O_CLOEXEC), 0);
		ck_assert_int_ge(fcntl(fds[1], F_SETPIPE_SZ, IMAGE_MAX), 0);
		ck_assert_int_eq(write(fds[1], image.bytes, size), (ssize_t)size);
		close(fds[1]);
	}
	ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
}

static struct seen read_part(size_t size, enum how how)
{
	struct seen s = { .opened = 0 };
	struct perfdata *pd;

	give_stdin(size, how);
	s.opened = perfdata_open(&pd, "-", &s.err);
	if (s.opened) {
		ck_assert_ptr_null(pd);
		ck_assert_int_eq(s.err.code, s.opened);
		ck_assert_int_ne(s.err.msg[0], 0);
		return s;
	}
	read_records(pd, &s);
	look(pd, &s);
	perfdata_close(pd);
	return s;
}

static struct seen read_image(enum how how)
{
	return read_part(image.nr, how);
}

/* ---- a file */

#define ENTRY_SIZE   (ATTR_SIZE + 16)
#define AT_ATTR_SIZE 16
#define AT_ATTRS     24
#define AT_DATA      40
#define AT_FEATURES  72
#define IDS          104
#define ATTRS        (IDS + 4 * 8)
#define DATA         (ATTRS + 2 * ENTRY_SIZE)
#define DATA_SIZE    (7 * 16 + 8)
#define TABLE        (DATA + DATA_SIZE)
#define NR_FEATURES  7
#define FEATURES     (TABLE + NR_FEATURES * 16)
#define ENTRY(i)     (TABLE + (i)*16) /* of the @i-th feature */
#define FILE_RECORDS 8
#define EVENT_DESC   (FEATURES + 2 * BUILD_ID_SIZE + 3 * 12 + 8)
#define COMPRESSED   (EVENT_DESC + 8 + 2 * (ATTR_SIZE + 4 + 12 + 2 * 8))

static void put_attr(uint32_t type, uint64_t config, uint64_t sample_type)
{
	struct perf_event_attr a = attr_of(type, config, sample_type);

	put(&a, ATTR_SIZE);
}

/* A string of the format, padded. */
static void put_string(const char *text)
{
	char padded[8] = "";

	snprintf(padded, sizeof(padded), "%s", text);
	put_u32(sizeof(padded));
	put(padded, sizeof(padded));
}

static void put_event_desc(void)
{
	size_t i;

	put_u32(2);
	put_u32(ATTR_SIZE);
	for (i = 0; i < 2; i++) {
		put_attr(PERF_TYPE_SOFTWARE, i, 0);
		put_u32(2);
		put_string(i ? "two" : "one");
		put_word(11 + 2 * i);
		put_word(12 + 2 * i);
	}
}

/* The sections of features; the table before them gets their places. */
static void put_features(void)
{
	size_t begin[NR_FEATURES + 1] = { FEATURES }, i;

	image.nr = FEATURES;
	put_build_id(0, PERF_RECORD_MISC_KERNEL, 0, "[kernel]");
	put_build_id(0, PERF_RECORD_MISC_USER | 1 << 15, 16, "/bin/cat");
	begin[1] = image.nr;
	put_string("host");
	begin[2] = image.nr;
	put_string("6.1.0");
	begin[3] = image.nr;
	put_word(0); /* the version of perf, which does not matter here */
	begin[4] = image.nr;
	put_string("x86_64");
	begin[5] = image.nr;
	ck_assert_uint_eq(begin[5], EVENT_DESC);
	put_event_desc();
	begin[6] = image.nr;
	ck_assert_uint_eq(begin[6], COMPRESSED);
	put_u32(1);
	put_u32(ZSTD);
	begin[7] = image.nr;
	for (i = 0; i < NR_FEATURES; i++) {
		patch(ENTRY(i), begin[i], 8);
		patch(ENTRY(i) + 8, begin[i + 1] - begin[i], 8);
	}
}

/* Two events with two ids each, 7 records and the end of a round, known features and others. */
static void make_file(void)
{
	static const uint64_t sample_ids[] = { 11, 12, 13, 14, 99, 0 };
	size_t i;

	image.nr = 0;
	for (i = 0; i < IDS / 8; i++)
		put_word(0);
	patch(0, MAGIC, 8);
	patch(8, IDS, 8);
	patch(AT_ATTR_SIZE, ENTRY_SIZE, 8);
	patch(AT_ATTRS, ATTRS, 8);
	patch(AT_ATTRS + 8, 2 * ENTRY_SIZE, 8);
	patch(AT_DATA, DATA, 8);
	patch(AT_DATA + 8, DATA_SIZE, 8);
	/* BUILD_ID, HOSTNAME, OSRELEASE, VERSION, ARCH, EVENT_DESC, COMPRESSED */
	patch(AT_FEATURES, 1 << 2 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 12 | 1 << 27, 8);
	for (i = 11; i <= 14; i++)
		put_word(i);
	for (i = 0; i < 2; i++) {
		put_attr(PERF_TYPE_SOFTWARE, i, PERF_SAMPLE_IDENTIFIER);
		put_word(IDS + 16 * i);
		put_word(16);
	}
	put_short(PERF_RECORD_SWITCH, 98);
	for (i = 0; i < ARRAY_SIZE(sample_ids); i++)
		put_short(PERF_RECORD_SAMPLE, sample_ids[i]);
	put_record(PERFDATA_FINISHED_ROUND, 0, NULL, 0);
	ck_assert_uint_eq(image.nr, TABLE);
	for (i = 0; i < 2 * NR_FEATURES; i++)
		put_word(0);
	put_features();
}

static void assert_whole_file(const struct seen *s)
{
	ck_assert_int_eq(s->opened, 0);
	ck_assert_int_eq(s->rc, 0);
	ck_assert_uint_eq(s->records, FILE_RECORDS);
	ck_assert_uint_eq(s->nr_events, 2);
	ck_assert_uint_eq(s->of[0], 3); /* including the one without id */
	ck_assert_uint_eq(s->of[1], 2);
	ck_assert_uint_eq(s->of[3], 1);
	ck_assert_str_eq(s->names[0], "one");
	ck_assert_str_eq(s->names[1], "two");
	ck_assert_str_eq(s->host[0], "host");
	ck_assert_str_eq(s->host[1], "6.1.0");
	ck_assert_uint_eq(s->nr_build_ids, 2);
	ck_assert_str_eq(s->path, "[kernel]");
	ck_assert_mem_eq(s->id, "0123456789abcdef0123", 20);
	ck_assert_uint_eq(s->counts.records, FILE_RECORDS);
	ck_assert_uint_eq(s->counts.bad_records + s->counts.unknown + s->counts.bad_features, 0);
	ck_assert(!s->counts.truncated && !s->counts.unfinished);
}

START_TEST(whole_file)
{
	struct seen s;

	make_file();
	s = read_image(_i ? STREAM : REGULAR);
	assert_whole_file(&s);
}
END_TEST

/* A description whose ids no event has names the event of the same place, if that has the same type and config. */
static const struct {
	uint32_t type;
	uint64_t config;
	const char *name; /* of the second event */
} described_again[] = {
	{ PERF_TYPE_SOFTWARE, 1, "two" },
	{ PERF_TYPE_SOFTWARE, 2, "task-clock" },
	{ PERF_TYPE_RAW, 1, "task-clock" },
};

START_TEST(described_by_place)
{
	const size_t second = EVENT_DESC + 8 + ATTR_SIZE + 4 + 12 + 2 * 8;
	struct seen s;

	make_file();
	patch(second, described_again[_i].type, 4);
	patch(second + 8, described_again[_i].config, 8);
	patch(second + ATTR_SIZE + 4 + 12, 77, 8);
	s = read_image(REGULAR);
	ck_assert_int_eq(s.opened, 0);
	ck_assert_uint_eq(s.counts.bad_features, 0);
	ck_assert_str_eq(s.names[0], "one");
	ck_assert_str_eq(s.names[1], described_again[_i].name);
}
END_TEST

/* The file with some bytes changed. */
static const struct {
	const char *what;
	size_t at, width;
	uint64_t value;
	int opened; /* -errno, or the expected values: */
	size_t records;
	uint64_t bad_records, unknown, bad_features;
	bool truncated, unfinished;
	size_t damaged_at, left_out; /* 0: no damage */
} changed[] = {
	{ "unused bytes", 60, 4, 77, 0, 8 },
	{ "no magic", 0, 8, 0, -EINVAL },
	{ "an ELF file", 0, 4, 0x464c457f, -EINVAL },
	{ "other byte order", 0, 8, 0x50455246494c4532, -ENOTSUP },
	{ "first format", 0, 8, 0x454c494646524550, -ENOTSUP },
	{ "no header", 8, 8, 0, -EBADMSG },
	{ "header too small", 8, 8, 96, -EBADMSG },
	{ "header of the first files: no features", 8, 8, 72, 0, 8 },
	{ "header larger than known", 8, 8, 112, 0, 8 },
	{ "no size of attributes", AT_ATTR_SIZE, 8, 0, -EBADMSG },
	{ "attributes of nothing but ids", AT_ATTR_SIZE, 8, 16, -EBADMSG },
	{ "attributes too small", AT_ATTR_SIZE, 8, 79, -EBADMSG },
	{ "attributes too large", AT_ATTR_SIZE, 8, 4113, -EBADMSG },
	{ "attributes huge", AT_ATTR_SIZE, 8, UINT64_MAX, -EBADMSG },
	{ "no attributes", AT_ATTRS + 8, 8, 0, -EBADMSG },
	{ "half an attribute", AT_ATTRS + 8, 8, ENTRY_SIZE / 2, -EBADMSG },
	{ "one attribute and a half: one event", AT_ATTRS + 8, 8, ENTRY_SIZE * 3 / 2, 0, 8 },
	{ "attributes beyond", AT_ATTRS, 8, 1 << 20, -EBADMSG },
	{ "attributes longer than the file", AT_ATTRS + 8, 8, 4096 * ENTRY_SIZE, -EBADMSG },
	{ "too many attributes", AT_ATTRS + 8, 8, 4097 * ENTRY_SIZE, -E2BIG },
	{ "attributes wrap", AT_ATTRS, 8, UINT64_MAX - 15, -EBADMSG },
	{ "attributes huge in all", AT_ATTRS + 8, 8, UINT64_MAX, -EBADMSG },
	{ "attribute says it is larger", ATTRS + 4, 4, ATTR_SIZE + 8, -EBADMSG },
	{ "attribute says it is tiny", ATTRS + 4, 4, 63, -EBADMSG },
	{ "attribute without a size", ATTRS + 4, 4, 0, 0, 8 },
	{ "ids beyond", ATTRS + ATTR_SIZE, 8, 1 << 20, -EBADMSG },
	{ "ids wrap", ATTRS + ATTR_SIZE, 8, UINT64_MAX - 7, -EBADMSG },
	{ "more ids than the file", ATTRS + ATTR_SIZE + 8, 8, 1 << 20, -EBADMSG },
	{ "too many ids", ATTRS + ATTR_SIZE + 8, 8, UINT64_MAX, -E2BIG },
	{ "an id and a half", ATTRS + ATTR_SIZE + 8, 8, 12, 0, 8 },
	{ "data over the header", AT_DATA, 8, 96, -EBADMSG },
	{ "data wrap", AT_DATA, 8, UINT64_MAX - 7, -EBADMSG },
	{ "data huge", AT_DATA + 8, 8, UINT64_MAX, -EBADMSG },
	{ "data end within a record", AT_DATA + 8, 8, DATA_SIZE - 12, 0, 6, 0, 0, 5, true },
	{ "data of one byte", AT_DATA + 8, 8, 1, 0, 0, 0, 0, 5, true },
	{ "killed recorder, with something behind its records", AT_DATA + 8, 8, 0, 0, 8, 1, .unfinished = true,
	  .damaged_at = TABLE, .left_out = 588 }, /* to the end of the file */
	{ "record of no size", DATA + 16 + 6, 2, 0, 0, 7, 1, .damaged_at = DATA + 16, .left_out = 16 },
	{ "record too small", DATA + 16 + 6, 2, 7, 0, 7, 1, .damaged_at = DATA + 16, .left_out = 16 },
	{ "record of an odd size beyond the data", DATA + 16 + 6, 2, UINT16_MAX, 0, 7, 1, .damaged_at = DATA + 16,
	  .left_out = 16 },
	{ "record beyond the data", DATA + 16 + 6, 2, 4096, 0, 7, 1, .damaged_at = DATA + 16, .left_out = 16 },
	{ "record too large, the next begins within one", DATA + 16 + 6, 2, 40, 0, 8, 1, .damaged_at = DATA + 16 },
	{ "record as large as two", DATA + 16 + 6, 2, 32, 0, 7 },
	{ "record too small for its type", DATA + 16, 4, PERF_RECORD_MMAP2, 0, 7, 1, .damaged_at = DATA + 16,
	  .left_out = 16 },
	{ "record of no type", DATA + 16, 4, 0, 0, 7, 1, .damaged_at = DATA + 16, .left_out = 16 },
	{ "record of an impossible type", DATA + 16, 4, 65536, 0, 7, 1, .damaged_at = DATA + 16, .left_out = 16 },
	{ "the first record of no size", DATA + 6, 2, 0, 0, 7, 1, .damaged_at = DATA, .left_out = 16 },
	{ "the last sample of no size", TABLE - 24 + 6, 2, 0, 0, 7, 1, .damaged_at = TABLE - 24, .left_out = 16 },
	{ "the last record beyond the data", TABLE - 2, 2, 16, 0, 7, 0, 0, 0, true },
	{ "record of another type", DATA + 16, 4, 63, 0, 8 },
	{ "unknown record of perf's", DATA + 16, 4, 84, 0, 7, 0, 1 },
	{ "known record of perf's", DATA + 16, 4, 79, 0, 7 },
	{ "attributes among the records", DATA + 16, 4, 64, 0, 7, 1 },
	{ "tracing data, which are the record behind", DATA + 16, 4, 66, 0, 6 },
	{ "build id too short", DATA + 16, 4, 67, 0, 7, 1 },
	{ "name of an event too short", DATA + 16, 4, 78, 0, 7, 1 },
	{ "feature without contents", DATA + 16, 4, 80, 0, 7 },
	{ "padded compression without data", DATA + 16, 4, 83, 0, 7, 1 },
	{ "build ids beyond", ENTRY(0), 8, 1 << 20, 0, 8, 0, 0, 1 },
	{ "build ids wrap", ENTRY(0), 8, UINT64_MAX, 0, 8, 0, 0, 1 },
	{ "build ids too large", ENTRY(0) + 8, 8, UINT64_MAX, 0, 8, 0, 0, 1 },
	{ "build ids of a byte", ENTRY(0) + 8, 8, 1, 0, 8, 0, 0, 1 },
	{ "build ids end within one", ENTRY(0) + 8, 8, 2 * BUILD_ID_SIZE - 1, 0, 8, 0, 0, 1 },
	{ "build id of no size", FEATURES + 6, 2, 0, 0, 8, 0, 0, 1 },
	{ "build id without a path", FEATURES + 6, 2, 36, 0, 8, 0, 0, 1 },
	{ "path without end", FEATURES + 6, 2, 37, 0, 8, 0, 0, 1 },
	{ "build id too long", FEATURES + BUILD_ID_SIZE + 32, 1, 21, 0, 8, 0, 0, 1 },
	{ "build id of no bytes", FEATURES + BUILD_ID_SIZE + 32, 1, 0, 0, 8, 0, 0, 1 },
	{ "host longer than its section", FEATURES + 2 * BUILD_ID_SIZE, 4, 9, 0, 8, 0, 0, 1 },
	{ "host much longer", FEATURES + 2 * BUILD_ID_SIZE, 4, UINT32_MAX, 0, 8, 0, 0, 1 },
	{ "host in 3 bytes", ENTRY(1) + 8, 8, 3, 0, 8, 0, 0, 1 },
	{ "no host", ENTRY(1) + 8, 8, 0, 0, 8, 0, 0, 1 },
	{ "an unused feature beyond", ENTRY(3), 8, UINT64_MAX, 0, 8 },
	{ "more events described than there", EVENT_DESC, 4, UINT32_MAX, 0, 8, 0, 0, 1 },
	{ "none described", EVENT_DESC, 4, 0, 0, 8 },
	{ "described attributes too small", EVENT_DESC + 4, 4, 0, 0, 8, 0, 0, 1 },
	{ "described attributes too large", EVENT_DESC + 4, 4, UINT32_MAX, 0, 8, 0, 0, 1 },
	{ "more ids described than there", EVENT_DESC + 8 + ATTR_SIZE, 4, UINT32_MAX, 0, 8, 0, 0, 1 },
	{ "name longer than its section", EVENT_DESC + 12 + ATTR_SIZE, 4, UINT32_MAX, 0, 8, 0, 0, 1 },
	{ "a table of more features than the file", AT_FEATURES + 8, 8, UINT64_MAX, 0, 8, 0, 0, 1 },
};

static void check_changed(int row, enum how how)
{
	struct seen s;

	make_file();
	patch(changed[row].at, changed[row].value, changed[row].width);
	s = read_image(how);
	ck_assert_msg(s.opened == changed[row].opened, "%s: %d %s", changed[row].what, s.opened, s.err.msg);
	if (s.opened)
		return;
	ck_assert_msg(s.rc == 0, "%s: %s", changed[row].what, s.err.msg);
	ck_assert_msg(s.records == changed[row].records && s.counts.records == s.records, "%s: %zu records",
		      changed[row].what, s.records);
	ck_assert_msg(s.counts.bad_records == changed[row].bad_records && s.counts.unknown == changed[row].unknown,
		      "%s: bad %u, unknown %u", changed[row].what, (unsigned int)s.counts.bad_records,
		      (unsigned int)s.counts.unknown);
	ck_assert_msg(s.counts.bad_features == changed[row].bad_features, "%s: bad features %u", changed[row].what,
		      (unsigned int)s.counts.bad_features);
	ck_assert_msg(s.counts.damaged == !!changed[row].damaged_at && s.counts.damaged_at == changed[row].damaged_at &&
			      s.counts.left_out == changed[row].left_out,
		      "%s: %u damaged, at %u, %u left out", changed[row].what, (unsigned int)s.counts.damaged,
		      (unsigned int)s.counts.damaged_at, (unsigned int)s.counts.left_out);
	ck_assert_msg(s.counts.truncated == changed[row].truncated && s.counts.unfinished == changed[row].unfinished,
		      "%s: truncated %d, unfinished %d", changed[row].what, s.counts.truncated, s.counts.unfinished);
}

START_TEST(changed_file)
{
	check_changed(_i, REGULAR);
}
END_TEST

/* The same through a pipe, except for changes in the table of features: a pipe cannot go back to read those. */
START_TEST(changed_file_through_pipe)
{
	if (changed[_i].at < ENTRY(0) || changed[_i].at >= FEATURES)
		check_changed(_i, STREAM);
}
END_TEST

/* Compressed records have any size: behind damage, the next one begins at any byte, however the recording comes. */
START_TEST(damaged_at_odd_place)
{
	const struct perf_event_header last = { 79, 0, 21 };
	struct seen s;

	make_file();
	memmove(image.bytes + DATA + 19, image.bytes + DATA + 16, 5 * 16);
	memset(image.bytes + DATA, 0, 19);
	memcpy(image.bytes + DATA + 99, &last, sizeof(last));
	s = read_image(_i ? STREAM : REGULAR);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.records, 5);
	ck_assert_uint_eq(s.counts.damaged, 1);
	ck_assert_uint_eq(s.counts.damaged_at, DATA);
	ck_assert_uint_eq(s.counts.left_out, 19);
}
END_TEST

/* Read all without a check in between. Return: 0 or -errno. */
static int read_quietly(struct err *err)
{
	const struct perf_event_header *record;
	struct perfdata *pd;
	int rc = perfdata_open(&pd, "-", err);

	while (!rc && (rc = perfdata_next(pd, &record, err)) == 1)
		rc = 0;
	perfdata_close(pd);
	return rc;
}

/* If any allocation fails, the reader reports that. */
START_TEST(no_memory)
{
	struct err err;
	bool failed = true;
	size_t nth;
	int rc;

	make_file();
	for (nth = 0; failed; nth++) {
		give_stdin(image.nr, _i ? STREAM : REGULAR);
		err = (struct err){ 0 };
		memory_fail_after(nth, false);
		rc = read_quietly(&err);
		failed = memory_restore();
		ck_assert_msg(rc == (failed ? -ENOMEM : 0) && rc == err.code, "allocation %zu: %d %s", nth, rc,
			      err.msg);
	}
	ck_assert_uint_gt(nth, 10);
}
END_TEST

/* A file is refused when it is opened. A pipe is not, because the features come last. */
START_TEST(unknown_compression)
{
	struct seen s;

	make_file();
	patch(COMPRESSED + 4, 2, 4); /* also without zstd, where ZSTD is 0 */
	s = read_image(REGULAR);
	ck_assert_int_eq(s.opened, -ENOTSUP);
	ck_assert_msg(strstr(s.err.msg, "is compressed by an unknown method, 2"), "%s", s.err.msg);
}
END_TEST

/* However much is missing: the rest is read. */
START_TEST(cut_file)
{
	size_t records = 0, len;
	struct seen s;

	make_file();
	if (_i / 2) /* no features, whose absence would be noticed, too */
		patch(AT_FEATURES, 0, 8);
	for (len = 0; len < image.nr; len++) {
		s = read_part(len, _i % 2 ? STREAM : REGULAR);
		ck_assert_int_eq(s.opened == 0, len >= DATA);
		ck_assert_int_eq(s.rc, 0);
		ck_assert_uint_ge(s.records, records);
		records = s.records;
		ck_assert_uint_eq(records, len < DATA ? 0 : len >= TABLE ? FILE_RECORDS : (len - DATA) / 16);
		if (len >= DATA && len < TABLE)
			ck_assert(s.counts.truncated && s.counts.missing == TABLE - len);
		else if (len >= TABLE)
			ck_assert(!s.counts.truncated && !s.counts.missing && (s.counts.bad_features > 0) == !(_i / 2));
	}
	ck_assert_uint_eq(records, FILE_RECORDS);
}
END_TEST

/* A directory: as the file "data" there, with the records of "data.0", "data.1" ... behind its own. */
static const struct {
	const char *what;
	const char *files[3]; /* beside "data", with 2 samples each; "link" and "fifo": one instead */
	int opened;
	size_t records;
} dirs[] = {
	{ "nothing else", { NULL }, 0, FILE_RECORDS },
	{ "one file", { "data.0" }, 0, FILE_RECORDS - 1 + 2 },
	{ "three", { "data.0", "data.7", "data.10" }, 0, FILE_RECORDS - 1 + 6 },
	{ "others", { "data.", "data.x", "data.old" }, 0, FILE_RECORDS },
	{ "more of them", { "data.01", "data.1x", "data.9999999" }, 0, FILE_RECORDS },
	{ "a link", { "link" }, -ELOOP },
	{ "a pipe", { "fifo" }, -ENOENT },
};

START_TEST(directory)
{
	char *dir = unit_tmpdir(), path[256];
	struct seen s = { .opened = 0 };
	struct perfdata *pd;
	const char *name;
	size_t i;

	make_file();
	unit_write(dir, "data", image.bytes, image.nr);
	image.nr = 0;
	put_short(PERF_RECORD_SAMPLE, 11);
	put_short(PERF_RECORD_SAMPLE, 13);
	for (i = 0; i < 3 && (name = dirs[_i].files[i]); i++) {
		snprintf(path, sizeof(path), "%s/data.3", dir);
		if (!strcmp(name, "link"))
			ck_assert_int_eq(symlink("data", path), 0);
		else if (!strcmp(name, "fifo"))
			ck_assert_int_eq(mkfifo(path, 0600), 0);
		else
			unit_write(dir, name, image.bytes, image.nr);
	}
	s.opened = perfdata_open(&pd, dir, &s.err);
	ck_assert_msg(s.opened == dirs[_i].opened, "%s: %d", dirs[_i].what, s.opened);
	if (s.opened)
		ck_assert_ptr_nonnull(strstr(s.err.msg, "cannot open 'data.3' in "));
	if (!s.opened) {
		read_records(pd, &s);
		look(pd, &s);
		ck_assert_msg(s.records == dirs[_i].records, "%s: %zu records", dirs[_i].what, s.records);
		ck_assert_uint_eq(s.counts.records, s.records);
		ck_assert_uint_eq(s.counts.bad_records, 0);
		ck_assert_str_eq(s.host[0], "host");
	}
	perfdata_close(pd);
	unit_rmdir(dir);
}
END_TEST

START_TEST(directory_of_many)
{
	char *dir = unit_tmpdir(), name[32];
	struct perfdata *pd;
	struct err err;
	int i;

	make_file();
	unit_write(dir, "data", image.bytes, image.nr);
	for (i = 0; i < 1025; i++) {
		snprintf(name, sizeof(name), "data.%d", i);
		unit_write(dir, name, "", 0);
	}
	ck_assert_int_eq(perfdata_open(&pd, dir, &err), -E2BIG);
	ck_assert_ptr_nonnull(strstr(err.msg, " has more than 1024 files of records"));
	unit_rmdir(dir);
}
END_TEST

START_TEST(features_between)
{
	size_t last = image.nr;
	struct seen s;

	/* The second section is behind all others: a stream cannot go back to those, files can. */
	make_file();
	last = image.nr;
	put_string("late");
	patch(ENTRY(1), last, 8);
	s = read_image(REGULAR);
	ck_assert_str_eq(s.host[0], "late");
	ck_assert_uint_eq(s.counts.bad_features, 0);
	s = read_image(STREAM);
	ck_assert_str_eq(s.host[0], "late");
	ck_assert_str_eq(s.host[1], "");
	ck_assert_uint_eq(s.nr_build_ids, 2);
	ck_assert_uint_ge(s.counts.bad_features, 3);
	ck_assert_uint_eq(s.records, FILE_RECORDS);
}
END_TEST

START_TEST(not_a_file)
{
	struct perfdata *pd;
	struct err err;
	char *dir = unit_tmpdir(), *path;

	ck_assert_int_eq(perfdata_open(&pd, dir, &err), -EISDIR);
	ck_assert_ptr_nonnull(strstr(err.msg, dir));
	ck_assert_ptr_nonnull(strstr(err.msg, " is a directory without a recording (a file 'data')"));
	ck_assert_int_ge(asprintf(&path, "%s/none", dir), 0);
	ck_assert_int_eq(perfdata_open(&pd, path, &err), -ENOENT);
	ck_assert_ptr_null(pd);
	unit_write(dir, "none", "", 0);
	ck_assert_int_eq(perfdata_open(&pd, path, &err), -EINVAL);
	ck_assert_ptr_nonnull(strstr(err.msg, "empty"));
	make_file();
	unit_write(dir, "none", image.bytes, image.nr);
	ck_assert_int_eq(perfdata_open(&pd, path, &err), 0);
	perfdata_close(pd);
	perfdata_close(NULL);
	free(path);
	unit_rmdir(dir);
}
END_TEST

/* ---- a stream */

static void put_attr_record(uint64_t config, uint64_t sample_type, uint64_t id)
{
	unsigned char payload[ATTR_SIZE + 8];
	struct perf_event_attr a = attr_of(PERF_TYPE_SOFTWARE, config, sample_type);

	memcpy(payload, &a, ATTR_SIZE);
	memcpy(payload + ATTR_SIZE, &id, sizeof(id));
	put_record(64, 0, payload, sizeof(payload));
}

static void make_stream(void)
{
	image.nr = 0;
	put_word(MAGIC);
	put_word(16);
	put_attr_record(PERF_COUNT_SW_CPU_CLOCK, PERF_SAMPLE_IDENTIFIER, 11);
	put_attr_record(PERF_COUNT_SW_DUMMY, PERF_SAMPLE_IDENTIFIER, 12);
}

#define BYTES(...) (const unsigned char[]){ __VA_ARGS__ }, sizeof((const unsigned char[]){ __VA_ARGS__ })

#define Z8   0, 0, 0, 0, 0, 0, 0, 0
#define N(n) n, 0, 0, 0, 0, 0, 0, 0
#define F8   255, 255, 255, 255, 255, 255, 255, 255

/* One record, between the attributes and a sample. */
static const struct {
	const char *what;
	uint32_t type;
	const unsigned char *payload;
	size_t len;
	size_t records; /* with the sample */
	uint64_t bad_records, unknown, bad_features;
	bool truncated;
	const char *name; /* of the first event then, NULL: unchanged */
} streams[] = {
	{ "kernel record", PERF_RECORD_SWITCH, BYTES(Z8), 2 },
	{ "end of a round", PERFDATA_FINISHED_ROUND, NULL, 0, 2 },
	{ "kernel record of odd size: none begins where it ends", PERF_RECORD_COMM, BYTES(1, 2, 3), 0, 1 },
	{ "unknown record", 4711, BYTES(Z8), 1, 0, 1 },
	{ "old names", 65, BYTES(Z8), 1 },
	{ "ids", 69, BYTES(Z8), 1 },
	{ "attributes without contents", 64, NULL, 0, 1, 1 },
	{ "attributes too short", 64, BYTES(Z8, Z8, Z8), 1, 1 },
	{ "tracing data of no bytes", 66, BYTES(0, 0, 0, 0), 1 },
	{ "tracing data of 9, padded to 16: the sample", 66, BYTES(9, 0, 0, 0), 0 },
	{ "tracing data beyond", 66, BYTES(255, 0, 0, 0), 0, 0, 0, 0, true },
	{ "tracing data far beyond", 66, BYTES(255, 255, 255, 255), 0, 0, 0, 0, true },
	{ "tracing data without size", 66, BYTES(0, 0), 1, 1 },
	{ "trace of no bytes", 71, BYTES(Z8, Z8), 1 },
	{ "trace beyond", 71, BYTES(N(255), Z8), 0, 0, 0, 0, true },
	{ "trace that wraps", 71, BYTES(F8, Z8), 0, 0, 0, 0, true },
	{ "trace without size", 71, BYTES(0, 0), 1, 1 },
	{ "name", 78, BYTES(N(2), N(11), 'x', 'y', 0), 1, 0, 0, 0, false, "xy" },
	{ "name without end", 78, BYTES(N(2), N(11), 'x', 'y'), 1, 0, 0, 0, false, "xy" },
	{ "name of no bytes", 78, BYTES(N(2), N(11)), 1 },
	{ "name of nobody", 78, BYTES(N(2), N(99), 'x'), 1 },
	{ "a unit", 78, BYTES(N(0), N(11), 'x'), 1 },
	{ "name without id", 78, BYTES(N(2), 11, 0, 0), 1, 1 },
	{ "feature without number", 80, BYTES(3, 0), 1, 1 },
	{ "host of 9 in 4", 80, BYTES(N(3), 9, 0, 0, 0, 'h', 'o', 's', 't'), 1, 0, 0, 1 },
	{ "unknown feature", 80, BYTES(F8, 1, 2, 3), 1 },
	{ "build id without contents", 67, NULL, 0, 1, 1 },
	{ "compressed nothing", 81, NULL, 0, 1 },
	{ "compressed nonsense", 81, BYTES(1, 2, 3, 4, 5, 6, 7, 8), 1, 1 },
	{ "compressed, longer than its record", 83, BYTES(N(1)), 1, 1 },
	{ "compressed, of huge length", 83, BYTES(F8), 1, 1 },
	{ "compressed, without length", 83, BYTES(1, 2), 1, 1 },
};

START_TEST(stream_record)
{
	enum how how = _i % 2 ? STREAM : REGULAR;
	struct seen s;

	_i /= 2;
	make_stream();
	put_record(streams[_i].type, 0, streams[_i].payload, streams[_i].len);
	put_short(PERF_RECORD_SAMPLE, 12);
	s = read_image(how);
	ck_assert_int_eq(s.opened, 0);
	if (!ZSTD && streams[_i].type == 81) {
		ck_assert_int_eq(s.rc, -ENOTSUP);
		return;
	}
	ck_assert_msg(s.records == streams[_i].records, "%s: %zu records", streams[_i].what, s.records);
	ck_assert_uint_eq(s.counts.bad_records, streams[_i].bad_records);
	ck_assert_uint_eq(s.counts.unknown, streams[_i].unknown);
	ck_assert_uint_eq(s.counts.bad_features, streams[_i].bad_features);
	ck_assert_int_eq(s.counts.truncated, streams[_i].truncated);
	ck_assert_str_eq(s.names[0], streams[_i].name ? streams[_i].name : "cpu-clock");
	ck_assert_str_eq(s.names[1], "type 1 config 0x9");
	ck_assert_uint_eq(s.of[1], s.records ? 1 : 0);
}
END_TEST

START_TEST(stream_features)
{
	struct seen s;

	make_stream();
	put_build_id(67, PERF_RECORD_MISC_USER | 1 << 15, 16, "/bin/cat");
	put_build_id(67, PERF_RECORD_MISC_GUEST_KERNEL, 20, "[guest]");
	put_record(80, 0, BYTES(N(3), 4, 0, 0, 0, 'h', 'o', 's', 't'));
	put_record(80, 0, BYTES(N(3), 4, 0, 0, 0, 'm', 'o', 's', 't'));
	s = read_image(STREAM);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.nr_build_ids, 1);
	ck_assert_str_eq(s.path, "/bin/cat");
	ck_assert_mem_eq(s.id, "0123456789abcdef", 16);
	ck_assert_str_eq(s.host[0], "most");
	ck_assert_str_eq(s.host[1], "");
	/* Another compression method. */
	put_record(80, 0, BYTES(N(27), 1, 0, 0, 0, 2, 0, 0, 0));
	s = read_image(STREAM);
	ck_assert_int_eq(s.rc, -ENOTSUP);
}
END_TEST

START_TEST(too_many_events)
{
	struct seen s;
	int i;

	make_stream();
	for (i = 0; i < 4094; i++)
		put_attr_record(PERF_COUNT_SW_DUMMY, 0, 0);
	s = read_image(STREAM);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.nr_events, 4096);
	put_attr_record(PERF_COUNT_SW_DUMMY, 0, 0);
	s = read_image(STREAM);
	ck_assert_int_eq(s.rc, -E2BIG);
}
END_TEST

/* Many records of all sizes: they end at each place of the reader's buffer. */
START_TEST(long_stream)
{
	static const unsigned char payload[4096];
	size_t nr = 0, len;
	struct seen s;

	make_stream();
	for (len = 8; image.nr + 8192 < IMAGE_MAX; len = (len + 104) % sizeof(payload), nr++)
		put_record(PERF_RECORD_SWITCH, 0, payload, len);
	s = read_image(_i ? STREAM : REGULAR);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.records, nr);
	ck_assert_uint_eq(s.counts.bad_records, 0);
	ck_assert_uint_eq(s.counts.bytes, image.nr);
	ck_assert(!s.counts.truncated);
}
END_TEST

/*
 * The size of one of many records is damaged, whether the reader's buffer has the whole record or not: all others are
 * read.
 */
START_TEST(damaged_size)
{
	static const uint16_t sizes[] = { 0, 1, 8, 12, 16, 72, 4096 + 4, UINT16_MAX, 65528, 32760 };
	static const unsigned char path[4096] = "/bin/cat";
	static bool begins[IMAGE_MAX];
	size_t at = 0, nr = 0, len, damaged = 20 + (size_t)_i * 3;
	uint16_t size = sizes[(size_t)_i % ARRAY_SIZE(sizes)];
	struct seen s;

	make_stream();
	for (len = 80; image.nr + 8192 < IMAGE_MAX; len = 80 + (len + 104) % 4000, nr++) {
		if (nr == damaged)
			at = image.nr;
		begins[image.nr] = true;
		put_record(PERF_RECORD_MMAP2, 0, path, len);
	}
	if (begins[at + size] && size)
		size -= 8;
	patch(at + 6, size, 2);
	s = read_image(_i % 2 ? STREAM : REGULAR);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.counts.damaged, 1);
	ck_assert_uint_eq(s.counts.damaged_at, at);
	/* With a possible size the damaged record is read, too, with impossible contents. */
	ck_assert_uint_eq(s.records, nr - (size < 80 || size % 8));
	ck_assert(!s.counts.truncated);
	ck_assert_uint_eq(s.counts.bytes, image.nr);
}
END_TEST

/* Reading goes on at a record behind which there are data that its size does not include, if another one is before it.
 */
START_TEST(damaged_before_data)
{
	static const uint32_t nine = 9;
	struct seen s;
	size_t at;

	make_stream();
	put_short(PERF_RECORD_SAMPLE, 12);
	at = image.nr;
	put_short(PERF_RECORD_SAMPLE, 12);
	patch(at + 6, 0, 2);
	put_short(PERF_RECORD_SAMPLE, 12);
	put_record(66, 0, &nine, sizeof(nine)); /* tracing data of 9 bytes, padded to 16 */
	put_word(0);
	put_word(0);
	put_short(PERF_RECORD_SAMPLE, 12);
	s = read_image(_i ? STREAM : REGULAR);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.records, 3);
	ck_assert_uint_eq(s.counts.damaged, 1);
	ck_assert_uint_eq(s.counts.damaged_at, at);
	ck_assert_uint_eq(s.counts.left_out, 16);
}
END_TEST

/* Nothing but nonsense behind some records. */
START_TEST(damaged_to_the_end)
{
	uint64_t word = 1;
	struct seen s;
	size_t i, at;

	make_stream();
	for (i = 0; i < 5; i++)
		put_short(PERF_RECORD_SAMPLE, 12);
	at = image.nr;
	for (i = 0; i < 100000; i++) {
		word = word * 6364136223846793005ULL + 1442695040888963407ULL;
		put_word(i % 3 ? word : word >> 40);
	}
	s = read_image(_i ? STREAM : REGULAR);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.records, 5);
	ck_assert_uint_eq(s.counts.damaged, 1);
	ck_assert_uint_eq(s.counts.damaged_at, at);
	ck_assert_uint_eq(s.counts.left_out, image.nr - at);
	ck_assert_uint_eq(s.counts.bad_records, 1);
}
END_TEST

/* ---- whose record it is */

#define ID PERF_SAMPLE_ID

/* Two events, with ids 11 and 12; a record with words after its header. */
static const struct {
	uint64_t sample_type;
	uint32_t type;
	uint64_t words[6];
	size_t nr;
	size_t of; /* 3: no event */
} owners[] = {
	{ PERF_SAMPLE_IDENTIFIER, PERF_RECORD_SAMPLE, { 12, 11, 11 }, 3, 1 },
	{ PERF_SAMPLE_IDENTIFIER, PERF_RECORD_SAMPLE, { 13 }, 1, 3 },
	{ PERF_SAMPLE_IDENTIFIER, PERF_RECORD_SAMPLE, { 0 }, 1, 0 },
	{ PERF_SAMPLE_IDENTIFIER, PERF_RECORD_SAMPLE, { 0 }, 0, 3 },
	{ PERF_SAMPLE_IDENTIFIER | ID | PERF_SAMPLE_IP, PERF_RECORD_SAMPLE, { 12, 11, 11 }, 3, 1 },
	{ ID, PERF_RECORD_SAMPLE, { 12, 11 }, 2, 1 },
	{ ID | PERF_SAMPLE_IP, PERF_RECORD_SAMPLE, { 11, 12, 11 }, 3, 1 },
	{ ID | PERF_SAMPLE_IP, PERF_RECORD_SAMPLE, { 12 }, 1, 3 },
	{ ID | PERF_SAMPLE_IP | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR,
	  PERF_RECORD_SAMPLE,
	  { 11, 11, 11, 11, 12, 11 },
	  6,
	  1 },
	{ ID | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID | PERF_SAMPLE_PERIOD,
	  PERF_RECORD_SAMPLE,
	  { 12, 11, 11, 11 },
	  4,
	  1 },
	{ PERF_SAMPLE_IP, PERF_RECORD_SAMPLE, { 12, 12 }, 2, 0 },
	{ 0, PERF_RECORD_SAMPLE, { 12, 12 }, 2, 0 },
};

START_TEST(owner)
{
	struct seen s;

	image.nr = 0;
	put_word(MAGIC);
	put_word(16);
	put_attr_record(0, owners[_i].sample_type, 11);
	put_attr_record(1, owners[_i].sample_type, 12);
	put_record(owners[_i].type, 0, owners[_i].words, 8 * owners[_i].nr);
	s = read_image(STREAM);
	ck_assert_uint_eq(s.records, 1);
	ck_assert_uint_eq(s.of[owners[_i].of], 1);
}
END_TEST

/* The same at the end of a record that is not a sample; all words but the id belong to the other event. */
START_TEST(owner_of_others)
{
	static const struct {
		uint64_t sample_type;
		size_t from_end; /* of the id; 0: there is none */
	} rows[] = {
		{ PERF_SAMPLE_IDENTIFIER, 1 },
		{ PERF_SAMPLE_IDENTIFIER | ID | PERF_SAMPLE_CPU, 1 },
		{ ID, 1 },
		{ ID | PERF_SAMPLE_CPU, 2 },
		{ ID | PERF_SAMPLE_CPU | PERF_SAMPLE_STREAM_ID, 3 },
		{ ID | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_ADDR | PERF_SAMPLE_IP, 1 },
		{ PERF_SAMPLE_CPU, 0 },
	};
	const struct perf_event_header *record;
	uint64_t words[4];
	struct perfdata *pd;
	struct err err;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		image.nr = 0;
		put_word(MAGIC);
		put_word(16);
		put_attr_record(0, rows[i].sample_type, 11);
		put_attr_record(1, rows[i].sample_type, 12);
		for (k = 0; k < 4; k++)
			words[k] = rows[i].from_end == 4 - k ? 12 : 11;
		put_record(PERF_RECORD_SWITCH, 0, words, sizeof(words));
		put_record(PERF_RECORD_SWITCH, 0, words, 0);
		put_short(PERF_RECORD_SWITCH, 99);
		give_stdin(image.nr, STREAM);
		ck_assert_int_eq(perfdata_open(&pd, "-", &err), 0);
		ck_assert_int_eq(perfdata_next(pd, &record, &err), 1);
		ck_assert_uint_eq(perfdata_event_of(pd, record), rows[i].from_end ? 1 : 0);
		ck_assert_int_eq(perfdata_next(pd, &record, &err), 1);
		ck_assert_uint_eq(perfdata_event_of(pd, record), 0);
		ck_assert_int_eq(perfdata_next(pd, &record, &err), 1);
		ck_assert_uint_eq(perfdata_event_of(pd, record), 0);
		perfdata_close(pd);
	}
}
END_TEST

/* The header of a KSYMBOL record has a size beyond its last word, here by an id and a time. */
START_TEST(larger_than_written)
{
	const struct perf_event_attr attr = { .size = sizeof(attr),
					      .sample_type = PERF_SAMPLE_TIME | PERF_SAMPLE_IDENTIFIER,
					      .sample_id_all = 1 };
	const uint64_t ids[] = { 11, 12 };
	struct {
		struct perf_event_header header;
		uint64_t start, rest;
		char name[16];
		uint64_t time, id, others[2];
	} record = {
		{ PERF_RECORD_KSYMBOL, 0, sizeof(record) }, 0xffffffffc0001000, 0x80, "bpf_prog", 77000, 12, { 5, 11 }
	};
	struct perfdata_header h = { 0 };
	size_t i;

	for (i = 0; i < 2; i++) {
		ck_assert_int_eq(header_add_event(&h, &attr, sizeof(attr)), 0);
		ck_assert_int_eq(header_add_ids(&h, &ids[i], 1), 0);
	}
	ck_assert_uint_eq(header_event_of(&h, &record.header), 1);
	ck_assert_uint_eq(header_time_of(&h, &record.header), 77000);
	/* The last words of other records count. */
	record.header.type = PERF_RECORD_CGROUP;
	ck_assert_uint_eq(header_event_of(&h, &record.header), 0);
	ck_assert_uint_eq(header_time_of(&h, &record.header), 5);
	/* The second event may have more fields, here the CPU. */
	record.header.type = PERF_RECORD_KSYMBOL;
	h.events[1]->attr.sample_type |= PERF_SAMPLE_CPU;
	record.id = 3;
	record.others[0] = 12;
	record.header.size -= sizeof(uint64_t);
	ck_assert_uint_eq(header_event_of(&h, &record.header), 1);
	ck_assert_uint_eq(header_time_of(&h, &record.header), 77000);
	record.id = 0;
	ck_assert_uint_eq(header_event_of(&h, &record.header), 1);
	header_release(&h);
}
END_TEST

START_TEST(no_events)
{
	struct seen s;

	image.nr = 0;
	put_word(MAGIC);
	put_word(16);
	put_short(PERF_RECORD_SAMPLE, 11);
	s = read_image(STREAM);
	ck_assert_uint_eq(s.nr_events, 0);
	ck_assert_uint_eq(s.of[3], 1);
}
END_TEST

/* ---- compressed records; frames by hand: RFC 8878 */

#ifdef HAVE_ZSTD
#define FRAME 0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x50

/* A block that is stored, or one byte repeated; never the last one. */
static size_t put_block(unsigned char *to, bool repeated, uint32_t size, const void *bytes)
{
	uint32_t head = size << 3 | (repeated ? 1 : 0) << 1;

	memcpy(to, &head, 3);
	memcpy(to + 3, bytes, repeated ? 1 : size);
	return 3 + (repeated ? 1 : size);
}

/* Records in blocks of @piece bytes, each block a record of the stream. @padded: as perf 6.16 writes them. */
static void put_compressed(const unsigned char *bytes, size_t size, size_t piece, bool padded)
{
	unsigned char payload[512] = { 0 };
	uint64_t used;
	size_t at, n;

	for (at = 0; at < size; at += n) {
		n = size - at < piece ? size - at : piece;
		used = padded ? 8 : 0;
		if (!at) {
			memcpy(payload + used, (const unsigned char[]){ FRAME }, 6);
			used += 6;
		}
		used += put_block(payload + used, false, (uint32_t)n, bytes + at);
		if (padded) {
			used -= 8;
			memcpy(payload, &used, sizeof(used));
			used = (used + 8 + 7) / 8 * 8;
		}
		put_record(padded ? 83 : 81, 0, payload, used);
		put_record(PERFDATA_FINISHED_ROUND, 0, NULL, 0);
	}
}

/* 16 samples of 16 bytes, divided at each place; ends of rounds are between the pieces. */
START_TEST(compressed)
{
	size_t piece = (size_t)_i / 2 + 1, nr_pieces = (256 + piece - 1) / piece;
	unsigned char bytes[256];
	struct seen s;
	size_t i;

	image.nr = 0;
	for (i = 0; i < 16; i++)
		put_short(PERF_RECORD_SAMPLE, i % 2 ? 11 : 12);
	memcpy(bytes, image.bytes, sizeof(bytes));
	make_stream();
	put_compressed(bytes, sizeof(bytes), piece, _i % 2);
	s = read_image(STREAM);
	ck_assert_msg(s.rc == 0, "%s", s.err.msg);
	ck_assert_uint_eq(s.of[0], 8);
	ck_assert_uint_eq(s.of[1], 8);
	ck_assert_uint_eq(s.records, 16 + nr_pieces);
	ck_assert(!s.counts.truncated);
	/* Without its last byte the last record is missing. */
	make_stream();
	put_compressed(bytes, sizeof(bytes) - 1, piece, _i % 2);
	s = read_image(STREAM);
	ck_assert_uint_eq(s.of[0] + s.of[1], 15);
	ck_assert(s.counts.truncated);
}
END_TEST

/* Much data from little, and damaged data. */
START_TEST(compressed_badly)
{
	static const struct {
		unsigned char byte; /* repeated: a record whose type and size are this byte */
		uint32_t first, blocks;
		uint16_t broken; /* a byte after it that is not a block */
		size_t records;
		uint64_t bad_records;
		bool truncated, damaged;
	} rows[] = {
		{ 0, 1000, 1, 0, 0, 1, false, true },    /* records of no size */
		{ 8, 2056, 1, 0, 0, 1, false },          /* an unknown type, of 0x808 bytes: one */
		{ 8, 131072, 64, 0, 0, 4080, true },     /* 8 MiB of them out of 300 bytes, the last is cut */
		{ 8, 2056, 1, 0xff, 0, 1, false, true }, /* what came before in the same piece is lost, too */
		{ 8, 2000, 1, 0xff, 0, 1, false, true },
	};
	unsigned char payload[512] = { FRAME };
	size_t used = 6;
	struct seen s;
	uint32_t i;

	for (i = 0; i < rows[_i].blocks; i++)
		used += put_block(payload + used, true, rows[_i].first, &rows[_i].byte);
	if (rows[_i].broken) {
		memset(payload + used, rows[_i].broken, 3);
		used += 3;
	}
	make_stream();
	put_record(81, 0, payload, used);
	put_short(PERF_RECORD_SAMPLE, 12);
	s = read_image(STREAM);
	ck_assert_int_eq(s.rc, 0);
	ck_assert_uint_eq(s.records, rows[_i].records + 1);
	ck_assert_uint_eq(s.counts.bad_records, rows[_i].bad_records);
	ck_assert_int_eq(s.counts.truncated, rows[_i].truncated);
	ck_assert_uint_eq(s.counts.damaged, rows[_i].damaged);
	if (rows[_i].damaged) {
		ck_assert_uint_eq(s.counts.damaged_at, image.nr - 16 - 8 - used);
		ck_assert_uint_eq(s.counts.left_out, used);
	}
	/* Nothing that is compressed can be read after what is damaged; the rest can. */
	if (!rows[_i].broken)
		return;
	put_record(81, 0, payload, used);
	put_short(PERF_RECORD_SAMPLE, 12);
	s = read_image(STREAM);
	ck_assert_uint_eq(s.records, rows[_i].records + 2);
	ck_assert_uint_eq(s.counts.bad_records, rows[_i].bad_records + 1);
}
END_TEST
#endif

int main(void)
{
	Suite *suite = suite_create("perfdata");
	TCase *c = tcase_create("file");

	tcase_add_loop_test(c, whole_file, 0, 2);
	tcase_add_loop_test(c, described_by_place, 0, ARRAY_SIZE(described_again));
	tcase_add_loop_test(c, changed_file, 0, ARRAY_SIZE(changed));
	tcase_add_loop_test(c, changed_file_through_pipe, 0, ARRAY_SIZE(changed));
	tcase_add_loop_test(c, damaged_at_odd_place, 0, 2);
	tcase_add_loop_test(c, no_memory, 0, 2);
	tcase_add_test(c, unknown_compression);
	tcase_add_loop_test(c, cut_file, 0, 4);
	tcase_add_test(c, features_between);
	tcase_add_test(c, not_a_file);
	tcase_add_loop_test(c, directory, 0, ARRAY_SIZE(dirs));
	tcase_add_test(c, directory_of_many);
	suite_add_tcase(suite, c);
	c = tcase_create("stream");
	tcase_add_loop_test(c, stream_record, 0, 2 * ARRAY_SIZE(streams));
	tcase_add_test(c, stream_features);
	tcase_add_test(c, too_many_events);
	tcase_add_loop_test(c, long_stream, 0, 2);
	tcase_add_loop_test(c, damaged_size, 0, 100);
	tcase_add_loop_test(c, damaged_before_data, 0, 2);
	tcase_add_loop_test(c, damaged_to_the_end, 0, 2);
	tcase_add_loop_test(c, owner, 0, ARRAY_SIZE(owners));
	tcase_add_test(c, owner_of_others);
	tcase_add_test(c, larger_than_written);
	tcase_add_test(c, no_events);
	suite_add_tcase(suite, c);
#ifdef HAVE_ZSTD
	c = tcase_create("compressed");
	tcase_add_loop_test(c, compressed, 0, 2 * 256);
	tcase_add_loop_test(c, compressed_badly, 0, 5);
	suite_add_tcase(suite, c);
#endif
	return unit_main(suite);
}
