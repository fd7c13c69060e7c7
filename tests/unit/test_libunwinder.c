// SPDX-License-Identifier: Apache-2.0
/* The same stacks walked by our own unwinder and by libunwind, and files that make libunwind crash. */
#include "core/base/clock.h"
#include "tests/unit/cfi_image.h"
#include "tests/unit/rules_image.h"
#include "unwind/compare.h"
#include "unwind/libunwinder.h"
#include "unwind/mode.h"

#include <sys/mman.h>

#define PROGRAM 0x555555555000ULL /* code of a program */
#define OTHER   0x7f1200000000ULL /* code of a library; another file is there later */
#define JIT     0x7f0000000000ULL /* code without rules */
#define STACK   0x7ffc00001000ULL
#define WORDS   24
#define IPS     8

#define REPLY_NS  (2 * NSEC_PER_SEC)  /* time to wait for the worker's reply */
#define SLOW_NS   (NSEC_PER_SEC / 10) /* a reply that takes longer costs credit, like a failure */
#define CREDIT_NS (15 * NSEC_PER_SEC) /* if no more credit than this is used, one more may fail */

#define P(at) (PROGRAM + (at))
#define L(at) (OTHER + (at))
#define AT(i) (STACK + 8 * (uint64_t)(i))
#define X(at) ((at) | UNWIND_EXACT)
#define FP    ARCH_BIT(ARCH_FP)
#define RBX   ARCH_BIT(3)

/* Functions of 64 bytes. */
enum {
	PLAIN = 0x000,    /* CFA = rsp + 16 */
	LEAF = 0x040,     /* rsp + 8 */
	BY_RBP = 0x080,   /* rbp + 16; rbp is saved there */
	SAVES = 0x0c0,    /* rsp + 32; rbx at CFA - 16 */
	BY_RBX = 0x100,   /* rbx + 16 */
	REALIGNS = 0x140, /* the word at rbp - 8; rbp is saved at rbp */
	ROOT = 0x180,     /* the outermost function */
	SIGNAL = 0x1c0,   /* the word at rsp + 160; the address at rsp + 168, rbp at + 120 */
	POPS = 0x240,     /* rsp + 8; rbx at CFA - 24 */
	ENDLESS = 0x280,  /* an expression without an end */
	NO_RULES = 0x2c0,
};

static const struct cfi_function functions[] = {
	{ PLAIN, 64, false, CFI_PROGRAM("\x0e\x10") },
	{ LEAF, 64, false, CFI_PROGRAM("") },
	{ BY_RBP, 64, false, CFI_PROGRAM("\x0c\x06\x10\x86\x02") },
	{ SAVES, 64, false, CFI_PROGRAM("\x0e\x20\x83\x02") },
	{ BY_RBX, 64, false, CFI_PROGRAM("\x0c\x03\x10") },
	{ REALIGNS, 64, false, CFI_PROGRAM("\x0f\x03\x76\x78\x06\x10\x06\x02\x76\x00") },
	{ ROOT, 64, false, CFI_PROGRAM("\x07\x10") },
	{ SIGNAL - 1, 64, true,
	  CFI_PROGRAM("\x0f\x04\x77\xa0\x01\x06\x10\x10\x03\x77\xa8\x01\x10\x06\x03\x77\xf8\x00") },
	{ POPS, 64, false, CFI_PROGRAM("\x83\x03") },
	{ ENDLESS, 64, false, CFI_PROGRAM("\x0f\x03\x2f\xfd\xff") },
};

static const struct mapped_file program = { .path = "/program" }, other = { .path = "/lib" },
				anon = { .path = "//anon" };

/* The mappings, and the contents of the files. */
static struct mapping maps[] = {
	{ PROGRAM, PROGRAM + CFI_CODE_SIZE, CFI_CODE_OFFSET, &program },
	{ OTHER, OTHER + CODE_SIZE, CODE_OFFSET, &other },
	{ JIT, JIT + 0x1000, 0, &anon },
};
static struct rules *rules[ARRAY_SIZE(maps)];
static struct libunwinder *l;
static unsigned int nr_looked_up;

