// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/rules_image.h"
#include "unwind/expr.h"
#include "unwind/rules.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <inttypes.h>
#include <link.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* .eh_frame is not sorted; .debug_frame has other rules for addresses that .eh_frame has, too. */
static const struct function eh[] = {
	{ 0x00, 0x10, 16 },
	{ 0x10, 0x10, 24 },
	{ 0x40, 0x20, 32 },
	{ 0x80, 0x80, 0 },
};
static const struct function unordered[] = {
	{ 0x80, 0x80, 0 },
	{ 0x10, 0x10, 24 },
	{ 0x40, 0x20, 32 },
	{ 0x00, 0x10, 16 },
};
static const struct function debug[] = {
	{ 0x140, 0x20, 48 },
	{ 0x100, 0x40, 0 },
	{ 0x40, 0x20, 56 },
	{ 0x20, 0x08, 64 },
};

/* The answer for an address: the CFA's offset, or EXPR for an expression. */
enum { NONE = 0, EXPR = 1 };

static const struct {
	uint64_t addr;
	int eh, debug; /* by .eh_frame alone, and with .debug_frame */
} answers[] = {
	{ CODE, 16, 16 },
	{ CODE + 0x0f, 16, 16 },
	{ CODE + 0x10, 24, 24 },
	{ CODE + 0x1f, 24, 24 },
	{ CODE + 0x20, NONE, 64 },
	{ CODE + 0x27, NONE, 64 },
	{ CODE + 0x28, NONE, NONE },
	{ CODE + 0x3f, NONE, NONE },
	{ CODE + 0x40, 32, 32 },
	{ CODE + 0x5f, 32, 32 },
	{ CODE + 0x60, NONE, NONE },
	{ CODE + 0x7f, NONE, NONE },
	{ CODE + 0x80, EXPR, EXPR },
	{ CODE + 0xff, EXPR, EXPR },
	{ CODE + 0x100, NONE, EXPR },
	{ CODE + 0x13f, NONE, EXPR },
	{ CODE + 0x140, NONE, 48 },
	{ CODE + 0x160, NONE, NONE },
	{ CODE - 1, NONE, NONE },
	{ 0, NONE, NONE },
	{ UINT64_MAX, NONE, NONE },
};

/* A file whose reads misbehave from call @from on (calls count from 1; 0: never). */
struct reader {
	const unsigned char *bytes, *later; /* @later: its later contents */
	size_t len, shrunk;                 /* its later size */
	unsigned int calls, from;
	size_t most; /* bytes that one call returns; 0: any number */
	int rc;      /* result of later calls */
	struct stat st;
};

static struct rules_image ri, di;
static struct reader file, debug_file;
static struct rules *r;

static ssize_t reader_read(struct reader *f, size_t offset, void *to, size_t len)
{
	bool now = ++f->calls >= f->from && f->from;
	size_t has = now ? f->shrunk : f->len;

	if (now && f->rc) {
		errno = -f->rc;
		return -1;
	}
	if (offset >= has)
		return 0;
	len = len < has - offset ? len : has - offset;
	len = f->most && len > f->most ? f->most : len;
	memcpy(to, (now && f->later ? f->later : f->bytes) + offset, len);
	return (ssize_t)len;
}

static bool is_of(int fd, const struct reader *f)
{
	struct stat st;

	return !fstat(fd, &st) && f->len && st.st_ino == f->st.st_ino && st.st_dev == f->st.st_dev;
}

static bool is_open(const struct reader *f)
{
	int fd;

	for (fd = 0; fd < 100; fd++)
		if (is_of(fd, f))
			return true;
	return false;
}

/* Replaces libc's function. */
ssize_t pread(int fd, void *to, size_t len, off_t offset)
{
	if (is_of(fd, &file))
		return reader_read(&file, (size_t)offset, to, len);
	if (is_of(fd, &debug_file))
		return reader_read(&debug_file, (size_t)offset, to, len);
	return syscall(SYS_pread64, fd, to, len, offset);
}

static int open_elf(struct reader *f, const unsigned char *bytes, size_t len, struct elf_file *elf)
{
	int fd = memfd_create("file", MFD_CLOEXEC), rc;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)len), 0);
	ck_assert_int_eq(fstat(fd, &f->st), 0);
	f->bytes = bytes;
	f->len = len;
	rc = elf_file_open(elf, fd);
	close(fd);
	return rc;
}

static void setup(void)
{
	r = NULL;
	ri = di = (struct rules_image){ 0 };
	file = debug_file = (struct reader){ 0 };
}

static void teardown(void)
{
	rules_close(r);
	image_release(&ri.im);
	image_release(&di.im);
}

/* The first @len bytes of the file. */
static int open_part(size_t len, bool with_debug)
{
	struct elf_file f, d = ELF_FILE_NONE;
	int rc = open_elf(&file, ri.im.bytes, len, &f);

	if (rc)
		return rc;
	if (with_debug)
		open_elf(&debug_file, di.im.bytes, di.im.len, &d);
	return rules_open(&f, &d, &r);
}

static int open_with(bool with_debug)
{
	return open_part(ri.im.len, with_debug);
}

static void reopen(void)
{
	rules_close(r);
	r = NULL;
	file = (struct reader){ 0 };
	ck_assert_int_eq(open_with(false), 0);
}

static void build(struct rules_image *to, enum table table, enum frame frame)
{
	bool sorted = table == TABLE || table == TABLE_WIDE;

	rules_image_build(to, table, frame, sorted ? eh : unordered, ARRAY_SIZE(eh), debug, ARRAY_SIZE(debug));
}

/* Check that the bytes of the expression are the original ones. */
static void check_expr(const struct cfi_row *row)
{
	uint8_t buf[EXPR_MAX_BYTES];

	ck_assert_int_eq(rules_expr(r, row, (uint64_t)row->cfa_value, buf), 2);
	ck_assert_uint_eq(buf[0], 0x77);
	ck_assert_uint_eq(buf[1], 8);
}

