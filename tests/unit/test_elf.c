// SPDX-License-Identifier: Apache-2.0
#include "core/files/alias.h"
#include "core/files/elf.h"
#include "core/files/elf_file.h"
#include "tests/elf_parse.h"
#include "tests/unit/elf_sections.h"

#include <fcntl.h>
#include <stddef.h>
#include <sys/mman.h>

#define FUNC(name, value, size)                                                                                        \
	{                                                                                                              \
		name, value, size, STT_FUNC, STB_GLOBAL, SEC_TEXT                                                      \
	}
#define LABEL(name, value, size)                                                                                       \
	{                                                                                                              \
		name, value, size, STT_NOTYPE, STB_LOCAL, SEC_TEXT                                                     \
	}

static const struct image_symbol plain[] = {
	FUNC("", 0, 0),
	FUNC("first", 0x100, 0x40),
	FUNC("second", 0x140, 0x40),
};

static struct image im;
static struct elf_symbols *es;

static void setup(void)
{
	es = NULL;
	im = (struct image){ 0 };
}

static void teardown(void)
{
	elf_symbols_free(es);
	image_release(&im);
}

/* An allocation of exactly the image's size, so that a sanitizer finds each read beyond it. */
static int parse(const void *bytes, size_t len)
{
	return elf_symbols_parse(bytes, len, &es);
}

/* "name+0xoffset" of an address counted from .text, "-" if there is none. */
static const char *lookup(uint64_t addr)
{
	return elf_symbol_at(es, TEXT_ADDR + addr);
}

static const struct {
	int class, encoding;
} formats[] = {
	{ ELFCLASS64, ELFDATA2LSB },
	{ ELFCLASS32, ELFDATA2LSB },
};

/* The address of byte @offset in the file, which is mapped from its beginning on. */
static bool find_vaddr(uint64_t offset, uint64_t *vaddr)
{
	static const struct mapped_file file = { .path = "/file" };

	return elf_symbols_vaddr(es, &(struct mapping){ 0, UINT64_MAX, 0, &file }, offset, vaddr);
}

START_TEST(test_formats)
{
	uint64_t vaddr = 1;

	image_build(&im, formats[_i].class, formats[_i].encoding, plain, 2, plain, ARRAY_SIZE(plain));
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert_str_eq(lookup(0xff), "-");
	ck_assert_str_eq(lookup(0x100), "first+0x0");
	ck_assert_str_eq(lookup(0x13f), "first+0x3f");
	ck_assert_str_eq(lookup(0x140), "second+0x0"); /* only in .dynsym */
	ck_assert_str_eq(lookup(0x180), "-");
	ck_assert(!find_vaddr(TEXT_OFFSET - 1, &vaddr));
	ck_assert(!find_vaddr(TEXT_OFFSET + TEXT_SIZE, &vaddr));
	ck_assert(!find_vaddr(UINT64_MAX, &vaddr));
	ck_assert_uint_eq(vaddr, 1);
	ck_assert(find_vaddr(TEXT_OFFSET + 0x123, &vaddr));
	ck_assert_uint_eq(vaddr, TEXT_ADDR + 0x123);
}
END_TEST

/*
 * Debug files, as tools make them from programs with the mapping @m. Which address in them corresponds to
 * 0x7f0000001234, in the page at 0x7f0000001000? 0: unknown.
 */
#define AT 0x7f0000001234
static const struct {
	struct elf_segment segments[3];
	unsigned int nr;
	struct mapping m;
	uint64_t addr;
} placed[] = {
	/* ld, and objcopy --only-keep-debug */
	{ { { 0, 0x39c, 0, 0x5e0, PF_R }, { 0, 0, 0x1000, 0x275, PF_R | PF_X }, { 0, 0, 0x2000, 0x108, PF_R } },
	  3,
	  { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL },
	  0x1234 },
	/* outside of the segment with code */
	{ { { 0, 0x39c, 0, 0x5e0, PF_R }, { 0, 0, 0x1000, 0x234, PF_R | PF_X } },
	  2,
	  { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL },
	  0 },
	{ { { 0, 0x39c, 0, 0x5e0, PF_R }, { 0x240, 0, 0x1240, 0x100, PF_R | PF_X } },
	  2,
	  { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL },
	  0 },
	/* fixed addresses; lld, whose segments are not at multiples of a page */
	{ { { 0, 0x39c, 0x400000, 0x498, PF_R }, { 0, 0, 0x401000, 0x951, PF_R | PF_X } },
	  2,
	  { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL },
	  0x401234 },
	{ { { 0, 0x300, 0, 0x614, PF_R }, { 0x620, 0, 0x1620, 0x1970, PF_R | PF_X } },
	  2,
	  { 0x7f0000000000, 0x7f0000002000, 0, NULL },
	  0x2234 },
	/* gold: the first segment has code; the mapping is as long as all segments, as ld.so begins, or as the first */
	{ { { 0, 0x2f4, 0, 0x17b0, PF_R | PF_X }, { 0xdc0, 0, 0x3dc0, 0x268, PF_R | PF_W } },
	  2,
	  { 0x7f0000000000, 0x7f0000005000, 0, NULL },
	  0x1234 },
	{ { { 0, 0x2f4, 0, 0x17b0, PF_R | PF_X }, { 0xdc0, 0, 0x3dc0, 0x268, PF_R | PF_W } },
	  2,
	  { 0x7f0000000000, 0x7f0000002000, 0, NULL },
	  0x1234 },
	/* eu-strip keeps the headers unchanged: the offset decides, whatever the mapping is */
	{ { { 0x5000, 0x1000, 0x409000, 0x1000, PF_R | PF_X }, { 0x6000, 0x1000, 0x50a000, 0x1000, PF_X } },
	  2,
	  { 0x7f0000000000, 0x7f0000006000, 0x5000, NULL },
	  0x50a234 },
	/* unknown: the mapping is shorter or longer than the segment, or elsewhere; two segments fit, or none */
	{ { { 0, 0, 0x1000, 0x2234, PF_X } }, 1, { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL }, 0 },
	{ { { 0, 0, 0x1000, 0x275, PF_X } }, 1, { 0x7f0000001000, 0x7f0000003000, 0x1000, NULL }, 0 },
	{ { { 0, 0, 0, 0x100, PF_R }, { 0, 0, 0x1000, 0x275, PF_X } },
	  2,
	  { 0x7f0000000000, 0x7f0000002000, 0, NULL },
	  0 },
	{ { { 0, 0, 0, 0x17b0, PF_X }, { 0, 0, 0x3dc0, 0x268, PF_R } },
	  2,
	  { 0x7f0000000000, 0x7f0000005000, 0x1000, NULL },
	  0 },
	{ { { 0, 0, 0x1000, 0x275, PF_X }, { 0, 0, 0x2000, 0x275, PF_X } },
	  2,
	  { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL },
	  0 },
	{ { { 0, 0, 0x1000, 0, PF_X } }, 1, { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL }, 0 },
	{ { { 0, 0x275, 0x1000, 0x275, PF_R } }, 1, { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL }, 0 },
	{ { { 0 } }, 0, { 0x7f0000001000, 0x7f0000002000, 0x1000, NULL }, 0 },
	/* at the end of memory */
	{ { { 0, 0, UINT64_MAX - 0x800, 0x800, PF_X } }, 1, { 0x7f0000001000, 0x7f0000002000, 0, NULL }, 0 },
};

START_TEST(test_placed)
{
	static const struct mapped_file file = { .path = "/file" };
	struct elf_file f = { .nr_segments = placed[_i].nr };
	struct mapping m = placed[_i].m;
	uint64_t addr = 0;

	m.file = &file;
	memcpy(f.segments, placed[_i].segments, sizeof(placed[_i].segments));
	ck_assert_int_eq(elf_file_address_mapped(&f, &m, AT, &addr), placed[_i].addr != 0);
	ck_assert_uint_eq(addr, placed[_i].addr);
}
END_TEST