static struct rules *rules_of(const void *bytes, size_t size)
{
	int fd = memfd_create("rules", MFD_CLOEXEC);
	struct rules *r = NULL;
	struct elf_file f;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, bytes, size), (ssize_t)size);
	ck_assert_int_eq(elf_file_open(&f, fd), 0);
	close(fd);
	ck_assert_int_eq(rules_open(&f, &ELF_FILE_NONE, &r), 0);
	return r;
}

static void map(size_t i, struct rules *r)
{
	rules_close(rules[i]);
	rules[i] = r;
}

/* The library: functions of @frame are in .debug_frame, the others in .eh_frame, which is found by @table. */
static struct rules *library(enum table table, enum frame frame, uint8_t cfa)
{
	const struct function in_eh[] = { { 0x000, 64, cfa }, { 0x040, 64, 0 } };
	const struct function in_debug[] = { { 0x100, 64, cfa }, { 0x140, 64, 0 } };
	struct rules_image ri;
	struct rules *r;

	rules_image_build(&ri, table, frame, in_eh, 2, in_debug, 2);
	r = rules_of(ri.im.bytes, ri.im.len);
	image_release(&ri.im);
	return r;
}

/* The credit of libunwind that this test has used: on a busy host, with valgrind, all of it may be used. */
static uint64_t paid_ns;

static void setup(void)
{
	struct cfi_image image;

	cfi_image_build(&image, functions, ARRAY_SIZE(functions));
	map(0, rules_of(image.bytes, sizeof(image.bytes)));
	map(1, library(TABLE, NO_FRAME, 16));
	l = libunwinder_new();
	ck_assert_ptr_nonnull(l);
	paid_ns = 0;
}

static void teardown(void)
{
	size_t i;

	libunwinder_free(l);
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		map(i, NULL);
}

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	size_t i;

	(void)ctx;
	nr_looked_up++;
	for (i = 0; i < ARRAY_SIZE(maps); i++)
		if (addr >= maps[i].start && addr < maps[i].end)
			return &maps[i];
	return NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	(void)ctx;
	return rules[m - maps];
}

static int read_copy(void *ctx, uint64_t addr, void *to, size_t len)
{
	return unwind_copy_read(ctx, addr, to, len);
}

static const struct unwind_mappings mappings = { NULL, find_mapping };
static const struct unwind_files files = { NULL, find_rules };

/** struct walked - the result of a walk. */
struct walked {
	uint64_t ips[UNWIND_MAX_FRAMES];
	uint8_t left[UNWIND_MAX_FRAMES];
	struct unwind_result result;
	int rc;
};

static struct walked ours, theirs;

static void prepare(struct walked *w)
{
	*w = (struct walked){ .result = { .ips = w->ips, .left = w->left, .cap = UNWIND_MAX_FRAMES } };
}

/** struct row - a stack whose pointer is at word 0. */
struct row {
	const char *what;
	uint64_t ip;
	arch_regs regs; /* the other known registers */
	uint64_t fp, rbx;
	uint64_t words[WORDS];
	uint64_t ips[IPS]; /* expected addresses after @ip, up to the first 0 */
	enum unwind_end end;
};

static void pay(uint64_t took_ns)
{
	uint64_t cost = 10 * took_ns;

	if (theirs.rc == -EAGAIN || (!theirs.rc && took_ns <= SLOW_NS))
		return;
	paid_ns += theirs.rc && cost < NSEC_PER_SEC ? NSEC_PER_SEC : cost;
}