/* The answer as in the table above, or -errno. */
static int answer(uint64_t addr)
{
	const struct cfi_row *row = NULL;
	int rc = rules_find(r, addr, &row);

	if (rc <= 0)
		return rc;
	ck_assert_int_eq(rc, 1);
	ck_assert_ptr_nonnull(row);
	if (row->start > addr || row->end <= addr)
		return -ERANGE;
	return row->cfa_expr ? EXPR : (int)row->cfa_value;
}

/* Check the function of a row: it is that of the row's record. @got is the answer for @addr. */
static void check_function(uint64_t addr, int got)
{
	const struct cfi_row *row;
	uint64_t start = 0;
	int rc = rules_function(r, addr, &start);

	ck_assert_msg(got < 0 || rc == (got != NONE), "%#" PRIx64 ": %d, but %d", addr, rc, got);
	ck_assert(rc <= 1);
	if (got <= 0)
		return;
	ck_assert_int_eq(rules_find(r, addr, &row), 1);
	ck_assert_uint_eq(start, row->function);
	ck_assert(start <= addr && start % 8 == 0);
	ck_assert(!rules_entry(r, addr));
}

static void check_answers(bool with_eh, bool with_debug)
{
	const struct cfi_row *row;
	size_t i, turn;

	for (turn = 0; turn < 2; turn++)
		for (i = 0; i < ARRAY_SIZE(answers); i++) {
			int want = with_debug ? answers[i].debug : with_eh ? answers[i].eh : NONE;

			ck_assert_msg(answer(answers[i].addr) == want, "%zu: %d, not %d", i, answer(answers[i].addr),
				      want);
			check_function(answers[i].addr, want);
			if (want == EXPR) {
				ck_assert_int_eq(rules_find(r, answers[i].addr, &row), 1);
				check_expr(row);
			}
		}
}

/* ---- places of rules */

static const struct {
	const char *name;
	enum table table;
	enum frame frame, separate;
	bool eh, debug;
} layouts[] = {
	{ "a search table", TABLE, NO_FRAME, NO_FRAME, true, false },
	{ "no search table", TABLE_OMITTED, NO_FRAME, NO_FRAME, true, false },
	{ "another kind of table", TABLE_WIDE, NO_FRAME, NO_FRAME, true, false },
	{ "a section only", NO_HDR, NO_FRAME, NO_FRAME, true, false },
	{ "nothing", NO_EH, NO_FRAME, NO_FRAME, false, false },
	{ "both sections", TABLE, FRAME, NO_FRAME, true, true },
	{ "both sections, 64-bit records", TABLE, FRAME_64, NO_FRAME, true, true },
	{ "both sections, one compressed", TABLE, FRAME_ZLIB, NO_FRAME, true, true },
	{ "both sections, none with a table", NO_HDR, FRAME, NO_FRAME, true, true },
	{ "a debug file", TABLE, NO_FRAME, FRAME, true, true },
	{ "a debug file, compressed", TABLE_OMITTED, NO_FRAME, FRAME_ZLIB, true, true },
	{ "both sections, .zdebug_frame", TABLE, FRAME_GNU, NO_FRAME, true, true },
	{ "a debug file, .zdebug_frame", TABLE_OMITTED, NO_FRAME, FRAME_GNU, true, true },
	{ "a debug file and a section", TABLE, FRAME, FRAME_64, true, true },
};

START_TEST(test_layouts)
{
	size_t most;

	build(&ri, layouts[_i].table, layouts[_i].frame);
	build(&di, NO_EH, layouts[_i].separate);
	for (most = 0; most < 4097; most = most ? most * 16 : 1) {
		file = debug_file = (struct reader){ .most = most };
		ck_assert_int_eq(open_with(layouts[_i].separate != NO_FRAME), 0);
		check_answers(layouts[_i].eh, layouts[_i].debug);
		ck_assert(is_open(&file));
		ck_assert_int_eq(is_open(&debug_file), layouts[_i].separate != NO_FRAME);
		rules_close(r);
		r = NULL;
		ck_assert(!is_open(&file) && !is_open(&debug_file));
	}
}
END_TEST

/* ---- damage */

enum where { EHDR, PHDR, HDR, HDR_TABLE, EH, EH_FDE, DEBUG, NAMES, SHDR };

#define EHDR(field) EHDR, offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define PHDR(which, field)                                                                                             \
	PHDR, (which) * sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field), sizeof(((Elf64_Phdr *)0)->field)
#define SHDR(which, field)                                                                                             \
	SHDR, (which) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field), sizeof(((Elf64_Shdr *)0)->field)
#define OPEN_FAILS -ENOEXEC, 0, 0, 0

/*
 * @rc: result of rules_open(). The answers for the first function of .eh_frame (16), its last one (an expression), and
 * one that only .debug_frame has (64).
 */
