// SPDX-License-Identifier: Apache-2.0
/* Runs over recordings, from the bytes of a file to the rows and the statistics. */
#include "backend-perfring/recording/perfdata.h"
#include "core/cli/backends.h"
#include "compat/perf_deferred.h"
#include "core/cli/request.h"
#include "core/session/open.h"
#include "core/session/session.h"
#include "core/session/statistics.h"
#include "tests/unit/perfdata_image.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/resource.h>

#define A     11 /* ids of the events */
#define B     12
#define K     0xffffffff81000000ULL
#define TYPE  (PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN)
#define NO_ID 0 /* id of records that perf record made up */

static char *dir, *path;
static struct host host;
static struct options options;
static struct session *session;
static struct err err;

static void begin_stream(void)
{
	image.nr = 0;
	put_word(MAGIC);
	put_word(16);
}

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_ge(asprintf(&path, "%s/perf.data", dir), 0);
	host = (struct host){ .proc = dir, .sys = dir };
	options = (struct options){ .cpu = -1, .input = path, .sampling.event = event_default() };
	err = (struct err){ 0 };
	session = NULL;
	begin_stream();
}

static void teardown(void)
{
	session_free(session);
	free(path);
	unit_rmdir(dir);
}

/* ---- making a recording */

static void put_event_of(struct perf_event_attr attr, uint64_t id, const char *name)
{
	unsigned char payload[8192] = { 0 };
	uint64_t update[2] = { 2, id }; /* the event's name */
	size_t len = strlen(name);

	memcpy(payload, &attr, ATTR_SIZE);
	memcpy(payload + ATTR_SIZE, &id, sizeof(id));
	put_record(64, 0, payload, ATTR_SIZE + sizeof(id));
	if (!len)
		return;
	memcpy(payload, update, sizeof(update));
	memcpy(payload + sizeof(update), name, len + 1);
	put_record(78, 0, payload, sizeof(update) + (len / 8 + 1) * 8);
}

/* Sampled 999 times a second. */
static struct perf_event_attr sampled(void)
{
	struct perf_event_attr attr = attr_of(PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES, TYPE);

	attr.freq = 1;
	attr.sample_freq = 999;
	return attr;
}

static void put_event(uint64_t id, const char *name)
{
	put_event_of(sampled(), id, name);
}

static uint64_t two(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static void put_sample(uint64_t id, pid_t pid, pid_t tid, uint64_t time, uint32_t cpu)
{
	const uint64_t words[] = { id,
				   two((uint32_t)pid, (uint32_t)tid),
				   time,
				   cpu,
				   2,
				   tid ? PERF_CONTEXT_USER : PERF_CONTEXT_KERNEL,
				   tid ? 0x401000 : K };

	put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER, words, sizeof(words));
}

/* A record about a task: @nr words, a text, and when and where it was written. */
struct told {
	uint32_t type;
	uint16_t misc;
	uint64_t words[8];
	size_t nr;
	const char *text; /* NULL: none */
	uint64_t time;
	uint32_t cpu;
	uint64_t id;
};

static void put_told(const struct told *t)
{
	uint64_t words[64];
	size_t nr = t->nr, text = t->text ? strlen(t->text) / 8 + 1 : 0;

	memset(words, 0, sizeof(words));
	memcpy(words, t->words, nr * sizeof(*words));
	if (text)
		memcpy(words + nr, t->text, strlen(t->text));
	nr += text;
	words[nr++] = two(1, 1);
	words[nr++] = t->time;
	words[nr++] = t->cpu;
	words[nr++] = t->id;
	put_record(t->type, t->misc, words, nr * sizeof(*words));
}

static void put_comm(pid_t pid, pid_t tid, uint64_t time, const char *name, bool exec)
{
	put_told(&(struct told){ .type = PERF_RECORD_COMM,
				 .misc = exec ? PERF_RECORD_MISC_COMM_EXEC : 0,
				 .words = { two((uint32_t)pid, (uint32_t)tid) },
				 .nr = 1,
				 .text = name,
				 .time = time,
				 .id = A });
}

static void put_task(uint32_t type, pid_t pid, pid_t ppid, uint64_t time, uint32_t cpu)
{
	put_told(&(struct told){
		.type = type,
		.words = { two((uint32_t)pid, (uint32_t)ppid), two((uint32_t)pid, (uint32_t)ppid), time },
		.nr = 3,
		.time = time,
		.cpu = cpu,
		.id = A });
}

static void put_mmap(uint16_t misc, pid_t pid, uint64_t start, uint64_t pgoff, const char *file, uint64_t time)
{
	put_told(&(struct told){ .type = PERF_RECORD_MMAP,
				 .misc = misc,
				 .words = { two((uint32_t)pid, (uint32_t)pid), start, 0x1000, pgoff },
				 .nr = 4,
				 .text = file,
				 .time = time,
				 .id = A });
}

/* @misc: bit 15: a filter of perf record dropped the samples */
static void put_lost(uint32_t type, uint16_t misc, uint64_t nr, uint64_t id)
{
	struct told t = { .type = type, .misc = misc, .words = { nr }, .nr = 1, .time = 5, .id = id };

	if (type == PERF_RECORD_LOST) {
		t.words[0] = id;
		t.words[1] = nr;
		t.nr = 2;
	}
	put_told(&t);
}

static void put_round(void)
{
	put_record(PERFDATA_FINISHED_ROUND, 0, NULL, 0);
}

/* ---- reading it */

static int open_recording(void)
{
	unit_write(dir, "perf.data", image.bytes, image.nr);
	session_free(session);
	session = request_session(&options, &host);
	ck_assert_ptr_nonnull(session);
	return session_open(session, &err);
}

/* Return: its statistics, which balance. */
static struct stats read_recording(void)
{
	struct stats stats;
	int rc = open_recording();

	ck_assert_msg(rc == 0, "%s", err.msg);
	rc = session_run(session, &err);
	ck_assert_msg(rc == 0, "%s", err.msg);
	ck_assert_int_eq(session_stats(session, &stats).samples, 0);
	ck_assert_uint_eq(stats.taken, stats.counted_ring + stats.filtered + stats.lost);
	ck_assert_uint_eq(stats.counted_ring, rows_total(session_samples(session)));
	ck_assert_uint_eq(stats.counted_kernel, 0);
	return stats;
}

static uint64_t value_of(const char *comm, pid_t pid)
{
	struct row row;
	uint64_t value = 0;
	size_t i;

	for (i = 0; i < rows_nr(session_samples(session)); i++) {
		rows_get(session_samples(session), i, &row);
		if (!strcmp(row.key.comm, comm) && row.key.pid == pid)
			value += row.value;
	}
	return value;
}

/* @file: NULL: no mapping at that address is known */
static void check_map(pid_t pid, const char *comm, uint64_t addr, const char *file)
{
	struct mapping m;

	ck_assert_int_eq(tasks_find(session->sink.tasks, pid, comm, 0, addr, &m), file ? 1 : 0);
	if (file)
		ck_assert_str_eq(m.file->path, file);
}

/* ---- the choice of the event */

#define HW(config, hz)  PERF_TYPE_HARDWARE, config, hz, 0
#define SW(config, hz)  PERF_TYPE_SOFTWARE, config, hz, 0
#define DUMMY           PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, 4000, 0
#define CYCLES          HW(PERF_COUNT_HW_CPU_CYCLES, 999)
#define INSTRUCTIONS    HW(PERF_COUNT_HW_INSTRUCTIONS, 99)
#define COUNTED(config) PERF_TYPE_HARDWARE, config, 0, 0
#define NOT_IN(name)    "event '" name "' is not in '%s' (its events: "
#define NONE_SAMPLED    "no event was sampled in '%s'"