/*
 * Without program headers, sections tell where the bytes of the file are loaded. One field of a header is set to a
 * value; the bytes of .text, which are at 0x5000 in memory, are loaded or not.
 */
#define SECTION(nr, field) (nr) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field)
static const struct {
	size_t where, width;
	uint64_t value;
	bool of_section, found;
} unsegmented[] = {
	{ offsetof(Elf64_Ehdr, e_version), 4, 1, false, true },
	{ offsetof(Elf64_Ehdr, e_phentsize), 2, 0, false, true },
	{ offsetof(Elf64_Ehdr, e_phoff), 8, UINT64_MAX, false, true },
	{ offsetof(Elf64_Ehdr, e_type), 2, ET_EXEC, false, true },
	{ offsetof(Elf64_Ehdr, e_type), 2, ET_REL, false, false },
	{ offsetof(Elf64_Ehdr, e_type), 2, ET_CORE, false, false },
	{ SECTION(1, sh_flags), 8, SHF_EXECINSTR, true, false },
	{ SECTION(1, sh_flags), 8, SHF_ALLOC, true, false },
	{ SECTION(1, sh_flags), 8, SHF_ALLOC | SHF_EXECINSTR | SHF_COMPRESSED, true, false },
	{ SECTION(1, sh_type), 4, SHT_NOBITS, true, false },
	{ SECTION(1, sh_type), 4, SHT_NULL, true, false },
	{ SECTION(1, sh_size), 8, UINT64_MAX, true, false },
	{ SECTION(1, sh_size), 8, 4, true, false },
	{ SECTION(1, sh_offset), 8, 1 << 20, true, false },
	{ SECTION(1, sh_addr), 8, UINT64_MAX - 8, true, false },
	{ SECTION(2, sh_addr), 8, UINT64_MAX, true, true },
};

START_TEST(test_unsegmented)
{
	const struct section v[] = {
		{ ".text", { 0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, 0x5000, .sh_size = 16 }, "0123456789abcdef" },
		{ ".data", { 0, SHT_PROGBITS, SHF_ALLOC | SHF_WRITE, 0x6000, .sh_size = 16 }, "0123456789abcdef" },
	};
	uint64_t vaddr = 1, at;
	const uint16_t none = 0;

	sections_build(&im, v, ARRAY_SIZE(v));
	memcpy(&at, im.bytes + im.shdr + SECTION(1, sh_offset), sizeof(at));
	memcpy(im.bytes + offsetof(Elf64_Ehdr, e_phnum), &none, sizeof(none));
	memcpy(im.bytes + (unsegmented[_i].of_section ? im.shdr : 0) + unsegmented[_i].where, &unsegmented[_i].value,
	       unsegmented[_i].width);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert_int_eq(find_vaddr(at + 5, &vaddr), unsegmented[_i].found);
	if (unsegmented[_i].found) {
		ck_assert_uint_eq(vaddr, 0x5005);
		ck_assert(!find_vaddr(at + 16, &vaddr)); /* data */
		ck_assert(!find_vaddr(at - 1, &vaddr));
	}
}
END_TEST

/* Files that no machine we run on can load. */
START_TEST(test_big_endian)
{
	image_build(&im, formats[_i].class, ELFDATA2MSB, plain, 2, plain, ARRAY_SIZE(plain));
	ck_assert_int_eq(parse(im.bytes, im.len), -ENOEXEC);
	ck_assert_ptr_null(es);
}
END_TEST

/* Find the symbol of an address. Two or three symbols, the address, the result. */
static const struct {
	struct image_symbol syms[3];
	uint64_t addr;
	const char *found;
} owners[] = {
	{ { FUNC("a", 0x100, 0x100), FUNC("in", 0x140, 0x10) }, 0x13f, "a+0x3f" },
	{ { FUNC("a", 0x100, 0x100), FUNC("in", 0x140, 0x10) }, 0x140, "in+0x0" },
	{ { FUNC("a", 0x100, 0x100), FUNC("in", 0x140, 0x10) }, 0x150, "a+0x50" },
	{ { FUNC("in", 0x140, 0x10), FUNC("a", 0x100, 0x100) }, 0x200, "-" },
	{ { FUNC("a", 0x100, 0x40), FUNC("b", 0x120, 0x40) }, 0x11f, "a+0x1f" },
	{ { FUNC("a", 0x100, 0x40), FUNC("b", 0x120, 0x40) }, 0x13f, "b+0x1f" },
	{ { FUNC("a", 0x100, 0x40), FUNC("b", 0x120, 0x40) }, 0x15f, "b+0x3f" },
	{ { FUNC("a", 0x100, 0x40), FUNC("b", 0x120, 0x40) }, 0x160, "-" },
	/* at one address: the better name, but not beyond its end */
	{ { FUNC("a", 0x100, 0x10), FUNC("bbb", 0x100, 0x40) }, 0x10f, "a+0xf" },
	{ { FUNC("a", 0x100, 0x10), FUNC("bbb", 0x100, 0x40) }, 0x110, "bbb+0x10" },
	{ { FUNC("aaa", 0x100, 0x10), FUNC("b", 0x100, 0x40) }, 0x10f, "b+0xf" },
	{ { FUNC("aa", 0x100, 0x10), FUNC("bbb", 0x100, 0x40), FUNC("c", 0x100, 0x10) }, 0x101, "c+0x1" },
	{ { FUNC("aa", 0x100, 0x10), FUNC("bbb", 0x100, 0x40), FUNC("c", 0x100, 0x20) }, 0x101, "c+0x1" },
	/* symbols without size */
	{ { LABEL("l", 0x100, 0), FUNC("f", 0x140, 0x10) }, 0x13f, "l+0x3f" },
	{ { LABEL("l", 0x100, 0), FUNC("f", 0x140, 0x10) }, 0x150, "-" },
	{ { LABEL("l", 0x100, 0), LABEL("m", 0x110, 0) }, 0x110, "m+0x0" },
	{ { LABEL("l", 0x100, 0), LABEL("m", 0x110, 0) }, TEXT_SIZE - 1, "m+0xeef" },
	{ { LABEL("l", 0x100, 0), LABEL("m", 0x110, 0) }, TEXT_SIZE, "-" },
	{ { FUNC("longer", 0x100, 0x10), LABEL("l", 0x100, 0) }, 0x100, "longer+0x0" },
	{ { FUNC("longer", 0x100, 0x10), LABEL("l", 0x100, 0) }, 0x110, "-" },
	{ { FUNC("f", 0x100, 0x40), LABEL("l", 0x120, 0) }, 0x130, "f+0x30" },
	{ { FUNC("f", 0x100, 0x40), LABEL("l", 0x120, 0) }, 0x140, "-" },
	{ { FUNC("f", 0x100, 0x40), LABEL("l", 0x140, 0) }, 0x140, "l+0x0" },
	{ { LABEL("l", 0x100, 0), LABEL("__k", 0x100, 0) }, 0x100, "l+0x0" },
	/* beyond the section, beyond everything */
	{ { FUNC("f", 0xff0, 0x1000) }, 0xfff, "f+0xf" },
	{ { FUNC("f", 0xff0, 0x1000) }, 0x1000, "-" },
	{ { FUNC("f", 0xff0, UINT64_MAX) }, 0xfff, "f+0xf" },
	{ { FUNC("f", 0xff0, UINT64_MAX) }, 0x1000, "-" },
	{ { FUNC("f", 0x1000, 0x10) }, 0x1000, "-" },
	{ { FUNC("f", 0x1000, 0) }, 0x1000, "-" },
	{ { FUNC("f", -0x10ULL, 0x100) }, 0, "-" },
	/* not a name of code */
	{ { { "o", 0x100, 16, STT_OBJECT, STB_GLOBAL, SEC_TEXT } }, 0x100, "-" },
	{ { { "f.c", 0x100, 16, STT_FILE, STB_LOCAL, SEC_TEXT } }, 0x100, "-" },
	{ { { "sec", 0x100, 0, STT_SECTION, STB_LOCAL, SEC_TEXT } }, 0x100, "-" },
	{ { { "tls", 0x100, 16, STT_TLS, STB_LOCAL, SEC_TEXT } }, 0x100, "-" },
	{ { { "undef", 0x100, 16, STT_FUNC, STB_GLOBAL, SHN_UNDEF } }, 0x100, "-" },
	{ { { "abs", 0x100, 16, STT_FUNC, STB_GLOBAL, SHN_ABS } }, 0x100, "-" },
	{ { { "xindex", 0x100, 16, STT_FUNC, STB_GLOBAL, SHN_XINDEX } }, 0x100, "-" },
	{ { { "nosec", 0x100, 16, STT_FUNC, STB_GLOBAL, SEC_NR } }, 0x100, "-" },
	{ { { "data", 0x100, 16, STT_FUNC, STB_GLOBAL, SEC_DATA } }, 0x2100, "-" },
	{ { { "", 0x100, 16, STT_FUNC, STB_GLOBAL, SEC_TEXT } }, 0x100, "-" },
	{ { LABEL("$x", 0x100, 0) }, 0x100, "-" },
	{ { LABEL(".L5", 0x100, 0) }, 0x100, "-" },
	{ { { "ifunc", 0x100, 16, STT_GNU_IFUNC, STB_WEAK, SEC_TEXT } }, 0x10f, "ifunc+0xf" },
	{ { LABEL("start", 0x100, 16) }, 0x10f, "start+0xf" },
};

