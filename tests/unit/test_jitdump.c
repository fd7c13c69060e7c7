// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/jitdump.h"
#include "core/symbols/jitdump_pattern.h"
#include "tests/unit/jitdump_image.h"

#include <inttypes.h>
#include <sys/mman.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define ALL           SIZE_MAX

static struct jitdump_image im;
static struct jitdump *dump;
static int fd; /* the file; @dump has a descriptor of its own */
static char rules[] = "some rules, of 32 bytes in all.";

static void setup(void)
{
	fd = memfd_create("dump", MFD_CLOEXEC);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(jitdump_open(dup(fd), &dump), 0);
	im.len = 0;
}

static void teardown(void)
{
	jitdump_close(dump);
	close(fd);
}

static void write_image(void)
{
	ck_assert_int_eq(ftruncate(fd, 0), 0);
	ck_assert_int_eq(pwrite(fd, im.bytes, im.len, 0), (ssize_t)im.len);
}

static int read_max(size_t max)
{
	return jitdump_read(dump, &max);
}

/* "name+0xoffset" or "-" */
static const char *lookup(uint64_t addr)
{
	static char text[8192];
	struct jitdump_code code = { 0 };

	if (!jitdump_find(dump, addr, &code))
		return "-";
	ck_assert_uint_ge(addr, code.start);
	ck_assert_uint_lt(addr - code.start, code.size);
	snprintf(text, sizeof(text), "%s+0x%" PRIx64, code.name, addr - code.start);
	return text;
}

/* "file:line" or "-" */
static const char *line_of(uint64_t addr)
{
	static char text[512];
	struct jitdump_line line = { "?", 0 };

	if (!jitdump_find_line(dump, addr, &line))
		return "-";
	snprintf(text, sizeof(text), "%s:%u", line.file, line.line);
	return text;
}

/* True if the rules are for code at @start with @size bytes. -1: there are none. */
static int has_rules(uint64_t addr, uint64_t start, uint64_t size)
{
	struct jitdump_frames f;
	int rc = jitdump_find_frames(dump, addr, &f);
	bool same;

	if (rc <= 0)
		return rc ? rc : -1;
	same = f.addr == start + (size + 7) / 8 * 8 && f.size == sizeof(rules) && f.hdr == f.addr + f.size &&
	       !memcmp(f.bytes, rules, f.size);
	free(f.bytes);
	return same;
}

/* f at 0x1000, with rules and lines, and g at 0x2000, without. */
static void put_good(void)
{
	static const struct dump_entry lines[] = { { 0x1000, 10, "/src/a.c" }, { 0x1008, 20, "\xff" } };

	dump_put_header(&im);
	dump_put_rules(&im, rules, sizeof(rules));
	dump_put_lines(&im, 0x1000, lines, 2);
	dump_put_load(&im, 0x1000, 13, 1, "f");
	dump_put_load(&im, 0x2000, 16, 2, "g");
}

/* The offsets of its parts. */
enum {
	HEADER = 0,
	RULES = 40,
	LINES = RULES + 40 + 36,
	LINE_1 = LINES + 32,
	LINE_2 = LINE_1 + 16 + 9,
	LOAD = LINE_2 + 16 + 2,
	LOAD_2 = LOAD + 56 + 2 + 13,
};

