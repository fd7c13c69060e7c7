// SPDX-License-Identifier: Apache-2.0
/* The names of stripped Go programs, in each layout of .gopclntab. */
#include "core/files/elf.h"
#include "tests/elf_parse.h"
#include "tests/unit/elf_sections.h"

#define TEXT      0x401000u
#define TEXT_LEN  0x1000u
#define FUNCTIONS 3

enum layout { GO_2, GO_16, GO_18, GO_20 };

static const struct {
	const char *name;
	uint32_t at; /* from TEXT on; the last one ends at 0x500 */
} functions[FUNCTIONS] = { { "runtime.text", 0 }, { "main.main", 0x100 }, { "main.(*T).Run", 0x180 } };

static struct image table, im;
static size_t functab, records[FUNCTIONS], names;
static struct elf_symbols *es;

static void put(uint64_t value, size_t size)
{
	image_put(&table, &value, size); /* little endian, as all machines this is built on */
}

static void set(size_t at, uint64_t value, size_t size)
{
	memcpy(table.bytes + at, &value, size);
}

static void put_header(enum layout layout, size_t ptr)
{
	static const uint32_t magics[] = { 0xfffffffb, 0xfffffffa, 0xfffffff0, 0xfffffff1 };

	put(magics[layout], 4);
	put(0, 2);
	put(1, 1);
	put(ptr, 1);
	put(FUNCTIONS, ptr);
}

/* Records: where the function begins, the offset of its name, and more. */
static void put_records(size_t word, size_t base, const uint32_t *name)
{
	size_t i;

	for (i = 0; i < FUNCTIONS; i++) {
		records[i] = table.len;
		set(functab + (2 * i + 1) * word, table.len - base, word);
		put(functions[i].at, word);
		put(name[i], 4);
		put(0x5a5a5a5a, 4);
		put(0x5a5a5a5a, word);
	}
}

static void put_list(size_t word, uint64_t start)
{
	size_t i;

	functab = table.len;
	for (i = 0; i < FUNCTIONS; i++) {
		put(start + functions[i].at, word);
		put(0, word);
	}
	put(start + 0x500, word);
}

/* @start: in the header, where the layout has it */
static void build_table(enum layout layout, size_t ptr, uint64_t start)
{
	size_t words = layout == GO_2 ? 0 : layout == GO_16 ? 6 : 7, i, header, base = 0;
	bool offsets = layout >= GO_18;
	uint32_t name[FUNCTIONS];

	table = (struct image){ 0 };
	put_header(layout, ptr);
	header = table.len;
	for (i = 0; i < words; i++)
		put(0, ptr);
	if (layout != GO_2) {
		names = table.len;
		for (i = 0; i < FUNCTIONS; i++)
			name[i] =
				(uint32_t)(image_put(&table, functions[i].name, strlen(functions[i].name) + 1) - names);
		while (table.len % 8)
			put(0, 1);
		base = table.len;
	}
	put_list(offsets ? 4 : ptr, offsets ? 0 : TEXT);
	put_records(offsets ? 4 : ptr, base, name);
	if (layout == GO_2) {
		for (i = 0; i < FUNCTIONS; i++)
			set(records[i] + ptr, image_put(&table, functions[i].name, strlen(functions[i].name) + 1), 4);
		return;
	}
	header += ptr; /* the number of files */
	if (offsets) {
		set(header, start, ptr);
		header += ptr;
	}
	set(header, names, ptr);
	for (i = 1; i < 4; i++)
		set(header + i * ptr, base, ptr);
	set(header + 4 * ptr, base, ptr);
}

/* The table as @section of a program without symbols. Return: as elf_symbols_parse() */
static int parse(const char *section)
{
	static const unsigned char code[TEXT_LEN];
	const struct section v[] = {
		{ ".text", { 0, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, .sh_size = TEXT_LEN }, code },
		{ section, { 0, SHT_PROGBITS, SHF_ALLOC, 0x500000, .sh_size = table.len }, table.bytes },
	};

	sections_build(&im, v, ARRAY_SIZE(v));
	return elf_symbols_parse(im.bytes, im.len, &es);
}

static void teardown(void)
{
	elf_symbols_free(es);
	es = NULL;
	image_release(&table);
	image_release(&im);
}

static const char *lookup(uint64_t at)
{
	return elf_symbol_at(es, TEXT + at);
}