START_TEST(test_owner)
{
	size_t nr = 0;

	while (nr < ARRAY_SIZE(owners[_i].syms) && owners[_i].syms[nr].name)
		nr++;
	image_build(&im, ELFCLASS64, ELFDATA2LSB, owners[_i].syms, nr, NULL, 0);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert_str_eq(lookup(owners[_i].addr), owners[_i].found);
}
END_TEST

/* The first name wins, in any order. */
static const struct {
	const char *won, *lost;
	unsigned char won_bind, lost_bind;
} aliases[] = {
	{ "read", "__read", STB_WEAK, STB_GLOBAL },
	{ "read", "__libc_read", STB_WEAK, STB_GLOBAL },
	{ "read", "_read", STB_LOCAL, STB_GLOBAL },
	{ "_IO_puts", "__puts", STB_LOCAL, STB_GLOBAL },
	{ "a_rather_long_name", "short", STB_GLOBAL, STB_WEAK },
	{ "a_rather_long_name", "short", STB_GLOBAL, STB_LOCAL },
	{ "a_rather_long_name", "short", STB_WEAK, STB_LOCAL },
	{ "unique", "x", STB_GNU_UNIQUE, STB_WEAK },
	{ "memcpy", "memcpy@@GLIBC_2.14", STB_GLOBAL, STB_GLOBAL },
	{ "labs", "llabs", STB_WEAK, STB_WEAK },
	{ "wcstol", "wcstoq", STB_WEAK, STB_WEAK },
	{ "A", "a", STB_GLOBAL, STB_GLOBAL },
	{ "__x86_indirect_thunk_rax", "__indirect_thunk_start", STB_LOCAL, STB_GLOBAL },
	{ "__SCT__tp_func_initcall_level", "__static_call_text_end", STB_GLOBAL, STB_GLOBAL },
	{ "_start", "__start_of_it", STB_GLOBAL, STB_GLOBAL },
	{ "__end", "__restart", STB_GLOBAL, STB_GLOBAL },
	{ "_", "__", STB_LOCAL, STB_GLOBAL },
};

START_TEST(test_alias)
{
	struct image_symbol v[2] = { FUNC(aliases[_i].won, 0x100, 0x10), FUNC(aliases[_i].lost, 0x100, 0x10) };
	struct image_symbol swapped[2];

	v[0].bind = aliases[_i].won_bind;
	v[1].bind = aliases[_i].lost_bind;
	swapped[0] = v[1];
	swapped[1] = v[0];
	image_build(&im, ELFCLASS64, ELFDATA2LSB, v, 2, swapped, 2);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert(!strncmp(lookup(0x100), aliases[_i].won, strlen(aliases[_i].won)));
	ck_assert_str_eq(lookup(0x100) + strlen(aliases[_i].won), "+0x0");
	elf_symbols_free(es);
	image_release(&im);
	image_build(&im, ELFCLASS64, ELFDATA2LSB, swapped, 2, NULL, 0);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert_str_eq(lookup(0x100) + strlen(aliases[_i].won), "+0x0");
}
END_TEST

static int open_image(void)
{
	int fd = memfd_create("elf", MFD_CLOEXEC), rc;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(write(fd, im.bytes, im.len), (ssize_t)im.len);
	rc = elf_symbols_open(fd, &es);
	close(fd);
	return rc;
}

/* The same from a file: names of aliases are read at once, or one by one if there are too many others. */
START_TEST(test_alias_in_file)
{
	char other[8192];
	size_t len;

	for (len = 5; len < sizeof(other); len *= 1000) {
		struct image_symbol v[3] = {
			FUNC(aliases[_i].lost, 0x100, 0x10),
			FUNC(aliases[_i].won, 0x100, 0x10),
			FUNC(other, 0x200, 0x10),
		};

		memset(other, 'x', len);
		other[len] = 0;
		v[0].bind = aliases[_i].lost_bind;
		v[1].bind = aliases[_i].won_bind;
		image_build(&im, ELFCLASS64, ELFDATA2LSB, v, 3, v, 3);
		ck_assert_int_eq(open_image(), 0);
		ck_assert_str_eq(lookup(0x100) + strlen(aliases[_i].won), "+0x0");
		ck_assert(!strncmp(lookup(0x100), aliases[_i].won, strlen(aliases[_i].won)));
		ck_assert(!strncmp(lookup(0x200), v[2].name, 5));
		elf_symbols_free(es);
		es = NULL;
		image_release(&im);
	}
}
END_TEST

#define EHDR(field) offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define PHDR(field) 0x10000 + offsetof(Elf64_Phdr, field), sizeof(((Elf64_Phdr *)0)->field)
#define SHDR(sec, field)                                                                                               \
	0x20000 + (sec) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field), sizeof(((Elf64_Shdr *)0)->field)
#define SYM(field) 0x30000 + sizeof(Elf64_Sym) + offsetof(Elf64_Sym, field), sizeof(((Elf64_Sym *)0)->field)

