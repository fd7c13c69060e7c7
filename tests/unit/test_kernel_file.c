// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_file.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { FUNCTIONS = 10000, PIECES = 64 }; /* functions in 350 KB of text, and pieces of other kinds */

#define TEXT   0xffffffff81000000ULL
#define DATA   0xffffffff82000000ULL
#define MODULE 0xffffffffc0000000ULL

static struct kernel_file *f;
static char *dir, path[4096];

static void setup(void)
{
	f = NULL;
	dir = unit_tmpdir();
	snprintf(path, sizeof(path), "%s/kallsyms", dir);
}

static void teardown(void)
{
	kernel_file_free(f);
	unit_rmdir(dir);
}

/* @end: symbol at the end of the text, with its address; "": no end. @module: the name of a function after it. */
static void write_file(uint64_t base, const char *end, const char *module)
{
	FILE *out = fopen(path, "we");
	int i;

	ck_assert_ptr_nonnull(out);
	fprintf(out, "%016llx T _text\n", (unsigned long long)base);
	for (i = 0; i < FUNCTIONS; i++)
		fprintf(out, "%016llx t function_%05d\n", base ? (unsigned long long)base + i * 16ULL : 0, i);
	fputs(end, out);
	for (i = 0; i < FUNCTIONS; i++)
		fprintf(out, "%016llx d datum_%05d\n", base ? DATA + i * 16ULL : 0, i);
	fprintf(out, "%016llx T init_all\n", base ? DATA + 0x100000 : 0);
	fprintf(out, "%016llx t %s\t[mod]\n", base ? MODULE : 0, module);
	ck_assert_int_eq(fclose(out), 0);
}

static const char *lookup(uint64_t addr)
{
	static char text[256];
	struct kernel_symbol found;

	if (!kernel_file_find(f, addr, &found))
		return "-";
	snprintf(text, sizeof(text), "%s+0x%llx [%s]", found.name, (unsigned long long)(addr - found.start),
		 found.module);
	return text;
}

static const struct {
	const char *end;
	bool whole;
	const char *last, *module; /* symbols of the last function's and the module's addresses */
} files[] = {
	{ "ffffffff81027100 T _etext\n", false, "function_09999+0xf [kernel]", "new+0x1 [mod]" },
	{ "ffffffff81027100 T _etext\n", true, "function_09999+0xf [kernel]", "old+0x1 [mod]" },
	{ "", false, "function_09999+0xf [kernel]", "old+0x1 [mod]" },
	{ "", true, "function_09999+0xf [kernel]", "old+0x1 [mod]" },
	/* an end in a module, or before the text: not the end of text */
	{ "ffffffff81027100 T _etext\t[mod]\n", false, "function_09999+0xf [kernel]", "old+0x1 [mod]" },
	{ "ffffffff80000000 D _etext\n", false, "function_09999+0xf [kernel]", "old+0x1 [mod]" },
	{ "ffffffff81027100 T _etexts\n", false, "function_09999+0xf [kernel]", "old+0x1 [mod]" },
};

/* Symbols after the text are read only when needed. */
START_TEST(test_late)
{
	int pieces = 0;

	write_file(TEXT, files[_i].end, "old");
	ck_assert_int_eq(kernel_file_open(path, files[_i].whole, &f), 0);
	ck_assert_ptr_null(kernel_file_symbols(f));
	while (kernel_file_ahead(f))
		pieces++;
	ck_assert_int_gt(pieces, 1);
	ck_assert_int_lt(pieces, PIECES);
	ck_assert_ptr_nonnull(kernel_file_symbols(f));
	write_file(TEXT, files[_i].end, "new");
	ck_assert_str_eq(lookup(TEXT + 0x20), "function_00002+0x0 [kernel]");
	ck_assert_str_eq(lookup(TEXT + FUNCTIONS * 16 - 1), files[_i].last);
	ck_assert_str_eq(lookup(MODULE + 1), files[_i].module);
	ck_assert_str_eq(lookup(DATA + 0x100000), "init_all+0x0 [kernel]");
	ck_assert_str_eq(lookup(DATA), "-");
	ck_assert_str_eq(lookup(TEXT - 1), "-");
	ck_assert_str_eq(lookup(0x1000), "-");
	ck_assert_str_eq(lookup(TEXT + 0x20), "function_00002+0x0 [kernel]");
	ck_assert_int_eq(kernel_file_error(f), 0);
}
END_TEST

/* Without reading ahead: the same. */
START_TEST(test_at_once)
{
	write_file(TEXT, files[_i].end, "old");
	ck_assert_int_eq(kernel_file_open(path, files[_i].whole, &f), 0);
	ck_assert_str_eq(lookup(MODULE + 1), "old+0x1 [mod]");
	ck_assert_str_eq(lookup(TEXT + FUNCTIONS * 16 - 1), files[_i].last);
}
END_TEST