static const struct {
	const char *name;
	enum table table;
	enum where where;
	size_t at, size;
	uint64_t value;
	int rc, first, last, debug;
} broken[] = {
	{ "nothing", TABLE, EHDR(e_version), 1, 0, 16, EXPR, 64 },
	{ "magic", TABLE, EHDR, 0, 1, 0x7e, OPEN_FAILS },
	{ "32-bit", TABLE, EHDR, EI_CLASS, 1, ELFCLASS32, OPEN_FAILS },
	{ "class 0", TABLE, EHDR, EI_CLASS, 1, 0, OPEN_FAILS },
	{ "big endian", TABLE, EHDR, EI_DATA, 1, ELFDATA2MSB, OPEN_FAILS },
	{ "an object file", TABLE, EHDR(e_type), ET_REL, OPEN_FAILS },
	{ "a core", TABLE, EHDR(e_type), ET_CORE, OPEN_FAILS },
	{ "another machine", TABLE, EHDR(e_machine), EM_AARCH64, OPEN_FAILS },
	{ "segment size 0", TABLE, EHDR(e_phentsize), 0, OPEN_FAILS },
	{ "segment size 55", TABLE, EHDR(e_phentsize), 55, OPEN_FAILS },
	{ "segments beyond the file", TABLE, EHDR(e_phoff), 1 << 20, OPEN_FAILS },
	{ "segments at the end of the address space", TABLE, EHDR(e_phoff), UINT64_MAX - 8, OPEN_FAILS },
	{ "more segments than bytes", TABLE, EHDR(e_phnum), PN_XNUM, OPEN_FAILS },
	{ "no segments", TABLE, EHDR(e_phnum), 0, 0, 16, EXPR, 64 },
	{ "sections beyond the file", TABLE, EHDR(e_shoff), 1 << 20, 0, 16, EXPR, NONE },
	{ "sections at the end of the address space", TABLE, EHDR(e_shoff), UINT64_MAX - 8, 0, 16, EXPR, NONE },
	{ "no sections", TABLE, EHDR(e_shnum), 0, 0, 16, EXPR, NONE },
	{ "section size 63", TABLE, EHDR(e_shentsize), 63, 0, 16, EXPR, NONE },
	{ "more sections than bytes", TABLE, EHDR(e_shnum), UINT16_MAX, 0, 16, EXPR, NONE },
	{ "names in no section", TABLE, EHDR(e_shstrndx), SECT_COUNT, 0, 16, EXPR, NONE },
	{ "names nowhere", TABLE, EHDR(e_shstrndx), SHN_XINDEX, 0, 16, EXPR, NONE },
	{ "names in the wrong section", TABLE, EHDR(e_shstrndx), SECT_EH, 0, 16, EXPR, NONE },
	{ "no section has a table, none has names", NO_HDR, EHDR(e_shstrndx), 0, 0, NONE, NONE, NONE },

	{ "the segment wraps", TABLE, PHDR(SEG_CONST, p_filesz), UINT64_MAX, 0, 16, EXPR, 64 },
	{ "the segment wraps in the file", TABLE, PHDR(SEG_CONST, p_offset), UINT64_MAX, 0, 16, EXPR, 64 },
	{ "the segment is elsewhere", TABLE, PHDR(SEG_CONST, p_vaddr), 0, 0, 16, EXPR, 64 },
	{ "the segment begins beyond the file", TABLE, PHDR(SEG_CONST, p_offset), 1 << 20, 0, 16, EXPR, 64 },
	{ "the segment is empty", TABLE, PHDR(SEG_CONST, p_filesz), 0, 0, 16, EXPR, 64 },
	{ "the header's segment is not loaded", TABLE, PHDR(SEG_HDR, p_vaddr), 0x1000, 0, 16, EXPR, 64 },
	{ "the header is empty", TABLE, PHDR(SEG_HDR, p_filesz), 0, 0, 16, EXPR, 64 },
	{ "the header has 3 bytes", TABLE, PHDR(SEG_HDR, p_filesz), 3, 0, 16, EXPR, 64 },
	{ "the header has no count", TABLE, PHDR(SEG_HDR, p_filesz), 10, 0, 16, EXPR, 64 },
	{ "the header has no table", TABLE, PHDR(SEG_HDR, p_filesz), 12, 0, 16, EXPR, 64 },
	{ "the header is cut", TABLE, PHDR(SEG_HDR, p_filesz), 43, 0, 16, EXPR, 64 },
	{ "the header is huge", TABLE, PHDR(SEG_HDR, p_filesz), UINT64_MAX, 0, 16, EXPR, 64 },
	{ "the header is zeros", TABLE, PHDR(SEG_HDR, p_vaddr), VARS, 0, 16, EXPR, 64 },

	{ "header version 2", TABLE, HDR, 0, 1, 2, 0, 16, EXPR, 64 },
	{ "no pointer to records", TABLE, HDR, 1, 1, 0xff, 0, 16, EXPR, 64 },
	{ "an indirect pointer to records", TABLE, HDR, 1, 1, 0x9b, 0, 16, EXPR, 64 },
	{ "an unknown pointer to records", TABLE, HDR, 1, 1, 0x4b, 0, 16, EXPR, 64 },
	{ "a pointer to nowhere", TABLE, HDR, 4, 4, 0x7fffffff, 0, 16, EXPR, 64 },
	{ "a pointer to code", TABLE_OMITTED, HDR, 4, 4, 0x1fffc, 0, NONE, NONE, 64 },
	{ "no count", TABLE, HDR, 2, 1, 0xff, 0, 16, EXPR, 64 },
	{ "an unknown count", TABLE, HDR, 2, 1, 0x07, 0, 16, EXPR, 64 },
	{ "count 0", TABLE, HDR, 8, 4, 0, 0, 16, EXPR, 64 },
	{ "count too large by one", TABLE, HDR, 8, 4, 5, 0, 16, EXPR, 64 },
	{ "count huge", TABLE, HDR, 8, 4, UINT32_MAX, 0, 16, EXPR, 64 },
	{ "count 3", TABLE, HDR, 8, 4, 3, 0, 16, NONE, 64 },

	{ "the table is not in order", TABLE, HDR_TABLE, 8, 4, 0x7fffffff, 0, 16, EXPR, 64 },
	{ "an entry below address 0", TABLE, HDR_TABLE, 24, 4, 0x80000000, 0, 16, NONE, 64 },
	{ "an entry for another record", TABLE, HDR_TABLE, 4, 4, 44 + 24 + 24, 0, NONE, EXPR, 64 },
	{ "an entry for the CIE", TABLE, HDR_TABLE, 4, 4, 44, 0, -EBADMSG, EXPR, 64 },
	{ "an entry for the terminator", TABLE, HDR_TABLE, 4, 4, 44 + 5 * 24, 0, -EBADMSG, EXPR, 64 },
	{ "an entry for nowhere", TABLE, HDR_TABLE, 4, 4, 0x7fffffff, 0, -EBADMSG, EXPR, 64 },
	{ "an entry before the records", TABLE, HDR_TABLE, 4, 4, 0, 0, -EBADMSG, EXPR, 64 },

	{ "an unknown CIE", TABLE, EH, 8, 1, 9, 0, -ENOTSUP, -ENOTSUP, -ENOTSUP },
	{ "an unknown CIE in an index", NO_HDR, EH, 8, 1, 9, 0, NONE, NONE, 64 },
	{ "a terminator first", NO_HDR, EH, 0, 4, 0, 0, NONE, NONE, 64 },
	{ "a terminator first, with a table", TABLE, EH, 0, 4, 0, 0, -EBADMSG, -EBADMSG, -EBADMSG },
	{ "a larger CIE", TABLE, EH, 0, 4, 1021, 0, -ENOTSUP, -ENOTSUP, -ENOTSUP },
	{ "a CIE beyond its segment", TABLE, EH, 0, 4, 0xf000, 0, -EBADMSG, -EBADMSG, -EBADMSG },
	{ "no next record", NO_HDR, EH, 0, 4, 0xfffffff0, 0, NONE, NONE, 64 },
	{ "a record is too short", NO_HDR, EH_FDE, 0, 4, 3, 0, NONE, NONE, 64 },
	{ "a record is longer than the section", NO_HDR, EH_FDE, 0, 4, 4096, 0, NONE, NONE, 64 },
	{ "a record is longer than any", TABLE, EH_FDE, 0, 4, 1 << 20, 0, -EBADMSG, EXPR, 64 },
	{ "a record of an FDE", TABLE, EH_FDE, 4, 4, 4, 0, -EBADMSG, EXPR, 64 },
	{ "a record of nothing", TABLE, EH_FDE, 4, 4, 0x7fffffff, 0, -EBADMSG, EXPR, 64 },
	{ "a record of nothing in an index", NO_HDR, EH_FDE, 4, 4, 64, 0, NONE, EXPR, 64 },
	{ "a record of an FDE in an index", NO_HDR, EH_FDE, 4, 4, 4, 0, NONE, EXPR, 64 },
	{ "an empty function", NO_HDR, EH_FDE, 12, 4, 0, 0, NONE, EXPR, 64 },
	{ "an unknown instruction", TABLE, EH_FDE, 17, 1, 0x3f, 0, -ENOTSUP, EXPR, 64 },

	{ "sections without bytes", NO_HDR, SHDR(SECT_EH, sh_type), SHT_NOBITS, 0, NONE, NONE, 64 },
	{ "a section of another type", NO_HDR, SHDR(SECT_EH, sh_type), SHT_X86_64_UNWIND, 0, 16, EXPR, 64 },
	{ "a compressed section in memory", NO_HDR, SHDR(SECT_EH, sh_flags), SHF_COMPRESSED, 0, NONE, NONE, 64 },
	{ "a section beyond the file", NO_HDR, SHDR(SECT_EH, sh_offset), 1 << 20, 0, NONE, NONE, 64 },
	{ "a section that ends beyond the file", NO_HDR, SHDR(SECT_EH, sh_size), 1 << 20, 0, NONE, NONE, 64 },
	{ "a section that wraps", NO_HDR, SHDR(SECT_EH, sh_size), UINT64_MAX, 0, NONE, NONE, 64 },
	{ "a section at the end", NO_HDR, SHDR(SECT_EH, sh_addr), UINT64_MAX - 8, 0, NONE, NONE, 64 },
	{ "a name beyond the names", NO_HDR, SHDR(SECT_EH, sh_name), UINT32_MAX, 0, NONE, NONE, 64 },
	{ "the end of a name", NO_HDR, SHDR(SECT_EH, sh_name), 2, 0, NONE, NONE, 64 },
	{ "a name is longer", NO_HDR, NAMES, 10, 1, '2', 0, NONE, NONE, 64 },
	{ "names beyond the file", TABLE, SHDR(SECT_NAMES, sh_offset), UINT64_MAX, 0, 16, EXPR, NONE },
	{ "names are cut", TABLE, SHDR(SECT_NAMES, sh_size), 23, 0, 16, EXPR, NONE },
	{ "names are not cut", TABLE, SHDR(SECT_NAMES, sh_size), 24, 0, 16, EXPR, 64 },
	{ "an address is of no account", TABLE, SHDR(SECT_FRAME, sh_addr), 1 << 20, 0, 16, EXPR, 64 },

	{ "debug records end at once", TABLE, DEBUG, 0, 4, 0, 0, 16, EXPR, NONE },
	{ "debug records of an unknown version", TABLE, DEBUG, 8, 1, 7, 0, 16, EXPR, NONE },
	{ "a debug record too long", TABLE, DEBUG, 20, 4, 4096, 0, 16, EXPR, NONE },
	{ "debug records of each other", TABLE, DEBUG, 24, 4, 20, 0, 16, EXPR, 64 },
};