/* Each event has one sample. */
static const struct {
	const char *what;
	struct {
		const char *name;
		uint32_t type;
		uint64_t config, freq, period;
	} events[3];
	const char *asked;
	const char *err; /* otherwise the chosen event: */
	const char *event, *others;
	uint64_t freq, period;
	int at;
} choices[] = {
	{ "the only one", { { "cycles:P", CYCLES } }, NULL, NULL, "cycles:P", NULL, 999, 0, 0 },
	{ "by its period", { { "x", PERF_TYPE_RAW, 5, 0, 1000 } }, NULL, NULL, "x", NULL, 0, 1000, 0 },
	{ "the first", { { "b", CYCLES }, { "a", INSTRUCTIONS } }, NULL, NULL, "b", "a", 999, 0, 0 },
	{ "without a name", { { "", PERF_TYPE_RAW, 0xc0, 9, 0 } }, NULL, NULL, "rc0", NULL, 9, 0, 0 },
	{ "not the dummy", { { "dummy:u", DUMMY }, { "cycles", CYCLES } }, NULL, NULL, "cycles", NULL, 999, 0, 1 },
	{ "not an event that is only counted",
	  { { "a", COUNTED(3) }, { "b", CYCLES }, { "c", COUNTED(4) } },
	  NULL,
	  NULL,
	  "b",
	  NULL,
	  999,
	  0,
	  1 },
	{ "by name", { { "a", CYCLES }, { "b", INSTRUCTIONS } }, "b", NULL, "b", "a", 99, 0, 1 },
	{ "with its modifiers",
	  { { "a", CYCLES }, { "cycles:P", CYCLES } },
	  "cycles:P",
	  NULL,
	  "cycles:P",
	  "a",
	  999,
	  0,
	  1 },
	{ "without them",
	  { { "a", INSTRUCTIONS }, { "x:P", PERF_TYPE_RAW, 5, 9, 0 } },
	  "x",
	  NULL,
	  "x:P",
	  "a",
	  9,
	  0,
	  1 },
	{ "exactly before nearly",
	  { { "x:u", PERF_TYPE_RAW, 5, 9, 0 }, { "x", PERF_TYPE_RAW, 5, 9, 0 } },
	  "x",
	  NULL,
	  "x",
	  "x:u",
	  9,
	  0,
	  1 },
	{ "by its other name",
	  { { "a", INSTRUCTIONS }, { "cpu-cycles:u", CYCLES } },
	  "cycles",
	  NULL,
	  "cpu-cycles:u",
	  "a",
	  999,
	  0,
	  1 },
	{ "by type and config", { { "a", INSTRUCTIONS }, { "b", CYCLES } }, "cpu-cycles", NULL, "b", "a", 999, 0, 1 },
	{ "three", { { "a", CYCLES }, { "b", CYCLES }, { "c", CYCLES } }, "b", NULL, "b", "a, c", 999, 0, 1 },
	{ "hostile", { { "a\x1b[2Jb\n", CYCLES }, { "\x7f\xff\t", CYCLES } }, NULL, NULL, "a?[2Jb?", "???", 999, 0, 0 },
	{ "hostile, requested", { { "a", CYCLES }, { "\x1b[2J", CYCLES } }, "\x1b[2J", NULL, "?[2J", "a", 999, 0, 1 },
	{ "absent", { { "a", CYCLES }, { "b:P", CYCLES } }, "faults", NOT_IN("faults") "a, b:P)" },
	{ "a part of a name", { { "xyz:P", PERF_TYPE_RAW, 5, 9, 0 } }, "xy", NOT_IN("xy") "xyz:P)" },
	{ "more than a name", { { "xyz", PERF_TYPE_RAW, 5, 9, 0 } }, "xyz:P", NOT_IN("xyz:P") "xyz)" },
	{ "in other letters", { { "x", PERF_TYPE_RAW, 5, 9, 0 } }, "X", NOT_IN("X") "x)" },
	{ "of another type", { { "x", PERF_TYPE_RAW, 0, 9, 0 } }, "cycles", NOT_IN("cycles") "x)" },
	{ "absent, of hostile ones", { { "\x1b[2J\n", CYCLES } }, "faults", NOT_IN("faults") "?[2J?)" },
	{ "absent, the dummy is no choice", { { "dummy", DUMMY }, { "x", CYCLES } }, "faults", NOT_IN("faults") "x)" },
	{ "only counted, by name", { { "a", COUNTED(3) }, { "x", CYCLES } }, "a", NOT_IN("a") "x)" },
	{ "the dummy, by name", { { "dummy:u", DUMMY }, { "x", CYCLES } }, "dummy", NOT_IN("dummy") "x)" },
	{ "by name, with only one event", { { "a", COUNTED(3) } }, "a", NONE_SAMPLED },
	{ "only the dummy", { { "dummy:u", DUMMY } }, NULL, NONE_SAMPLED },
	{ "only counted", { { "a", COUNTED(1) }, { "b", COUNTED(2) } }, NULL, NONE_SAMPLED },
	{ "none", { { NULL } }, NULL, NONE_SAMPLED },
};

static void assert_error(const char *format)
{
	const char *at = strstr(format, "%s");
	char want[700];

	snprintf(want, sizeof(want), "%.*s%.200s%s", (int)(at - format), format, path, at + 2);
	ck_assert_str_eq(err.msg, want);
	ck_assert_int_eq(err.code, -ENOENT);
}

static size_t put_choice(int row)
{
	size_t i, nr;

	for (nr = 0; nr < 3 && choices[row].events[nr].name; nr++) {
		struct perf_event_attr attr =
			attr_of(choices[row].events[nr].type, choices[row].events[nr].config, TYPE);

		attr.freq = choices[row].events[nr].freq != 0;
		attr.sample_freq = attr.freq ? choices[row].events[nr].freq : choices[row].events[nr].period;
		put_event_of(attr, A + nr, choices[row].events[nr].name);
	}
	for (i = 0; i < nr; i++)
		put_sample(A + i, (pid_t)(100 + i), 100, 10 + i, 0);
	return nr;
}

START_TEST(test_choice)
{
	size_t nr = put_choice(_i);
	const struct recording *r;
	struct stats stats;

	options.event_name = choices[_i].asked;
	if (choices[_i].err) {
		ck_assert_int_eq(open_recording(), -ENOENT);
		assert_error(choices[_i].err);
		return;
	}
	stats = read_recording();
	r = &session->recording;
	ck_assert_msg(!strcmp(r->event, choices[_i].event), "%s: '%s'", choices[_i].what, r->event);
	ck_assert_int_eq(r->others != NULL, choices[_i].others != NULL);
	if (r->others)
		ck_assert_str_eq(r->others, choices[_i].others);
	ck_assert_uint_eq(r->freq_hz, choices[_i].freq);
	ck_assert_uint_eq(r->period, choices[_i].period);
	ck_assert_uint_eq(r->other_samples, nr - 1);
	ck_assert_uint_eq(stats.taken, 1);
	ck_assert_uint_eq(value_of(":100", 100 + choices[_i].at), 1);
	ck_assert_uint_eq(r->first_ns, 10 + (uint64_t)choices[_i].at);
	ck_assert_uint_eq(r->last_ns, r->first_ns);
}
END_TEST