/* Of several names at the end of the text the first one counts, as for all addresses, in any part of the file. */
START_TEST(test_text_end)
{
	static const struct {
		const char *end, *found;
	} ends[] = {
		{ "ffffffff81027100 T _etext\nffffffff81027100 T later\n", "_etext" },
		{ "ffffffff81027100 T first\nffffffff81027100 T _etext\nffffffff81027100 T later\n", "first" },
		{ "ffffffff81027100 T _etext\nffffffff81027100 R rodata\n", "_etext" },
	};
	char want[64];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ends); i++) {
		write_file(TEXT, ends[i].end, "old");
		ck_assert_int_eq(kernel_file_open(path, _i, &f), 0);
		snprintf(want, sizeof(want), "%s+0x0 [kernel]", ends[i].found);
		ck_assert_str_eq(lookup(TEXT + FUNCTIONS * 16), want);
		snprintf(want, sizeof(want), "%s+0x1 [kernel]", ends[i].found);
		ck_assert_str_eq(lookup(TEXT + FUNCTIONS * 16 + 1), want);
		ck_assert_str_eq(lookup(TEXT + FUNCTIONS * 16 - 1), "function_09999+0xf [kernel]");
		kernel_file_free(f);
		f = NULL;
	}
}
END_TEST

START_TEST(test_shows)
{
	write_file(_i ? TEXT : 0, "", "old");
	ck_assert_int_eq(kernel_file_open(path, false, &f), 0);
	ck_assert_int_eq(kernel_file_shows(f), _i);
	ck_assert(kernel_file_ahead(f)); /* it has not read everything */
	ck_assert_int_eq(kernel_file_shows(f), _i);
	ck_assert_int_eq(kernel_file_text(f), 0);
	ck_assert_int_eq(kernel_file_shows(f), _i);
}
END_TEST

START_TEST(test_hidden)
{
	write_file(0, "0000000000000000 T _etext\n", "old");
	ck_assert_int_eq(kernel_file_open(path, false, &f), 0);
	ck_assert_int_eq(kernel_file_text(f), 0);
	ck_assert(kernel_symbols_zeroed(kernel_file_symbols(f)));
	ck_assert_str_eq(lookup(TEXT), "-");
	ck_assert_str_eq(lookup(MODULE), "-");
}
END_TEST

START_TEST(test_refused)
{
	ck_assert_int_eq(kernel_file_open(path, _i, &f), -ENOENT);
	ck_assert_int_eq(kernel_file_open(dir, _i, &f), -EISDIR);
	ck_assert_int_eq(kernel_file_open("/dev/zero", _i, &f), -EINVAL);
	ck_assert_ptr_null(f);
	/* larger than any real file, without taking room */
	unit_write(dir, "kallsyms", "", 0);
	ck_assert_int_eq(truncate(path, 3LL << 30), 0);
	ck_assert_int_eq(kernel_file_open(path, _i, &f), 0);
	ck_assert_int_eq(kernel_file_text(f), -EFBIG);
	ck_assert_int_eq(kernel_file_error(f), -EFBIG);
	ck_assert(!kernel_file_ahead(f));
	ck_assert_str_eq(lookup(TEXT), "-");
}
END_TEST

/* The text stays known if the rest cannot be read. */
START_TEST(test_rest_fails)
{
	static const char text[] = "ffffffff81000000 T _text\nffffffff81000100 T _etext\nffffffff81000100 D data\n";
	int ends[2];

	ck_assert_int_eq(pipe2(ends, O_CLOEXEC | O_NONBLOCK), 0);
	ck_assert_int_eq(write(ends[1], text, strlen(text)), strlen(text));
	ck_assert_int_eq(kernel_file_adopt(ends[0], false, &f), 0);
	ck_assert_int_eq(kernel_file_text(f), 0);
	ck_assert_str_eq(lookup(MODULE), "-");
	ck_assert_int_eq(kernel_file_error(f), -EAGAIN);
	ck_assert_str_eq(lookup(TEXT + 1), "_text+0x1 [kernel]");
	close(ends[1]);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel_file");
	TCase *tc = tcase_create("kernel_file");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_late, 0, ARRAY_SIZE(files));
	tcase_add_loop_test(tc, test_at_once, 0, ARRAY_SIZE(files));
	tcase_add_loop_test(tc, test_text_end, 0, 2);
	tcase_add_loop_test(tc, test_shows, 0, 2);
	tcase_add_test(tc, test_hidden);
	tcase_add_loop_test(tc, test_refused, 0, 2);
	tcase_add_test(tc, test_rest_fails);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
