// SPDX-License-Identifier: Apache-2.0
/* Files without section headers: the dynamic section leads to their symbols. */
#include "core/files/elf.h"
#include "core/files/elf_dynamic.h"
#include "tests/elf_parse.h"
#include "tests/unit/unit.h"

#include <stddef.h>

#define BASE 0x400000u
#define SIZE 0x2000u /* of the file, all of which is one executable segment */
#define CODE 0x1000u

enum hash { HASH_SYSV = 1, HASH_GNU = 2 };

/* Offsets of the parts. */
#define AT_DYNAMIC 0x200u
#define AT_SYMBOLS 0x400u
#define AT_STRINGS 0x600u
#define AT_HASH    0x700u
#define AT_GNU     0x800u

static const char names[] = "\0undefined\0first\0second\0data\0absolute\0last";
#define NR_SYMBOLS 7

static const struct {
	uint32_t name, type;
	uint16_t section;
	uint32_t at, size;
} symbols[NR_SYMBOLS] = {
	{ 0, STT_NOTYPE, SHN_UNDEF, 0, 0 },
	{ 1, STT_FUNC, SHN_UNDEF, CODE, 0x10 },
	{ 11, STT_FUNC, 1, CODE, 0x10 },
	{ 17, STT_FUNC, 2, CODE + 0x10, 0x10 },
	{ 24, STT_OBJECT, 3, CODE + 0x20, 0x10 },
	{ 29, STT_FUNC, SHN_ABS, CODE + 0x30, 0x10 },
	{ 38, STT_GNU_IFUNC, 700, SIZE - 0x10, 0x100 },
};

/* Bucket 0 has the symbols from 4 on, bucket 1 has 2 and 3. The links are their hashes; an odd one ends a bucket. */
static const uint32_t gnu_hash[] = { 2, 2, 1, 0, /* bloom */ 0, 0, /* buckets */ 4, 2, /* links */ 2, 3, 4, 6, 7 };
static const uint32_t sysv_hash[] = { 1, NR_SYMBOLS, 2, 0, 3, 4, 5, 6, 0, 0 };

static unsigned char image[SIZE];
static size_t nr_entries;
static bool wide;
static struct elf_symbols *es;

static void put_entry(int64_t tag, uint64_t value)
{
	const Elf64_Dyn entry = { tag, { value } };
	const Elf32_Dyn narrow = { (Elf32_Sword)tag, { (Elf32_Word)value } };

	if (wide)
		memcpy(image + AT_DYNAMIC + nr_entries++ * sizeof(entry), &entry, sizeof(entry));
	else
		memcpy(image + AT_DYNAMIC + nr_entries++ * sizeof(narrow), &narrow, sizeof(narrow));
}

static void put_symbols(void)
{
	size_t i;

	for (i = 0; i < NR_SYMBOLS; i++) {
		const Elf64_Sym s = { symbols[i].name,
				      ELF64_ST_INFO(STB_GLOBAL, symbols[i].type),
				      0,
				      symbols[i].section,
				      BASE + symbols[i].at,
				      symbols[i].size };
		const Elf32_Sym n = { s.st_name, (Elf32_Addr)s.st_value, symbols[i].size, s.st_info, 0, s.st_shndx };

		if (wide)
			memcpy(image + AT_SYMBOLS + i * sizeof(s), &s, sizeof(s));
		else
			memcpy(image + AT_SYMBOLS + i * sizeof(n), &n, sizeof(n));
	}
}

static void put_head(void)
{
	Elf64_Ehdr e = { .e_type = ET_DYN, .e_machine = EM_X86_64, .e_phoff = 64, .e_phnum = 2, .e_phentsize = 56 };
	Elf32_Ehdr n = { .e_type = ET_DYN, .e_machine = EM_386, .e_phoff = 64, .e_phnum = 2, .e_phentsize = 32 };
	const Elf64_Phdr p[] = {
		{ PT_LOAD, PF_R | PF_X, 0, BASE, BASE, SIZE, SIZE, 0x1000 },
		{ PT_DYNAMIC, PF_R, AT_DYNAMIC, BASE + AT_DYNAMIC, BASE + AT_DYNAMIC, 0x100, 0x100, 8 },
	};
	const Elf32_Phdr q[] = {
		{ PT_LOAD, 0, BASE, BASE, SIZE, SIZE, PF_R | PF_X, 0x1000 },
		{ PT_DYNAMIC, AT_DYNAMIC, BASE + AT_DYNAMIC, BASE + AT_DYNAMIC, 0x100, 0x100, PF_R, 8 },
	};

	memcpy(e.e_ident, ELFMAG, SELFMAG);
	e.e_ident[EI_CLASS] = wide ? ELFCLASS64 : ELFCLASS32;
	e.e_ident[EI_DATA] = ELFDATA2LSB;
	memcpy(n.e_ident, e.e_ident, EI_NIDENT);
	memcpy(image, wide ? (void *)&e : &n, wide ? sizeof(e) : sizeof(n));
	memcpy(image + 64, wide ? (const void *)p : q, wide ? sizeof(p) : sizeof(q));
}