/* Events, and the samples of each, one after the other in the recording. */
static const struct {
	const char *what;
	const char *names[4]; /* "dummy" is a dummy event */
	size_t samples[4];
	size_t unknown;
	const char *asked;
	const char *event, *others; /* the expected names */
	const char *more;           /* the other events with samples, and how many */
	uint64_t taken;
} several[] = {
	{ "each has some", { "a", "b" }, { 2, 3 }, 0, NULL, "a", "b", "b 3", 2 },
	{ "each, by name", { "a", "b" }, { 2, 3 }, 0, "b", "b", "a", "a 2", 3 },
	{ "the first has none", { "a", "b" }, { 0, 3 }, 0, NULL, "b", "a", "", 3 },
	{ "the first two", { "a", "b", "c", "d" }, { 0, 0, 4, 5 }, 0, NULL, "c", "a, b, d", "d 5", 4 },
	{ "the first, by name", { "a", "b" }, { 0, 3 }, 0, "a", "a", "b", "b 3", 0 },
	{ "the dummy in front", { "dummy", "a", "b", "c" }, { 0, 0, 1, 5 }, 0, NULL, "b", "a, c", "c 5", 1 },
	{ "none has any", { "a", "b" }, { 0, 0 }, 0, NULL, "a", "b", "", 0 },
	{ "one name, of two cgroups", { "a", "b", "a" }, { 2, 3, 5 }, 0, NULL, "a", "b", "b 3", 7 },
	{ "one name, the first of it has none", { "a", "b", "a" }, { 0, 0, 5 }, 0, NULL, "a", "b", "", 5 },
	{ "one name, asked for", { "a", "b", "b" }, { 2, 3, 5 }, 0, "b", "b", "a", "a 2", 8 },
	{ "some that no event has", { "a", "b" }, { 2, 3 }, 4, NULL, "a", "b", "b 3", 2 },
	{ "nothing but such", { "a", "b" }, { 0, 0 }, 4, NULL, "a", "b", "", 0 },
};

START_TEST(test_several)
{
	const struct recording *r;
	char more[64] = "";
	struct stats stats;
	size_t i, k, all = several[_i].unknown;

	for (i = 0; i < 4 && several[_i].names[i]; i++) {
		struct perf_event_attr attr = sampled();

		if (!strcmp(several[_i].names[i], "dummy"))
			attr = attr_of(PERF_TYPE_SOFTWARE, PERF_COUNT_SW_DUMMY, TYPE);
		put_event_of(attr, A + i, several[_i].names[i]);
	}
	/* The samples of the last event come first. */
	while (i--)
		for (k = 0; k < several[_i].samples[i]; k++, all++)
			put_sample(A + i, 10, 10, 10, 0);
	for (k = 0; k < several[_i].unknown; k++)
		put_sample(99, 10, 10, 10, 0);
	options.event_name = several[_i].asked;
	stats = read_recording();
	r = &session->recording;
	ck_assert_msg(!strcmp(r->event, several[_i].event), "%s: '%s'", several[_i].what, r->event);
	ck_assert_str_eq(r->others, several[_i].others);
	ck_assert_msg(stats.taken == several[_i].taken, "%s: %u", several[_i].what, (unsigned int)stats.taken);
	ck_assert_uint_eq(value_of(":10", 10), several[_i].taken);
	ck_assert_uint_eq(r->other_samples, all - several[_i].taken);
	ck_assert_uint_eq(r->undescribed_samples, several[_i].unknown);
	for (i = 0; i < r->nr_more; i++)
		snprintf(more + strlen(more), sizeof(more) - strlen(more), "%s%s %u", i ? ", " : "", r->more[i].name,
			 (unsigned int)r->more[i].samples);
	ck_assert_msg(!strcmp(more, several[_i].more), "%s: '%s'", several[_i].what, more);
}
END_TEST

/* No more is read ahead than 64 MiB: then the first event with samples in these is taken. */
START_TEST(test_far_ahead)
{
	static const unsigned char payload[65520];
	size_t nr = _i ? 1025 : 1000, whole, i;
	struct stats stats;
	FILE *f;

	put_event(A, "a");
	put_event(B, "b");
	put_sample(B, 10, 10, 10, 0);
	f = fopen(path, "w");
	ck_assert_ptr_nonnull(f);
	ck_assert_uint_eq(fwrite(image.bytes, image.nr, 1, f), 1);
	image.nr = 0;
	put_record(63, 0, payload, sizeof(payload)); /* unknown */
	whole = image.nr;
	for (i = 0; i < nr; i++)
		ck_assert_uint_eq(fwrite(image.bytes, whole, 1, f), 1);
	image.nr = 0;
	put_sample(A, 10, 10, 10, 0);
	ck_assert_uint_eq(fwrite(image.bytes, image.nr, 1, f), 1);
	fclose(f);
	session = request_session(&options, &host);
	ck_assert_ptr_nonnull(session);
	ck_assert_int_eq(session_open(session, &err), 0);
	ck_assert_int_eq(session_run(session, &err), 0);
	session_stats(session, &stats);
	ck_assert_str_eq(session->recording.event, _i ? "b" : "a");
	ck_assert_uint_eq(stats.taken, 1);
	ck_assert_uint_eq(session->recording.other_samples, 1);
}
END_TEST

/* Names are cut, each and together, and so is what an error says of them. */
START_TEST(test_long_names)
{
	char name[4097];
	uint64_t i;

	memset(name, 'n', sizeof(name) - 1);
	name[4096] = 0;
	for (i = 0; i < 40; i++) {
		name[300] = (char)('A' + i);
		put_event(A + i, name);
	}
	read_recording();
	ck_assert_uint_eq(strlen(session->recording.event), 256);
	ck_assert_uint_eq(strlen(session->recording.others), 4095);
	ck_assert_uint_eq(strspn(session->recording.others, "n, "), 4095);
	options.event_name = "faults";
	ck_assert_int_eq(open_recording(), -ENOENT);
	ck_assert_uint_lt(strlen(err.msg), sizeof(err.msg) - 1);
	ck_assert_str_eq(err.msg + strlen(err.msg) - 3, "nn)");
}
END_TEST

/* The limit of the callchains. One more address is requested, to find stacks that are too long. */
START_TEST(test_max_stack)
{
	static const uint16_t limits[][2] = {
		{ 0, 127 }, { 1, 1 }, { 64, 64 }, { 127, 127 }, { UINT16_MAX, UINT16_MAX }
	};
	struct perf_event_attr attr = sampled();

	attr.sample_max_stack = limits[_i][0];
	put_event_of(attr, A, "cycles");
	put_sample(A, 10, 10, 10, 0);
	read_recording();
	ck_assert_uint_eq(session->request.asked, limits[_i][1]);
}
END_TEST

/* Without callchains: only the address. */
START_TEST(test_leaves)
{
	const uint64_t words[] = { A, K, two(10, 10) };
	struct perf_event_attr attr = sampled();
	struct row row;

	attr.sample_type = PERF_SAMPLE_IDENTIFIER | PERF_SAMPLE_IP | PERF_SAMPLE_TID;
	put_event_of(attr, A, "cycles");
	put_record(PERF_RECORD_SAMPLE, _i ? PERF_RECORD_MISC_KERNEL : PERF_RECORD_MISC_GUEST_KERNEL, words,
		   sizeof(words));
	read_recording();
	ck_assert_uint_eq(rows_nr(session_samples(session)), 1);
	rows_get(session_samples(session), 0, &row);
	ck_assert_uint_eq(row.key.kernel.nr, _i ? 1 : 0);
	ck_assert_uint_eq(row.key.user.nr, 0);
	if (_i)
		ck_assert_uint_eq(row.key.kernel.frames[0], K);
	ck_assert_uint_eq(session->recording.first_ns + session->recording.last_ns, 0); /* the samples have no time */
}
END_TEST

/* Are user stacks chains of frame pointers? Not if they are the leaf alone, or copies. */
static const struct {
	uint64_t type;
	bool without_user, chains;
} chains[] = {
	{ TYPE, false, true },
	{ TYPE, true, false },
	{ TYPE & ~(uint64_t)PERF_SAMPLE_CALLCHAIN, false, false },
};

START_TEST(test_user_callchains)
{
	struct perf_event_attr attr = sampled();

	attr.sample_type = chains[_i].type;
	attr.exclude_callchain_user = chains[_i].without_user;
	put_event_of(attr, A, "cycles");
	put_sample(A, 10, 10, 10, 0);
	read_recording();
	ck_assert_int_eq(session->recording.user_callchains, chains[_i].chains);
}
END_TEST

