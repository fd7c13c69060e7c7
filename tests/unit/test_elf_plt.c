// SPDX-License-Identifier: Apache-2.0
#include "core/base/faults.h"
#include "core/files/elf.h"
#include "tests/elf_parse.h"
#include "tests/unit/elf_sections.h"
#include "tests/unit/failing_memory.h"

#include <stddef.h>

#define CODE_ADDR 0x401000u /* .text: the resolver of an indirect function */
#define PLT_ADDR  0x402000u
#define SLOT      0x404018u

enum { CODE = 1, SYMTAB, STRTAB, DYNSYM, DYNSTR, RELA_DYN, RELA_PLT, PLT, NAMES };

static const char dynstr[] = "\0puts\0free";
static const char strtab[] = "\0chosen";

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

/* A table called @name with @len bytes of @code, and the relocations of SLOT: @plt in .rela.plt, @dyn in .rela.dyn. */
static void build(const char *name, const void *code, size_t len, Elf64_Rela plt, Elf64_Rela dyn)
{
	static const unsigned char text[64];
	const Elf64_Sym dynsym[] = { { 0 }, { .st_name = 1 }, { .st_name = 6 }, { .st_name = 0 }, { .st_name = 99 } };
	const Elf64_Sym symtab[] = {
		{ 0 },
		{ 1, ELF64_ST_INFO(STB_LOCAL, STT_GNU_IFUNC), 0, CODE, CODE_ADDR + 16, 16 },
	};
	const Elf64_Rela relas[] = { { SLOT + 8, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0 }, plt };
	const struct section v[] = {
		{ ".text", { 0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE_ADDR, .sh_size = sizeof(text) }, text },
		{ ".symtab",
		  { .sh_type = SHT_SYMTAB, .sh_size = sizeof(symtab), .sh_link = STRTAB, .sh_entsize = 24 },
		  symtab },
		{ ".strtab", { .sh_type = SHT_STRTAB, .sh_size = sizeof(strtab) }, strtab },
		{ ".dynsym",
		  { .sh_type = SHT_DYNSYM, .sh_size = sizeof(dynsym), .sh_link = DYNSTR, .sh_entsize = 24 },
		  dynsym },
		{ ".dynstr", { .sh_type = SHT_STRTAB, .sh_size = sizeof(dynstr) }, dynstr },
		{ ".rela.dyn", { .sh_type = SHT_RELA, .sh_flags = SHF_ALLOC, .sh_size = sizeof(dyn) }, &dyn },
		{ ".rela.plt", { .sh_type = SHT_RELA, .sh_flags = SHF_ALLOC, .sh_size = sizeof(relas) }, relas },
		{ name, { 0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PLT_ADDR, .sh_size = len }, code },
	};

	sections_build(&im, v, ARRAY_SIZE(v));
}

/* Write the displacement to @slot after the jump's opcode at @jump. */
static void aim(unsigned char *code, size_t jump, uint64_t slot)
{
	int32_t to = (int32_t)(slot - (PLT_ADDR + jump + 6));

	memcpy(code + jump + 2, &to, sizeof(to));
}

static const char *lookup(uint64_t addr)
{
	return elf_symbol_at(es, addr);
}

#define JUMP     "\xff\x25\0\0\0\0"
#define PUSH     "\x68\0\0\0\0"
#define ENDBR64  "\xf3\x0f\x1e\xfa"
#define NOP2     "\x66\x90"
#define BYTES(s) s, sizeof(s) - 1