static size_t place(enum where where)
{
	const size_t places[] = { [EHDR] = 0,      [PHDR] = ri.phdr,      [HDR] = ri.hdr,     [HDR_TABLE] = ri.table,
				  [EH] = ri.eh,    [EH_FDE] = ri.eh + 24, [DEBUG] = ri.frame, [NAMES] = ri.names,
				  [SHDR] = ri.shdr };

	return places[where];
}

START_TEST(test_broken)
{
	int first, last;

	rules_image_build(&ri, broken[_i].table, FRAME, eh, ARRAY_SIZE(eh), debug, ARRAY_SIZE(debug));
	set_fixed(&ri.im, place(broken[_i].where) + broken[_i].at, broken[_i].value, broken[_i].size);
	ck_assert_int_eq(open_with(false), broken[_i].rc);
	if (broken[_i].rc) {
		ck_assert(!is_open(&file));
		return;
	}
	first = answer(CODE);
	last = answer(CODE + 0x80);
	ck_assert_msg(first == broken[_i].first && last == broken[_i].last && answer(CODE + 0x20) == broken[_i].debug,
		      "%s: %d %d %d", broken[_i].name, first, last, answer(CODE + 0x20));
	ck_assert_int_eq(answer(CODE), first);
	check_function(CODE, first);
	check_function(CODE + 0x80, last);
	check_function(CODE + 0x20, broken[_i].debug);
}
END_TEST