/* ---- statistics */

/* The rings report losses while they are read, perf record at its end, or both. */
static const struct {
	const char *what;
	struct {
		uint32_t type;
		uint16_t misc;
		uint64_t nr, id;
	} lost[4];
	uint64_t records;
} losses[] = {
	{ "nothing", { { 0 } }, 0 },
	{ "by the rings", { { PERF_RECORD_LOST, 0, 5, A } }, 5 },
	{ "by the rings, twice", { { PERF_RECORD_LOST, 0, 5, A }, { PERF_RECORD_LOST, 0, 7, A } }, 12 },
	{ "at the end", { { PERF_RECORD_LOST_SAMPLES, 0, 5, A } }, 5 },
	{ "at the end, of two CPUs",
	  { { PERF_RECORD_LOST_SAMPLES, 0, 5, A }, { PERF_RECORD_LOST_SAMPLES, 0, 7, A } },
	  12 },
	{ "both: those of the rings are included in the others",
	  { { PERF_RECORD_LOST, 0, 5, A }, { PERF_RECORD_LOST_SAMPLES, 0, 7, A } },
	  7 },
	{ "both, as many", { { PERF_RECORD_LOST, 0, 5, A }, { PERF_RECORD_LOST_SAMPLES, 0, 5, A } }, 5 },
	{ "both, fewer at the end", { { PERF_RECORD_LOST, 0, 5, A }, { PERF_RECORD_LOST_SAMPLES, 0, 3, A } }, 5 },
	{ "wanted", { { PERF_RECORD_LOST_SAMPLES, 1 << 15, 5, A } }, 0 },
	{ "wanted and not", { { PERF_RECORD_LOST_SAMPLES, 1 << 15, 5, A }, { PERF_RECORD_LOST_SAMPLES, 0, 3, A } }, 3 },
	{ "by the id of the other event, whose losses are separate",
	  { { PERF_RECORD_LOST, 0, 5, B }, { PERF_RECORD_LOST_SAMPLES, 0, 7, B }, { PERF_RECORD_LOST, 0, 1, A } },
	  6 },
	{ "by an unknown id: the first event", { { PERF_RECORD_LOST, 0, 5, 99 } }, 5 },
	{ "none", { { PERF_RECORD_LOST, 0, 0, A }, { PERF_RECORD_LOST_SAMPLES, 0, 0, A } }, 0 },
	{ "more than possible", { { PERF_RECORD_LOST, 0, UINT64_MAX - 9, A } }, UINT64_MAX - 9 },
};

START_TEST(test_lost)
{
	struct stats stats;
	size_t i;

	put_event(A, "a");
	put_event(B, "b");
	put_sample(A, 10, 10, 10, 0);
	put_sample(B, 10, 10, 10, 0);
	for (i = 0; i < 4 && losses[_i].lost[i].type; i++)
		put_lost(losses[_i].lost[i].type, losses[_i].lost[i].misc, losses[_i].lost[i].nr,
			 losses[_i].lost[i].id);
	stats = read_recording();
	ck_assert_msg(stats.lost == losses[_i].records, "%s: %llu", losses[_i].what, (unsigned long long)stats.lost);
	ck_assert_uint_eq(stats.lost_records, losses[_i].records);
	ck_assert_uint_eq(stats.taken, 1 + losses[_i].records);
	ck_assert_uint_eq(stats.counted_ring, 1);
	ck_assert_uint_eq(stats.bad_records, 0);
}
END_TEST

/* Each sample of the event is in one of the counts; none of another event is. */
START_TEST(test_stats)
{
	static const pid_t wanted[] = { 10 };
	uint64_t beyond[] = { A, two(10, 10), 10, 0, 1000 };
	struct stats stats;

	options.pids = (pid_t *)wanted;
	options.nr_pids = 1;
	put_event(A, "a");
	put_event(B, "b");
	put_sample(A, 10, 10, 10, 0);
	put_sample(A, 10, 11, 11, 1);
	put_sample(A, 20, 20, 12, 1); /* filtered */
	put_sample(A, 0, 0, 13, 1);
	put_sample(B, 10, 10, 5, 0);  /* of the other event */
	put_sample(99, 10, 10, 5, 0); /* of an unknown event */
	put_record(PERF_RECORD_SAMPLE, 0, beyond, sizeof(beyond));
	beyond[0] = B;
	put_record(PERF_RECORD_SAMPLE, 0, beyond, sizeof(beyond));
	put_short(PERF_RECORD_SAMPLE, A);
	put_record(PERF_RECORD_COMM, 0, beyond, 2 * sizeof(*beyond));
	put_lost(PERF_RECORD_LOST, 0, 4, A);
	stats = read_recording();
	ck_assert_uint_eq(stats.counted_ring, 2);
	ck_assert_uint_eq(stats.filtered, 2);
	ck_assert_uint_eq(stats.idle, 1);
	ck_assert_uint_eq(stats.bad_samples, 2);
	ck_assert_uint_eq(stats.bad_records, 3);
	ck_assert_uint_eq(stats.lost, 2 + 4);
	ck_assert_uint_eq(stats.taken, 2 + 2 + 2 + 4);
	ck_assert_uint_eq(stats.ring_samples, 6);
	ck_assert_uint_eq(stats.ring_records, 11);
	ck_assert_uint_eq(stats.ring_bytes, image.nr);
	ck_assert_uint_eq(session->recording.other_samples, 3);
	ck_assert_uint_eq(session->recording.first_ns, 10);
	ck_assert_uint_eq(session->recording.last_ns, 13);
	ck_assert_uint_eq(session->sink.started_ns, 10);
	ck_assert_uint_eq(session->sink.stopped_ns, 13);
	options.event_name = "b";
	stats = read_recording();
	ck_assert_uint_eq(stats.counted_ring, 1);
	ck_assert_uint_eq(stats.bad_samples, 1);
	ck_assert_uint_eq(stats.lost, 1 + 4);
	ck_assert_uint_eq(session->recording.other_samples, 7);
	ck_assert_uint_eq(session->recording.first_ns, 5);
}
END_TEST

/* With one CPU, task records of the other CPUs count all the same. */
START_TEST(test_cpu)
{
	static const struct {
		int cpu;
		uint64_t counted;
	} rows[] = { { -1, 5 }, { 0, 2 }, { 1, 1 }, { 7, 0 }, { 65535, 0 }, { 70000, 1 }, { INT32_MAX, 0 } };
	struct stats stats;

	options.cpu = rows[_i].cpu;
	put_event(A, "a");
	put_told(
		&(struct told){ .type = PERF_RECORD_COMM, .words = { two(10, 10) }, .nr = 1, .text = "ten", .cpu = 3 });
	put_sample(A, 10, 10, 10, 0);
	put_sample(A, 10, 10, 10, 0);
	put_sample(A, 10, 10, 20, 1);
	put_sample(A, 10, 10, 30, 70000); /* this number looks like CPU 0 in a small array, but is not CPU 0 */
	put_sample(A, 10, 10, 30, UINT32_MAX);
	stats = read_recording();
	ck_assert_uint_eq(stats.taken, 5);
	ck_assert_uint_eq(stats.counted_ring, rows[_i].counted);
	ck_assert_uint_eq(stats.filtered, 5 - rows[_i].counted);
	ck_assert_uint_eq(value_of("ten", 10), rows[_i].counted);
}
END_TEST