/* One field of a 64-bit file with "first" in .symtab and nothing in .dynsym is set to a value. */
static const struct {
	const char *what;
	size_t where, width;
	uint64_t value;
	int rc;
	const char *found; /* at 0x100, if rc is 0 */
} broken[] = {
	{ "nothing", EHDR(e_version), 1, 0, "first+0x0" },
	{ "magic", 0, 1, 0x7e, -ENOEXEC, NULL },
	{ "class 0", EI_CLASS, 1, 0, -ENOEXEC, NULL },
	{ "class 3", EI_CLASS, 1, 3, -ENOEXEC, NULL },
	{ "class 32 with 64-bit contents", EI_CLASS, 1, ELFCLASS32, -ENOEXEC, NULL },
	{ "encoding 0", EI_DATA, 1, 0, -ENOEXEC, NULL },
	{ "encoding 3", EI_DATA, 1, 3, -ENOEXEC, NULL },
	{ "other byte order", EI_DATA, 1, ELFDATA2MSB, -ENOEXEC, NULL },
	{ "no sections", EHDR(e_shnum), 0, 0, "-" },
	{ "more sections than bytes", EHDR(e_shnum), 0xffff, 0, "-" },
	{ "sections beyond the file", EHDR(e_shoff), 1 << 20, 0, "-" },
	{ "sections at the end of the address space", EHDR(e_shoff), UINT64_MAX - 8, 0, "-" },
	{ "section size 0", EHDR(e_shentsize), 0, 0, "-" },
	{ "section size 63", EHDR(e_shentsize), 63, 0, "-" },
	{ "segments beyond the file", EHDR(e_phoff), 1 << 20, -ENOEXEC, NULL },
	{ "segments at the end of the address space", EHDR(e_phoff), UINT64_MAX, -ENOEXEC, NULL },
	{ "segment size 0", EHDR(e_phentsize), 0, -ENOEXEC, NULL },
	{ "no segments of no size", offsetof(Elf64_Ehdr, e_phentsize), 4, 0, 0, "first+0x0" },
	{ "more segments than bytes", EHDR(e_phnum), 0xfffe, -ENOEXEC, NULL },
	{ "segments counted elsewhere", EHDR(e_phnum), PN_XNUM, -ENOEXEC, NULL },
	{ "no segments", EHDR(e_phnum), 0, 0, "first+0x0" },
	{ "segment wraps", PHDR(p_filesz), UINT64_MAX, 0, "first+0x0" },
	{ "segment wraps in memory", PHDR(p_vaddr), UINT64_MAX, 0, "first+0x0" },
	{ "symtab beyond the file", SHDR(SEC_SYMTAB, sh_offset), 1 << 20, 0, "-" },
	{ "symtab at the end of the address space", SHDR(SEC_SYMTAB, sh_offset), UINT64_MAX - 23, 0, "-" },
	{ "symtab huge", SHDR(SEC_SYMTAB, sh_size), UINT64_MAX, 0, "-" },
	{ "symtab one entry too long", SHDR(SEC_SYMTAB, sh_size), 1 << 16, 0, "-" },
	{ "symtab empty", SHDR(SEC_SYMTAB, sh_size), 0, 0, "-" },
	{ "symtab cut within an entry", SHDR(SEC_SYMTAB, sh_size), 47, 0, "-" },
	{ "symtab entry size 0", SHDR(SEC_SYMTAB, sh_entsize), 0, 0, "-" },
	{ "symtab entry size 1", SHDR(SEC_SYMTAB, sh_entsize), 1, 0, "-" },
	{ "symtab entry size huge", SHDR(SEC_SYMTAB, sh_entsize), UINT64_MAX, 0, "-" },
	{ "symtab compressed", SHDR(SEC_SYMTAB, sh_flags), SHF_COMPRESSED, 0, "-" },
	{ "symtab is its own strings", SHDR(SEC_SYMTAB, sh_link), SEC_SYMTAB, 0, "-" },
	{ "strings in code", SHDR(SEC_SYMTAB, sh_link), SEC_TEXT, 0, "-" },
	{ "strings in section 0", SHDR(SEC_SYMTAB, sh_link), 0, 0, "-" },
	{ "strings in no section", SHDR(SEC_SYMTAB, sh_link), SEC_NR, 0, "-" },
	{ "strings nowhere", SHDR(SEC_SYMTAB, sh_link), UINT32_MAX, 0, "-" },
	{ "strtab empty", SHDR(SEC_STRTAB, sh_size), 0, 0, "-" },
	{ "strtab huge", SHDR(SEC_STRTAB, sh_size), UINT64_MAX, 0, "-" },
	{ "strtab beyond the file", SHDR(SEC_STRTAB, sh_offset), 1 << 20, 0, "-" },
	{ "strtab compressed", SHDR(SEC_STRTAB, sh_flags), SHF_COMPRESSED, 0, "-" },
	{ "strtab cut before the name's end", SHDR(SEC_STRTAB, sh_size), 7, 0, "-" },
	{ "strtab cut after the name's end", SHDR(SEC_STRTAB, sh_size), 8, 0, "first+0x0" },
	{ "name outside", SYM(st_name), UINT32_MAX, 0, "-" },
	{ "name at the end", SYM(st_name), 8, 0, "-" },
	{ "name empty", SYM(st_name), 0, 0, "-" },
	{ "name within a name", SYM(st_name), 3, 0, "irst+0x0" },
	{ "size huge", SYM(st_size), UINT64_MAX, 0, "first+0x0" },
	{ "value huge", SYM(st_value), UINT64_MAX, 0, "-" },
	{ "text huge", SHDR(SEC_TEXT, sh_size), UINT64_MAX, 0, "first+0x0" },
	{ "text everywhere", SHDR(SEC_TEXT, sh_addr), 0, 0, "-" },
	{ "text not executable", SHDR(SEC_TEXT, sh_flags), SHF_ALLOC, 0, "-" },
	{ "two symtabs", SHDR(SEC_DYNSYM, sh_type), SHT_SYMTAB, 0, "first+0x0" },
	{ "dynsym broken", SHDR(SEC_DYNSYM, sh_entsize), 7, 0, "first+0x0" },
};

static void poke(size_t where, size_t width, uint64_t value)
{
	size_t base[] = { 0, im.phdr, im.shdr, im.symtab };

	memcpy(im.bytes + base[where >> 16] + (where & 0xffff), &value, width);
}