/* A file with the hash tables @hashes. */
static void build(int class, unsigned int hashes)
{
	const uint32_t bloom32[] = { gnu_hash[0], gnu_hash[1], 2, gnu_hash[3] }; /* two words of 32 bits */

	memset(image, 0, sizeof(image));
	wide = class == ELFCLASS64;
	nr_entries = 0;
	put_head();
	put_symbols();
	memcpy(image + AT_STRINGS, names, sizeof(names));
	memcpy(image + AT_HASH, sysv_hash, sizeof(sysv_hash));
	memcpy(image + AT_GNU, gnu_hash, sizeof(gnu_hash));
	if (!wide)
		memcpy(image + AT_GNU, bloom32, sizeof(bloom32));
	put_entry(DT_STRTAB, BASE + AT_STRINGS);
	put_entry(DT_SYMTAB, BASE + AT_SYMBOLS);
	put_entry(DT_STRSZ, sizeof(names));
	put_entry(DT_SYMENT, wide ? sizeof(Elf64_Sym) : sizeof(Elf32_Sym));
	if (hashes & HASH_SYSV)
		put_entry(DT_HASH, BASE + AT_HASH);
	if (hashes & HASH_GNU)
		put_entry(DT_GNU_HASH, BASE + AT_GNU);
	put_entry(DT_NULL, 0);
	put_entry(DT_SYMENT, 1); /* after the end of the section: ignored */
}

static void teardown(void)
{
	elf_symbols_free(es);
	es = NULL;
}

static const char *name(uint64_t at)
{
	struct elf_symbol s;

	return elf_symbols_find(es, BASE + at, &s) ? s.name : "-";
}

static void check_all(void)
{
	ck_assert_str_eq(name(CODE - 1), "-");
	ck_assert_str_eq(name(CODE), "first");
	ck_assert_str_eq(name(CODE + 0xf), "first");
	ck_assert_str_eq(name(CODE + 0x10), "second");
	ck_assert_str_eq(name(CODE + 0x20), "-"); /* data */
	ck_assert_str_eq(name(CODE + 0x30), "-"); /* at no address of the file */
	ck_assert_str_eq(name(SIZE - 1), "last");
	ck_assert_str_eq(name(SIZE), "-"); /* after the segment */
}

/* Each of both classes with each set of hash tables. */
START_TEST(test_hashes)
{
	uint64_t addr;

	build(_i % 2 ? ELFCLASS64 : ELFCLASS32, (unsigned int)_i / 2);
	ck_assert_int_eq(elf_symbols_parse(image, SIZE, &es), 0);
	check_all();
	ck_assert(elf_symbols_stripped(es) && elf_symbols_wants_debug(es));
	ck_assert(elf_symbols_address(es, "second", &addr));
	ck_assert_uint_eq(addr, BASE + CODE + 0x10);
	ck_assert_uint_eq(elf_symbols_read(es), _i / 2 ? NR_SYMBOLS : 0x200 / (wide ? 24 : 16));
}
END_TEST

#define ENTRY(n)       AT_DYNAMIC + (n)*16 + 8
#define PHDR(n, field) 64 + (n)*56 + offsetof(Elf64_Phdr, field)

/*
 * The first @width bytes of a value are written into the file. Expected: the result of parsing, and the name at CODE.
 */