static void walk_both(const struct row *row, pid_t pid, uint64_t end)
{
	struct unwind_regs regs = { .have = row->regs | ARCH_BIT(ARCH_SP) | ARCH_BIT(ARCH_IP) };
	struct unwind_copy copy = { row->words, STACK, sizeof(row->words), end };
	const struct unwind_memory memory = { &copy, read_copy };
	uint64_t began;

	regs.r[ARCH_IP] = row->ip;
	regs.r[ARCH_SP] = STACK;
	regs.r[ARCH_FP] = row->fp;
	regs.r[3] = row->rbx;
	prepare(&ours);
	prepare(&theirs);
	unwind_walk(&regs, &memory, &mappings, &files, &ours.result);
	began = now_ns();
	theirs.rc = libunwinder_walk(l, pid, &regs, &copy, &mappings, &files, &theirs.result);
	pay(now_ns() - began);
}

static void assert_ips(const struct walked *w, const struct row *row)
{
	size_t i, nr = 1;

	while (nr <= IPS && row->ips[nr - 1])
		nr++;
	ck_assert_uint_eq(w->result.nr, nr);
	ck_assert_uint_eq(w->ips[0], row->ip);
	for (i = 1; i < nr; i++)
		ck_assert_uint_eq(w->ips[i], row->ips[i - 1]);
	ck_assert_int_eq(w->result.end, row->end);
}

/* ---- both agree */

#define TO_ROOT 0, P(ROOT) + 5 /* from PLAIN to the root */