/* CPU numbers come from another host: no memory is spent on them. */
START_TEST(test_huge_cpus)
{
	static const uint32_t cpus[] = { 65535, 65536, 1U << 22, INT32_MAX, 1U << 31, UINT32_MAX - 1, UINT32_MAX };
	struct rusage before, after;
	struct stats stats;
	size_t i;

	options.filter.idle = true;
	put_event(A, "a");
	put_comm(10, 10, 1, "ten", true);
	for (i = 0; i < ARRAY_SIZE(cpus); i++) {
		put_task(PERF_RECORD_EXIT, 10, 1, 10 + i, cpus[i]);
		put_sample(A, -1, -1, 10 + i, cpus[i]);
		put_sample(A, 0, 0, 10 + i, cpus[i]);
		put_told(&(struct told){ .type = PERF_RECORD_THROTTLE, .time = 10 + i, .cpu = cpus[i], .id = A });
	}
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &before), 0);
	stats = read_recording();
	ck_assert_int_eq(getrusage(RUSAGE_SELF, &after), 0);
	ck_assert_int_lt(after.ru_maxrss - before.ru_maxrss, 64 << 10); /* KiB */
	ck_assert_uint_eq(stats.counted_ring, 2 * ARRAY_SIZE(cpus));
	ck_assert_uint_eq(stats.throttled, ARRAY_SIZE(cpus));
	ck_assert_uint_eq(value_of("ten", 10), ARRAY_SIZE(cpus));
	ck_assert_uint_eq(value_of("swapper/65535", 0), 1);
	ck_assert_uint_eq(value_of("swapper", 0), ARRAY_SIZE(cpus) - 1);
}
END_TEST

/* ---- time */

/*
 * c: COMM "new" of thread 10; C: COMM "newer"; s: a sample of thread 10; r: the end of a round. In file order, with
 * times. Expected: samples of each name, samples before any COMM, and records that came too late.
 */
static const struct {
	struct {
		char what;
		uint64_t time;
	} steps[9];
	uint64_t unnamed, new, newer, late;
} orders[] = {
	{ { { 'c', 10 }, { 's', 20 } }, 0, 1, 0, 0 },
	{ { { 's', 20 }, { 'c', 10 } }, 0, 1, 0, 0 },
	{ { { 's', 20 }, { 'c', 10 }, { 'r', 0 } }, 0, 1, 0, 0 },
	{ { { 'c', 10 }, { 's', 20 }, { 'C', 15 }, { 's', 12 } }, 0, 1, 1, 0 },
	{ { { 'C', 15 }, { 's', 20 }, { 's', 12 }, { 's', 1 }, { 'c', 10 } }, 1, 1, 1, 0 },
	/* the end of a round holds records back until the next one */
	{ { { 's', 20 }, { 'r', 0 }, { 'c', 10 } }, 0, 1, 0, 0 },
	{ { { 's', 20 }, { 'r', 0 }, { 's', 30 }, { 'r', 0 }, { 'c', 25 }, { 's', 26 } }, 1, 2, 0, 0 },
	{ { { 'r', 0 }, { 'r', 0 }, { 'r', 0 }, { 'c', 10 }, { 'r', 0 }, { 's', 20 }, { 'r', 0 } }, 0, 1, 0, 0 },
	/* too late */
	{ { { 's', 20 }, { 'r', 0 }, { 'r', 0 }, { 'c', 10 } }, 1, 0, 0, 1 },
	{ { { 's', 20 }, { 'r', 0 }, { 'r', 0 }, { 'c', 10 }, { 's', 15 } }, 1, 1, 0, 2 },
	{ { { 'c', 1 }, { 's', 20 }, { 'r', 0 }, { 'r', 0 }, { 's', 10 } }, 0, 2, 0, 1 },
	{ { { 'c', 1 }, { 's', 20 }, { 'r', 0 }, { 'r', 0 }, { 'C', 10 }, { 's', 30 } }, 0, 1, 1, 1 },
	/* equal or no times: in file order */
	{ { { 'c', 20 }, { 's', 20 } }, 0, 1, 0, 0 },
	{ { { 's', 20 }, { 'c', 20 } }, 1, 0, 0, 0 },
	{ { { 'c', 0 }, { 's', 20 } }, 0, 1, 0, 0 },
	{ { { 'c', UINT64_MAX }, { 's', 20 }, { 's', UINT64_MAX } }, 1, 1, 0, 0 },
};

START_TEST(test_order)
{
	uint64_t samples = 0;
	struct stats stats;
	size_t i;

	put_event(A, "a");
	for (i = 0; i < 9 && orders[_i].steps[i].what; i++) {
		uint64_t time = orders[_i].steps[i].time;

		switch (orders[_i].steps[i].what) {
		case 'c':
			put_comm(10, 10, time, "new", false);
			break;
		case 'C':
			put_comm(10, 10, time, "newer", false);
			break;
		case 's':
			put_sample(A, 10, 10, time, 0);
			samples++;
			break;
		default:
			put_round();
		}
	}
	stats = read_recording();
	ck_assert_uint_eq(stats.counted_ring, samples); /* however late they are */
	ck_assert_uint_eq(value_of(":10", 10), orders[_i].unnamed);
	ck_assert_uint_eq(value_of("new", 10), orders[_i].new);
	ck_assert_uint_eq(value_of("newer", 10), orders[_i].newer);
	ck_assert_uint_eq(stats.late_records, orders[_i].late);
}
END_TEST

/* The first and the last time among the samples that have one, in any order. */
START_TEST(test_times)
{
	static const struct {
		uint64_t times[4];
		uint64_t first, last;
	} rows[] = {
		{ { 10, 20, 30, 40 }, 10, 40 }, { { 40, 20, 30, 10 }, 10, 40 },
		{ { 0, 20, 0, 30 }, 20, 30 },   { { 20, 20, 0, 0 }, 20, 20 },
		{ { 0, 0, 0, 0 }, 0, 0 },       { { UINT64_MAX, 0, 1, 0 }, 1, UINT64_MAX },
	};
	size_t i;

	put_event(A, "a");
	put_event(B, "b");
	put_comm(10, 10, 5, "ten", false);
	put_sample(B, 10, 10, 6, 0);
	for (i = 0; i < 4; i++)
		put_sample(A, 10, 10, rows[_i].times[i], 0);
	read_recording();
	ck_assert_uint_eq(session->recording.first_ns, rows[_i].first);
	ck_assert_uint_eq(session->recording.last_ns, rows[_i].last);
	ck_assert_uint_eq(session->sink.started_ns, rows[_i].first);
	ck_assert_uint_eq(session->sink.stopped_ns, rows[_i].last);
}
END_TEST

/*
 * As written by perf record --call-graph fp,defer: the callchains come as records of the dummy event, out of order
 * until the round ends. Thread 11 renames itself and executes a program; 12 has the cookie of 11; 13 never returns.
 */
static void put_deferred_sample(pid_t tid, uint64_t time, uint64_t cookie)
{
	const uint64_t words[] = { A, two(10, (uint32_t)tid), time,  0, 4, PERF_CONTEXT_KERNEL,
				   K, CONTEXT_USER_DEFERRED,  cookie };

	put_record(PERF_RECORD_SAMPLE, PERF_RECORD_MISC_KERNEL, words, sizeof(words));
}

static void put_deferred(pid_t tid, uint64_t time, uint64_t cookie, uint64_t nr)
{
	const uint64_t words[] = { cookie, nr, 0x401000, 0x402000, two(10, (uint32_t)tid), time, 1, B };

	put_record(RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER, words, sizeof(words));
}

static void put_deferred_story(void)
{
	struct perf_event_attr dummy = sampled();

	dummy.type = PERF_TYPE_SOFTWARE;
	dummy.config = PERF_COUNT_SW_DUMMY;
	put_event(A, "cycles");
	put_event_of(dummy, B, "dummy:u");
	put_deferred(11, 30, 7, 2);
	put_comm(10, 11, 25, "after", false);
	put_comm(10, 11, 5, "before", false);
	put_deferred_sample(11, 10, 7);
	put_deferred_sample(11, 20, 7);
	put_round();
	put_deferred_sample(12, 40, 7);
	put_deferred(11, 50, 7, 2);  /* comes twice, if two events request it */
	put_deferred(12, 60, 7, 99); /* more addresses than the record has */
	put_deferred(12, 70, 7, 1);
	put_round();
	put_deferred_sample(11, 80, 9);
	put_comm(10, 11, 90, "program", true);
	put_deferred(11, 100, 9, 2);
	put_deferred_sample(13, 110, 11);
	put_deferred_sample(13, 120, 13);
}

