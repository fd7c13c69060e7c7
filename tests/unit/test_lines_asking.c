// SPDX-License-Identifier: Apache-2.0
/* Requests to the worker, checks of its replies, and when it is given up: with a scripted worker. */
#include "core/base/clock.h"
#include "core/files/worker.h"
#include "core/symbols/lines.h"
#include "core/symbols/lines_message.h"
#include "tests/unit/fake_time.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>

#define FD 1000 /* descriptor of file 0, which is never opened; that of file n is FD + n */

/* ---- the worker */

struct worker {
	int unused;
};

static struct worker the_worker;
static char said[8192];                   /* the calls, as "file@slot:addr" (without "file@": no descriptor), "end" */
static int results[64], nr_results, next; /* results of calls; 0 after the last one */
static int timeout;                       /* timeout of the last call, which takes so long if its result is -ETIME */
static bool with_fd;
static char reply_bytes[WORKER_MESSAGE_MAX];
static size_t reply_len;

static void __attribute__((format(printf, 1, 2))) say(const char *fmt, ...)
{
	size_t len = strlen(said);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(said + len, sizeof(said) - len, fmt, ap);
	va_end(ap);
}

struct worker *worker_new(const struct worker_job *job)
{
	ck_assert_ptr_nonnull(job->serve);
	ck_assert_uint_eq(job->cpu_ms, 2000);
	return &the_worker;
}

void worker_end(struct worker *w)
{
	ck_assert_ptr_eq(w, &the_worker);
	say("end ");
}

void worker_free(struct worker *w)
{
	ck_assert_ptr_eq(w, &the_worker);
}

int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms)
{
	struct lines_request r;

	ck_assert_ptr_eq(w, &the_worker);
	ck_assert_int_gt(timeout_ms, 0);
	timeout = timeout_ms;
	ck_assert_uint_eq(request->len, sizeof(r));
	memcpy(&r, request->data, sizeof(r));
	ck_assert_uint_eq(r.wanted, LINES_INLINED | LINES_SOURCE);
	if (request->fd >= 0)
		say("%d@", request->fd - FD);
	say("%u:%llx ", r.slot, (unsigned long long)r.addr);
	reply->fd = -1;
	if (next < nr_results && results[next] == -ETIME)
		fake_time_pass((unsigned int)timeout_ms);
	if (next < nr_results && results[next])
		return results[next++];
	next++;
	if (with_fd)
		reply->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	memcpy(reply->data, reply_bytes, reply_len);
	reply->len = reply_len;
	return 0;
}

/* ---- */

static struct lines *lines;

static void reply_frames(const struct lines_frame *f, size_t nr)
{
	struct worker_message m = { reply_bytes, 0, -1 };
	size_t i;

	for (i = 0; i < nr; i++)
		ck_assert_int_eq(lines_reply_add(&m, &f[i]), 0);
	reply_len = m.len;
}

static void setup(void)
{
	static const struct lines_frame frames[] = { { "in", "a.h", 3 }, { NULL, "a.c", 4 } };
	int i;

	said[0] = 0;
	nr_results = next = 0;
	with_fd = false;
	fake_time_begin(NULL, NULL);
	reply_frames(frames, 2);
	lines = lines_new(LINES_INLINED | LINES_SOURCE, 0);
	ck_assert_ptr_nonnull(lines);
	for (i = 0; i < 40; i++)
		ck_assert_int_eq(lines_add_file(lines), i);
}

static void teardown(void)
{
	lines_free(lines);
	fake_time_end();
}

/* With -i 1. */
static void set_interval(void)
{
	int i;

	lines_free(lines);
	lines = lines_new(LINES_INLINED | LINES_SOURCE, NSEC_PER_SEC);
	ck_assert_ptr_nonnull(lines);
	for (i = 0; i < 40; i++)
		ck_assert_int_eq(lines_add_file(lines), i);
}

static size_t find(uint32_t file, uint64_t addr)
{
	const struct lines_frame *f;

	return lines_find(lines, file, FD + (int)file, addr, &f);
}

/* Check the calls since the last time. */
static void assert_said(const char *want)
{
	ck_assert_str_eq(said, want);
	said[0] = 0;
}

/* Set the results of the next calls. */
static void will(int first, int second)
{
	results[0] = first;
	results[1] = second;
	nr_results = 2;
	next = 0;
}

static void assert_skipped(const char *want)
{
	struct err why = { 0 };

	ck_assert_int_eq(lines_skipped(lines, &why), want != NULL);
	ck_assert_str_eq(why.msg, want ? want : "");
}