START_TEST(test_layouts)
{
	enum layout layout = (enum layout)(_i / 2 % 4);
	bool moved = _i / 8 && layout >= GO_18;
	uint64_t read;

	build_table(layout, _i % 2 ? 8 : 4, moved ? 0 : TEXT);
	ck_assert_int_eq(parse(_i / 8 ? ".data.rel.ro.gopclntab" : ".gopclntab"), 0);
	ck_assert(elf_symbols_stripped(es));
	read = elf_symbols_read(es);
	ck_assert_str_eq(lookup(0), "runtime.text+0x0");
	ck_assert_str_eq(lookup(0xff), "runtime.text+0xff");
	ck_assert_str_eq(lookup(0x100), "main.main+0x0");
	ck_assert_str_eq(lookup(0x1ff), "main.(*T).Run+0x7f");
	ck_assert_str_eq(lookup(0x4ff), "main.(*T).Run+0x37f");
	ck_assert_str_eq(lookup(0x500), "-");
	ck_assert_str_eq(lookup((uint64_t)-1), "-");
	ck_assert_uint_eq(elf_symbols_read(es), read + FUNCTIONS);
}
END_TEST

START_TEST(test_other_section)
{
	build_table(GO_20, 8, TEXT);
	ck_assert_int_eq(parse(".rodata"), 0);
	ck_assert_str_eq(lookup(0x100), "-");
}
END_TEST

/* In the layout of Go 1.20, a value is set in the header, the list (@part 1), or the second record (@part 2). */
static const struct {
	const char *what;
	size_t part, at, size;
	uint64_t value;
	const char *found; /* at 0x104 */
} broken[] = {
	{ "nothing", 0, 6, 1, 1, "main.main+0x4" },
	{ "magic", 0, 0, 4, 0xfffffff2, "-" },
	{ "padding", 0, 4, 1, 1, "-" },
	{ "bytes of an address", 0, 7, 1, 2, "-" },
	{ "bytes of an address", 0, 7, 1, 255, "-" },
	{ "no functions", 0, 8, 8, 0, "-" },
	{ "fewer functions", 0, 8, 8, 1, "-" },
	{ "too many functions", 0, 8, 8, 10000, "-" },
	{ "as many functions as numbers", 0, 8, 8, UINT64_MAX, "-" },
	{ "code elsewhere", 0, 24, 8, TEXT + 0x1000, "-" },
	{ "names elsewhere", 0, 32, 8, UINT64_MAX, "-" },
	{ "names behind their end", 0, 32, 8, 1 << 20, "-" },
	{ "names end before", 0, 40, 8, 1, "-" },
	{ "names end behind the section", 0, 40, 8, 1 << 20, "-" },
	{ "list elsewhere", 0, 64, 8, 1 << 20, "-" },
	{ "list at the end of memory", 0, 64, 8, UINT64_MAX - 3, "-" },
	{ "function behind the next one", 1, 8, 4, 0x200, "runtime.text+0x104" },
	{ "function at the next one", 1, 8, 4, 0x180, "runtime.text+0x104" },
	{ "record elsewhere", 1, 12, 4, UINT32_MAX, "-" },
	{ "record before the first", 1, 12, 4, 0, "-" },
	{ "record not aligned", 1, 12, 4, 33, "-" },
	{ "name elsewhere", 2, 4, 4, UINT32_MAX, "-" },
	{ "name within another", 2, 4, 4, 8, "text+0x4" },
	{ "empty name", 2, 4, 4, 12, "-" },
};

START_TEST(test_broken)
{
	size_t part;

	build_table(GO_20, 8, TEXT);
	part = broken[_i].part == 0 ? 0 : broken[_i].part == 1 ? functab : records[1];
	set(part + broken[_i].at, broken[_i].value, broken[_i].size);
	ck_assert_int_eq(parse(".gopclntab"), 0);
	ck_assert_msg(!strcmp(lookup(0x104), broken[_i].found), "%s: %s", broken[_i].what, lookup(0x104));
}
END_TEST

START_TEST(test_cut)
{
	size_t len;

	for (len = 0; len < 200; len++) {
		build_table((enum layout)(_i / 2), _i % 2 ? 8 : 4, TEXT);
		if (len < table.len)
			table.len = len;
		ck_assert_int_eq(parse(".gopclntab"), 0);
		lookup(0x104);
		teardown();
	}
}
END_TEST

START_TEST(test_garbled)
{
	unsigned int seed = (unsigned int)_i + 1, i, nr;
	uint64_t at;

	build_table((enum layout)(_i / 2 % 4), _i % 2 ? 8 : 4, TEXT);
	nr = 1 + (unsigned int)rand_r(&seed) % 4;
	for (i = 0; i < nr; i++)
		table.bytes[4 + (size_t)rand_r(&seed) % (table.len - 4)] = (unsigned char)rand_r(&seed);
	ck_assert_int_eq(parse(".gopclntab"), 0);
	for (at = 0; at < 0x600; at += 0x20)
		lookup(at);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("elf_go");
	TCase *tc = tcase_create("elf_go");

	tcase_add_checked_fixture(tc, NULL, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_layouts, 0, 16);
	tcase_add_test(tc, test_other_section);
	tcase_add_loop_test(tc, test_broken, 0, ARRAY_SIZE(broken));
	tcase_add_loop_test(tc, test_cut, 0, 8);
	tcase_add_loop_test(tc, test_garbled, 0, unit_times(1000));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
