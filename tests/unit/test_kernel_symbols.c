// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel.h"
#include "tests/unit/unit.h"

static struct kernel_symbols *ks;

static void setup(void)
{
	ks = kernel_symbols_new();
	ck_assert_ptr_nonnull(ks);
}

static void teardown(void)
{
	kernel_symbols_free(ks);
}

static void feed(const char *text, size_t len, size_t piece)
{
	for (; len > piece; text += piece, len -= piece)
		ck_assert_int_eq(kernel_symbols_feed(ks, text, piece), 0);
	ck_assert_int_eq(kernel_symbols_feed(ks, text, len), 0);
	ck_assert_int_eq(kernel_symbols_finish(ks), 0);
}

/* "name+0xoffset [module]", "-" if there is none. */
static const char *lookup(uint64_t addr)
{
	static char text[1024];
	struct kernel_symbol s;

	if (!kernel_symbols_find(ks, addr, &s))
		return "-";
	snprintf(text, sizeof(text), "%s+0x%llx [%s]", s.name, (unsigned long long)(addr - s.start), s.module);
	return text;
}

#define K 0xffffffff81000000ULL
#define M 0xffffffffc0000000ULL

static const char sample[] = "0000000000000000 A fixed_percpu_data\n"
			     "0000000000001000 A cpu_debug_store\n"
			     "ffffffff81000000 T _stext\n"
			     "ffffffff81000000 T _text\n"
			     "ffffffff81000000 T startup_64\n"
			     "ffffffff81000040 t __do_sys_fork\n"
			     "ffffffff81000040 T __ia32_sys_fork\n"
			     "ffffffff81000040 T __x64_sys_fork\n"
			     "ffffffff81000080 W arch_thing\n"
			     "ffffffff81000080 T __arch_thing\n"
			     "ffffffff810000c0 w weak_thing\n"
			     "ffffffff81000100 T __indirect_thunk_start\n"
			     "ffffffff81000100 T __x86_indirect_thunk_rax\n"
			     "ffffffff81000140 T last_text\n"
			     "ffffffff81000200 T _etext\n"
			     "ffffffff81000200 R __start_rodata\n"
			     "ffffffff81400000 D jiffies\n"
			     "ffffffff81400100 d also_data\n"
			     "ffffffff81500000 T in_init\n"
			     "ffffffffc0002000 t mod_b_first\t[mod_b]\n"
			     "ffffffffc0002800 d mod_b_data\t[mod_b]\n"
			     "ffffffffc0002400 T mod_b_second\t[mod_b]\n"
			     "ffffffffc0001000 t mod_a_only\t[mod_a]\n"
			     "ffffffffc0006000 t bpf_prog_6deef7357e7b4530\t[bpf]\n"
			     "ffffffffc0002500 t late\t[mod_b]\n";

static const struct {
	uint64_t addr;
	const char *found;
} lookups[] = {
	{ 0, "-" },
	{ 0x1000, "-" },
	{ 0x1010, "-" },
	{ 0x00007fffffffffff, "-" },
	{ 0x401000, "-" },
	{ K - 1, "-" },
	{ K, "_stext+0x0 [kernel]" },
	{ K + 0x3f, "_stext+0x3f [kernel]" },
	{ K + 0x41, "__do_sys_fork+0x1 [kernel]" },
	{ K + 0x80, "arch_thing+0x0 [kernel]" },
	{ K + 0xc0, "weak_thing+0x0 [kernel]" },
	{ K + 0x100, "__indirect_thunk_start+0x0 [kernel]" },
	{ K + 0x1ff, "last_text+0xbf [kernel]" },
	/* data ends text, and addresses after data have no symbol */
	{ K + 0x200, "_etext+0x0 [kernel]" },
	{ K + 0x3fffff, "_etext+0x3ffdff [kernel]" },
	{ K + 0x400000, "-" },
	{ K + 0x400100, "-" },
	{ K + 0x4fffff, "-" },
	{ K + 0x500000, "in_init+0x0 [kernel]" },
	/* the last symbol before a module goes to the end of the next page */
	{ K + 0x501fff, "in_init+0x1fff [kernel]" },
	{ K + 0x502000, "-" },
	{ M, "-" },
	{ M + 0x1000, "mod_a_only+0x0 [mod_a]" },
	{ M + 0x1fff, "mod_a_only+0xfff [mod_a]" },
	{ M + 0x2000, "mod_b_first+0x0 [mod_b]" },
	{ M + 0x23ff, "mod_b_first+0x3ff [mod_b]" },
	{ M + 0x2400, "mod_b_second+0x0 [mod_b]" },
	{ M + 0x2501, "late+0x1 [mod_b]" },
	{ M + 0x2800, "-" },
	{ M + 0x5fff, "-" },
	{ M + 0x6010, "bpf_prog_6deef7357e7b4530+0x10 [bpf]" },
	{ M + 0x7fff, "bpf_prog_6deef7357e7b4530+0x1fff [bpf]" },
	{ M + 0x8000, "-" },
	{ UINT64_MAX, "-" },
};