/* The file goes with the first request; no request is sent twice. */
START_TEST(test_remembered)
{
	const struct lines_frame *f;

	ck_assert_uint_eq(find(7, 0x10), 2);
	ck_assert_uint_eq(find(7, 0x11), 2);
	ck_assert_uint_eq(find(8, 0x10), 2);
	assert_said("7@0:10 0:11 8@1:10 ");
	reply_len = 0;
	ck_assert_uint_eq(find(7, 0x12), 0);
	ck_assert_uint_eq(find(7, 0x12), 0);
	assert_said("0:12 ");
	ck_assert_uint_eq(lines_find(lines, 8, FD, 0x10, &f), 2);
	ck_assert_str_eq(f[0].name, "in");
	ck_assert_str_eq(f[0].file, "a.h");
	ck_assert_uint_eq(f[0].line, 3);
	ck_assert_ptr_null(f[1].name);
	ck_assert_str_eq(f[1].file, "a.c");
	lines_renew(lines);
	ck_assert_uint_eq(find(7, 0x11), 2);
	assert_said("");
	assert_skipped(NULL);
	lines_forget(lines);
	ck_assert_int_eq(lines_add_file(lines), 0);
	ck_assert_uint_eq(find(0, 0x11), 0);
	assert_said("0@0:11 ");
}
END_TEST

/* The file that was not used for the longest time is dropped. */
START_TEST(test_slots)
{
	uint32_t i;

	for (i = 0; i < LINES_SLOTS; i++)
		find(i, 1);
	said[0] = 0;
	find(0, 2);
	find(LINES_SLOTS, 1);
	find(1, 2);
	find(0, 3);
	assert_said("0:2 16@1:1 1@2:2 0:3 ");
}
END_TEST

/*
 * @others: another file has an earlier request. The results of two calls; the calls; whether there was an answer; and
 * the warning.
 */
static const struct {
	bool others;
	int results[2];
	const char *said;
	bool found, again;
	const char *skipped;
} failures[] = {
	{ false,
	  { -EPIPE, 0 },
	  "0@0:1 end ",
	  false,
	  false,
	  "it crashed the library that reads it, or kept it busy for too long" },
	{ true, { -EPIPE, 0 }, "0@1:1 end 0@0:1 ", true, true, NULL },
	{ true,
	  { -EPIPE, -EPIPE },
	  "0@1:1 end 0@0:1 end ",
	  false,
	  false,
	  "it crashed the library that reads it, or kept it busy for too long" },
	{ true, { -EPIPE, -ETIME }, "0@1:1 end 0@0:1 end ", false, false, "it takes too long" },
	{ false, { -ETIME, 0 }, "0@0:1 end ", false, false, "it takes too long" },
	{ true, { -ETIME, 0 }, "0@1:1 end ", false, false, "it takes too long" },
	{ false, { -ENOMEM, 0 }, "0@0:1 end ", false, false, "Cannot allocate memory" },
	{ true, { -ENOMEM, 0 }, "0@1:1 end 0@0:1 ", true, true, NULL },
	{ true, { -ENOMEM, -ENOMEM }, "0@1:1 end 0@0:1 end ", false, false, "Cannot allocate memory" },
	{ true, { -EBADMSG, 0 }, "0@1:1 end ", false, false, "what came of it is nonsense" },
	{ true, { -EIO, 0 }, "0@1:1 ", false, false, "Input/output error" },
	{ true, { -ENOEXEC, 0 }, "0@1:1 ", false, false, NULL },
#ifdef HAVE_ZSTD
	{ true, { -ENOTSUP, 0 }, "0@1:1 ", false, false, "it is compressed in an unknown way" },
#else
	{ true,
	  { -ENOTSUP, 0 },
	  "0@1:1 ",
	  false,
	  false,
	  "it is compressed with zstd, and this program was built without zstd" },
#endif
	{ true, { -E2BIG, 0 }, "0@1:1 ", false, true, NULL },
};

START_TEST(test_failures)
{
	char want[256];

	if (failures[_i].others)
		find(1, 1);
	said[0] = 0;
	will(failures[_i].results[0], failures[_i].results[1]);
	ck_assert_uint_eq(find(0, 1), failures[_i].found ? 2 : 0);
	assert_said(failures[_i].said);
	nr_results = 0;
	/* The answer stays; the file is used again or not; others are. */
	ck_assert_uint_eq(find(0, 1), failures[_i].found ? 2 : 0);
	assert_said("");
	ck_assert_uint_eq(find(0, 2), failures[_i].again ? 2 : 0);
	ck_assert_uint_eq(find(2, 1), 2);
	snprintf(want, sizeof(want), "the debug information of 1 files was not read: %s", failures[_i].skipped);
	assert_skipped(failures[_i].skipped ? want : NULL);
}
END_TEST

