// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/kernel_code.h"
#include "core/arch/arch.h"
#include "core/host/host.h"
#include "tests/unit/unit.h"

#include <errno.h>

#define K(at)        (0xffffffff81000000 + (at))
#define AFTER_SWAPGS (ARCH_STALE_SP | ARCH_STALE_SAVED | ARCH_STALE_IP)

static const char kallsyms[] = "ffffffff81000000 T _stext\n"
			       "ffffffff81000100 T system_call_after_swapgs\n"
			       "ffffffff81000200 T entry_SYSCALL_64_fastpath\n"
			       "ffffffff81000300 T do_syscall_64\n"
			       "ffffffff81000400 T _etext\n";

static char *dir;
static struct host host;
static struct kernel_code *kc;

static void setup(void)
{
	dir = unit_tmpdir();
	unit_write(dir, "proc/kallsyms", kallsyms, sizeof(kallsyms) - 1);
	host = unit_host(dir);
	kc = kernel_code_new(&host);
	ck_assert_ptr_nonnull(kc);
}

static void teardown(void)
{
	kernel_code_free(kc);
	unit_rmdir(dir);
}

static int stale(uint64_t innermost, uint64_t outermost)
{
	const uint64_t frames[] = { innermost, outermost };
	bool both = innermost;

	return kernel_code_stale(kc, &(struct stack){ .frames = frames + !both, .nr = 1 + both });
}

/*
 * Samples in turn: the answer to the last one is kept, and depends on the address and on whether it was interrupted.
 * @innermost: 0: the outermost function is the only one
 */
static const struct {
	uint64_t innermost, outermost;
	int stale;
} turns[] = {
	{ 0, K(0x110), AFTER_SWAPGS },
	{ 0, K(0x110), AFTER_SWAPGS },
	{ K(0x310), K(0x110), 0 },
	{ K(0x310), K(0x110), 0 },
	{ 0, K(0x110), AFTER_SWAPGS },
	{ K(0x310), K(0x210), ARCH_STALE_SAVED },
	{ 0, K(0x210), ARCH_STALE_SAVED },
	{ 0, K(0x310), 0 },
	/* A return address behind the last instruction of a function, and an interrupted first one. */
	{ K(0x310), K(0x300), ARCH_STALE_SAVED },
	{ 0, K(0x300), 0 },
	{ 0, 0x1000, 0 },
};

START_TEST(test_stale)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(turns); i++)
		ck_assert_msg(stale(turns[i].innermost, turns[i].outermost) == turns[i].stale, "sample %zu", i);
}
END_TEST

START_TEST(test_hidden)
{
	unit_write(dir, "proc/kallsyms", "0000000000000000 T _stext\n", 26);
	ck_assert_int_eq(stale(0, K(0x110)), -ENOENT);
	unit_write(dir, "proc/kallsyms", kallsyms, sizeof(kallsyms) - 1);
	/* They were hidden once, and are not read again. */
	ck_assert_int_eq(stale(0, K(0x110)), -ENOENT);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("kernel_code");
	TCase *t = tcase_create("stale");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_stale);
	tcase_add_test(t, test_hidden);
	suite_add_tcase(s, t);
	return unit_main(s);
}