/* Code whose jump at @jump goes through SLOT, and the symbols at two of its bytes. */
static const struct {
	const char *what, *section, *code;
	size_t len, jump, at;
	const char *found;
	size_t at2;
	const char *found2;
} forms[] = {
	{ "lazy", ".plt", BYTES(JUMP PUSH "\xe9\0\0\0\0"), 0, 0, "puts@plt+0x0", 15, "puts@plt+0xf" },
	{ "lazy, after the first", ".plt", BYTES("\xff\x35\0\0\0\0" JUMP "\x0f\x1f\x40\0" JUMP PUSH "\xe9\0\0\0\0"), 16,
	  16, "puts@plt+0x0", 15, "-" },
	{ "static", ".plt", BYTES(JUMP NOP2 JUMP NOP2), 8, 8, "puts@plt+0x0", 7, "-" },
	{ "half", ".plt.got", BYTES(JUMP NOP2), 0, 7, "puts@plt+0x7", 8, "-" },
	{ "two halves", ".plt.got", BYTES(JUMP NOP2 JUMP NOP2), 0, 7, "puts@plt+0x7", 8, "-" },
	{ "bnd", ".plt.sec", BYTES("\xf2" JUMP "\x90"), 1, 0, "puts@plt+0x0", 8, "-" },
	{ "marked", ".plt.sec", BYTES(ENDBR64 JUMP "\x66\x0f\x1f\x44\0\0"), 4, 0, "puts@plt+0x0", 15, "puts@plt+0xf" },
	{ "marked, bnd", ".plt.sec", BYTES(ENDBR64 "\xf2" JUMP "\x0f\x1f\x44\0\0"), 5, 15, "puts@plt+0xf", 16, "-" },
	{ "marked, numbered", ".plt", BYTES(ENDBR64 "\x41\xbb\0\0\0\0" JUMP), 10, 0, "puts@plt+0x0", 15,
	  "puts@plt+0xf" },
	{ "of indirect functions", ".iplt", BYTES(JUMP PUSH "\xe9\0\0\0\0"), 0, 8, "puts@plt+0x8", 16, "-" },
	{ "cut after the jump", ".plt", BYTES(JUMP), 0, 5, "puts@plt+0x5", 6, "-" },
	/* not an entry */
	{ "nothing", ".plt", BYTES(""), 0, 0, "-", 8, "-" },
	{ "cut", ".plt", BYTES("\xff\x25\0\0\0"), 0, 0, "-", 8, "-" },
	{ "cut after the mark", ".plt.sec", BYTES(ENDBR64), 0, 0, "-", 3, "-" },
	{ "marked and cut", ".plt.sec", BYTES(ENDBR64 "\xff\x25\0\0\0"), 4, 0, "-", 8, "-" },
	{ "half a number", ".plt", BYTES(ENDBR64 "\x41\xbb\0\0\0"), 0, 0, "-", 8, "-" },
	{ "a call", ".plt", BYTES("\xff\x15\0\0\0\0" NOP2), 0, 0, "-", 8, "-" },
	{ "a push", ".plt", BYTES("\xff\x35\0\0\0\0" NOP2), 0, 0, "-", 8, "-" },
	{ "of 32 bits", ".plt", BYTES("\xff\xa3\0\0\0\0" NOP2), 0, 0, "-", 8, "-" },
	{ "marked for 32 bits", ".plt", BYTES("\xf3\x0f\x1e\xfb" JUMP "\x66\x0f\x1f\x44\0\0"), 4, 0, "-", 15, "-" },
	{ "not aligned", ".plt", BYTES("\x90" JUMP "\x90"), 1, 0, "-", 1, "-" },
	{ "marked in its second half", ".plt", BYTES(ENDBR64 "\x90\x90\x90\x90" JUMP NOP2), 8, 0, "-", 8, "-" },
	{ "in code", ".text", BYTES(JUMP PUSH "\xe9\0\0\0\0"), 0, 0, "-", 8, "-" },
	{ "in another table", ".plt.other", BYTES(JUMP PUSH "\xe9\0\0\0\0"), 0, 0, "-", 8, "-" },
	{ "in a longer name", ".plt.got.and.more", BYTES(JUMP NOP2), 0, 0, "-", 7, "-" },
};