START_TEST(test_broken)
{
	char *dir = unit_tmpdir(), path[4096];
	int rc, fd;

	image_build(&im, ELFCLASS64, ELFDATA2LSB, plain, 2, NULL, 0);
	poke(broken[_i].where, broken[_i].width, broken[_i].value);
	rc = parse(im.bytes, im.len);
	ck_assert_msg(rc == broken[_i].rc, "%s: %d", broken[_i].what, rc);
	if (!rc)
		ck_assert_msg(!strcmp(lookup(0x100), broken[_i].found), "%s: %s", broken[_i].what, lookup(0x100));
	elf_symbols_free(es);
	es = NULL;

	/* The same from a file. */
	unit_write(dir, "elf", im.bytes, im.len);
	snprintf(path, sizeof(path), "%s/elf", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	unit_rmdir(dir);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(elf_symbols_open(fd, &es), broken[_i].rc);
	close(fd);
	if (!rc)
		ck_assert_str_eq(lookup(0x100), broken[_i].found);
}
END_TEST

/* The headers of sections are behind everything else: the first @len bytes have no symbol. */
static void check_truncated(size_t len)
{
	int rc;

	es = NULL;
	rc = parse(im.bytes, len);
	ck_assert(!rc || rc == -ENOEXEC);
	if (!rc) {
		ck_assert_str_eq(lookup(0x100), "-");
		ck_assert_uint_eq(elf_symbols_build_id(es)->size, 0);
	}
	elf_symbols_free(es);
	es = NULL;
}

START_TEST(test_truncated)
{
	size_t len;

	image_build(&im, formats[_i].class, formats[_i].encoding, plain, ARRAY_SIZE(plain), plain, ARRAY_SIZE(plain));
	for (len = 0; len < im.len; len++)
		check_truncated(len);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
}
END_TEST

static uint32_t rnd(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return *state >> 8;
}

/* Up to four bytes of a valid file are random. Each name that is found must be inside the strings. */
START_TEST(test_garbled)
{
	uint32_t state = (uint32_t)_i;
	unsigned char *good;
	int round, n;
	uint64_t a;

	image_build(&im, formats[_i].class, formats[_i].encoding, plain, ARRAY_SIZE(plain), plain, ARRAY_SIZE(plain));
	good = malloc(im.len);
	ck_assert_ptr_nonnull(good);
	memcpy(good, im.bytes, im.len);
	for (round = 0; round < unit_times(3000); round++) {
		memcpy(im.bytes, good, im.len);
		for (n = rnd(&state) % 4; n >= 0; n--)
			im.bytes[rnd(&state) % im.len] = (unsigned char)rnd(&state);
		if (parse(im.bytes, im.len))
			continue;
		for (a = 0; a < 0x200; a += 0x20)
			ck_assert_uint_gt(strlen(lookup(a)), 0);
		elf_symbols_free(es);
		es = NULL;
	}
	free(good);
}
END_TEST

static bool sized_covers(const struct image_symbol *s, uint64_t addr)
{
	return s->size && s->value <= addr && addr - s->value < s->size;
}

static bool beats(const struct image_symbol *a, const struct image_symbol *b)
{
	struct alias x = { a->name, SYMBOL_GLOBAL }, y = { b ? b->name : NULL, SYMBOL_GLOBAL };

	return !b || a->value > b->value || (a->value == b->value && alias_better(&x, &y));
}

/* The rule of elf.h, literally. */
static const struct image_symbol *owner(const struct image_symbol *v, size_t nr, uint64_t addr)
{
	const struct image_symbol *best = NULL;
	size_t i, j;

	for (i = 0; i < nr; i++)
		if (sized_covers(&v[i], addr) && beats(&v[i], best))
			best = &v[i];
	if (best)
		return best;
	for (i = 0; i < nr; i++) {
		bool open = !v[i].size && v[i].value <= addr;

		for (j = 0; open && j < nr; j++)
			open = !sized_covers(&v[j], v[i].value) && !(v[j].value > v[i].value && v[j].value <= addr);
		if (open && beats(&v[i], best))
			best = &v[i];
	}
	return best;
}

START_TEST(test_any_layout)
{
	struct image_symbol v[24];
	char names[24][8], want[64];
	uint32_t state = (uint32_t)_i * 77 + 1;
	size_t nr = 1 + rnd(&state) % ARRAY_SIZE(v), i;
	uint64_t a;

	for (i = 0; i < nr; i++) {
		snprintf(names[i], sizeof(names[i]), "%.*s%c%02zu", (int)(rnd(&state) % 3), "__",
			 (char)('a' + rnd(&state) % 26), i);
		v[i] = (struct image_symbol)FUNC(names[i], rnd(&state) % 24, rnd(&state) % 3 ? rnd(&state) % 20 : 0);
	}
	image_build(&im, ELFCLASS64, ELFDATA2LSB, v, nr, v, nr / 2);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	for (a = 0; a < 64; a++) {
		const struct image_symbol *o = owner(v, nr, a);

		if (o)
			snprintf(want, sizeof(want), "%s+0x%llx", o->name, (unsigned long long)(a - o->value));
		ck_assert_str_eq(lookup(a), o ? want : "-");
	}
}
END_TEST

/* Files for which a simple algorithm takes quadratic time: each must be fast. */
static const struct {
	uint64_t step, size;
} hard[] = {
	{ 0, 16 },         /* all at one address */
	{ 1, 0x7fffffff }, /* each begins inside the one before */
	{ 1, 1 },
	{ 1, 0 },
};

/* Look up @nr addresses at the distance of the row. Return: the name of the last one. */
static const char *find_hard(int row, size_t nr)
{
	struct elf_symbol found = { 0 };
	size_t i;

	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	for (i = 0; i < nr; i++)
		ck_assert(elf_symbols_find(es, TEXT_ADDR + i * hard[row].step, &found));
	return found.name;
}

START_TEST(test_hard)
{
	const size_t nr = (size_t)unit_times(60000);
	struct image_symbol *v = calloc(nr, sizeof(*v));
	size_t i;
	char *x;

	ck_assert_ptr_nonnull(v);
	for (i = 0; i < nr; i++)
		v[i] = (struct image_symbol)FUNC("same", i * hard[_i].step, hard[_i].size);
	image_build(&im, ELFCLASS64, ELFDATA2LSB, v, nr, NULL, 0);
	free(v);
	/* Code up to 4 GiB. */
	poke(SHDR(SEC_TEXT, sh_size), UINT32_MAX);
	ck_assert_str_eq(find_hard(_i, nr), "same");
	elf_symbols_free(es);
	/* All names are ends of one string, which is as long as all names: the memory for names is limited. */
	x = (char *)im.bytes + im.strtab + 1;
	memset(x, 'x', nr * sizeof("same") - 1);
	ck_assert_uint_eq(strlen(find_hard(_i, nr)), 4); /* the name of the last symbol, the shortest one */
}
END_TEST

/* Names of labels are read one by one, so only those of the first million are read. All symbols count as read. */
START_TEST(test_many_labels)
{
	const size_t nr = (1u << 20) + 3;
	struct image_symbol *v = calloc(nr, sizeof(*v));
	size_t i;

	ck_assert_ptr_nonnull(v);
	v[0] = plain[0];
	for (i = 1; i < nr; i++)
		v[i] = (struct image_symbol)LABEL("$x", 0x100, 0x40);
	v[nr - 2] = (struct image_symbol)LABEL("late", 0x180, 0x40);
	v[nr - 1] = (struct image_symbol)FUNC("function", 0x140, 0x40);
	image_build(&im, ELFCLASS64, ELFDATA2LSB, v, nr, NULL, 0);
	free(v);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert_uint_eq(elf_symbols_read(es), nr);
	ck_assert_str_eq(lookup(0x100), "-");
	ck_assert_str_eq(lookup(0x140), "function+0x0");
	ck_assert_str_eq(lookup(0x180), "-");
}
END_TEST

START_TEST(test_not_a_file)
{
	int p[2];

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(elf_symbols_open(p[0], &es), -EINVAL);
	close(p[0]);
	close(p[1]);
	ck_assert_int_eq(elf_symbols_open(p[0], &es), -EBADF);
	p[0] = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	ck_assert_int_eq(elf_symbols_open(p[0], &es), -EINVAL);
	close(p[0]);
	ck_assert_ptr_null(es);
}
END_TEST

/* The place of the notes with the build id, and a damaged header field there. */
#define NOTE_PHDR(field) 0x10000 + sizeof(Elf64_Phdr) + offsetof(Elf64_Phdr, field), sizeof(((Elf64_Phdr *)0)->field)

static const struct {
	const char *what;
	bool segment, section;
	size_t where, width;
	uint64_t value;
	bool found;
} noted[] = {
	{ "both", true, true, EHDR(e_version), 1, true },
	{ "segment", true, false, EHDR(e_version), 1, true },
	{ "section", false, true, EHDR(e_version), 1, true },
	{ "segment type", true, false, NOTE_PHDR(p_type), PT_INTERP, false },
	{ "segment beyond the file, but a section", true, true, NOTE_PHDR(p_offset), 1 << 20, true },
	{ "segment beyond the file", true, false, NOTE_PHDR(p_offset), 1 << 20, false },
	{ "segment at the end of the address space", true, false, NOTE_PHDR(p_offset), UINT64_MAX - 8, false },
	{ "segment beside", true, false, NOTE_PHDR(p_offset), 64, false },
	{ "segment huge", true, false, NOTE_PHDR(p_filesz), UINT64_MAX, false },
	{ "segment empty", true, false, NOTE_PHDR(p_filesz), 0, false },
	{ "segment too short", true, false, NOTE_PHDR(p_filesz), 35, false },
	{ "segment not a header long", true, false, NOTE_PHDR(p_filesz), 11, false },
	{ "segment of any alignment", true, false, NOTE_PHDR(p_align), UINT64_MAX, true },
	{ "section type", false, true, SHDR(SEC_NOTE, sh_type), SHT_PROGBITS, false },
	{ "section without contents", false, true, SHDR(SEC_NOTE, sh_type), SHT_NOBITS, false },
	{ "section compressed", false, true, SHDR(SEC_NOTE, sh_flags), SHF_COMPRESSED, false },
	{ "section beyond the file", false, true, SHDR(SEC_NOTE, sh_offset), 1 << 20, false },
	{ "section at the end of the address space", false, true, SHDR(SEC_NOTE, sh_offset), UINT64_MAX, false },
	{ "section huge", false, true, SHDR(SEC_NOTE, sh_size), UINT64_MAX, false },
	{ "section empty", false, true, SHDR(SEC_NOTE, sh_size), 0, false },
	{ "section too short", false, true, SHDR(SEC_NOTE, sh_size), 35, false },
};

#define BUILD_ID "0123456789abcdefghij"

static void build_noted(int class, int encoding, bool segment, bool section, size_t align)
{
	unsigned char bytes[128];
	struct image_notes notes = { bytes, 0, segment, section, align };

	notes.len = image_note(bytes, encoding, align, NT_GNU_BUILD_ID, "GNU", 4, BUILD_ID, 20);
	image_build_with(&im, class, encoding, plain, 2, NULL, 0, &notes);
}

static void check_build_id(const struct build_id *id, bool found)
{
	ck_assert_uint_eq(id->size, found ? 20 : 0);
	ck_assert_mem_eq(id->bytes, BUILD_ID, id->size);
}

/* A descriptor of the image in an unlinked file. */
static int image_fd(void)
{
	char *dir = unit_tmpdir(), path[4096];
	int fd;

	unit_write(dir, "elf", im.bytes, im.len);
	snprintf(path, sizeof(path), "%s/elf", dir);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	unit_rmdir(dir);
	ck_assert_int_ge(fd, 0);
	return fd;
}

START_TEST(test_build_id)
{
	struct build_id id = { 3, "old" };
	int fd;

	build_noted(ELFCLASS64, ELFDATA2LSB, noted[_i].segment, noted[_i].section, 4);
	poke(noted[_i].where, noted[_i].width, noted[_i].value);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert_msg(elf_symbols_build_id(es)->size == (noted[_i].found ? 20 : 0), "%s", noted[_i].what);
	check_build_id(elf_symbols_build_id(es), noted[_i].found);
	ck_assert_str_eq(lookup(0x100), "first+0x0"); /* whatever the notes are */
	fd = image_fd();
	ck_assert_int_eq(elf_build_id(fd, &id), 0);
	close(fd);
	check_build_id(&id, noted[_i].found);
}
END_TEST

START_TEST(test_build_id_formats)
{
	size_t len, align;

	for (align = 4; align <= 8; align += 4) {
		build_noted(formats[_i].class, formats[_i].encoding, true, false, align);
		ck_assert_int_eq(parse(im.bytes, im.len), 0);
		check_build_id(elf_symbols_build_id(es), true);
		elf_symbols_free(es);
		image_release(&im);
		build_noted(formats[_i].class, formats[_i].encoding, false, true, align);
		for (len = 0; len < im.len; len++)
			check_truncated(len);
		ck_assert_int_eq(parse(im.bytes, im.len), 0);
		check_build_id(elf_symbols_build_id(es), true);
		elf_symbols_free(es);
		image_release(&im);
	}
	/* notes in the other byte order */
	build_noted(formats[_i].class, formats[_i].encoding, true, true, 4);
	im.bytes[im.notes] = im.bytes[im.notes + 3] = 4;
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	check_build_id(elf_symbols_build_id(es), false);
}
END_TEST

START_TEST(test_build_id_of_no_elf)
{
	struct build_id id = { 0 };
	int p[2], fd;

	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(elf_build_id(p[0], &id), -EINVAL);
	close(p[0]);
	close(p[1]);
	ck_assert_int_eq(elf_build_id(p[0], &id), -EBADF);
	build_noted(ELFCLASS64, ELFDATA2LSB, true, true, 4);
	im.bytes[0] = 'x';
	fd = image_fd();
	ck_assert_int_eq(elf_build_id(fd, &id), -ENOEXEC);
	close(fd);
	ck_assert_uint_eq(id.size, 0);
}
END_TEST

#define X10   "xxxxxxxxxx"
#define X70   X10 X10 X10 X10 X10 X10 X10
#define X1050 X70 X70 X70 X70 X70 X70 X70 X70 X70 X70 X70 X70 X70 X70 X70

/* Find a symbol of any type by name. */
static const struct {
	const char *name;
	uint64_t addr; /* from TEXT_ADDR; 1: not found */
} named[] = {
	{ "_text", 0 },
	{ "absolute", 0x123000 },
	{ "object", 0x2010 },
	{ "label", 0x30 },
	{ "only_dynamic", 0x50 },
	{ "twice", 0x60 },
	{ "outside", 0x9999 },
	{ "", 1 },
	{ "_tex", 1 },
	{ "text", 1 },
	{ "_text_end", 1 },
	{ "undefined", 1 },
	{ "a_file.c", 1 },
	{ "a_section", 1 },
	{ X70, 0x80 },
	{ X1050, 1 },
};

START_TEST(test_address_of)
{
	static const struct image_symbol v[] = {
		{ "undefined", 0x70, 0, STT_NOTYPE, STB_GLOBAL, SHN_UNDEF },
		{ "a_file.c", 0x70, 0, STT_FILE, STB_LOCAL, SHN_ABS },
		{ "a_section", 0x70, 0, STT_SECTION, STB_LOCAL, SEC_TEXT },
		{ "_texts", 0x10, 0, STT_NOTYPE, STB_GLOBAL, SEC_TEXT },
		{ "_text", 0, 0, STT_NOTYPE, STB_GLOBAL, SEC_TEXT },
		{ "absolute", 0x123000, 0, STT_NOTYPE, STB_GLOBAL, SHN_ABS },
		{ "object", 0x10, 8, STT_OBJECT, STB_GLOBAL, SEC_DATA },
		LABEL("label", 0x30, 0),
		LABEL("twice", 0x60, 0),
		LABEL("twice", 0x61, 0),
		LABEL("outside", 0x9999, 0),
		LABEL(X70, 0x80, 0),
		LABEL(X1050, 0x90, 0),
	};
	static const struct image_symbol dynamic[] = { FUNC("only_dynamic", 0x50, 1), FUNC("_text", 0x55, 1) };
	uint64_t addr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(formats); i++) {
		addr = 77;
		image_build(&im, formats[i].class, formats[i].encoding, v, ARRAY_SIZE(v), dynamic, ARRAY_SIZE(dynamic));
		ck_assert_int_eq(parse(im.bytes, im.len), 0);
		ck_assert_int_eq(elf_symbols_address(es, named[_i].name, &addr), named[_i].addr != 1);
		ck_assert_uint_eq(addr, named[_i].addr == 1 ? 77 : TEXT_ADDR + named[_i].addr);
		elf_symbols_free(es);
		es = NULL;
		image_release(&im);
	}
}
END_TEST

