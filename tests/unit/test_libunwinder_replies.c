// SPDX-License-Identifier: Apache-2.0
/*
 * Possible replies of the process that runs libunwind after a file has taken it over; and their cost. No
 * process is started.
 */
#include "core/base/clock.h"
#include "tests/unit/fake_time.h"
#include "tests/unit/unit.h"
#include "unwind/libunwinder.h"
#include "unwind/libunwinder_message.h"

#include <fcntl.h>

#define CAP 4

/* ---- the worker */

struct worker {
	struct worker_job job;
};

#define ZERO 1 /* an address that is not mapped */

/** struct saying - the worker's reply to each call. */
struct saying {
	const char *what;
	int rc; /* result of worker_call(); not 0: there is no reply */
	uint32_t said, nr, end;
	uint64_t addr;
	size_t len; /* 0: all */
	bool fd;
	uint64_t leaf, second; /* addresses; 0: those of a possible stack; ZERO: 0 */
	uint32_t unknown;
	uint64_t takes_ms;
	int want; /* result of libunwinder_walk() */
};

static const struct saying *saying;
static struct worker the_worker;
static unsigned int nr_calls, nr_ends;

struct worker *worker_new(const struct worker_job *job)
{
	the_worker.job = *job;
	return &the_worker;
}

void worker_free(struct worker *w)
{
	(void)w;
}

int worker_start(struct worker *w)
{
	(void)w;
	return 0;
}

void worker_end(struct worker *w)
{
	(void)w;
	nr_ends++;
}

int worker_call(struct worker *w, const struct worker_message *request, struct worker_message *reply, int timeout_ms)
{
	struct libunwinder_reply *r = reply->data;
	size_t i;

	(void)w;
	(void)timeout_ms;
	nr_calls++;
	ck_assert_uint_eq(request->len, sizeof(struct libunwinder_map));
	ck_assert_uint_ge(reply->len, sizeof(*r));
	fake_time_pass((unsigned int)saying->takes_ms);
	reply->fd = -1;
	if (saying->rc)
		return saying->rc;
	/* The worker's writes to the shared memory have no effect. */
	memset(the_worker.job.ctx, 0xff, sizeof(struct libunwinder_shared));
	memset(r, 0xff, sizeof(*r));
	r->said = saying->said;
	r->nr = saying->nr;
	r->addr = saying->addr;
	r->end = saying->end;
	r->unknown = saying->unknown;
	r->by_fp = 0;
	for (i = 0; i < UNWIND_MAX_FRAMES; i++)
		r->ips[i] = 0x1010 + i;
	if (saying->leaf)
		r->ips[0] = saying->leaf;
	if (saying->second)
		r->ips[1] = saying->second == ZERO ? 0 : saying->second;
	reply->len = saying->len ? saying->len : sizeof(*r);
	if (saying->fd)
		reply->fd = open("/dev/null", O_RDONLY | O_CLOEXEC);
	return 0;
}

int worker_ask(const struct worker_message *question, struct worker_message *answer)
{
	(void)question;
	(void)answer;
	return -EPIPE;
}

/* ---- which processes are walked */

static const struct mapped_file file = { .path = "/program" };
static const struct mapping program = { 0x1000, 0x2000, 0, &file };

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr >= program.start && addr < program.end ? &program : NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	(void)ctx;
	(void)m;
	return NULL;
}

static struct libunwinder *l;

static int walk(pid_t pid)
{
	const struct unwind_mappings mappings = { NULL, find_mapping };
	const struct unwind_files files = { NULL, find_rules };
	const struct unwind_copy copy = { NULL, 0x8000, 0, 0 };
	struct unwind_regs regs = { .have = ARCH_BIT(ARCH_SP) | ARCH_BIT(ARCH_IP) };
	uint64_t ips[CAP + 1] = { [CAP] = 77 };
	uint8_t left[CAP + 1] = { [CAP] = 77 };
	struct unwind_result out = { .ips = ips, .left = left, .cap = CAP };
	int rc;

	regs.r[ARCH_IP] = 0x1010;
	regs.r[ARCH_SP] = 0x8000;
	rc = libunwinder_walk(l, pid, &regs, &copy, &mappings, &files, &out);
	ck_assert_uint_eq(ips[CAP], 77);
	ck_assert_uint_eq(left[CAP], 77);
	ck_assert_uint_le(out.nr, CAP);
	ck_assert(out.end < UNWIND_NR_ENDS);
	if (rc) {
		ck_assert_uint_eq(out.nr, 1);
		ck_assert_uint_eq(ips[0], 0x1010);
		ck_assert_int_eq(out.end, UNWIND_BAD);
	}
	return rc;
}