static const struct {
	bool by_tid;
	pid_t id; /* 0: all */
	const char *comm;
	int cpu;
	uint64_t before, after, other, missed, filtered;
} deferred[] = {
	{ false, 0, NULL, -1, 2, 1, 3, 3, 0 },      { false, 10, NULL, -1, 2, 1, 3, 3, 0 },
	{ true, 11, NULL, -1, 2, 1, 0, 1, 3 },      { true, 12, NULL, -1, 0, 0, 1, 0, 5 },
	{ true, 13, NULL, -1, 0, 0, 2, 2, 4 },      { false, 9, NULL, -1, 0, 0, 0, 0, 6 },
	{ false, 0, "before", -1, 2, 0, 0, 0, 4 },  { false, 0, "after", -1, 0, 1, 0, 1, 5 },
	{ false, 0, "program", -1, 0, 0, 0, 0, 6 }, { false, 0, NULL, 0, 2, 1, 3, 3, 0 },
	{ false, 0, NULL, 1, 0, 0, 0, 0, 6 },
};

START_TEST(test_deferred)
{
	struct stats stats;
	pid_t id = deferred[_i].id;

	options.pids = id ? &id : NULL;
	options.nr_pids = !!id;
	options.filter.by_tid = deferred[_i].by_tid;
	options.filter.comm = deferred[_i].comm;
	options.cpu = deferred[_i].cpu;
	put_deferred_story();
	stats = read_recording();
	ck_assert_uint_eq(stats.taken, 6);
	ck_assert_uint_eq(stats.bad_records, 1);
	ck_assert_uint_eq(stats.late_records, 0);
	ck_assert_uint_eq(stats.filtered, deferred[_i].filtered);
	ck_assert_uint_eq(stats.deferred, 6 - deferred[_i].filtered);
	ck_assert_uint_eq(stats.deferred_missed, deferred[_i].missed);
	ck_assert_uint_eq(value_of("before", 10), deferred[_i].before);
	ck_assert_uint_eq(value_of("after", 10), deferred[_i].after);
	ck_assert_uint_eq(stats.counted_ring, deferred[_i].before + deferred[_i].after + deferred[_i].other);
}
END_TEST

/* A callchain with a deferred stack but without cookie: no record can belong to it. */
START_TEST(test_deferred_without_cookie)
{
	struct stats stats;

	put_event(A, "cycles");
	put_deferred_sample(11, 10, 0);
	put_deferred(11, 20, 0, 2);
	stats = read_recording();
	ck_assert_uint_eq(stats.counted_ring, 1);
	ck_assert_uint_eq(stats.deferred, 1);
	ck_assert_uint_eq(stats.deferred_missed, 1);
}
END_TEST

/*
 * Task records, written by all CPUs and events, in no order: names and mappings are those at the time of each sample.
 */
START_TEST(test_story)
{
	struct perf_event_attr attr = sampled();
	const uint64_t comm[] = { two(30, 30), 0x797472696874 /* "thirty" */, two(30, 30), 70, B };

	put_event(A, "a");
	attr.sample_type &= ~(uint64_t)(PERF_SAMPLE_CPU | PERF_SAMPLE_CALLCHAIN);
	put_event_of(attr, B, "b");
	/* perf record made this up: a process that existed before */
	put_told(&(struct told){
		.type = PERF_RECORD_COMM, .words = { two(10, 10) }, .nr = 1, .text = "shell", .id = NO_ID });
	put_mmap(PERF_RECORD_MISC_USER, 10, 0x401000, 0, "/bin/sh", 0);
	put_sample(A, 20, 20, 50, 1);
	put_comm(20, 20, 45, "tool", true);
	put_sample(A, 20, 20, 42, 0);
	put_mmap(PERF_RECORD_MISC_USER, 20, 0x401000, 0, "/bin/tool", 46);
	put_mmap(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, 20, 0x401000, 0, "/data", 47);
	put_mmap(PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, 20, 0x801000, 0, "/data", 47);
	put_mmap(PERF_RECORD_MISC_KERNEL, 20, 0x901000, 0, "[module]", 47);
	put_mmap(PERF_RECORD_MISC_GUEST_USER, 20, 0xa01000, 0, "/bin/guest", 47);
	put_mmap(PERF_RECORD_MISC_GUEST_KERNEL, 20, 0xb01000, 0, "[guest.kernel.kallsyms]", 47);
	put_task(PERF_RECORD_FORK, 20, 10, 40, 0);
	put_task(PERF_RECORD_EXIT, 20, 10, 55, 2);
	put_sample(A, -1, -1, 56, 2);
	put_sample(A, -1, -1, 56, 1);
	put_comm(10, 10, 60, "renamed", false);
	put_sample(A, 10, 10, 61, 1);
	put_sample(A, 10, 10, 59, 1);
	put_record(PERF_RECORD_COMM, 0, comm, sizeof(comm)); /* by the other event, which has fewer fields */
	put_sample(A, 30, 30, 71, 1);
	put_sample(A, 30, 30, 69, 1);
	ck_assert_uint_eq(read_recording().dead_tasks, 2);
	ck_assert_uint_eq(value_of("shell", 20), 1);
	ck_assert_uint_eq(value_of("tool", 20), 2);
	ck_assert_uint_eq(value_of(":-1", -1), 1); /* no task has ended there */
	ck_assert_uint_eq(value_of("shell", 10), 1);
	ck_assert_uint_eq(value_of("renamed", 10), 1);
	ck_assert_uint_eq(value_of("thirty", 30), 1);
	ck_assert_uint_eq(value_of(":30", 30), 1);
	check_map(10, "shell", 0x401000, "/bin/sh");
	check_map(20, "shell", 0x401000, "/bin/sh");
	check_map(20, "tool", 0x401000, "/bin/tool");
	check_map(20, "tool", 0x801000, NULL);
	check_map(20, "tool", 0x901000, NULL);
	check_map(20, "tool", 0xa01000, NULL);
	check_map(20, "tool", 0xb01000, NULL);
}
END_TEST

/* Processes of this host are ignored, though one has the same pid. */
START_TEST(test_not_here)
{
	unit_write(dir, "10/task/10/comm", "here\n", 5);
	unit_write(dir, "10/maps", "401000-402000 r-xp 0 08:01 7 /here\n", 35);
	put_event(A, "a");
	put_sample(A, 10, 10, 10, 0);
	read_recording();
	ck_assert_uint_eq(value_of(":10", 10), 1);
	check_map(10, ":10", 0x401000, NULL);
}
END_TEST

/* ---- facts about its host */

/* The kernel's addresses, by its mappings. */
static const struct {
	struct {
		uint16_t misc;
		const char *path;
		uint64_t pgoff;
	} maps[2];
	const char *reference;
	uint64_t addr;
} references[] = {
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_text", K } }, "_text", K },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_stext", K } }, "_stext", K },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_text", K }, { PERF_RECORD_MISC_KERNEL, "[ext4]", 5 } },
	  "_text",
	  K },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_text", K },
	    { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_other", 5 } },
	  "_text",
	  K },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_tex", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]_text2", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel.kallsyms]\x1b[2J", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_KERNEL, "[kernel]_text", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_KERNEL, "_text", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_KERNEL, "", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_USER, "[kernel.kallsyms]_text", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_GUEST_KERNEL, "[kernel.kallsyms]_text", K } }, NULL, 0 },
	{ { { PERF_RECORD_MISC_GUEST_KERNEL, "[guest.kernel.kallsyms]_text", K } }, NULL, 0 },
};