/* The beginning of a function depends on its record, not on the program in it. */
START_TEST(test_damaged_program)
{
	uint64_t start = 0;

	build(&ri, _i ? NO_HDR : TABLE, NO_FRAME);
	set_fixed(&ri.im, ri.eh + 24 + 17, 0x3f, 1);
	ck_assert_int_eq(open_with(false), 0);
	ck_assert_int_eq(answer(_i ? CODE + 0x80 : CODE), -ENOTSUP);
	ck_assert_int_eq(rules_function(r, CODE + (_i ? 0xff : 0x0f), &start), 1);
	ck_assert_uint_eq(start, CODE + (_i ? 0x80 : 0));
	ck_assert(!rules_entry(r, CODE + (_i ? 0x80 : 0)));
	set_fixed(&ri.im, ri.eh + 8, 9, 1);
	reopen();
	ck_assert_int_le(rules_function(r, CODE, &start), 0);
}
END_TEST

/* After its end, a function is still the last that has begun, until another one begins. */
START_TEST(test_begun)
{
	uint64_t addr, start, last = 0;
	size_t nr_ended = 0;

	build(&ri, _i ? NO_HDR : TABLE, NO_FRAME);
	ck_assert_int_eq(open_with(false), 0);
	for (addr = CODE - 16; addr < CODE + 0x200; addr++) {
		int in = rules_function(r, addr, &start);

		ck_assert_int_ge(in, 0);
		last = in ? start : last;
		nr_ended += last && !in;
		ck_assert_int_eq(rules_begun(r, addr, &start), last != 0);
		ck_assert_uint_eq(start, last);
	}
	ck_assert_uint_gt(nr_ended, 0);
}
END_TEST

/* ---- files that change */

/* No wrong answer and no crash, whatever the reads return: an answer is right, missing, or an error. */
static void check_no_wrong_answer(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		int got = answer(answers[i].addr);

		ck_assert_msg(got <= 0 || got == answers[i].debug || got == answers[i].eh, "%zu: %d", i, got);
	}
}

static const struct {
	enum table table;
	enum frame frame;
	int rc; /* result of reads; 0: the file shrinks */
	size_t shrunk;
} failing[] = {
	{ TABLE, FRAME, -EIO, 0 },
	{ NO_HDR, FRAME, -EIO, 0 },
	{ TABLE, FRAME_ZLIB, -ENXIO, 0 },
	{ TABLE_OMITTED, FRAME, -ESTALE, 0 },
	{ TABLE, FRAME, 0, 0 },
	{ TABLE, FRAME, 0, 64 },
	{ NO_HDR, FRAME, 0, 300 },
	{ TABLE, FRAME, 0, 0x1008 },
	{ TABLE_WIDE, FRAME_ZLIB, 0, 0x1040 },
	{ NO_HDR, FRAME_ZLIB, 0, 0x2010 },
	{ TABLE_OMITTED, FRAME, 0, 0x2020 },
};

/* Reads fail from each possible call on. The file is spread over several pages, because pages are read at once. */
START_TEST(test_failing)
{
	unsigned int from;
	int rc, first;

	build(&ri, failing[_i].table, failing[_i].frame);
	for (from = 1; from < 50; from++) {
		file = (struct reader){
			.from = from, .rc = failing[_i].rc, .shrunk = failing[_i].shrunk, .most = 1000
		};
		rc = open_with(false);
		first = rc ? rc : answer(CODE);
		if (rc)
			ck_assert(!is_open(&file));
		else
			check_no_wrong_answer();
		if (from == 1 && failing[_i].shrunk < 288) /* the end of the segments' headers */
			ck_assert_int_lt(rc, 0);
		if (!rc && failing[_i].rc && first < 0) {
			ck_assert_int_eq(first, failing[_i].rc);
			/* A failure is not remembered, except for an index. */
			file.from = 0;
			first = answer(CODE);
			ck_assert(first == 16 || (failing[_i].table != TABLE && first == failing[_i].rc));
		}
		rules_close(r);
		r = NULL;
	}
	ck_assert_int_eq(rc, 0);
}
END_TEST

/* All bytes of the file change at some call, to anything. */
START_TEST(test_changing)
{
	unsigned char *later;
	unsigned int seed = (unsigned int)_i, from;
	size_t i;

	build(&ri, (enum table)(_i % NO_EH), (enum frame)(_i % 4));
	later = malloc(ri.im.len);
	ck_assert_ptr_nonnull(later);
	memcpy(later, ri.im.bytes, ri.im.len);
	for (i = 0; i < ri.shdr + SECT_COUNT * sizeof(Elf64_Shdr); i++)
		if (rand_r(&seed) % 8 == 0)
			later[i] = (unsigned char)rand_r(&seed);
	for (from = 1; from < 20; from++) {
		file = (struct reader){
			.from = from, .later = later, .shrunk = ri.im.len, .most = 1 + (size_t)from * 37
		};
		if (open_with(false))
			continue;
		for (i = 0; i < ARRAY_SIZE(answers); i++)
			answer(answers[i].addr);
		rules_close(r);
		r = NULL;
	}
	free(later);
}
END_TEST