static void setup(void)
{
	fake_time_begin(NULL, NULL);
	nr_calls = nr_ends = 0;
	l = libunwinder_new();
	ck_assert_ptr_nonnull(l);
}

static void teardown(void)
{
	libunwinder_free(l);
	fake_time_end();
}

static const struct saying sayings[] = {
	{ "a stack", .nr = 1 },
	{ "a full one", .nr = CAP, .end = UNWIND_TRUNCATED },
	{ "another leaf", .nr = 2, .leaf = 0x1011, .want = -EBADMSG },
	{ "the leaf, interrupted behind another frame", .nr = 2, .leaf = 0x1010 | UNWIND_EXACT, .want = -EBADMSG },
	{ "an interrupted caller", .nr = 2, .second = 0x1020 | UNWIND_EXACT },
	{ "a caller at 0", .nr = 2, .second = ZERO, .want = -EBADMSG },
	{ "a caller of the kernel", .nr = 2, .second = 0xffffffff81000000, .want = -EBADMSG },
	{ "a marker", .nr = 2, .second = UINT64_MAX - 511, .want = -EBADMSG },
	{ "an exact 0", .nr = 2, .second = UNWIND_EXACT, .want = -EBADMSG },
	{ "a bit that is none", .nr = 1, .unknown = 2, .want = -EBADMSG },
	{ "no address", .nr = 0, .want = -EBADMSG },
	{ "one more than there is room for", .nr = CAP + 1, .want = -EBADMSG },
	{ "as many as the message has", .nr = UNWIND_MAX_FRAMES, .want = -EBADMSG },
	{ "more than it has", .nr = UINT32_MAX, .want = -EBADMSG },
	{ "an end that there is not", .nr = 1, .end = UNWIND_NR_ENDS, .want = -EBADMSG },
	{ "a large one", .nr = 1, .end = UINT32_MAX, .want = -EBADMSG },
	{ "a question that there is not", .said = LIBUNWINDER_ASKS_DEBUG + 1, .nr = 1, .want = -EBADMSG },
	{ "a large one", .said = UINT32_MAX, .nr = 1, .want = -EBADMSG },
	{ "a short stack", .nr = 1, .len = sizeof(struct libunwinder_reply) - 1, .want = -EBADMSG },
	{ "a question in place of a stack", .nr = 1, .len = LIBUNWINDER_QUESTION, .want = -EBADMSG },
	{ "a short question", .said = LIBUNWINDER_ASKS_MAP, .len = LIBUNWINDER_QUESTION - 1, .want = -EBADMSG },
	{ "a byte", .nr = 1, .len = 1, .want = -EBADMSG },
	{ "a descriptor", .nr = 1, .fd = true, .want = -EBADMSG },
	{ "a descriptor with a question", .said = LIBUNWINDER_ASKS_MAP, .fd = true, .want = -EBADMSG },
	{ "nothing but questions", .said = LIBUNWINDER_ASKS_MAP, .addr = 0x1000, .want = -ELOOP },
	{ "about what is not mapped", .said = LIBUNWINDER_ASKS_MAP, .addr = UINT64_MAX, .want = -ELOOP },
	{ "about no file", .said = LIBUNWINDER_ASKS_DEBUG, .addr = UINT64_MAX, .want = -ELOOP },
	{ "slow questions", .said = LIBUNWINDER_ASKS_MAP, .addr = 0x1000, .takes_ms = 100, .want = -ETIME },
	{ "it died", .rc = -EPIPE, .want = -EPIPE },
	{ "it hangs", .rc = -ETIME, .takes_ms = 2000, .want = -ETIME },
	{ "no memory", .rc = -ENOMEM, .want = -ENOMEM },
};

START_TEST(test_saying)
{
	unsigned int fds = unit_open_fds();
	struct err why;

	saying = &sayings[_i];
	ck_assert_int_eq(walk(500), saying->want);
	ck_assert_uint_eq(unit_open_fds(), fds);
	ck_assert_uint_eq(nr_ends, saying->want != 0);
	ck_assert_uint_le(nr_calls, 4 * UNWIND_MAX_FRAMES);
	ck_assert_uint_le(fake_time_ms(), 3200);
	ck_assert_int_eq(libunwinder_failed(l, &why), saying->want != 0);
	ck_assert(!saying->want || why.code == saying->want);
}
END_TEST