/* The known facts when @width bytes of the valid dump at @at are @value. */
static const struct {
	unsigned int at, width;
	uint64_t value;
	bool f, g, rules, line;
} flaws[] = {
	{ 0, 0, 0, true, true, true, true },
	/* header: other byte order, no version, its size, machine, process; time and flags do not matter */
	{ HEADER, 4, 0x4454694a, false, false, false, false },
	{ HEADER, 4, 0, false, false, false, false },
	{ HEADER + 4, 4, 0, false, false, false, false },
	{ HEADER + 4, 4, 2, true, true, true, true },
	{ HEADER + 8, 4, 0, false, false, false, false },
	{ HEADER + 8, 4, 39, false, false, false, false },
	{ HEADER + 8, 4, 41, false, false, false, false },
	{ HEADER + 8, 4, 0x7fffffff, false, false, false, false },
	{ HEADER + 8, 4, UINT32_MAX, false, false, false, false },
	{ HEADER + 12, 4, EM_386, true, true, false, true },
	{ HEADER + 20, 4, 8, false, false, false, false },
	{ HEADER + 24, 8, UINT64_MAX, true, true, true, true },
	{ HEADER + 32, 8, 1, true, true, true, true },
	/* rules: another kind of record, sizes */
	{ RULES, 4, 5, true, true, false, true },
	{ RULES, 4, UINT32_MAX, true, true, false, true },
	{ RULES + 4, 4, 0, false, false, false, false },
	{ RULES + 4, 4, 15, false, false, false, false },
	{ RULES + 4, 4, 75, false, false, false, false },
	{ RULES + 4, 4, UINT32_MAX, false, false, false, false },
	{ RULES + 16, 8, 35, true, true, false, true },
	{ RULES + 16, 8, 37, true, true, false, true },
	{ RULES + 16, 8, UINT64_MAX, true, true, false, true },
	{ RULES + 24, 8, 0, true, true, false, true },
	{ RULES + 24, 8, 36, true, true, false, true },
	{ RULES + 24, 8, 37, true, true, false, true },
	{ RULES + 24, 8, UINT64_MAX, true, true, false, true },
	{ RULES + 32, 8, UINT64_MAX, true, true, true, true },
	/* lines: for other code, outside of it, no line, no name, an invalid name */
	{ LINES, 4, 3, true, true, true, false },
	{ LINES + 16, 8, 0x1001, true, true, true, false },
	{ LINES + 24, 8, UINT64_MAX, true, true, true, true },
	{ LINE_1, 8, 0xfff, true, true, true, false },
	{ LINE_1, 8, 0x100e, true, true, true, false },
	{ LINE_1, 8, 0x1005, true, true, true, false },
	{ LINE_1, 8, UINT64_MAX, true, true, true, false },
	{ LINE_1 + 8, 4, 0, true, true, true, false },
	{ LINE_1 + 16, 1, 0, true, true, true, false },
	{ LINE_1 + 17, 1, '\n', true, true, true, false },
	{ LINE_1 + 24, 1, 'x', true, true, true, false },
	{ LINE_2, 8, 0x100e, true, true, true, false },
	{ LINE_2, 8, 0, true, true, true, false },
	{ LINE_2 + 17, 1, 'x', true, true, true, false },
	/* the load: another kind of record, sizes, of another process, beyond the last address, without a name */
	{ LOAD, 4, JITDUMP_CLOSE, false, true, false, false },
	{ LOAD + 4, 4, 0, false, false, false, false },
	{ LOAD + 4, 4, 55, false, false, false, false },
	{ LOAD + 4, 4, 72, true, false, true, true },
	{ LOAD + 4, 4, UINT32_MAX, false, false, false, false },
	{ LOAD + 16, 4, 8, false, true, false, false },
	{ LOAD + 20, 4, UINT32_MAX, true, true, true, true },
	{ LOAD + 24, 8, 0, true, true, true, true },
	{ LOAD + 32, 8, UINT64_MAX - 12, false, true, false, false },
	{ LOAD + 32, 8, 0x1005, false, true, false, false },
	{ LOAD + 40, 8, 0, false, true, false, false },
	{ LOAD + 40, 8, 4, false, true, false, false },
	{ LOAD + 40, 8, UINT64_MAX, false, true, false, false },
	{ LOAD + 56, 1, 0, false, true, false, false },
	{ LOAD_2, 4, 99, true, false, true, true },
	{ LOAD_2 + 4, 4, 55, true, false, true, true },
};