/* Call everything that can be called. */
static void exercise(void)
{
	const struct cfi_row *row;
	uint8_t buf[EXPR_MAX_BYTES];
	size_t i, reg;

	for (i = 0; i < ARRAY_SIZE(answers); i++) {
		uint64_t start;
		int rc = rules_find(r, answers[i].addr, &row), function = rules_function(r, answers[i].addr, &start);

		ck_assert(rc == 1 ? function == 1 : function <= 1);
		ck_assert(rc == 0 || rc == 1 || rc == -EBADMSG || rc == -ENOTSUP || rc == -ENOEXEC);
		if (rc <= 0)
			continue;
		rc = rules_expr(r, row, (uint64_t)row->cfa_value, buf);
		ck_assert(rc <= (int)sizeof(buf));
		for (reg = 0; reg < ARCH_NR_REGS; reg++)
			rules_expr(r, row, (uint64_t)row->value[reg], buf);
	}
	rules_read(r, BASE, buf, sizeof(buf));
	ck_assert_uint_lt(rules_memory(r), 1 << 20);
}

START_TEST(test_garbled)
{
	unsigned int seed = (unsigned int)_i + 1, i, nr;

	build(&ri, (enum table)(_i % (NO_EH + 1)), (enum frame)(_i / 5 % 4));
	nr = 1 + (unsigned int)rand_r(&seed) % 8;
	for (i = 0; i < nr; i++) {
		const size_t parts[] = { 16, ri.hdr, ri.eh, 0x2000, ri.shdr };
		size_t at = parts[rand_r(&seed) % ARRAY_SIZE(parts)] + (size_t)rand_r(&seed) % 256;

		ri.im.bytes[at] =
			rand_r(&seed) % 2 ? (unsigned char)rand_r(&seed) : (unsigned char)(rand_r(&seed) % 2 - 1);
	}
	if (!open_with(false))
		exercise();
}
END_TEST

START_TEST(test_truncated)
{
	size_t len;

	build(&ri, (enum table)(_i % (NO_EH + 1)), (enum frame)(_i / 5 % 4));
	for (len = ri.shdr + SECT_COUNT * sizeof(Elf64_Shdr) - 1; len > 4; len -= 5) {
		file = (struct reader){ 0 };
		if (!open_part(len, false)) {
			check_no_wrong_answer();
			rules_close(r);
			r = NULL;
		}
		ck_assert(!is_open(&file));
	}
}
END_TEST

/* ---- compressed sections */

#ifdef HAVE_ZSTD
#define NR_METHODS 2
#else
#define NR_METHODS 1
#endif

static const enum frame methods[] = { FRAME_ZLIB, FRAME_ZSTD };

static const struct {
	const char *name;
	size_t at, size; /* in the section */
	uint64_t value;
	int debug[2]; /* the answer for code that only .debug_frame describes, with each method */
} compressed[] = {
	{ "nothing", offsetof(Elf64_Chdr, ch_reserved), 4, 0, { 64, 64 } },
	{ "zlib", offsetof(Elf64_Chdr, ch_type), 4, 1, { 64, NONE } },
	{ "zstd", offsetof(Elf64_Chdr, ch_type), 4, 2, { NONE, 64 } },
	{ "type 0", offsetof(Elf64_Chdr, ch_type), 4, 0, { NONE, NONE } },
	{ "type 3", offsetof(Elf64_Chdr, ch_type), 4, 3, { NONE, NONE } },
	{ "no bytes", offsetof(Elf64_Chdr, ch_size), 8, 0, { NONE, NONE } },
	{ "fewer bytes", offsetof(Elf64_Chdr, ch_size), 8, 100, { NONE, NONE } },
	{ "more bytes", offsetof(Elf64_Chdr, ch_size), 8, 4096, { NONE, NONE } },
	{ "more bytes than can be", offsetof(Elf64_Chdr, ch_size), 8, 10 << 20, { NONE, NONE } },
	{ "too many bytes", offsetof(Elf64_Chdr, ch_size), 8, (256 << 20) + 1, { NONE, NONE } },
	{ "all bytes", offsetof(Elf64_Chdr, ch_size), 8, UINT64_MAX, { NONE, NONE } },
	{ "no stream", sizeof(Elf64_Chdr), 1, 0, { NONE, NONE } },
	{ "a damaged stream", sizeof(Elf64_Chdr) + 12, 4, 0x5a5a5a5a, { NONE, NONE } },
};

static void check_compressed(int row, int method, bool in_debug)
{
	int want = compressed[row].debug[method];

	build(&ri, TABLE, in_debug ? NO_FRAME : methods[method]);
	build(&di, NO_EH, methods[method]);
	set_fixed(in_debug ? &di.im : &ri.im, (in_debug ? di.frame : ri.frame) + compressed[row].at,
		  compressed[row].value, compressed[row].size);
	file = debug_file = (struct reader){ 0 };
	ck_assert_int_eq(open_with(in_debug), 0);
	ck_assert_msg(answer(CODE + 0x20) == want, "%s, %d: %d", compressed[row].name, method, answer(CODE + 0x20));
	ck_assert_int_eq(answer(CODE), 16);
	ck_assert_uint_lt(rules_memory(r), 100000);
	rules_close(r);
	r = NULL;
	image_release(&ri.im);
	image_release(&di.im);
}

START_TEST(test_compressed)
{
	int method;

	for (method = 0; method < NR_METHODS; method++) {
		check_compressed(_i, method, false);
		check_compressed(_i, method, true);
	}
}
END_TEST