static const struct {
	const char *what;
	unsigned int hashes;
	size_t at, width;
	uint64_t value;
	int rc;
	const char *found;
} broken[] = {
	{ "nothing", 3, 0, 0, 0, 0, "first" },
	{ "no dynamic section", 3, PHDR(1, p_type), 4, PT_NOTE, 0, "-" },
	{ "dynamic section nowhere", 3, PHDR(1, p_vaddr), 8, BASE - 8, 0, "-" },
	{ "dynamic section behind the file", 3, PHDR(1, p_vaddr), 8, BASE + SIZE, 0, "-" },
	{ "dynamic section wraps", 3, PHDR(1, p_vaddr), 8, UINT64_MAX - 7, 0, "-" },
	{ "dynamic section empty", 3, PHDR(1, p_memsz), 8, 0, 0, "first" },
	{ "dynamic section huge", 3, PHDR(1, p_filesz), 8, UINT64_MAX, 0, "first" },
	{ "no segments", 3, offsetof(Elf64_Ehdr, e_phnum), 2, 0, -ENOEXEC, NULL },
	{ "code is data", 3, PHDR(0, p_flags), 4, PF_R | PF_W, 0, "-" },
	{ "no strings", 3, AT_DYNAMIC, 8, DT_DEBUG, 0, "-" },
	{ "strings nowhere", 3, ENTRY(0), 8, BASE + SIZE, 0, "-" },
	{ "strings wrap", 3, ENTRY(0), 8, UINT64_MAX, 0, "-" },
	{ "symbols nowhere", 3, ENTRY(1), 8, BASE - 1, 0, "-" },
	{ "symbols at the end of the file", 3, ENTRY(1), 8, BASE + SIZE - 23, 0, "-" },
	{ "one byte of strings", 3, ENTRY(2), 8, 1, 0, "-" },
	{ "strings end within a name", 3, ENTRY(2), 8, 14, 0, "-" },
	{ "strings huge", 3, ENTRY(2), 8, UINT64_MAX, 0, "first" },
	{ "symbols of size 0", 3, ENTRY(3), 8, 0, 0, "-" },
	{ "symbols of another size", 3, ENTRY(3), 8, 16, 0, "-" },
	{ "hash table nowhere", 1, ENTRY(4), 8, BASE + SIZE, 0, "first" },
	{ "hash table cut", 1, ENTRY(4), 8, BASE + SIZE - 7, 0, "first" },
	{ "hash table nowhere, but another", 3, ENTRY(4), 8, BASE - 8, 0, "first" },
	{ "no symbols", 1, AT_HASH + 4, 4, 2, 0, "-" },
	{ "more symbols than bytes", 1, AT_HASH + 4, 4, UINT32_MAX, 0, "first" },
	{ "GNU hash table nowhere", 2, ENTRY(4), 8, UINT64_MAX, 0, "first" },
	{ "GNU hash table cut", 2, ENTRY(4), 8, BASE + SIZE - 15, 0, "first" },
	{ "many buckets", 2, AT_GNU, 4, UINT32_MAX, 0, "first" },
	{ "no buckets", 2, AT_GNU, 4, 0, 0, "-" },
	{ "more unhashed symbols", 2, AT_GNU + 4, 4, 5, 0, "first" },
	{ "many unhashed symbols", 2, AT_GNU + 4, 4, UINT32_MAX, 0, "first" },
	{ "large bloom filter", 2, AT_GNU + 8, 4, UINT32_MAX, 0, "first" },
	{ "last bucket far away", 2, AT_GNU + 24, 4, UINT32_MAX, 0, "first" },
	{ "last chain without an end", 2, AT_GNU + 48, 4, 2, 0, "first" },
};

START_TEST(test_broken)
{
	int rc;

	build(ELFCLASS64, broken[_i].hashes);
	memcpy(image + broken[_i].at, &broken[_i].value, broken[_i].width);
	rc = elf_symbols_parse(image, SIZE, &es);
	ck_assert_msg(rc == broken[_i].rc, "%s: %d", broken[_i].what, rc);
	if (!rc)
		ck_assert_msg(!strcmp(name(CODE), broken[_i].found), "%s: %s", broken[_i].what, name(CODE));
}
END_TEST

/* A file that is cut anywhere is parsed or refused; if CODE is left, its name is found. */
START_TEST(test_truncated)
{
	size_t len;
	int rc;

	for (len = SIZE - 1; len > 200; len -= 13) {
		build(ELFCLASS64, (unsigned int)_i);
		rc = elf_symbols_parse(image, len, &es);
		ck_assert(!rc || rc == -ENOEXEC);
		if (!rc && len > CODE)
			ck_assert_str_eq(name(CODE), "first");
		teardown();
	}
}
END_TEST

START_TEST(test_garbled)
{
	unsigned int seed = (unsigned int)_i + 1, i, nr = 1 + (unsigned int)rand_r(&seed) % 8;
	uint64_t at;

	build(_i % 2 ? ELFCLASS64 : ELFCLASS32, (unsigned int)_i / 2 % 4);
	for (i = 0; i < nr; i++) {
		const size_t parts[] = { 0, 64, AT_DYNAMIC, AT_SYMBOLS, AT_STRINGS, AT_HASH, AT_GNU };
		size_t where = parts[rand_r(&seed) % ARRAY_SIZE(parts)] + (size_t)rand_r(&seed) % 128;

		image[where] = (unsigned char)rand_r(&seed);
	}
	if (!elf_symbols_parse(image, SIZE, &es))
		for (at = 0; at < 2 * SIZE; at += 7)
			name(at);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_dynamic");
	TCase *tc = tcase_create("elf_dynamic");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_hashes, 0, 8);
	tcase_add_loop_test(tc, test_broken, 0, ARRAY_SIZE(broken));
	tcase_add_loop_test(tc, test_truncated, 0, 4);
	tcase_add_loop_test(tc, test_garbled, 0, unit_times(2000));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