START_TEST(test_flaws)
{
	put_good();
	memcpy(im.bytes + flaws[_i].at, &flaws[_i].value, flaws[_i].width);
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1004), flaws[_i].f ? "f+0x4" : "-");
	ck_assert_str_eq(lookup(0x2004), flaws[_i].g ? "g+0x4" : "-");
	ck_assert_str_eq(line_of(0x1004), flaws[_i].line ? "a.c:10" : "-");
	ck_assert_int_eq(has_rules(0x1004, 0x1000, 13) == 1, flaws[_i].rules);
	ck_assert_str_eq(line_of(0x2004), "-");
	if (!flaws[_i].f)
		return;
	ck_assert_str_eq(lookup(0x100d), "-");
	ck_assert_int_eq(has_rules(0x2004, 0x2000, 16), -1);
}
END_TEST

START_TEST(test_lines)
{
	put_good();
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(line_of(0x0fff), "-");
	ck_assert_str_eq(line_of(0x1000), "a.c:10");
	ck_assert_str_eq(line_of(0x1007), "a.c:10");
	ck_assert_str_eq(line_of(0x1008), "a.c:20");
	ck_assert_str_eq(line_of(0x100c), "a.c:20");
	ck_assert_str_eq(line_of(0x100d), "-");
}
END_TEST

/* V8 counts from the end of an imaginary ELF header. */
START_TEST(test_lines_of_v8)
{
	static const struct dump_entry lines[] = { { 0x1040, 10, "/src/a.js" }, { 0x1048, 20, "/src/b.js" } };
	const uint32_t mark = JITDUMP_V8;

	dump_put_header(&im);
	memcpy(im.bytes + 16, &mark, sizeof(mark));
	dump_put_lines(&im, 0x1000, lines, 2);
	dump_put(&im, "\0\0\0\0\0\0", 7); /* padding */
	im.bytes[44] += 7;
	dump_put_load(&im, 0x1000, 13, 1, "f");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(line_of(0x1000), "a.js:10");
	ck_assert_str_eq(line_of(0x1007), "a.js:10");
	ck_assert_str_eq(line_of(0x1008), "b.js:20");
}
END_TEST

/* The length of a name in the file, and of the known name: long ones are truncated. */
static const struct {
	size_t len, known;
} lengths[] = { { 1, 1 }, { 4095, 4095 }, { 4096, 4096 }, { 4097, 4096 }, { 20000, 4096 } };

START_TEST(test_names)
{
	char name[20001], want[4200];

	memset(name, 'n', sizeof(name));
	name[lengths[_i].len] = 0;
	dump_put_header(&im);
	dump_put_load(&im, 0x1000, 16, 1, name);
	dump_put_load(&im, 0x2000, 16, 1, "g");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	snprintf(want, sizeof(want), "%.*s+0x1", (int)lengths[_i].known, name);
	ck_assert_str_eq(lookup(0x1001), want);
	ck_assert_str_eq(lookup(0x2001), "g+0x1");
}
END_TEST

/* The last record that covers an address wins. */
START_TEST(test_used_again)
{
	dump_put_header(&im);
	dump_put_load(&im, 0x1000, 0x1000, 1, "all");
	dump_put_rules(&im, rules, sizeof(rules));
	dump_put_load(&im, 0x1100, 0x100, 2, "within");
	dump_put_load(&im, 0x1180, 0x100, 3, "later");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x10ff), "all+0xff");
	ck_assert_str_eq(lookup(0x117f), "within+0x7f");
	ck_assert_int_eq(has_rules(0x117f, 0x1100, 0x100), 1);
	ck_assert_str_eq(lookup(0x1180), "later+0x0");
	ck_assert_int_eq(has_rules(0x1180, 0x1100, 0x100), -1);
	ck_assert_str_eq(lookup(0x1280), "all+0x280");
	dump_put_load(&im, 0x1000, 0x300, 4, "last");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1180), "last+0x180");
	ck_assert_str_eq(lookup(0x1300), "all+0x300");
}
END_TEST