START_TEST(test_form)
{
	unsigned char code[64] = { 0 };

	memcpy(code, forms[_i].code, forms[_i].len);
	if (forms[_i].len > forms[_i].jump + 5)
		aim(code, forms[_i].jump, SLOT);
	build(forms[_i].section, code, forms[_i].len, (Elf64_Rela){ SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 },
	      (Elf64_Rela){ 0 });
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	ck_assert_msg(!strcmp(lookup(PLT_ADDR + forms[_i].at), forms[_i].found), "%s: %s", forms[_i].what,
		      lookup(PLT_ADDR + forms[_i].at));
	ck_assert_msg(!strcmp(lookup(PLT_ADDR + forms[_i].at2), forms[_i].found2), "%s: %s", forms[_i].what,
		      lookup(PLT_ADDR + forms[_i].at2));
	ck_assert_str_eq(lookup(CODE_ADDR + 16), "chosen+0x0");
}
END_TEST

/* The relocation that fills the slot. */
static const struct {
	Elf64_Rela plt, dyn;
	const char *found;
} fills[] = {
	{ { SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "puts@plt+0x0" },
	{ { SLOT, ELF64_R_INFO(2, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "free@plt+0x0" },
	{ { 0 }, { SLOT, ELF64_R_INFO(2, R_X86_64_GLOB_DAT), 0 }, "free@plt+0x0" },
	{ { SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 },
	  { SLOT, ELF64_R_INFO(2, R_X86_64_GLOB_DAT), 0 },
	  "puts@plt+0x0" },
	{ { SLOT, R_X86_64_IRELATIVE, CODE_ADDR + 16 }, { 0 }, "chosen@plt+0x0" },
	{ { 0 }, { SLOT, R_X86_64_IRELATIVE, CODE_ADDR + 16 }, "chosen@plt+0x0" },
	{ { SLOT, ELF64_R_INFO(1, R_X86_64_IRELATIVE), CODE_ADDR + 16 }, { 0 }, "chosen@plt+0x0" },
	/* none */
	{ { 0 }, { 0 }, "-" },
	{ { SLOT - 8, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" },
	{ { SLOT + 1, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" },
	{ { UINT64_MAX, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" },
	{ { SLOT, ELF64_R_INFO(1, R_X86_64_RELATIVE), 0 }, { 0 }, "-" },
	{ { SLOT, ELF64_R_INFO(1, R_X86_64_64), 0 }, { 0 }, "-" },
	{ { SLOT, ELF64_R_INFO(1, R_X86_64_COPY), 0 }, { 0 }, "-" },
	{ { SLOT, ELF64_R_INFO(0, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" },
	{ { SLOT, ELF64_R_INFO(3, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" }, /* without name */
	{ { SLOT, ELF64_R_INFO(4, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" }, /* the name is outside of the strings */
	{ { SLOT, ELF64_R_INFO(5, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" }, /* the symbol is outside of the table */
	{ { SLOT, ELF64_R_INFO(UINT32_MAX, R_X86_64_JUMP_SLOT), 0 }, { 0 }, "-" },
	{ { SLOT, R_X86_64_IRELATIVE, 0 }, { 0 }, "-" },
	{ { SLOT, R_X86_64_IRELATIVE, -1 }, { 0 }, "-" },
	{ { SLOT, R_X86_64_IRELATIVE, CODE_ADDR }, { 0 }, "-" },      /* before the function */
	{ { SLOT, R_X86_64_IRELATIVE, CODE_ADDR + 17 }, { 0 }, "-" }, /* in the middle of the function */
	{ { SLOT, R_X86_64_IRELATIVE, PLT_ADDR }, { 0 }, "-" },       /* the PLT itself */
};

static void build_lazy(Elf64_Rela plt, Elf64_Rela dyn)
{
	unsigned char code[] = JUMP PUSH "\xe9\0\0\0";

	aim(code, 0, SLOT);
	build(".plt", code, sizeof(code), plt, dyn);
}

START_TEST(test_fill)
{
	build_lazy(fills[_i].plt, fills[_i].dyn);
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	ck_assert_str_eq(lookup(PLT_ADDR), fills[_i].found);
	ck_assert_str_eq(lookup(PLT_ADDR + 16), "-");
	ck_assert_str_eq(lookup(PLT_ADDR - 1), "-");
}
END_TEST

#define EHDR(field) offsetof(Elf64_Ehdr, field), sizeof(((Elf64_Ehdr *)0)->field)
#define SHDR(sec, field)                                                                                               \
	0x20000 + (sec) * sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, field), sizeof(((Elf64_Shdr *)0)->field)

/* One field of a good file is set to a value. */
static const struct {
	const char *what;
	size_t where, width;
	uint64_t value;
	const char *found;
} broken[] = {
	{ "nothing", EHDR(e_version), 1, "puts@plt+0x0" },
	{ "machine", EHDR(e_machine), EM_386, "-" },
	{ "no names", EHDR(e_shstrndx), 0, "-" },
	{ "names in no section", EHDR(e_shstrndx), NAMES + 1, "-" },
	{ "names elsewhere", EHDR(e_shstrndx), SHN_XINDEX, "-" },
	{ "names in code", EHDR(e_shstrndx), CODE, "-" },
	{ "names compressed", SHDR(NAMES, sh_flags), SHF_COMPRESSED, "-" },
	{ "names beyond the file", SHDR(NAMES, sh_offset), 1 << 20, "-" },
	{ "names huge", SHDR(NAMES, sh_size), UINT64_MAX, "-" },
	{ "names empty", SHDR(NAMES, sh_size), 0, "-" },
	{ "name outside", SHDR(PLT, sh_name), UINT32_MAX, "-" },
	{ "table's type", SHDR(PLT, sh_type), SHT_NOBITS, "-" },
	{ "table not executable", SHDR(PLT, sh_flags), SHF_ALLOC, "-" },
	{ "table not loaded", SHDR(PLT, sh_flags), SHF_EXECINSTR, "-" },
	{ "table compressed", SHDR(PLT, sh_flags), SHF_ALLOC | SHF_EXECINSTR | SHF_COMPRESSED, "-" },
	{ "table beyond the file", SHDR(PLT, sh_offset), 1 << 20, "-" },
	{ "table huge", SHDR(PLT, sh_size), UINT64_MAX, "-" },
	{ "table a little too long", SHDR(PLT, sh_size), 64, "puts@plt+0x0" },
	{ "table elsewhere", SHDR(PLT, sh_addr), PLT_ADDR + 8, "-" },
	{ "table at the end of the address space", SHDR(PLT, sh_addr), UINT64_MAX - 15, "-" },
	{ "table around the end of the address space", SHDR(PLT, sh_addr), UINT64_MAX - 7, "-" },
	{ "relocations' type", SHDR(RELA_PLT, sh_type), SHT_REL, "-" },
	{ "relocations not loaded", SHDR(RELA_PLT, sh_flags), 0, "-" },
	{ "relocations beyond the file", SHDR(RELA_PLT, sh_offset), 1 << 20, "-" },
	{ "relocations beside", SHDR(RELA_PLT, sh_offset), 8, "-" },
	{ "relocations huge", SHDR(RELA_PLT, sh_size), UINT64_MAX, "-" },
	{ "relocations cut", SHDR(RELA_PLT, sh_size), 47, "-" },
	{ "relocations empty", SHDR(RELA_PLT, sh_size), 0, "-" },
	{ "relocations of any entry size", SHDR(RELA_PLT, sh_entsize), 1, "puts@plt+0x0" },
	{ "no symbols", SHDR(DYNSYM, sh_type), SHT_NULL, "-" },
	{ "symbols cut", SHDR(DYNSYM, sh_size), 47, "-" },
	{ "symbols beyond the file", SHDR(DYNSYM, sh_offset), 1 << 20, "-" },
	{ "symbols' entry size", SHDR(DYNSYM, sh_entsize), 8, "-" },
	{ "no strings", SHDR(DYNSYM, sh_link), 0, "-" },
	{ "strings cut", SHDR(DYNSTR, sh_size), 5, "-" },
};

START_TEST(test_broken)
{
	size_t at = broken[_i].where & 0xffff;

	build_lazy((Elf64_Rela){ SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 }, (Elf64_Rela){ 0 });
	memcpy(im.bytes + at + (broken[_i].where >> 16 ? im.shdr : 0), &broken[_i].value, broken[_i].width);
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	ck_assert_msg(!strcmp(lookup(PLT_ADDR), broken[_i].found), "%s: %s", broken[_i].what, lookup(PLT_ADDR));
	ck_assert_str_eq(lookup(CODE_ADDR + 16), "chosen+0x0");
}
END_TEST

/* Write @nr entries of 8 bytes that jump through @slot. */
static void put_jumps(unsigned char *code, size_t nr, uint64_t slot)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		memcpy(code + 8 * i, JUMP NOP2, 8);
		aim(code, 8 * i, slot);
	}
}

/* Very many entries through one slot that has very many relocations: must be fast. */
START_TEST(test_hard)
{
	const size_t nr = 200000;
	Elf64_Rela *relas = calloc(nr, sizeof(*relas));
	unsigned char *code = calloc(nr, 8);
	struct section v[] = {
		{ ".dynsym", { .sh_type = SHT_DYNSYM, .sh_size = 48, .sh_link = 2, .sh_entsize = 24 }, NULL },
		{ ".dynstr", { .sh_type = SHT_STRTAB, .sh_size = sizeof(dynstr) }, dynstr },
		{ ".rela.plt", { .sh_type = SHT_RELA, .sh_flags = SHF_ALLOC, .sh_size = nr * sizeof(*relas) }, relas },
		{ ".plt", { 0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, PLT_ADDR, .sh_size = nr * 8 }, code },
	};
	const Elf64_Sym dynsym[] = { { 0 }, { .st_name = 1 } };
	size_t i;

	ck_assert_ptr_nonnull(relas);
	ck_assert_ptr_nonnull(code);
	for (i = 0; i < nr; i++)
		relas[i] = (Elf64_Rela){ PLT_ADDR, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 };
	put_jumps(code, nr, PLT_ADDR);
	v[0].data = dynsym;
	sections_build(&im, v, ARRAY_SIZE(v));
	free(relas);
	free(code);
	ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
	for (i = 0; i < nr; i++)
		ck_assert_str_eq(lookup(PLT_ADDR + 8 * i + 7), "puts@plt+0x7");
}
END_TEST

/* If memory ends while a table is read, none of its entries has a name, and that is counted. */
START_TEST(test_no_memory)
{
	enum { NR = 100 };
	unsigned char code[8 * NR];
	size_t nr, i, nameless = 0;
	bool failed = true;

	put_jumps(code, NR, SLOT);
	build(".plt", code, sizeof(code), (Elf64_Rela){ SLOT, ELF64_R_INFO(1, R_X86_64_JUMP_SLOT), 0 },
	      (Elf64_Rela){ 0 });
	for (nr = 0; failed; nr++) {
		uint64_t nr_faults;

		elf_symbols_free(es);
		ck_assert_int_eq(elf_symbols_parse(im.bytes, im.len, &es), 0);
		ck_assert_str_eq(lookup(CODE_ADDR + 16), "chosen+0x0"); /* the symbols are sorted from here on */
		nr_faults = faults.nr;
		memory_fail_after(nr, false);
		lookup(PLT_ADDR);
		failed = memory_restore();
		nr_faults = faults.nr - nr_faults;
		if (!strcmp(lookup(PLT_ADDR), "-")) {
			ck_assert_uint_eq(nr_faults, 1);
			nameless++;
		}
		for (i = 0; i < NR; i++)
			ck_assert_str_eq(lookup(PLT_ADDR + 8 * i), nameless > nr ? "-" : "puts@plt+0x0");
	}
	ck_assert_uint_gt(nameless, 4);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_plt");
	TCase *tc = tcase_create("elf_plt");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_form, 0, ARRAY_SIZE(forms));
	tcase_add_loop_test(tc, test_fill, 0, ARRAY_SIZE(fills));
	tcase_add_loop_test(tc, test_broken, 0, ARRAY_SIZE(broken));
	tcase_add_test(tc, test_hard);
	tcase_add_test(tc, test_no_memory);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