/* The section ends before its stream, or before its header. */
START_TEST(test_compressed_cut)
{
	size_t size;

	build(&ri, TABLE, _i < NR_METHODS ? methods[_i] : FRAME_GNU);
	for (size = 0; size < ri.frame_size; size++) {
		set_fixed(&ri.im, ri.shdr + SECT_FRAME * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size), size, 8);
		reopen();
		ck_assert_int_eq(answer(CODE + 0x20), NONE);
		ck_assert_int_eq(answer(CODE), 16);
	}
}
END_TEST

/* .zdebug_frame: one byte of the header is another one. */
START_TEST(test_gnu_header)
{
	build(&ri, TABLE, FRAME_GNU);
	ri.im.bytes[ri.frame + (size_t)_i]++;
	ck_assert_int_eq(open_with(false), 0);
	ck_assert_int_eq(answer(CODE + 0x20), NONE);
	ck_assert_int_eq(answer(CODE), 16);
}
END_TEST

/* A debug file that is none does not keep the file's own rules away, and is closed. */
START_TEST(test_bad_debug_file)
{
	build(&ri, TABLE, NO_FRAME);
	build(&di, NO_EH, FRAME);
	di.im.bytes[EI_CLASS] = ELFCLASS32;
	ck_assert_int_eq(open_with(true), 0);
	ck_assert(!is_open(&debug_file));
	check_answers(true, false);
}
END_TEST

/* ---- expressions */

/*
 * At the end of the code, which the section includes: the bytes of the length, how many of them, the bytes from there
 * to the end of the section.
 */
static const struct {
	const char *name;
	unsigned char bytes[12];
	size_t nr, follow;
	int rc;
} exprs[] = {
	{ "empty", { 0 }, 1, 0, 0 },
	{ "one byte", { 1 }, 1, 1, 1 },
	{ "of a padded length", { 0x81, 0x80, 0 }, 3, 1, 1 },
	{ "of a length with ten bytes", { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 }, 10, 1, 1 },
	{ "of a length with eleven bytes",
	  { 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0 },
	  11,
	  1,
	  -EBADMSG },
	{ "longest", { 0x80, 8 }, 2, 1024, 1024 },
	{ "too long", { 0x81, 8 }, 2, 1025, -EBADMSG },
	{ "huge", { 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1 }, 10, 1025, -EBADMSG },
	{ "without an end", { 0x80 }, 1, 0, -EBADMSG },
	{ "longer than there is", { 2 }, 1, 1, -EBADMSG },
	{ "nothing", { 0 }, 0, 0, -EBADMSG },
};

START_TEST(test_expr)
{
	const size_t at = CODE_OFFSET + CODE_SIZE - exprs[_i].nr - exprs[_i].follow;
	uint8_t buf[EXPR_MAX_BYTES];
	struct cfi_row row = { 0 };

	/* The section ends with the code: its unused part does no harm. */
	build(&ri, NO_HDR, NO_FRAME);
	memcpy(ri.im.bytes + at, exprs[_i].bytes, exprs[_i].nr);
	set_fixed(&ri.im, ri.shdr + SECT_EH * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size),
		  CODE_OFFSET + CODE_SIZE - ri.eh, 8);
	ck_assert_int_eq(open_with(false), 0);
	ck_assert_int_eq(rules_expr(r, &row, BASE + at, buf), -EBADMSG); /* nothing was found yet */
	ck_assert_int_eq(answer(CODE), 16);
	ck_assert_int_eq(rules_expr(r, &row, BASE + at, buf), exprs[_i].rc);
	if (exprs[_i].rc > 0)
		ck_assert_mem_eq(buf, ri.im.bytes + at + exprs[_i].nr, (size_t)exprs[_i].rc);
	ck_assert_int_eq(rules_expr(r, &row, 0, buf), -EBADMSG);
	ck_assert_int_eq(rules_expr(r, &row, UINT64_MAX, buf), -EBADMSG);
	row.debug_frame = true;
	ck_assert_int_eq(rules_expr(r, &row, BASE + at, buf), -EBADMSG);
}
END_TEST

/* ---- addresses and bytes */

static const struct {
	uint64_t offset, addr; /* addr 0: none */
} offsets[] = {
	{ CODE_OFFSET, CODE },
	{ CODE_OFFSET + 0x123, CODE + 0x123 },
	{ CODE_OFFSET + CODE_SIZE - 1, CODE + CODE_SIZE - 1 },
	{ CODE_OFFSET + CODE_SIZE, 0 },
	{ CODE_OFFSET - 1, 0 },
	{ 0, 0 },
	{ VARS_OFFSET, 0 },
	{ UINT64_MAX, 0 },
};

START_TEST(test_address)
{
	uint64_t addr = 77;

	build(&ri, TABLE, NO_FRAME);
	ck_assert_int_eq(open_with(false), 0);
	ck_assert_int_eq(rules_address(r, offsets[_i].offset, &addr), offsets[_i].addr != 0);
	ck_assert_uint_eq(addr, offsets[_i].addr ? offsets[_i].addr : 77);
}
END_TEST

static const struct {
	uint64_t addr;
	size_t len;
	uint64_t offset;
	int rc;
} reads[] = {
	{ BASE, 16, 0, 0 },
	{ CODE, 16, CODE_OFFSET, 0 },
	{ CODE + 0x7f0, 16, CODE_OFFSET + 0x7f0, 0 },
	{ CODE, CODE_SIZE, CODE_OFFSET, 0 },
	{ CODE + 0x7f1, 16, 0, -EFAULT },
	{ CODE - 1, 2, 0, -EFAULT },
	{ CODE + CODE_SIZE, 1, 0, -EFAULT },
	{ CODE, CODE_SIZE + 1, 0, -EFAULT },
	{ VARS, 8, 0, -EFAULT },
	{ 0, 8, 0, -EFAULT },
	{ UINT64_MAX, 1, 0, -EFAULT },
	{ UINT64_MAX - 7, 16, 0, -EFAULT },
};