static const struct {
	uint64_t from, to, size, index;
	bool moved;
} moves[] = {
	{ 0x1000, 0x5000, 13, 1, true },           { 0x1000, 0x5000, 13, 2, false }, { 0x1001, 0x5000, 13, 1, false },
	{ 0x5000, 0x5000, 13, 1, false },          { 0x1000, 0x5000, 12, 1, false }, { 0x1000, 0x5000, 0, 1, false },
	{ 0x1000, UINT64_MAX - 12, 13, 1, false }, { 0x2000, 0x5000, 16, 1, false },
};

START_TEST(test_moves)
{
	put_good();
	dump_put_move(&im, moves[_i].from, moves[_i].to, moves[_i].size, moves[_i].index);
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x5004), moves[_i].moved ? "f+0x4" : "-");
	ck_assert_int_eq(has_rules(0x5004, 0x5000, 13), moves[_i].moved ? 1 : -1);
	ck_assert_str_eq(line_of(0x5004), "-");
	ck_assert_str_eq(lookup(0x1004), "f+0x4");
}
END_TEST

START_TEST(test_moved_on)
{
	put_good();
	dump_put_move(&im, 0x1000, 0x5000, 13, 1);
	dump_put_move(&im, 0x5000, 0x6000, 13, 1);
	dump_put_move(&im, 0x7000, 0x8000, 13, 1); /* no code is there */
	dump_put_load(&im, 0x7000, 13, 1, "h");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x6004), "f+0x4");
	ck_assert_str_eq(lookup(0x8004), "-");
}
END_TEST

/* It grows byte by byte: a record is known only when it is complete, and none is lost. */
START_TEST(test_grows)
{
	uint64_t changes;
	size_t len;

	put_good();
	for (len = 0; len <= im.len; len++) {
		changes = jitdump_changes(dump);
		ck_assert_int_eq(ftruncate(fd, 0), 0);
		ck_assert_int_eq(pwrite(fd, im.bytes, len, 0), (ssize_t)len);
		ck_assert_int_eq(read_max(ALL), 0);
		ck_assert_str_eq(lookup(0x1004), len < LOAD_2 ? "-" : "f+0x4");
		ck_assert_str_eq(lookup(0x2004), len < im.len ? "-" : "g+0x4");
		ck_assert_int_eq(has_rules(0x1004, 0x1000, 13), len < LOAD_2 ? -1 : 1);
		ck_assert(jitdump_changes(dump) == changes || len == LOAD_2 || len == im.len);
		ck_assert(jitdump_changes(dump) > changes || (len != LOAD_2 && len != im.len));
	}
}
END_TEST

/* The file is extended at once, and its bytes come later: zeros are not a record yet. */
START_TEST(test_hole)
{
	dump_put_header(&im);
	write_image();
	ck_assert_int_eq(ftruncate(fd, 1LL << 40), 0);
	ck_assert_int_eq(read_max(ALL), 0);
	dump_put_load(&im, 0x1000, 13, 1, "f");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1004), "f+0x4");
}
END_TEST

/* Started again: all old records are gone. */
START_TEST(test_begun_anew)
{
	static const uint64_t time = 54321;

	put_good();
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	im.len = 0;
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1004), "-");
	put_good();
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1004), "f+0x4");
	/* a shorter file */
	im.len = 0;
	dump_put_header(&im);
	dump_put_load(&im, 0x3000, 16, 1, "h");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1004), "-");
	ck_assert_str_eq(lookup(0x3004), "h+0x4");
	/* a longer file, whose header has another time */
	im.len = 0;
	put_good();
	memcpy(im.bytes + 24, &time, sizeof(time));
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x1004), "f+0x4");
	ck_assert_str_eq(lookup(0x3004), "-");
}
END_TEST