START_TEST(test_reference)
{
	size_t i;

	put_event(A, "a");
	for (i = 0; i < 2 && references[_i].maps[i].path; i++)
		put_mmap(references[_i].maps[i].misc, -1, K, references[_i].maps[i].pgoff, references[_i].maps[i].path,
			 0);
	read_recording();
	ck_assert_int_eq(session->recording.origin.reference != NULL, references[_i].reference != NULL);
	if (references[_i].reference)
		ck_assert_str_eq(session->recording.origin.reference, references[_i].reference);
	ck_assert_uint_eq(session->recording.origin.reference_addr, references[_i].addr);
}
END_TEST

START_TEST(test_build_ids)
{
	const struct build_id *id;

	put_event(A, "a");
	put_build_id(67, PERF_RECORD_MISC_USER | 1 << 15, 16, "/bin/cat");
	put_build_id(67, PERF_RECORD_MISC_USER | 1 << 15, 16, "/bin/dog");
	put_build_id(67, PERF_RECORD_MISC_USER | 1 << 15, 20, "/bin/dog"); /* the file was replaced */
	put_build_id(67, PERF_RECORD_MISC_USER | 1 << 15, 16, "");
	read_recording();
	ck_assert_ptr_eq(session->recording.origin.build_ids, session->recording.build_ids);
	id = build_ids_find(session->recording.build_ids, "/bin/cat");
	ck_assert_ptr_nonnull(id);
	ck_assert_uint_eq(id->size, 16);
	ck_assert_mem_eq(id->bytes, "0123456789abcdef", 16);
	ck_assert_uint_eq(build_ids_find(session->recording.build_ids, "/bin/dog")->size, 0);
	ck_assert_ptr_null(build_ids_find(session->recording.build_ids, "/bin/cow"));
}
END_TEST

/* A recording of events that never fired. */
START_TEST(test_empty)
{
	struct stats stats;

	put_event(A, "a");
	if (_i)
		put_comm(10, 10, 10, "ten", false);
	stats = read_recording();
	ck_assert_uint_eq(stats.taken, 0);
	ck_assert_uint_eq(rows_nr(session_samples(session)), 0);
	ck_assert_str_eq(session->recording.event, "a");
	ck_assert_uint_eq(session->recording.first_ns, 0);
	ck_assert_uint_eq(session->recording.last_ns, 0);
	ck_assert(!session->recording.truncated && !session->recording.unfinished);
}
END_TEST

/* A file has an end; the writer of standard input may go on. */
/* No kernel here has such tasks; a recording may have any ids. */
static const struct {
	pid_t pid, tid;
	bool good;
} numbers[] = {
	{ 4 << 20, 1, true }, { 1, 4 << 20, true },     { -1, -1, true }, { (4 << 20) + 1, 1 },
	{ 1, (4 << 20) + 1 }, { INT32_MAX, INT32_MAX }, { -2, -2 },       { INT32_MIN, 1 },
};

START_TEST(test_numbers)
{
	struct stats stats;

	put_event(A, "a");
	put_comm(numbers[_i].pid, numbers[_i].tid, 9, "task", false);
	put_sample(A, numbers[_i].pid, numbers[_i].tid, 10, 0);
	put_task(PERF_RECORD_FORK, 7, numbers[_i].pid, 11, 0);
	stats = read_recording();
	ck_assert_uint_eq(stats.counted_ring, numbers[_i].good);
	ck_assert_uint_eq(stats.bad_samples, !numbers[_i].good);
	ck_assert_uint_ge(stats.bad_records, numbers[_i].good ? 0 : 2);
}
END_TEST

START_TEST(test_stdin)
{
	struct stats stats;
	int fd, fds[2];

	put_event(A, "a");
	put_sample(A, 10, 10, 10, 0);
	if (_i == 2) {
		ck_assert_int_eq(pipe(fds), 0);
		ck_assert_int_eq(write(fds[1], image.bytes, image.nr), (ssize_t)image.nr);
		close(fds[1]);
		ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
		close(fds[0]);
		options.input = "-";
	} else if (_i) {
		unit_write(dir, "perf.data", image.bytes, image.nr);
		fd = open(path, O_RDONLY | O_CLOEXEC);
		ck_assert_int_eq(dup2(fd, STDIN_FILENO), STDIN_FILENO);
		close(fd);
		options.input = "-";
	}
	stats = read_recording();
	ck_assert_int_eq(session->recording.ends, _i < 2);
	ck_assert_uint_eq(stats.counted_ring, 1);
}
END_TEST

/* ---- truncated and unfinished recordings */

#define HEADER    104
#define ENTRY     (ATTR_SIZE + 16)
#define DATA_SIZE 48 /* offset in the header */

/* A file of one event and three samples; perf record fills in the size of the data at its end. */
static void make_file(void)
{
	const uint64_t head[] = { MAGIC, HEADER, ENTRY, HEADER, ENTRY, HEADER + ENTRY };
	struct perf_event_attr attr = sampled();
	size_t i;

	image.nr = 0;
	put(head, sizeof(head));
	for (i = sizeof(head) / 8; i < HEADER / 8; i++)
		put_word(0);
	put(&attr, ATTR_SIZE);
	put_word(HEADER);
	put_word(0);
	for (i = 0; i < 3; i++)
		put_sample(A, 10, 10, 10 + i, 0);
	patch(DATA_SIZE, image.nr - HEADER - ENTRY, 8);
}

static const struct {
	const char *what;
	size_t cut;
	bool killed;
	uint64_t samples;
	bool truncated, unfinished;
	uint64_t missing;
} ends[] = {
	{ "whole", 0, false, 3, false, false, 0 },
	{ "killed", 0, true, 3, false, true, 0 },
	{ "killed within a record", 1, true, 2, true, true, 0 },
	{ "a byte is missing", 1, false, 2, true, false, 1 },
	{ "half a record is missing", 32, false, 2, true, false, 32 },
	{ "a record is missing", 64, false, 2, true, false, 64 },
	{ "a record is missing of one that was killed", 64, true, 2, false, true, 0 },
};

START_TEST(test_ends)
{
	struct stats stats;

	make_file();
	if (ends[_i].killed)
		patch(DATA_SIZE, 0, 8);
	image.nr -= ends[_i].cut;
	stats = read_recording();
	ck_assert_msg(stats.counted_ring == ends[_i].samples, "%s: %llu", ends[_i].what,
		      (unsigned long long)stats.counted_ring);
	ck_assert_msg(session->recording.truncated == ends[_i].truncated, "%s", ends[_i].what);
	ck_assert_msg(session->recording.unfinished == ends[_i].unfinished, "%s", ends[_i].what);
	ck_assert_uint_eq(session->recording.missing, ends[_i].missing);
	ck_assert_str_eq(session->recording.event, "cycles");
}
END_TEST

/* The path of a recording is in its error messages. */
static void assert_no_sample(const char *before, const char *after)
{
	char want[700];

	ck_assert_int_eq(open_recording(), 0);
	ck_assert_int_eq(session_run(session, &err), -EBADMSG);
	snprintf(want, sizeof(want), "%s'%.200s'%s", before, path, after);
	ck_assert_str_eq(err.msg, want);
}

/* A recording that was cut has no sample, with or without other records: the report would say that nothing ran. */
START_TEST(test_no_sample)
{
	static const size_t cuts[] = { 3 * 64 - 8, 3 * 64 };

	make_file();
	image.nr -= cuts[_i];
	assert_no_sample("no sample can be read from ", ": it ends early");
	patch(DATA_SIZE, 0, 8);
	if (_i)
		assert_no_sample("", " has no sample: perf record did not finish it");
	else
		assert_no_sample("no sample can be read from ", ": it ends early");
}
END_TEST