START_TEST(test_read)
{
	uint8_t buf[CODE_SIZE + 1];

	build(&ri, TABLE, NO_FRAME);
	ck_assert_int_eq(open_with(false), 0);
	ck_assert_int_eq(rules_read(r, reads[_i].addr, buf, reads[_i].len), reads[_i].rc);
	if (!reads[_i].rc)
		ck_assert_mem_eq(buf, ri.im.bytes + reads[_i].offset, reads[_i].len);
	reopen();
	file.from = file.calls + 1;
	file.shrunk = CODE_OFFSET;
	ck_assert_int_eq(rules_read(r, CODE, buf, 1), -ENOEXEC);
}
END_TEST

/* ---- memory and time */

/* A recent answer costs no reading, even if it is "no rules". */
START_TEST(test_warm)
{
	unsigned int calls;

	build(&ri, (enum table)_i, FRAME);
	ck_assert_int_eq(open_with(false), 0);
	check_answers(true, true);
	calls = file.calls;
	file.from = 1;
	file.rc = -EIO;
	check_answers(true, true);
	ck_assert_uint_eq(file.calls, calls);
}
END_TEST

/* However many addresses are looked up, the remembered ones are limited, and right. */
START_TEST(test_many_addresses)
{
	size_t memory;
	uint64_t i;

	build(&ri, TABLE, NO_FRAME);
	ck_assert_int_eq(open_with(false), 0);
	ck_assert_uint_lt(rules_memory(r), 16384);
	for (i = 0; i < 20000; i++)
		ck_assert_int_eq(answer(CODE + i), i < 0x10 ? 16 : i < 0x20 ? 24 : answer(CODE + i));
	memory = rules_memory(r);
	ck_assert_uint_lt(memory, 400 << 10);
	for (i = 0; i < 20000; i++)
		answer(VARS + i);
	ck_assert_uint_eq(rules_memory(r), memory);
	check_answers(true, false);
}
END_TEST

/* ---- real files */

/* All code around @fn, in the file at @path mapped at @base, has rules, each of which is valid. */
static void check_real(const char *path, const void *base, const void *fn)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	uint64_t addr = (uint64_t)((const char *)fn - (const char *)base), found = 0, i;
	const struct cfi_row *row;
	struct elf_file f;

	ck_assert_int_eq(elf_file_open(&f, fd), 0);
	close(fd);
	ck_assert_int_eq(rules_open(&f, &ELF_FILE_NONE, &r), 0);
	for (i = 0; i < 4096; i++) {
		int rc = rules_find(r, addr + i, &row);

		ck_assert_int_ge(rc, 0);
		found += (uint64_t)rc;
		if (rc)
			ck_assert(row->start <= addr + i && addr + i < row->end);
		if (rc && !row->cfa_expr)
			ck_assert_uint_lt(row->cfa_reg, ARCH_NR_REGS);
	}
	ck_assert_uint_gt(found, 2048);
	ck_assert_int_eq(rules_find(r, addr, &row), 1);
	ck_assert_int_eq(row->cfa_reg, ARCH_SP);
	ck_assert_int_eq(row->cfa_value, 8);
	ck_assert_int_eq(row->how[ARCH_IP], CFI_OFFSET);
	ck_assert_int_eq(row->value[ARCH_IP], -8);
	ck_assert_uint_lt(rules_memory(r), 2 << 20);
}

START_TEST(test_real)
{
	Dl_info libc, self;
	uint8_t buf[16];
	const void *fn = (const void *)(uintptr_t)check_real;

	ck_assert_int_ne(dladdr((const void *)(uintptr_t)gnu_get_libc_version, &libc), 0);
	check_real(libc.dli_fname, libc.dli_fbase, (const void *)(uintptr_t)gnu_get_libc_version);
	rules_close(r);
	r = NULL;
	ck_assert_int_ne(dladdr(fn, &self), 0);
	check_real("/proc/self/exe", self.dli_fbase, fn);
	ck_assert_int_eq(rules_read(r, (uint64_t)((const char *)fn - (const char *)self.dli_fbase), buf, 16), 0);
	ck_assert_mem_eq(buf, fn, 16);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("rules");
	TCase *tc = tcase_create("rules");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_layouts, 0, ARRAY_SIZE(layouts));
	tcase_add_loop_test(tc, test_broken, 0, ARRAY_SIZE(broken));
	tcase_add_loop_test(tc, test_damaged_program, 0, 2);
	tcase_add_loop_test(tc, test_begun, 0, 2);
	tcase_add_loop_test(tc, test_failing, 0, ARRAY_SIZE(failing));
	tcase_add_loop_test(tc, test_changing, 0, unit_times(200));
	tcase_add_loop_test(tc, test_garbled, 0, unit_times(1000));
	tcase_add_loop_test(tc, test_truncated, 0, 20);
	tcase_add_loop_test(tc, test_compressed, 0, ARRAY_SIZE(compressed));
	tcase_add_loop_test(tc, test_gnu_header, 0, 12);
	tcase_add_loop_test(tc, test_compressed_cut, 0, NR_METHODS + 1);
	tcase_add_test(tc, test_bad_debug_file);
	tcase_add_loop_test(tc, test_expr, 0, ARRAY_SIZE(exprs));
	tcase_add_loop_test(tc, test_address, 0, ARRAY_SIZE(offsets));
	tcase_add_loop_test(tc, test_read, 0, ARRAY_SIZE(reads));
	tcase_add_loop_test(tc, test_warm, TABLE, NO_EH);
	tcase_add_test(tc, test_many_addresses);
	tcase_add_test(tc, test_real);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