/* Results that do not concern a file. */
static const struct {
	int rc;
	const char *skipped;
} ends[] = {
	{ -ENOSYS, "the kernel has no seccomp filters to read it safely" },
	{ -EAGAIN, "Resource temporarily unavailable" },
	{ -ECANCELED, "a signal left no time for it" },
};

START_TEST(test_ends)
{
	char want[256];

	will(ends[_i].rc, 0);
	ck_assert_uint_eq(find(0, 1), 0);
	said[0] = 0;
	ck_assert_uint_eq(find(0, 2), 0);
	ck_assert_uint_eq(find(1, 1), 0);
	assert_said("");
	snprintf(want, sizeof(want), "some debug information was not read: %s", ends[_i].skipped);
	assert_skipped(want);
}
END_TEST

/* After a quarter of an interval no file is used any more, and all of them again in the next report. */
START_TEST(test_late)
{
	set_interval();
	will(-ETIME, 0);
	ck_assert_uint_eq(find(0, 1), 0);
	ck_assert_int_eq(timeout, 250);
	assert_said("0@0:1 end ");
	ck_assert_uint_eq(find(1, 1), 0);
	ck_assert_uint_eq(find(0, 1), 0);
	assert_said("");
	lines_renew(lines);
	ck_assert_uint_eq(find(0, 1), 2);
	ck_assert_uint_eq(find(1, 1), 2);
	assert_said("0@0:1 1@1:1 ");
	assert_skipped("some debug information was not read: it takes too long");
}
END_TEST

/* A file that is late in each report is given up after 20 s. */
START_TEST(test_always_late)
{
	int report;

	set_interval();
	for (report = 1; report <= 81; report++) {
		lines_renew(lines);
		will(-ETIME, 0);
		ck_assert_uint_eq(find(0, 1), 0);
		assert_said("0@0:1 end ");
	}
	lines_renew(lines);
	ck_assert_uint_eq(find(0, 1), 0);
	assert_said("");
	ck_assert_uint_eq(find(1, 1), 2);
}
END_TEST

/* Without intervals a report has a minute, and a request 10 s. */
START_TEST(test_minute)
{
	uint32_t i;

	for (i = 0; i < 7; i++) {
		will(-ETIME, 0);
		ck_assert_uint_eq(find(i, 1), 0);
		ck_assert_int_eq(timeout, 10000);
	}
	said[0] = 0;
	ck_assert_uint_eq(find(7, 1), 0);
	assert_said("");
}
END_TEST

/* Many hostile files. */
START_TEST(test_too_many)
{
	uint32_t i;

	for (i = 0; i < 16; i++) {
		will(-EIO, 0);
		ck_assert_uint_eq(find(i, 1), 0);
	}
	said[0] = 0;
	ck_assert_uint_eq(find(16, 1), 0);
	assert_said("");
	assert_skipped("some debug information was not read: Input/output error");
}
END_TEST

/* If a report has more names than are remembered, the next one has debug information again. */
START_TEST(test_too_many_names)
{
	enum { FRAMES = 8, LEN = LINES_NAME - 1 };
	char names[FRAMES][LEN + 1];
	struct lines_frame frames[FRAMES];
	uint64_t addr = 0;
	size_t i;

	if (unit_below_valgrind())
		return;
	memset(names, 'x', sizeof(names));
	do {
		for (i = 0; i < FRAMES; i++) {
			snprintf(names[i], LEN + 1, "%zu %" PRIu64 "%*s", i, addr, LEN - 30, "");
			frames[i] = (struct lines_frame){ i + 1 < FRAMES ? names[i] : NULL, "a.c", 1 };
		}
		said[0] = 0;
		reply_frames(frames, FRAMES);
		ck_assert_uint_lt(addr, (128 << 20) / (FRAMES - 1) / (LEN - 30));
	} while (find(0, addr++));
	said[0] = 0;
	ck_assert_uint_eq(find(1, 1), 0);
	assert_said("");
	assert_skipped("some debug information was not read: it is too much");
	lines_renew(lines);
	ck_assert_uint_eq(find(1, 1), FRAMES);
	assert_said("1@1:1 ");
}
END_TEST

/* ---- replies */

#define N3   "\3\0\0\0"
#define R(s) s, sizeof(s) - 1