static const size_t pieces[] = { 1, 7, 100, sizeof(sample) };

START_TEST(test_lookup)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		teardown();
		setup();
		ck_assert_str_eq(lookup(lookups[_i].addr), "-"); /* not finished */
		feed(sample, sizeof(sample) - 1, pieces[i]);
		ck_assert_str_eq(lookup(lookups[_i].addr), lookups[_i].found);
		ck_assert(!kernel_symbols_zeroed(ks));
	}
}
END_TEST

#define X10  "xxxxxxxxxx"
#define X100 X10 X10 X10 X10 X10 X10 X10 X10 X10 X10
#define X511 X100 X100 X100 X100 X100 X10 "x"

/* A line that is read, or is skipped, so that the valid line before it continues. */
static const struct {
	const char *line;
	bool good;
} lines[] = {
	{ "ffffffff81000010 t bad", true },
	{ "ffffffff81000010 t bad\n", true },
	{ "ffffffff81000010 t bad\t[mod]\n", true },
	{ "ffffffff81000010 t " X511 "\n", true },
	{ "ffffffff81000010 t " X511 "x\n", false },
	{ "ffffffff81000010 t " X511 X511 X511 "\n", false },
	{ "ffffffff81000010 t bad\t[" X100 X100 "]\n", false },
	{ "ffffffff81000010 t bad\t[" X511 X511 "]\n", false },
	{ "\n", false },
	{ " \n", false },
	{ "ffffffff81000010\n", false },
	{ "ffffffff81000010 \n", false },
	{ "ffffffff81000010 t\n", false },
	{ "ffffffff81000010 t \n", false },
	{ "ffffffff81000010 bad\n", false },
	{ "ffffffff81000010  t bad\n", false },
	{ "ffffffff81000010 t  bad\n", false },
	{ "ffffffff81000010 tt bad\n", false },
	{ "ffffffff81000010\tt\tbad\n", false },
	{ "0ffffffff81000010 t bad\n", false },
	{ "ffffffff810000100 t bad\n", false },
	{ "0xffffffff81000010 t bad\n", false },
	{ "ffffffff8100001g t bad\n", false },
	{ "FFFFFFFF81000010 t bad\n", false },
	{ "-fffffff81000010 t bad\n", false },
	{ "(____ptrval____) t bad\n", false },
	{ " ffffffff81000010 t bad\n", false },
	{ " t bad\n", false },
	{ "t bad\n", false },
	{ "ffffffff81000010 t bad name\n", false },
	{ "ffffffff81000010 t bad \n", false },
	{ "ffffffff81000010 t bad\r\n", false },
	{ "ffffffff81000010 t bad\033[0m\n", false },
	{ "ffffffff81000010 t bad\t\n", false },
	{ "ffffffff81000010 t bad\tmod\n", false },
	{ "ffffffff81000010 t bad\t[mod\n", false },
	{ "ffffffff81000010 t bad\t[\n", false },
	{ "ffffffff81000010 t bad\t[]\n", false },
	{ "ffffffff81000010 t bad\t[m]x\n", false },
	{ "ffffffff81000010 t bad\t[m d]\n", false },
	{ "ffffffff81000010 t bad\t\t[mod]\n", false },
	{ "ffffffff81000010 t bad [mod]\n", false },
	{ "\177ELF\2\1\1\200\377\376\n", false },
};

START_TEST(test_line)
{
	static const char before[] = "ffffffff81000000 T before\n", after[] = "ffffffff81000020 T after\n";
	char text[4096];
	struct kernel_symbol s;
	size_t i;
	int len;

	len = snprintf(text, sizeof(text), "%s%s%s", lines[_i].line, strchr(lines[_i].line, '\n') ? before : "",
		       strchr(lines[_i].line, '\n') ? after : "");
	for (i = 0; i < ARRAY_SIZE(pieces); i++) {
		teardown();
		setup();
		feed(text, (size_t)len, pieces[i]);
		if (lines[_i].good) {
			ck_assert(kernel_symbols_find(ks, K + 0x10, &s));
			ck_assert(!strncmp(s.name, lines[_i].line + 19, strlen(s.name)));
			ck_assert_uint_eq(s.start, K + 0x10);
		} else {
			ck_assert_str_eq(lookup(K + 0x10), "before+0x10 [kernel]");
			ck_assert_str_eq(lookup(K + 0x20), "after+0x0 [kernel]");
		}
	}
}
END_TEST