/*
 * The debug file of a file that has "dynamic" at 0x100, and "exported" after it. The debug file has "_first" and
 * "local" inside "dynamic". One of its fields is set to a value.
 */
static const struct {
	const char *what;
	size_t where, width;
	uint64_t value;
	int rc;
	const char *found;
} debugs[] = {
	{ "nothing", EHDR(e_version), 1, 0, "local+0x8" },
	{ "code without bytes", SHDR(SEC_TEXT, sh_type), SHT_NOBITS, 0, "local+0x8" },
	{ "code beyond the file", SHDR(SEC_TEXT, sh_offset), UINT64_MAX, 0, "local+0x8" },
	{ "no segments", EHDR(e_phnum), 0, 0, "local+0x8" },
	{ "code is data", SHDR(SEC_TEXT, sh_flags), SHF_ALLOC, 0, "dynamic+0x10" },
	{ "code elsewhere", SHDR(SEC_TEXT, sh_addr), 0x10000, 0, "dynamic+0x10" },
	{ "magic", 0, 1, 0x7e, -ENOEXEC, "dynamic+0x10" },
	{ "class", EI_CLASS, 1, ELFCLASS32, -ENOEXEC, "dynamic+0x10" },
	{ "machine", EHDR(e_machine), EM_AARCH64, -ESTALE, "dynamic+0x10" },
	{ "no symtab", SHDR(SEC_SYMTAB, sh_type), SHT_PROGBITS, -ENOENT, "dynamic+0x10" },
	{ "symtab without bytes", SHDR(SEC_SYMTAB, sh_type), SHT_NOBITS, -ENOENT, "dynamic+0x10" },
	{ "symtab compressed", SHDR(SEC_SYMTAB, sh_flags), SHF_COMPRESSED, -ENOEXEC, "dynamic+0x10" },
	{ "symtab beyond the file", SHDR(SEC_SYMTAB, sh_offset), 1 << 20, -ENOEXEC, "dynamic+0x10" },
	{ "symtab huge", SHDR(SEC_SYMTAB, sh_size), UINT64_MAX, -ENOEXEC, "dynamic+0x10" },
	{ "symtab entry size 0", SHDR(SEC_SYMTAB, sh_entsize), 0, -ENOEXEC, "dynamic+0x10" },
	{ "strings nowhere", SHDR(SEC_SYMTAB, sh_link), UINT32_MAX, -ENOEXEC, "dynamic+0x10" },
	{ "strtab without bytes", SHDR(SEC_STRTAB, sh_type), SHT_NOBITS, -ENOEXEC, "dynamic+0x10" },
	{ "strtab compressed", SHDR(SEC_STRTAB, sh_flags), SHF_COMPRESSED, -ENOEXEC, "dynamic+0x10" },
	{ "strtab huge", SHDR(SEC_STRTAB, sh_size), UINT64_MAX, -ENOEXEC, "dynamic+0x10" },
	{ "strtab cut", SHDR(SEC_STRTAB, sh_size), 5, 0, "dynamic+0x10" },
	{ "name outside", SYM(st_name), UINT32_MAX, 0, "dynamic+0x10" },
};