static const struct {
	const char *bytes;
	size_t len;
	int nr;
} replies[] = {
	{ R(""), 0 },
	{ R(N3 "\0\0"), 1 },
	{ R(N3 "\0a.c\0"), 1 },
	{ R(N3 "f\0a.c\0" N3 "\0\0"), 2 },
	{ R(N3 "f\0\0" N3 "g\0b\0" N3 "\0\0"), 3 },
	{ R("\377\377\377\377\0\0"), 1 },
	{ R("\3"), -EBADMSG },
	{ R("\3\0\0"), -EBADMSG },
	{ R(N3), -EBADMSG },
	{ R(N3 "f"), -EBADMSG },
	{ R(N3 "\0"), -EBADMSG },
	{ R(N3 "\0a.c"), -EBADMSG },
	{ R(N3 "f\0a.c\0"), -EBADMSG },       /* the last frame has no name */
	{ R(N3 "\0\0" N3 "\0\0"), -EBADMSG }, /* only the last may have none */
	{ R(N3 "\0\0" N3 "f\0\0"), -EBADMSG },
	{ R(N3 "\0/a.c\0"), -EBADMSG }, /* not a base name */
	{ R(N3 "\0a/b.c\0"), -EBADMSG },
	{ R(N3 "\0\0\0"), -EBADMSG },
	{ R(N3 "f\0\0" N3 "\0\0x"), -EBADMSG },
};

START_TEST(test_replies)
{
	size_t want = replies[_i].nr < 0 ? 0 : (size_t)replies[_i].nr;

	memcpy(reply_bytes, replies[_i].bytes, replies[_i].len);
	reply_len = replies[_i].len;
	ck_assert_uint_eq(find(0, 1), want);
	assert_said(replies[_i].nr < 0 ? "0@0:1 end " : "0@0:1 ");
	assert_skipped(replies[_i].nr < 0 ? "the debug information of 1 files was not read: what came of it is nonsense"
					  : NULL);
}
END_TEST

/* As many and as long as possible, and one more. */
START_TEST(test_longest)
{
	struct lines_frame frames[LINES_FRAMES + 1], out[LINES_FRAMES];
	static char name[LINES_NAME + 10], text[LINES_NAME * 2];
	struct worker_message m = { reply_bytes, 0, -1 };
	int i;

	memset(name, 'n', sizeof(name) - 1);
	for (i = 0; i <= LINES_FRAMES; i++)
		frames[i] = (struct lines_frame){ "f", "f.c", 1 };
	frames[LINES_FRAMES - 1].name = frames[LINES_FRAMES].name = NULL;
	reply_frames(frames, LINES_FRAMES);
	ck_assert_uint_eq(find(0, 1), LINES_FRAMES);
	frames[LINES_FRAMES - 1].name = "f";
	reply_frames(frames, LINES_FRAMES + 1);
	ck_assert_int_eq(lines_reply_parse(reply_bytes, reply_len, out), -EBADMSG);
	/* a long name is truncated */
	frames[0] = (struct lines_frame){ name, name, 1 };
	frames[1].name = NULL;
	reply_frames(frames, 2);
	ck_assert_int_eq(lines_reply_parse(reply_bytes, reply_len, out), 2);
	ck_assert_uint_eq(strlen(out[0].name), LINES_NAME - 1);
	ck_assert_uint_eq(strlen(out[0].file), LINES_NAME - 1);
	/* a name that was not truncated is not from our worker */
	memset(text, 'n', sizeof(text));
	text[4 + LINES_NAME] = text[4 + LINES_NAME + 1] = 0;
	ck_assert_int_eq(lines_reply_parse(text, 4 + LINES_NAME + 2, out), -EBADMSG);
	/* a reply has no room for more */
	for (i = 0; !lines_reply_add(&m, &frames[0]); i++)
		ck_assert_uint_le(m.len, WORKER_MESSAGE_MAX);
	ck_assert_int_eq(i, WORKER_MESSAGE_MAX / (4 + 2 * LINES_NAME));
	ck_assert_int_eq(lines_reply_add(&m, &frames[0]), -E2BIG);
}
END_TEST

/* An unexpected descriptor. */
START_TEST(test_descriptor)
{
	int fds = unit_open_fds();

	with_fd = true;
	ck_assert_uint_eq(find(0, 1), 0);
	assert_said("0@0:1 end ");
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("lines asking");
	TCase *tc = tcase_create("lines asking");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_remembered);
	tcase_add_test(tc, test_slots);
	tcase_add_loop_test(tc, test_failures, 0, ARRAY_SIZE(failures));
	tcase_add_loop_test(tc, test_ends, 0, ARRAY_SIZE(ends));
	tcase_add_test(tc, test_late);
	tcase_add_test(tc, test_always_late);
	tcase_add_test(tc, test_minute);
	tcase_add_test(tc, test_too_many);
	tcase_add_test(tc, test_too_many_names);
	tcase_add_loop_test(tc, test_replies, 0, ARRAY_SIZE(replies));
	tcase_add_test(tc, test_longest);
	tcase_add_test(tc, test_descriptor);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