/* A little at a time, until all is read. */
START_TEST(test_budget)
{
	size_t max = 1;
	int i, rc, calls = 0;

	dump_put_header(&im);
	for (i = 0; i < 15; i++)
		dump_put_load(&im, 0x10000 + 0x1000 * (uint64_t)i, 0x1000, 1, i < 14 ? "f" : "last");
	write_image();
	do {
		max = 1;
		rc = jitdump_read(dump, &max);
		ck_assert_int_ge(rc, 0);
		ck_assert_uint_le(max, 1);
		calls++;
	} while (rc);
	ck_assert_int_gt(calls, 3);
	ck_assert_str_eq(lookup(0x1e001), "last+0x1");
	max = 0;
	ck_assert_int_eq(jitdump_read(dump, &max), 1);
}
END_TEST

/* The oldest records are forgotten: memory is limited. */
START_TEST(test_many)
{
	enum { NR = 300000 };
	uint64_t at;
	int i;

	dump_put_header(&im);
	write_image();
	at = im.len;
	for (i = 0; i < NR; i++) {
		if (!(i % 100)) {
			ck_assert_int_eq(pwrite(fd, im.bytes, im.len, (off_t)at - (off_t)im.len), (ssize_t)im.len);
			im.len = 0;
		}
		dump_put_load(&im, 0x100000 + 16 * (uint64_t)i, 4, (uint64_t)i, i == NR - 1 ? "last" : "f");
		at += 56 + 4 + (i == NR - 1 ? 5 : 2);
	}
	ck_assert_int_eq(pwrite(fd, im.bytes, im.len, (off_t)at - (off_t)im.len), (ssize_t)im.len);
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(0x100000 + 16 * (NR - 1)), "last+0x0");
	ck_assert_str_eq(lookup(0x100000 + 16 * (NR - 100000)), "f+0x0");
	ck_assert_str_eq(lookup(0x100000), "-");
	ck_assert_uint_lt(jitdump_memory(dump), 64 << 20);
}
END_TEST

static int released;

static void release(void *what)
{
	ck_assert_ptr_eq(what, &released);
	released++;
}

START_TEST(test_attached)
{
	ck_assert_ptr_null(jitdump_attached(dump));
	jitdump_attach(dump, &released, release);
	ck_assert_ptr_eq(jitdump_attached(dump), &released);
	jitdump_close(dump);
	ck_assert_int_eq(released, 1);
	ck_assert_int_eq(jitdump_open(dup(fd), &dump), 0);
}
END_TEST

/*
 * Copies of one template at a distance of 0x40. Are addresses after the last copy in the next one? A row has the number
 * of copies, the one that is different and how, and @offset after the beginning of the last one.
 */
static const struct {
	unsigned int nr, odd;
	uint64_t odd_by, odd_size, odd_rules;
	uint64_t offset;
	bool found;
} patterns[] = {
	{ 16, 99, 0, 0, 0, 0x40, true },
	{ 16, 99, 0, 0, 0, 0x4e, true },
	{ 16, 99, 0, 0, 0, 0x40 * 32, true },
	{ 16, 99, 0, 0, 0, 0x40 * 32 + 0xe, true },
	{ 40, 20, 0x1000, 0, 0, 0x40, true }, /* another area of memory */
	/* too few, not in the next one, between two */
	{ 15, 99, 0, 0, 0, 0x40, false },
	{ 0, 99, 0, 0, 0, 0x40, false },
	{ 1, 99, 0, 0, 0, 0x40, false },
	{ 16, 99, 0, 0, 0, 0, false },
	{ 16, 99, 0, 0, 0, 0xe, false },
	{ 16, 99, 0, 0, 0, 0x3f, false },
	{ 16, 99, 0, 0, 0, 0x4f, false },
	{ 16, 99, 0, 0, 0, 0x40 * 33, false },
	{ 16, 99, 0, 0, 0, -0x40ULL, false },
	{ 16, 99, 0, 0, 0, UINT64_MAX, false },
	/* one of them is different */
	{ 40, 20, 0, 1, 0, 0x40, false },
	{ 40, 20, 0, 0, 1, 0x40, false },
	{ 40, 0, 0, 1, 0, 0x40, false },
	{ 40, 39, 0, 0, 1, 0x40, false },
	{ 40, 1, 0x10, 0, 0, 0x40, false },
};