START_TEST(test_nul_in_line)
{
	static const char text[] = "ffffffff81000010 t b\0d\nffffffff81000020 t \0\nffff\0fff81000030 t x\n"
				   "ffffffff81000040 t good\n";

	feed(text, sizeof(text) - 1, sizeof(text));
	ck_assert_str_eq(lookup(K + 0x30), "-");
	ck_assert_str_eq(lookup(K + 0x40), "good+0x0 [kernel]");
}
END_TEST

static const struct {
	const char *text;
	bool zeroed;
} zeros[] = {
	{ "0000000000000000 T a\n0000000000000000 t b\n", true },
	{ "0000000000000000 T a\nnonsense\n0000000000000000 t b\t[m]\n", true },
	{ "0000000000000000 D a\n", true },
	{ "0 T a\n", true },
	{ "", false },
	{ "\n", false },
	{ "nonsense\n", false },
	{ "0000000000000000 A irq_stack_union\nffffffff81000000 T _text\n", false },
	{ "ffffffff81000000 T _text\n0000000000000000 T a\n", false },
	{ "0000000000001000 A x\n", false },
};

START_TEST(test_zeroed)
{
	feed(zeros[_i].text, strlen(zeros[_i].text), 5);
	ck_assert_int_eq(kernel_symbols_zeroed(ks), zeros[_i].zeroed);
	ck_assert_str_eq(lookup(0), "-");
	ck_assert_str_eq(lookup(K - 1), "-");
}
END_TEST

/* The address of _text; 0: unknown. */
static const struct {
	const char *text;
	uint64_t addr;
	bool empty;
} references[] = {
	{ "ffffffff81000000 T _text\n", K, false },
	{ "ffffffff81000000 D _text\n", K, false }, /* of any type */
	{ "ffffffff81000000 T _text\nffffffff81000000 T startup_64\n", K, false },
	{ "ffffffff81000000 T startup_64\nffffffff81000000 T _text", K, false },
	{ "ffffffff81000000 T _text\nffffffff82000000 T _text\n", K, false },
	{ "ffffffff81000000 t _text\t[mod]\nffffffff81000000 T x\n", 0, false },
	{ "0000000000000000 T _text\n", 0, false },
	{ "0000000000401000 T _text\n", 0, false },
	{ "ffffffff81000000 T _texts\n", 0, false },
	{ "ffffffff81000000 T text\n", 0, false },
	{ "ffffffff81000000 T _stext\n", 0, false },
	{ "ffffffff81000000 _text\n", 0, true },
	{ "\n", 0, true },
	{ "", 0, true },
};

START_TEST(test_reference)
{
	uint64_t addr = 1;

	feed(references[_i].text, strlen(references[_i].text), 7);
	ck_assert_int_eq(kernel_symbols_reference(ks, "_text", &addr), references[_i].addr != 0);
	ck_assert_uint_eq(addr, references[_i].addr ? references[_i].addr : 1);
	ck_assert_int_eq(kernel_symbols_empty(ks), references[_i].empty);
	addr = 1;
	ck_assert(!kernel_symbols_reference(ks, "startup_64", &addr));
	ck_assert(!kernel_symbols_reference(ks, "", &addr));
	ck_assert_int_eq(kernel_symbols_reference(ks, "_stext", &addr), strstr(references[_i].text, "_stext") != NULL);
}
END_TEST

/* A table of real size, sorted, in two sorted parts, and unsorted: the same result. */
START_TEST(test_many)
{
	static const unsigned int steps[] = { 1, 2, 7919 };
	const unsigned int nr = 49999, step = steps[_i]; /* prime to nr: each line comes once */
	char line[64], want[64];
	unsigned int i, n;
	int len;

	for (i = 0, n = 0; i < nr; i++, n = (n + step) % nr) {
		len = snprintf(line, sizeof(line), "%llx t f%u\n", K + n * 32ULL, n);
		ck_assert_int_eq(kernel_symbols_feed(ks, line, (size_t)len), 0);
	}
	ck_assert_int_eq(kernel_symbols_finish(ks), 0);
	for (n = 0; n < nr; n++) {
		snprintf(want, sizeof(want), "f%u+0x1f [kernel]", n);
		ck_assert_str_eq(lookup(K + n * 32ULL + 31), want);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel_symbols");
	TCase *tc = tcase_create("kernel_symbols");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_lookup, 0, ARRAY_SIZE(lookups));
	tcase_add_loop_test(tc, test_line, 0, ARRAY_SIZE(lines));
	tcase_add_test(tc, test_nul_in_line);
	tcase_add_loop_test(tc, test_zeroed, 0, ARRAY_SIZE(zeros));
	tcase_add_loop_test(tc, test_reference, 0, ARRAY_SIZE(references));
	tcase_add_loop_test(tc, test_many, 0, 3);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