static const struct image_symbol exported[] = { FUNC("dynamic", 0x100, 0x40), FUNC("exported", 0x140, 0x40) };
static const struct image_symbol stripped_of[] = { FUNC("", 0, 0), FUNC("local", 0x108, 0x10),
						   FUNC("_first", 0x100, 8) };

/* Without .symtab: the image has one without entries, whose type is changed. */
static void build_stripped(int class, int encoding)
{
	image_build(&im, class, encoding, NULL, 0, exported, ARRAY_SIZE(exported));
	if (class == ELFCLASS64) {
		poke(SHDR(SEC_SYMTAB, sh_type), SHT_PROGBITS);
	} else {
		uint32_t type = SHT_PROGBITS;

		memcpy(im.bytes + im.shdr + SEC_SYMTAB * sizeof(Elf32_Shdr) + offsetof(Elf32_Shdr, sh_type), &type, 4);
	}
}

static void parse_stripped(int class, int encoding)
{
	build_stripped(class, encoding);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	ck_assert(elf_symbols_wants_debug(es));
	image_release(&im);
}

/* Add the image as the debug file of the parsed file. */
static int add_debug_image(void)
{
	int fd = image_fd(), rc = elf_symbols_add_debug(es, fd);

	close(fd);
	return rc;
}

START_TEST(test_debug)
{
	uint64_t read;
	int rc;

	parse_stripped(ELFCLASS64, ELFDATA2LSB);
	read = elf_symbols_read(es);
	image_build(&im, ELFCLASS64, ELFDATA2LSB, stripped_of, ARRAY_SIZE(stripped_of), NULL, 0);
	poke(debugs[_i].where, debugs[_i].width, debugs[_i].value);
	rc = add_debug_image();
	ck_assert_msg(rc == debugs[_i].rc, "%s: %d", debugs[_i].what, rc);
	ck_assert_int_eq(elf_symbols_wants_debug(es), rc != 0);
	ck_assert_uint_ge(elf_symbols_read(es), read);
	if (!rc)
		ck_assert_int_eq(add_debug_image(), -EALREADY);
	ck_assert_msg(!strcmp(lookup(0x110), debugs[_i].found), "%s: %s", debugs[_i].what, lookup(0x110));
	ck_assert_str_eq(lookup(0x140), "exported+0x0");
	ck_assert_str_eq(lookup(0x101), "dynamic+0x1");
}
END_TEST

/*
 * Symbols of a file that has a .symtab of its own, and those of its debug file: up to three each, and an address. A
 * symbol of the file stays, unless it has no size.
 */
static const struct {
	struct image_symbol own[3], late[3];
	uint64_t addr;
	const char *before, *found;
} partials[] = {
	{ { FUNC("kept", 0x100, 0x40) },
	  { FUNC("kept", 0x100, 0x40), FUNC("gone", 0x140, 8) },
	  0x142,
	  "-",
	  "gone+0x2" },
	{ { FUNC("kept", 0x100, 0x40) }, { FUNC("kept", 0x100, 0x40), FUNC("gone", 0x140, 8) }, 0x148, "-", "-" },
	{ { FUNC("kept", 0x100, 0x40) },
	  { FUNC("k", 0x100, 0x40), FUNC("gone", 0x140, 8) },
	  0x101,
	  "kept+0x1",
	  "kept+0x1" },
	{ { FUNC("kept", 0x100, 0x40) },
	  { FUNC("in", 0x110, 8), FUNC("gone", 0x140, 8) },
	  0x111,
	  "kept+0x11",
	  "kept+0x11" },
	/* the symbol of the file has no size: the debug file may have a better one */
	{ { LABEL("l", 0x100, 0) }, { LABEL("l", 0x100, 0), FUNC("gone", 0x140, 8) }, 0x142, "l+0x42", "gone+0x2" },
	{ { LABEL("l", 0x100, 0) }, { LABEL("l", 0x100, 0), FUNC("gone", 0x140, 8) }, 0x13f, "l+0x3f", "l+0x3f" },
	{ { LABEL("l", 0x100, 0) }, { LABEL("l", 0x100, 0), FUNC("gone", 0x140, 8) }, 0x148, "l+0x48", "-" },
	{ { LABEL("l", 0x100, 0) }, { LABEL("m", 0x120, 0), FUNC("gone", 0x140, 8) }, 0x122, "l+0x22", "m+0x2" },
	{ { LABEL("l", 0x100, 0) }, { FUNC("f", 0x100, 8), FUNC("gone", 0x140, 8) }, 0x104, "l+0x4", "f+0x4" },
	{ { LABEL("l", 0x100, 0) }, { FUNC("f", 0x80, 0x100), FUNC("gone", 0x180, 8) }, 0x104, "l+0x4", "f+0x84" },
	{ { LABEL("l", 0x100, 0) }, { FUNC("f", 0x80, 8), FUNC("gone", 0x180, 8) }, 0x104, "l+0x4", "l+0x4" },
	/* neither file has a symbol with a size there */
	{ { FUNC("kept", 0x100, 8) }, { LABEL("m", 0x120, 0), FUNC("gone", 0x140, 8) }, 0x122, "-", "m+0x2" },
	/* an empty .symtab */
	{ { { NULL } }, { FUNC("gone", 0x140, 8) }, 0x142, "-", "gone+0x2" },
};