static const struct row alike[] = {
	{ "a leaf", P(LEAF), 0, 0, 0, { P(PLAIN) + 5, TO_ROOT }, { P(PLAIN) + 5, P(ROOT) + 5 }, UNWIND_ROOT },
	{ "the outermost frame", P(ROOT), 0, 0, 0, { 0 }, { 0 }, UNWIND_ROOT },
	{ "a zero return address", P(PLAIN), 0, 0, 0, { 0, 0 }, { 0 }, UNWIND_ROOT },
	{ "a frame pointer",
	  P(BY_RBP),
	  FP,
	  AT(2),
	  0,
	  { 0, 0, AT(6), P(BY_RBP) + 5, 0, 0, 0, P(ROOT) + 5 },
	  { P(BY_RBP) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a saved register finds the next frame but one",
	  P(SAVES),
	  RBX,
	  0,
	  99,
	  { 0, 0, AT(6), P(PLAIN) + 5, 0, P(BY_RBX) + 5, 0, P(ROOT) + 5 },
	  { P(PLAIN) + 5, P(BY_RBX) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a stack that was realigned",
	  P(REALIGNS),
	  FP,
	  AT(2),
	  0,
	  { 0, AT(6), 0, 0, 0, P(ROOT) + 5 },
	  { P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a signal handler",
	  P(LEAF),
	  0,
	  0,
	  0,
	  { P(SIGNAL), [16] = AT(22), [21] = AT(23), [22] = P(LEAF), P(ROOT) + 5 },
	  { P(SIGNAL), X(P(LEAF)), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a library with a search table",
	  P(PLAIN),
	  0,
	  0,
	  0,
	  { 0, L(0x005), 0, L(0x045), P(ROOT) + 5 },
	  { L(0x005), L(0x045), P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "code without rules has a frame pointer",
	  P(NO_RULES),
	  FP,
	  AT(2),
	  0,
	  { 0, 0, AT(4), P(BY_RBP) + 5, 0, P(ROOT) + 5 },
	  { P(BY_RBP) + 5, P(ROOT) + 5 },
	  UNWIND_ROOT },
	{ "a frame beyond the copy", P(BY_RBP), FP, AT(WORDS), 0, { 0 }, { 0 }, UNWIND_TRUNCATED },
	{ "a frame below the copy", P(BY_RBP), FP, AT(-4), 0, { 0 }, { 0 }, UNWIND_BAD },
	{ "a register that is not known", P(BY_RBX), 0, 0, 0, { 0 }, { 0 }, UNWIND_BAD },
	{ "a frame pointer that is not known", P(BY_RBP), 0, 0, 0, { 0 }, { 0 }, UNWIND_BAD },
	{ "the same of code without rules", P(NO_RULES), 0, 0, 0, { 0 }, { 0 }, UNWIND_NO_RULES },
	{ "a frame pointer of 0", P(NO_RULES), FP, 0, 0, { 0 }, { 0 }, UNWIND_NO_RULES },
	{ "the same of a caller", P(LEAF), FP, 0, 0, { P(NO_RULES) + 5 }, { P(NO_RULES) + 5 }, UNWIND_ROOT },
	{ "an address that is not mapped", 0x1000, FP, AT(0), 0, { 0, P(ROOT) + 5 }, { 0 }, UNWIND_BAD },
	{ "a caller that is not mapped", P(LEAF), FP, AT(1), 0, { 0x1000, 0, P(ROOT) }, { 0x1000 }, UNWIND_BAD },
};

START_TEST(test_alike)
{
	const struct row *row = &alike[_i];

	walk_both(row, 500, row->end == UNWIND_TRUNCATED ? UINT64_MAX : 0);
	ck_assert_int_eq(theirs.rc, 0);
	assert_ips(&ours, row);
	assert_ips(&theirs, row);
	ck_assert_uint_eq(theirs.result.missing, ours.result.missing);
	ck_assert_int_eq(theirs.result.unknown, ours.result.unknown);
	ck_assert_int_eq(theirs.result.by_fp, ours.result.by_fp);
}
END_TEST

/* One worker gets all rows, and uses nothing from an earlier row. */
START_TEST(test_alike_in_turn)
{
	unsigned int i, k;

	for (k = 0; k < 2; k++) {
		for (i = 0; i < ARRAY_SIZE(alike); i++) {
			walk_both(&alike[i], (pid_t)i, alike[i].end == UNWIND_TRUNCATED ? UINT64_MAX : 0);
			assert_ips(&theirs, &alike[i]);
		}
	}
}
END_TEST

/* ---- places of rules */

static const struct {
	enum table table;
	enum frame frame;
	uint32_t at; /* the function whose rules are there */
} places[] = {
	{ TABLE, NO_FRAME, 0x005 },      { TABLE_OMITTED, NO_FRAME, 0x005 },
	{ TABLE_WIDE, NO_FRAME, 0x005 }, { NO_HDR, NO_FRAME, 0x005 },
	{ TABLE, FRAME, 0x105 },         { TABLE, FRAME_64, 0x105 },
	{ TABLE, FRAME_ZLIB, 0x105 },    { NO_EH, FRAME, 0x105 },
	{ NO_HDR, FRAME, 0x105 },        { TABLE, FRAME, 0x005 },
};

/* Each place, with rows and with an expression. */
START_TEST(test_places)
{
	const uint32_t at = places[_i].at;
	const struct row row = { "",
				 P(PLAIN),
				 0,
				 0,
				 0,
				 { 0, L(at), 0, L(at + 64), P(ROOT) + 5 },
				 { L(at), L(at + 64), P(ROOT) + 5 },
				 UNWIND_ROOT };

	map(1, library(places[_i].table, places[_i].frame, 16));
	walk_both(&row, 500, 0);
	ck_assert_int_eq(theirs.rc, 0);
	assert_ips(&ours, &row);
	assert_ips(&theirs, &row);
}
END_TEST

/* Another file is mapped at the place of the first one, whose rules are not used. */
START_TEST(test_mappings_change)
{
	const struct row row = { "",
				 P(PLAIN),
				 0,
				 0,
				 0,
				 { 0, L(0x005), 0, L(0x045), P(ROOT) + 5 },
				 { L(0x005), L(0x045), P(ROOT) + 5 },
				 UNWIND_ROOT };
	const struct row larger = { "",
				    P(PLAIN),
				    0,
				    0,
				    0,
				    { 0, L(0x005), 0, 0, 0, L(0x045), P(ROOT) + 5 },
				    { L(0x005), L(0x045), P(ROOT) + 5 },
				    UNWIND_ROOT };
	int i;

	for (i = 0; i < 3; i++) {
		map(1, library(TABLE, NO_FRAME, 16));
		walk_both(&row, 500, 0);
		assert_ips(&theirs, &row);
		map(1, library(TABLE, NO_FRAME, 32));
		walk_both(&larger, 500, 0);
		assert_ips(&theirs, &larger);
	}
	map(1, NULL);
	walk_both(&row, 500, 0);
	ck_assert_uint_eq(theirs.result.nr, 2);
	ck_assert_uint_eq(theirs.left[1], UNWIND_LEFT_NO_RULES);
}
END_TEST

/* More files than the worker keeps: each is sent again, and none is mistaken for another. */
START_TEST(test_many_files)
{
	const struct row row = { "",
				 P(PLAIN),
				 0,
				 0,
				 0,
				 { 0, L(0x005), 0, L(0x045), P(ROOT) + 5 },
				 { L(0x005), L(0x045), P(ROOT) + 5 },
				 UNWIND_ROOT };
	unsigned int i, fds = unit_open_fds();

	for (i = 0; i < 300; i++) {
		map(1, library(TABLE, NO_FRAME, 16));
		walk_both(&row, 500, 0);
		assert_ips(&theirs, &row);
	}
	libunwinder_free(l);
	l = NULL;
	ck_assert_uint_eq(unit_open_fds(), fds);
}
END_TEST

/* The data that earlier stacks of a process needed comes with the next one: the worker asks for nothing. */
START_TEST(test_foresees)
{
	unsigned int first;

	nr_looked_up = 0;
	walk_both(&alike[0], 500, 0);
	first = nr_looked_up;
	nr_looked_up = 0;
	walk_both(&alike[0], 500, 0);
	ck_assert_uint_lt(nr_looked_up, first);
}
END_TEST

/* ---- where they disagree */

/* A saved register is below the stack pointer, outside of the copy. */
START_TEST(test_popped)
{
	const struct row row = { "",
				 P(POPS),
				 RBX,
				 0,
				 AT(4),
				 { P(BY_RBX) + 5, 0, 0, 0, 0, P(ROOT) + 5 },
				 { P(BY_RBX) + 5, P(ROOT) + 5 },
				 UNWIND_ROOT };

	walk_both(&row, 500, 0);
	assert_ips(&ours, &row);
	ck_assert_uint_eq(ours.left[0], 0);
	ck_assert_uint_eq(ours.left[1], UNWIND_LEFT_POPPED);
	ck_assert_int_eq(theirs.rc, 0);
	ck_assert_uint_eq(theirs.result.nr, 2);
	ck_assert_uint_eq(theirs.left[1], 0);
}
END_TEST

/* A return address that is no user address ends a stack. It does not look as if files had taken the process over. */
START_TEST(test_no_user_address)
{
	const struct row row = { "",
				 P(LEAF),
				 0,
				 0,
				 0,
				 { P(PLAIN) + 5, 0, 1ULL << ARCH_USER_BITS },
				 { P(PLAIN) + 5, 1ULL << ARCH_USER_BITS },
				 UNWIND_BAD };
	size_t first;

	walk_both(&row, 500, 0);
	assert_ips(&ours, &row);
	ck_assert_int_eq(theirs.rc, 0);
	ck_assert_uint_eq(theirs.result.nr, 2);
	ck_assert_int_eq(theirs.result.end, UNWIND_BAD);
	ck_assert_int_eq(unwind_compare(&ours.result, &theirs.result, &first), UNWINDERS_EQUAL);
}
END_TEST

/* A function without rules has moved the stack pointer away from its frame pointer: libunwind does not notice that. */
START_TEST(test_guessed_stack_pointer)
{
	const struct row row = { "",
				 P(NO_RULES),
				 FP,
				 AT(4),
				 0,
				 { 0, 0, 0, 0, 0, P(PLAIN) + 5, 0, P(ROOT) + 5 },
				 { P(PLAIN) + 5, P(ROOT) + 5 },
				 UNWIND_ROOT };
	size_t first;

	walk_both(&row, 500, 0);
	assert_ips(&ours, &row);
	ck_assert_uint_eq(ours.left[1], UNWIND_LEFT_GUESSED);
	ck_assert_int_eq(theirs.rc, 0);
	ck_assert_int_eq(unwind_compare(&ours.result, &theirs.result, &first), UNWINDERS_GUESSED);
	ck_assert_uint_eq(first, 2);
}
END_TEST

START_TEST(test_without_rules)
{
	walk_both(&alike[8], 500, 0);
	ck_assert_uint_eq(ours.left[0], UNWIND_LEFT_NO_RULES);
	ck_assert_uint_eq(theirs.left[0], UNWIND_LEFT_NO_RULES);
	ck_assert_uint_eq(ours.left[1], 0);
	ck_assert_uint_eq(theirs.left[1], 0);
}
END_TEST

/* ---- hostile files */

/* In its CIE the return address is in register 2^30; the search table leads to it. */
static struct rules *hostile(void)
{
	static const uint8_t cie[] = { 3, 'z', 'R', 0, 1, 0x78, 0x80, 0x80, 0x80, 0x80, 4, 1, 0x1b, 0x0c, 7, 8 };
	const struct function in_eh[] = { { 0x000, 64, 16 }, { 0x040, 64, 0 } };
	struct rules_image ri;
	struct rules *r;

	rules_image_build(&ri, TABLE, NO_FRAME, in_eh, 2, NULL, 0);
	memcpy(ri.im.bytes + ri.eh + 8, cie, sizeof(cie));
	r = rules_of(ri.im.bytes, ri.im.len);
	image_release(&ri.im);
	return r;
}

static bool is_refused(void)
{
	return theirs.rc == -EAGAIN && paid_ns > CREDIT_NS;
}

/* On a busy host the time for a reply may end before the CPU time does: then the walk took REPLY_NS. */
static void assert_lost(const struct row *row, pid_t pid, int rc)
{
	uint64_t began = now_ns();
	bool late;

	walk_both(row, pid, 0);
	late = now_ns() - began >= REPLY_NS;
	ck_assert(theirs.rc == rc || (late && theirs.rc == -ETIME) || is_refused());
	ck_assert_uint_eq(theirs.result.nr, 1);
	ck_assert_uint_eq(theirs.ips[0], row->ip);
	ck_assert_int_eq(theirs.result.end, UNWIND_BAD);
}

static const struct row crashes = { "", L(0x005), 0, 0, 0, { 0 }, { 0 }, UNWIND_BAD };

static void assert_good(pid_t pid)
{
	walk_both(&alike[0], pid, 0);
	if (is_refused())
		return;
	ck_assert_int_eq(theirs.rc, 0);
	assert_ips(&theirs, &alike[0]);
}

/* A crash costs one stack. The next stacks of the process are lost only after too many crashes. */
START_TEST(test_crash)
{
	struct err why;
	int i;

	map(1, hostile());
	ck_assert(!libunwinder_failed(l, &why));
	for (i = 0; i < 4; i++) {
		assert_good(500);
		assert_lost(&crashes, 500, -EPIPE);
	}
	assert_lost(&crashes, 500, -EAGAIN);
	assert_lost(&alike[0], 500, -EAGAIN);
	assert_good(501);
	ck_assert(libunwinder_failed(l, &why));
	if (paid_ns > CREDIT_NS)
		return;
	ck_assert_int_eq(why.code, -EPIPE);
	ck_assert_str_eq(why.msg, "6 stacks were not unwound by libunwind: the rules of their files have crashed "
				  "libunwind, or have kept it busy for too long");
}
END_TEST

/* At least 16 crashes of all processes are permitted at once: each costs a second, or ten times its duration. */
START_TEST(test_many_crashes)
{
	unsigned int i, crashed = 0;

	map(1, hostile());
	for (i = 0; i < 40; i++) {
		walk_both(&crashes, (pid_t)(1000 + i), 0);
		ck_assert(theirs.rc == -EPIPE || theirs.rc == -EAGAIN);
		crashed += theirs.rc == -EPIPE;
	}
	/* With less than a second of credit left, no more failures are permitted. */
	ck_assert(crashed >= 16 || paid_ns > CREDIT_NS);
	ck_assert_uint_lt(crashed, 40);
}
END_TEST

/* The worker's limit of CPU time ends it. */
START_TEST(test_endless)
{
	const struct row row = { "", P(ENDLESS), FP, AT(2), 0, { 0 }, { 0 }, UNWIND_BAD };

	assert_lost(&row, 500, -EPIPE);
	assert_good(501);
}
END_TEST

/* Any byte of the file may be damaged. The walk ends, and the next one is right. */
START_TEST(test_damaged)
{
	struct cfi_image image;
	size_t at;

	for (at = (size_t)_i; at < 0x180; at += 16) {
		cfi_image_build(&image, functions, ARRAY_SIZE(functions));
		image.bytes[CFI_EH_OFFSET + at] ^= (uint8_t)(0x11 << _i % 4);
		map(0, rules_of(image.bytes, sizeof(image.bytes)));
		walk_both(&alike[4], (pid_t)(1000 * _i + (int)at), 0);
		ck_assert_uint_ge(theirs.result.nr, 1);
		ck_assert_uint_eq(theirs.ips[0], alike[4].ip);
	}
	assert_good(501);
}
END_TEST

/* The limit for addresses. */
START_TEST(test_room)
{
	struct unwind_regs regs = { .have = ARCH_BIT(ARCH_SP) | ARCH_BIT(ARCH_IP) };
	struct unwind_copy copy = { alike[0].words, STACK, sizeof(alike[0].words), 0 };

	regs.r[ARCH_IP] = P(LEAF);
	regs.r[ARCH_SP] = STACK;
	prepare(&theirs);
	theirs.result.cap = 2;
	ck_assert_int_eq(libunwinder_walk(l, 1, &regs, &copy, &mappings, &files, &theirs.result), 0);
	ck_assert_uint_eq(theirs.result.nr, 2);
	ck_assert_int_eq(theirs.result.end, UNWIND_TRUNCATED);
	ck_assert_uint_eq(theirs.result.missing, 0);
	theirs.result.cap = 0;
	ck_assert_int_eq(libunwinder_walk(l, 1, &regs, &copy, &mappings, &files, &theirs.result), 0);
	ck_assert_uint_eq(theirs.result.nr, 0);
	theirs.result.cap = 2;
	regs.have = ARCH_BIT(ARCH_IP);
	ck_assert_int_eq(libunwinder_walk(l, 1, &regs, &copy, &mappings, &files, &theirs.result), 0);
	ck_assert_uint_eq(theirs.result.nr, 0);
	ck_assert_int_eq(theirs.result.end, UNWIND_BAD);
}
END_TEST

/* A program built without libunwind. */
START_TEST(test_not_built)
{
	assert_lost(&crashes, 500, -ENOSYS);
	assert_lost(&crashes, 501, -ENOSYS);
}
END_TEST

static void add_tests(TCase *tc)
{
	tcase_add_loop_test(tc, test_alike, 0, ARRAY_SIZE(alike));
	tcase_add_test(tc, test_alike_in_turn);
	tcase_add_loop_test(tc, test_places, 0, ARRAY_SIZE(places));
	tcase_add_test(tc, test_mappings_change);
	tcase_add_test(tc, test_many_files);
	tcase_add_test(tc, test_foresees);
	tcase_add_test(tc, test_popped);
	tcase_add_test(tc, test_no_user_address);
	tcase_add_test(tc, test_guessed_stack_pointer);
	tcase_add_test(tc, test_without_rules);
	tcase_add_test(tc, test_crash);
	tcase_add_test(tc, test_many_crashes);
	tcase_add_test(tc, test_endless);
	tcase_add_loop_test(tc, test_damaged, 0, 16);
	tcase_add_test(tc, test_room);
}

int main(void)
{
	Suite *s = suite_create("libunwinder");
	TCase *tc = tcase_create("libunwinder");

	tcase_set_timeout(tc, 120);
	tcase_add_checked_fixture(tc, setup, teardown);
	if (unwind_has_libunwind())
		add_tests(tc);
	else
		tcase_add_test(tc, test_not_built);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