/* A process with four failures is not walked again, others are. */
START_TEST(test_process)
{
	static const struct saying dies = { "", .rc = -EPIPE }, works = { "", .nr = 1 };
	int i;

	for (i = 0; i < 4; i++) {
		saying = &dies;
		ck_assert_int_eq(walk(500), -EPIPE);
		saying = &works;
		ck_assert_int_eq(walk(501), 0);
	}
	nr_calls = 0;
	ck_assert_int_eq(walk(500), -EAGAIN);
	ck_assert_uint_eq(nr_calls, 0);
	ck_assert_int_eq(walk(501), 0);
}
END_TEST

/* After its first stack the worker may be taken over: its claim that the kernel lacks something is not believed. */
START_TEST(test_taken_over)
{
	static const struct saying cannot = { "", .rc = -ENOSYS }, works = { "", .nr = 1 };

	saying = &works;
	ck_assert_int_eq(walk(500), 0);
	saying = &cannot;
	ck_assert_int_eq(walk(500), -ENOSYS);
	saying = &works;
	ck_assert_int_eq(walk(501), 0);
}
END_TEST

/* A lack of files on the host is not a failure of the process. */
START_TEST(test_no_files)
{
	static const struct saying no_files = { "", .rc = -EMFILE }, works = { "", .nr = 1 };
	int i;

	saying = &no_files;
	for (i = 0; i < 6; i++)
		ck_assert_int_eq(walk(500), -EMFILE);
	saying = &works;
	ck_assert_int_eq(walk(500), 0);
}
END_TEST

/* 16 failures are permitted at once, then one per second. */
START_TEST(test_failures_of_all)
{
	static const struct saying dies = { "", .rc = -EPIPE };
	pid_t pid;

	saying = &dies;
	for (pid = 1; pid <= 16; pid++)
		ck_assert_int_eq(walk(pid), -EPIPE);
	ck_assert_int_eq(walk(pid), -EAGAIN);
	fake_time_pass(999);
	ck_assert_int_eq(walk(pid), -EAGAIN);
	fake_time_pass(1);
	ck_assert_int_eq(walk(pid), -EPIPE);
	ck_assert_int_eq(walk(++pid), -EAGAIN);
	fake_time_pass(60 * 1000);
	for (pid = 101; pid <= 116; pid++)
		ck_assert_int_eq(walk(pid), -EPIPE);
	ck_assert_int_eq(walk(pid), -EAGAIN);
}
END_TEST

/* A slow reply costs ten times its time: at most a tenth of the time is spent on waiting. */
START_TEST(test_hangs)
{
	static const struct saying hangs = { "", .rc = -ETIME, .takes_ms = 2000 };
	unsigned int ms, hung = 0;
	pid_t pid = 1;

	saying = &hangs;
	for (ms = 0; fake_time_ms() < 1000 * 1000; ms++) {
		hung += walk(pid++) == -ETIME;
		fake_time_pass(10);
	}
	ck_assert_uint_ge(hung, 40);
	ck_assert_uint_le(hung * 2, 1000 / 10 + 4);
}
END_TEST

/* If the worker cannot be confined, it is not used again. */
START_TEST(test_unconfined)
{
	static const struct saying refuses = { "", .rc = -ENOSYS };
	struct err why;

	saying = &refuses;
	ck_assert_int_eq(walk(1), -ENOSYS);
	ck_assert_int_eq(walk(2), -ENOSYS);
	ck_assert_uint_eq(nr_calls, 1);
	ck_assert(libunwinder_failed(l, &why));
	ck_assert_str_eq(why.msg, "2 stacks were not unwound by libunwind: the kernel has no seccomp filters to run "
				  "libunwind safely");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("libunwinder_replies");
	TCase *tc = tcase_create("libunwinder_replies");

	tcase_set_timeout(tc, 60);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, test_saying, 0, ARRAY_SIZE(sayings));
	tcase_add_test(tc, test_process);
	tcase_add_test(tc, test_taken_over);
	tcase_add_test(tc, test_no_files);
	tcase_add_test(tc, test_failures_of_all);
	tcase_add_test(tc, test_hangs);
	tcase_add_test(tc, test_unconfined);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