static size_t count_symbols(const struct image_symbol *v)
{
	size_t nr = 0;

	while (nr < 3 && v[nr].name)
		nr++;
	return nr;
}

START_TEST(test_partial)
{
	uint64_t read;

	image_build(&im, ELFCLASS64, ELFDATA2LSB, partials[_i].own, count_symbols(partials[_i].own), NULL, 0);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	image_release(&im);
	ck_assert(!elf_symbols_wants_debug(es));
	ck_assert_str_eq(lookup(partials[_i].addr), partials[_i].before);
	ck_assert(elf_symbols_want_names(es));
	read = elf_symbols_read(es);
	image_build(&im, ELFCLASS64, ELFDATA2LSB, partials[_i].late, count_symbols(partials[_i].late), NULL, 0);
	ck_assert_int_eq(add_debug_image(), 0);
	ck_assert_int_eq(add_debug_image(), -EALREADY);
	ck_assert_str_eq(lookup(partials[_i].addr), partials[_i].found);
	ck_assert_uint_gt(elf_symbols_read(es), read);
}
END_TEST

START_TEST(test_debug_formats)
{
	size_t other;

	for (other = 0; other < ARRAY_SIZE(formats); other++) {
		int rc;

		parse_stripped(formats[_i].class, formats[_i].encoding);
		image_build(&im, formats[other].class, formats[other].encoding, stripped_of, ARRAY_SIZE(stripped_of),
			    NULL, 0);
		rc = add_debug_image();
		ck_assert_int_eq(rc, (int)other == _i ? 0 : -ESTALE);
		ck_assert_str_eq(lookup(0x10c), rc ? "dynamic+0xc" : "local+0x4");
		/* Names are unchanged, and no further file can be added. */
		ck_assert_int_eq(add_debug_image(), -EALREADY);
		elf_symbols_free(es);
		es = NULL;
		image_release(&im);
	}
}
END_TEST

START_TEST(test_debug_builds)
{
	unsigned char bytes[2][64];
	struct image_notes notes[2];
	bool has[2] = { _i & 1, _i & 2 }, same = _i & 4;
	size_t i;

	for (i = 0; i < 2; i++) {
		notes[i] = (struct image_notes){ bytes[i], 0, true, true, 4 };
		notes[i].len = image_note(bytes[i], ELFDATA2LSB, 4, NT_GNU_BUILD_ID, "GNU", 4,
					  i && !same ? "another build id ....." : BUILD_ID, 20);
	}
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, NULL, 0, exported, 1, has[0] ? &notes[0] : NULL);
	ck_assert_int_eq(parse(im.bytes, im.len), 0);
	image_release(&im);
	image_build_with(&im, ELFCLASS64, ELFDATA2LSB, stripped_of, 3, NULL, 0, has[1] ? &notes[1] : NULL);
	ck_assert_int_eq(add_debug_image(), has[0] && has[1] && !same ? -ESTALE : 0);
	check_build_id(elf_symbols_build_id(es), has[0]);
}
END_TEST

START_TEST(test_debug_not_a_file)
{
	int p[2];

	parse_stripped(ELFCLASS64, ELFDATA2LSB);
	ck_assert_int_eq(pipe(p), 0);
	ck_assert_int_eq(elf_symbols_add_debug(es, p[0]), -EINVAL);
	close(p[0]);
	close(p[1]);
	ck_assert_int_eq(elf_symbols_add_debug(es, p[0]), -EBADF);
	ck_assert_int_eq(elf_symbols_add_inside(es), -ENOENT);
	ck_assert(elf_symbols_wants_debug(es));
	ck_assert_str_eq(lookup(0x100), "dynamic+0x0");
}
END_TEST

/* Read the image as the debug file of a program that cannot be read. */
static int read_debug_alone(void)
{
	int fd = image_fd(), rc;
	struct elf_file f;

	rc = elf_file_open(&f, fd);
	close(fd);
	return rc ? rc : elf_symbols_of_debug(&f, &es);
}

START_TEST(test_debug_alone)
{
	static const struct mapped_file file = { .path = "/file" };
	const struct mapping m = { 0x10000, 0x10000 + TEXT_SIZE, TEXT_OFFSET, &file };
	bool wide = formats[_i].class == ELFCLASS64;
	int fds = unit_open_fds();
	uint64_t vaddr = 0;

	build_stripped(formats[_i].class, formats[_i].encoding);
	ck_assert_int_eq(read_debug_alone(), -ENOENT);
	ck_assert_ptr_null(es);
	ck_assert_int_eq(unit_open_fds(), fds);
	image_release(&im);
	image_build(&im, formats[_i].class, formats[_i].encoding, stripped_of, ARRAY_SIZE(stripped_of), NULL, 0);
	/* It has no code: the mapping alone tells where the code is. */
	poke(im.phdr + (wide ? offsetof(Elf64_Phdr, p_filesz) : offsetof(Elf32_Phdr, p_filesz)), wide ? 8 : 4, 0);
	ck_assert_int_eq(read_debug_alone(), 0);
	ck_assert_str_eq(lookup(0x10c), "local+0x4");
	ck_assert(elf_symbols_vaddr(es, &m, m.start + 0x10c, &vaddr));
	ck_assert_uint_eq(vaddr, TEXT_ADDR + 0x10c);
	/* No further file has more symbols. */
	ck_assert(!elf_symbols_wants_debug(es));
	ck_assert(!elf_symbols_want_names(es));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf");
	TCase *tc = tcase_create("elf");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_placed, 0, ARRAY_SIZE(placed));
	tcase_add_loop_test(tc, test_formats, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(tc, test_unsegmented, 0, ARRAY_SIZE(unsegmented));
	tcase_add_loop_test(tc, test_big_endian, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(tc, test_owner, 0, ARRAY_SIZE(owners));
	tcase_add_loop_test(tc, test_alias, 0, ARRAY_SIZE(aliases));
	tcase_add_loop_test(tc, test_alias_in_file, 0, ARRAY_SIZE(aliases));
	tcase_add_loop_test(tc, test_broken, 0, ARRAY_SIZE(broken));
	tcase_add_loop_test(tc, test_truncated, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(tc, test_garbled, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(tc, test_any_layout, 0, unit_times(300));
	tcase_add_loop_test(tc, test_hard, 0, ARRAY_SIZE(hard));
	tcase_add_test(tc, test_many_labels);
	tcase_add_test(tc, test_not_a_file);
	tcase_add_loop_test(tc, test_build_id, 0, ARRAY_SIZE(noted));
	tcase_add_loop_test(tc, test_build_id_formats, 0, ARRAY_SIZE(formats));
	tcase_add_test(tc, test_build_id_of_no_elf);
	tcase_add_loop_test(tc, test_address_of, 0, ARRAY_SIZE(named));
	tcase_add_loop_test(tc, test_debug, 0, ARRAY_SIZE(debugs));
	tcase_add_loop_test(tc, test_debug_formats, 0, ARRAY_SIZE(formats));
	tcase_add_loop_test(tc, test_partial, 0, ARRAY_SIZE(partials));
	tcase_add_loop_test(tc, test_debug_builds, 0, 8);
	tcase_add_test(tc, test_debug_not_a_file);
	tcase_add_loop_test(tc, test_debug_alone, 0, ARRAY_SIZE(formats));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
