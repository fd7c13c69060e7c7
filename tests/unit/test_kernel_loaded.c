// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_loaded.h"
#include "tests/unit/unit.h"

#define MODULES                                                                                                        \
	"ext4 1110016 1 - Live 0xffffffffc0400000\n"                                                                   \
	"ext 4096 0 - Live 0xffffffffc0300000 (OE)\n"                                                                  \
	"xt 8192 2 ext4,ext, Live 0xffffffffc0200000\n"
#define KALLSYMS                                                                                                       \
	"0000000000000000 A fixed_percpu_data\nffffffff81000000 T _text\nffffffff82000000 T _etext\n"                  \
	"ffffffffc0001000 t bpf_prog_1234567890abcdef_one\t[bpf]\n"                                                    \
	"ffffffffc0002000 t bpf_prog_fedcba0987654321_two\t[bpf]\n"

static char *dir;
static struct host host;
static struct kernel_loaded *kl;

static void setup(void)
{
	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	kl = kernel_loaded_new(&host);
	ck_assert_ptr_nonnull(kl);
}

static void teardown(void)
{
	kernel_loaded_free(kl);
	unit_rmdir(dir);
}

static void put(const char *name, const char *text)
{
	unit_write(dir, name, text, strlen(text));
}

static bool stayed(const char *name, const char *module, uint64_t start)
{
	return kernel_loaded_stayed(kl, &(struct kernel_symbol){ name, module, start });
}

/* The list of modules at the second reading, and whether ext4 is still the same. */
static const struct {
	const char *what, *now;
	bool stays;
} modules[] = {
	{ "as it was", MODULES, true },
	{ "used by more", "ext4 1110016 7 xt, Live 0xffffffffc0400000\n", true },
	{ "gone", "ext 4096 0 - Live 0xffffffffc0300000\nxt 8192 2 ext4,ext, Live 0xffffffffc0200000\n", false },
	{ "nothing left", "", false },
	{ "loaded elsewhere", "ext4 1110016 1 - Live 0xffffffffc0500000\n", false },
	{ "another build", "ext4 1110020 1 - Live 0xffffffffc0400000\n", false },
	{ "only names that begin so", "ext4x 1110016 1 - Live 0xffffffffc0400000\n", false },
	{ "the last one, unfinished", "xt 8192 2 - Live 0xffffffffc0200000\next4 1110016 1 - Live 0xffffffffc0400000",
	  true },
};

START_TEST(test_modules)
{
	put("modules", MODULES);
	kernel_loaded_begin(kl, false);
	put("modules", modules[_i].now);
	ck_assert_msg(stayed("f", "ext4", 0xffffffffc0400100) == modules[_i].stays, "%s", modules[_i].what);
	ck_assert(stayed("f", "kernel", 0xffffffff81000100));
	/* The next report compares with the list of the report before. */
	kernel_loaded_renew(kl);
	ck_assert_msg(stayed("f", "ext4", 0xffffffffc0400100) == (strstr(modules[_i].now, "ext4 ") != NULL), "%s",
		      modules[_i].what);
}
END_TEST

/* A module that was loaded during the run may have taken the place of another one. */
START_TEST(test_came)
{
	put("modules", "xt 8192 2 - Live 0xffffffffc0200000\n");
	kernel_loaded_begin(kl, false);
	put("modules", MODULES);
	ck_assert(!stayed("f", "ext4", 0xffffffffc0400100));
	ck_assert(!stayed("f", "ext", 0xffffffffc0300100));
	ck_assert(stayed("f", "xt", 0xffffffffc0200100));
}
END_TEST

/* Without a list, no module or program counts as changed. */
START_TEST(test_untold)
{
	if (_i)
		kernel_loaded_begin(kl, false);
	ck_assert(stayed("f", "ext4", 0xffffffffc0400100));
	ck_assert(stayed("bpf_prog_1234567890abcdef_one", "bpf", 0xffffffffc0001000));
}
END_TEST

/* On kernels that write no records of BPF programs. */
static const struct {
	const char *setting, *kallsyms;
	bool one, other, later; /* stayed: a program of before, another one at an old address, a new one */
} programs[] = {
	{ "1\n", KALLSYMS, true, false, false },
	{ "0\n", KALLSYMS, false, false, false }, /* kallsyms then lists no programs */
	{ NULL, KALLSYMS, false, false, false },
	{ "1\n", NULL, false, false, false },
	{ "1\n", "0000000000000000 A fixed_percpu_data\n0000000000000000 T _text\n", false, false, false },
};

START_TEST(test_programs)
{
	if (programs[_i].setting)
		put("sys/net/core/bpf_jit_kallsyms", programs[_i].setting);
	if (programs[_i].kallsyms)
		put("kallsyms", programs[_i].kallsyms);
	kernel_loaded_begin(kl, true);
	put("kallsyms", "");
	ck_assert_int_eq(stayed("bpf_prog_1234567890abcdef_one", "bpf", 0xffffffffc0001000), programs[_i].one);
	ck_assert_int_eq(stayed("bpf_prog_1234567890abcdef_new", "bpf", 0xffffffffc0002000), programs[_i].other);
	ck_assert_int_eq(stayed("bpf_prog_1234567890abcdef_one", "bpf", 0xffffffffc0004000), programs[_i].later);
	ck_assert_int_eq(stayed("bpf_prog_1234567890abcdef_one", "bpf", 0xffffffffc0001010), programs[_i].other);
}
END_TEST

START_TEST(test_made)
{
	ck_assert(kernel_symbol_made(&(struct kernel_symbol){ "f", "bpf", 0 }));
	ck_assert(kernel_symbol_made(&(struct kernel_symbol){ "ftrace_trampoline", "__builtin__ftrace", 0 }));
	ck_assert(!kernel_symbol_made(&(struct kernel_symbol){ "bpf_prog_run", "kernel", 0 }));
	ck_assert(!kernel_symbol_made(&(struct kernel_symbol){ "f", "bpfilter", 0 }));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_loaded");
	TCase *t = tcase_create("kernel_loaded");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_modules, 0, ARRAY_SIZE(modules));
	tcase_add_test(t, test_came);
	tcase_add_loop_test(t, test_untold, 0, 2);
	tcase_add_loop_test(t, test_programs, 0, ARRAY_SIZE(programs));
	tcase_add_test(t, test_made);
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