/* A record of an impossible size, and nothing but samples of such behind it. */
START_TEST(test_all_damaged)
{
	char after[64];
	size_t at, i;

	put_event(A, "a");
	put_mmap(PERF_RECORD_MISC_USER, 10, 0x401000, 0, "/bin/a", 1);
	at = image.nr;
	for (i = 0; i < 20; i++) {
		put_sample(A, 10, 10, 10 + i, 0);
		patch(at + 64 * i + 6, 20, 2);
	}
	snprintf(after, sizeof(after), ": it is damaged at offset %zu", at);
	assert_no_sample("no sample can be read from ", after);
}
END_TEST

/* The size of a mapping says 16: all samples and the other mappings are there. */
START_TEST(test_damaged)
{
	struct stats stats;
	size_t at, end, i;

	put_event(A, "a");
	put_comm(10, 10, 1, "ten", false);
	at = image.nr;
	put_mmap(PERF_RECORD_MISC_USER, 10, 0x401000, 0, "/bin/a", 1);
	end = image.nr;
	patch(at + 6, 16, 2);
	put_mmap(PERF_RECORD_MISC_USER, 10, 0x801000, 0, "/bin/b", 1);
	for (i = 0; i < 4003; i++)
		put_sample(A, 10, 10, 10 + i, 0);
	stats = read_recording();
	ck_assert_uint_eq(stats.counted_ring, 4003);
	ck_assert_uint_eq(value_of("ten", 10), 4003);
	ck_assert_uint_eq(stats.bad_records, 1);
	ck_assert_uint_eq(session->recording.damaged, 1);
	ck_assert_uint_eq(session->recording.damaged_at, at);
	ck_assert_uint_eq(session->recording.left_out, end - at);
	check_map(10, "ten", 0x401000, NULL);
	check_map(10, "ten", 0x801000, "/bin/b");
}
END_TEST

/* However little there is: an error, or what is there. */
START_TEST(test_every_cut)
{
	struct stats stats;
	size_t len, whole;
	int rc;

	put_event(A, "a");
	put_comm(10, 10, 10, "ten", false);
	put_round();
	put_sample(A, 10, 10, 10, 0);
	for (len = 0, whole = image.nr; len < whole; len++) {
		image.nr = len;
		rc = open_recording();
		if (rc) {
			ck_assert_int_eq(err.code, rc);
			ck_assert_int_ne(err.msg[0], 0);
			continue;
		}
		rc = session_run(session, &err);
		ck_assert_int_eq(rc, session->recording.truncated ? -EBADMSG : 0);
		ck_assert_int_eq(session_stats(session, &stats).samples, 0);
		ck_assert_uint_eq(stats.taken, 0);
	}
}
END_TEST

/* ---- a directory */

/* Records of two rings, each in a file of its own: they are applied in the order of their times. */
START_TEST(test_directory)
{
	static const uint64_t comms[] = { 5, 15, 25 };
	static const char *const names[] = { "five", "fifteen", "twenty" };
	struct stats stats;
	size_t i, at = 0;

	make_file(); /* three samples at 10, 11 and 12 */
	unit_write(dir, "in/data", image.bytes, image.nr);
	image.nr = 0;
	for (i = 0; i < 3; i++) {
		put_told(&(struct told){ .type = PERF_RECORD_COMM,
					 .words = { two(10, 10) },
					 .nr = 1,
					 .text = names[i],
					 .time = comms[i],
					 .cpu = 1 });
		put_sample(A, 10, 10, comms[i] + 1, 1);
	}
	unit_write(dir, "in/data.0", image.bytes, image.nr);
	image.nr = 0;
	for (i = 1; i <= 40; i++) {
		if (i == 30)
			at = image.nr;
		put_sample(A, 10, 10, i, 0);
	}
	if (_i)
		patch(at + 6, 3, 2);
	unit_write(dir, "in/data.1", image.bytes, image.nr);
	free(path);
	ck_assert_int_ge(asprintf(&path, "%s/in", dir), 0);
	options.input = path;
	session = request_session(&options, &host);
	ck_assert_ptr_nonnull(session);
	ck_assert_int_eq(session_open(session, &err), 0);
	ck_assert_int_eq(session_run(session, &err), 0);
	session_stats(session, &stats);
	ck_assert_uint_eq(stats.counted_ring, (size_t)(3 + 3 + 40 - _i));
	ck_assert_uint_eq(stats.late_records, 0);
	ck_assert_uint_eq(value_of(":10", 10), 4);
	ck_assert_uint_eq(value_of("five", 10), 10 + 1 + 3);
	ck_assert_uint_eq(value_of("fifteen", 10), 10 + 1);
	ck_assert_uint_eq(value_of("twenty", 10), (uint64_t)(16 + 1 - _i));
	ck_assert_uint_eq(session->recording.damaged, (uint64_t)_i);
	ck_assert_str_eq(session->recording.damaged_in, _i ? "data.1" : "");
	if (_i)
		ck_assert_uint_eq(session->recording.damaged_at, at);
	ck_assert(session->recording.ends && !session->recording.truncated);
}
END_TEST

/* ---- not one of the ways */

START_TEST(test_ops)
{
	const struct source_ops *ops = &source_recording;
	struct stats stats = { 0 };
	struct source *b = NULL;
	const struct request request = request_of(&options, &host);
	struct recording recording = { 0 };
	const struct source_env env = { .request = &request, .recording = &recording };

	ck_assert_ptr_null(way_find(ways_here, "recording"));
	ck_assert_int_eq(ops->open(&b, &env, &err), -ENOENT); /* there is no such file */
	ck_assert_ptr_nonnull(strstr(err.msg, path));
	ck_assert_int_eq(ops->attach(b, 3, &err), -EINVAL);
	ops->stats(b, &stats);
	ck_assert_uint_eq(stats.taken + stats.ring_records, 0);
	ops->close(b);
	ops->close(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("recording");
	TCase *t = tcase_create("recording");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_choice, 0, ARRAY_SIZE(choices));
	tcase_add_loop_test(t, test_several, 0, ARRAY_SIZE(several));
	tcase_add_loop_test(t, test_far_ahead, 0, 2);
	tcase_add_test(t, test_long_names);
	tcase_add_loop_test(t, test_max_stack, 0, 5);
	tcase_add_loop_test(t, test_leaves, 0, 2);
	tcase_add_loop_test(t, test_user_callchains, 0, ARRAY_SIZE(chains));
	tcase_add_loop_test(t, test_lost, 0, ARRAY_SIZE(losses));
	tcase_add_test(t, test_stats);
	tcase_add_loop_test(t, test_cpu, 0, 7);
	tcase_add_test(t, test_huge_cpus);
	tcase_add_loop_test(t, test_order, 0, ARRAY_SIZE(orders));
	tcase_add_loop_test(t, test_times, 0, 6);
	tcase_add_loop_test(t, test_deferred, 0, ARRAY_SIZE(deferred));
	tcase_add_test(t, test_deferred_without_cookie);
	tcase_add_test(t, test_story);
	tcase_add_test(t, test_not_here);
	tcase_add_loop_test(t, test_reference, 0, ARRAY_SIZE(references));
	tcase_add_test(t, test_build_ids);
	tcase_add_loop_test(t, test_empty, 0, 2);
	tcase_add_loop_test(t, test_numbers, 0, ARRAY_SIZE(numbers));
	tcase_add_loop_test(t, test_stdin, 0, 3);
	tcase_add_loop_test(t, test_ends, 0, ARRAY_SIZE(ends));
	tcase_add_loop_test(t, test_no_sample, 0, 2);
	tcase_add_test(t, test_all_damaged);
	tcase_add_test(t, test_damaged);
	tcase_add_test(t, test_every_cut);
	tcase_add_loop_test(t, test_directory, 0, 2);
	tcase_add_test(t, test_ops);
	suite_add_tcase(s, t);
	return unit_main(s);
}