START_TEST(test_pattern)
{
	struct jitdump_pattern p = { 0 };
	uint64_t at = 0x100000, start = 0;
	unsigned int i;

	for (i = 0; i < patterns[_i].nr; i++) {
		bool odd = i == patterns[_i].odd;

		at += 0x40 + (odd ? patterns[_i].odd_by : 0);
		jitdump_pattern_add(&p, at, odd ? 15 + patterns[_i].odd_size : 15,
				    odd ? 7 + patterns[_i].odd_rules : 7);
	}
	ck_assert_int_eq(jitdump_pattern_next(&p, at + patterns[_i].offset, &start), patterns[_i].found);
	if (patterns[_i].found)
		ck_assert_uint_eq(start, at + (patterns[_i].offset & ~0x3fULL));
}
END_TEST

START_TEST(test_pattern_without_rules)
{
	struct jitdump_pattern p = { 0 };
	uint64_t at, start;

	for (at = 0x1000; at < 0x9000; at += 0x40)
		jitdump_pattern_add(&p, at, 15, 0);
	ck_assert(!jitdump_pattern_next(&p, at, &start));
}
END_TEST

/*
 * Copies of one function at equal distances, the last one with the rules @what. Code at the next places is not in the
 * file yet: it may get rules, but has no name.
 */
static void put_alike(const char *what)
{
	uint64_t at = 0x1000;
	int i;

	dump_put_header(&im);
	for (i = 0; i < 20; i++, at += 0x40) {
		dump_put_rules(&im, rules, sizeof(rules));
		dump_put_load(&im, at, 15, 1, "f");
	}
	dump_put_rules(&im, what, sizeof(rules));
	dump_put_load(&im, at, 15, 1, "f");
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_str_eq(lookup(at + 1), "f+0x1");
}

START_TEST(test_next)
{
	const uint64_t last = 0x1000 + 20 * 0x40;

	put_alike(rules);
	ck_assert_int_eq(has_rules(last + 0x41, last + 0x40, 15), 1);
	ck_assert_int_eq(has_rules(last + 0x81, last + 0x80, 15), 1);
	ck_assert_str_eq(lookup(last + 0x41), "-");
	ck_assert_int_eq(has_rules(last + 0x50, 0, 0), -1);
	ck_assert_int_eq(has_rules(0xfff, 0, 0), -1);
	dump_put_move(&im, last, 0x9000, 15, 1);
	write_image();
	ck_assert_int_eq(read_max(ALL), 0);
	ck_assert_int_eq(has_rules(last + 0x41, 0, 0), -1);
}
END_TEST

START_TEST(test_next_of_others)
{
	put_alike("other rules, of 32 bytes in all");
	ck_assert_int_eq(has_rules(0x1000 + 21 * 0x40, 0, 0), -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("jitdump");
	TCase *tc = tcase_create("jitdump");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_flaws, 0, ARRAY_SIZE(flaws));
	tcase_add_test(tc, test_lines);
	tcase_add_test(tc, test_lines_of_v8);
	tcase_add_loop_test(tc, test_names, 0, ARRAY_SIZE(lengths));
	tcase_add_test(tc, test_used_again);
	tcase_add_loop_test(tc, test_moves, 0, ARRAY_SIZE(moves));
	tcase_add_test(tc, test_moved_on);
	tcase_add_test(tc, test_grows);
	tcase_add_test(tc, test_hole);
	tcase_add_test(tc, test_begun_anew);
	tcase_add_test(tc, test_budget);
	tcase_add_test(tc, test_many);
	tcase_add_test(tc, test_attached);
	tcase_add_loop_test(tc, test_pattern, 0, ARRAY_SIZE(patterns));
	tcase_add_test(tc, test_pattern_without_rules);
	tcase_add_test(tc, test_next);
	tcase_add_test(tc, test_next_of_others);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
