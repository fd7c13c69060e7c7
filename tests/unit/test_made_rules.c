// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/made_rules.h"
#include "core/base/clock.h"
#include "core/files/mapped_files.h"
#include "core/symbols/jitdumps.h"
#include "core/tasks/tasks.h"
#include "tests/unit/jitdump_image.h"
#include "unwind/expr.h"
#include "unwind/rules.h"
#include "unwind/unwind.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define PID  4242
#define NAME "4242/root/tmp/jit-7.dump" /* below the test's directory */
#define CODE UINT64_C(0x7f0000000000)

static struct jitdump_image im;
static char *dir;
static struct host host;
static struct mapped_files_cfg cfg;
static struct tasks *tasks;
static struct jitdumps *dumps;

static void setup(void)
{
	const struct mapped_file file = { .path = "/tmp/jit-7.dump" };
	const struct mapping m = { 0x10000, 0x11000, 0, &file };

	dir = unit_tmpdir();
	host = (struct host){ .proc = dir, .sys = dir };
	cfg = (struct mapped_files_cfg){ .host = &host, .root = dir };
	tasks = tasks_new(NULL);
	dumps = jitdumps_new(&cfg, tasks);
	ck_assert_ptr_nonnull(dumps);
	ck_assert_int_eq(tasks_mmap(tasks, PID, &m), 0);
	im.len = 0;
	dump_put_header(&im);
}

static void teardown(void)
{
	jitdumps_free(dumps);
	tasks_free(tasks);
	unit_rmdir(dir);
}

/*
 * Records: a CIE with CFA = rsp + 8, and an FDE for 16 bytes of code: rsp + 16 after the first byte, and after the
 * eighth an expression: DW_OP_breg7 32. They come after 16 bytes of code.
 */
#define RECORDS                                                                                                        \
	{                                                                                                              \
		20, 0, 0, 0, 0, 0, 0, 0, 1, 'z', 'R', 0, 1, 0x78, 16, 1, 0x1b, 12, 7, 8, 0x90, 1, 0, 0, 24, 0, 0, 0,   \
			28, 0, 0, 0, 0xd0, 0xff, 0xff, 0xff, 16, 0, 0, 0, 0, 0x41, 14, 16, 0x47, 15, 2, 0x77, 32, 0,   \
			0, 0, 0, 0, 0, 0                                                                               \
	}

/* Put @records of the code at CODE + @offset. */
static void put_code(uint64_t offset, const uint8_t *records, size_t nr)
{
	if (nr)
		dump_put_rules(&im, records, nr);
	dump_put_load(&im, CODE + offset, 16, 1, "f");
}

static struct rules *write_and_find(void)
{
	struct rules *r;

	unit_write(dir, NAME, im.bytes, im.len);
	r = made_rules_of(dumps, PID);
	ck_assert_ptr_nonnull(r);
	ck_assert(rules_of_code(r));
	return r;
}

START_TEST(test_rows)
{
	static const uint8_t records[] = RECORDS;
	const struct cfi_row *row;
	uint8_t expr[EXPR_MAX_BYTES], byte;
	struct rules *r;

	put_code(0, records, sizeof(records));
	put_code(0x100, NULL, 0);
	put_code(0x200, records, sizeof(records));
	r = write_and_find();
	ck_assert_int_eq(rules_find(r, CODE, &row), 1);
	ck_assert_int_eq(row->cfa_value, 8);
	ck_assert_uint_eq(row->function, CODE);
	ck_assert_int_eq(rules_find(r, CODE + 7, &row), 1);
	ck_assert_int_eq(row->cfa_value, 16);
	ck_assert_int_eq(rules_find(r, CODE + 0x201, &row), 1);
	ck_assert_uint_eq(row->function, CODE + 0x200);
	/* after any earlier request */
	ck_assert_int_eq(rules_find(r, CODE + 8, &row), 1);
	ck_assert(row->cfa_expr);
	ck_assert_int_eq(rules_expr(r, row, (uint64_t)row->cfa_value, expr), 2);
	ck_assert_uint_eq(expr[0], 0x77);
	ck_assert_int_eq(rules_find(r, CODE + 0x20f, &row), 1);
	ck_assert_int_eq(rules_expr(r, row, (uint64_t)row->cfa_value, expr), 2);
	ck_assert_int_eq(rules_expr(r, row, (uint64_t)row->cfa_value + 64, expr), -EBADMSG);
	ck_assert_uint_gt(rules_memory(r), 0);
	/* not code, and code without rules */
	ck_assert_int_eq(rules_find(r, CODE + 16, &row), 0);
	ck_assert_int_eq(rules_find(r, CODE - 1, &row), 0);
	ck_assert_int_eq(rules_find(r, CODE + 0x100, &row), 0);
	ck_assert_int_eq(rules_find(r, 0, &row), 0);
	ck_assert_int_eq(rules_find(r, UINT64_MAX, &row), 0);
	/* there are no bytes */
	ck_assert_int_eq(rules_read(r, CODE, &byte, 1), -EFAULT);
}
END_TEST

/* The answer for the second byte if byte @at of the records is @value, or if they end there: @value -1. */
static const struct {
	unsigned int at;
	int value, rc;
} flaws[] = {
	{ 0, 20, 1 },
	/* the CIE: a terminator, beyond the end, 64-bit form; another version, augmentation, encoding */
	{ 0, 0, 0 },
	{ 0, 200, -EBADMSG },
	{ 0, 21, -EBADMSG },
	{ 3, 0xff, -EBADMSG },
	{ 8, 9, -ENOTSUP },
	{ 9, 'y', -ENOTSUP },
	{ 16, 0x9b, -ENOTSUP },
	{ 18, 99, -EBADMSG },
	/* the FDE: a terminator, beyond the end, another CIE, another address, too short, an unknown instruction */
	{ 24, 0, 0 },
	{ 24, 200, -EBADMSG },
	{ 27, 0xff, -EBADMSG },
	{ 28, 0, 0 },
	{ 28, 24, -EBADMSG },
	{ 32, 0xd8, 0 },
	{ 32, 0xc0, 0 },
	{ 35, 0, 0 },
	{ 36, 1, 0 },
	{ 36, 0, -EBADMSG },
	{ 40, 100, -EBADMSG },
	{ 41, 0x3f, -ENOTSUP },
	/* cut */
	{ 1, -1, -EBADMSG },
	{ 10, -1, -EBADMSG },
	{ 24, -1, 0 },
	{ 30, -1, -EBADMSG },
	{ 50, -1, -EBADMSG },
};

START_TEST(test_flaws)
{
	uint8_t records[] = RECORDS;
	size_t nr = flaws[_i].value < 0 ? flaws[_i].at : sizeof(records);
	const struct cfi_row *row;

	if (flaws[_i].value >= 0)
		records[flaws[_i].at] = (uint8_t)flaws[_i].value;
	put_code(0, records, nr);
	ck_assert_int_eq(rules_find(write_and_find(), CODE + 1, &row), flaws[_i].rc);
}
END_TEST

/* A limited number of records is read. */
START_TEST(test_many_records)
{
	static const uint8_t records[] = RECORDS;
	const struct cfi_row *row;
	uint8_t many[3000] = { 0 };
	struct rules *r;
	size_t i;

	for (i = 0; i < 100; i++)
		memcpy(many + i * 24, records, 24);
	memcpy(many + i * 24, records + 24, 28);
	put_code(0, many, sizeof(many));
	r = write_and_find();
	ck_assert_int_eq(rules_find(r, CODE + 1, &row), 0);
	ck_assert_uint_lt(rules_work(r), 1000);
}
END_TEST

/* Memory is used again for other code: the old rules are not used any more. */
START_TEST(test_used_again)
{
	uint8_t records[] = RECORDS;
	const struct cfi_row *row;
	struct rules *r, *again;

	put_code(0, records, sizeof(records));
	r = write_and_find();
	ck_assert_int_eq(rules_find(r, CODE + 1, &row), 1);
	ck_assert_int_eq(row->cfa_value, 16);
	ck_assert_int_eq(rules_find(r, CODE + 0x101, &row), 0);
	records[43] = 24;
	put_code(0, records, sizeof(records));
	put_code(0x100, records, sizeof(records));
	unit_write(dir, NAME, im.bytes, im.len);
	do {
		again = made_rules_of(dumps, PID);
		ck_assert_ptr_eq(again, r);
	} while (!rules_find(again, CODE + 0x101, &row));
	ck_assert_int_eq(rules_find(r, CODE + 1, &row), 1);
	ck_assert_int_eq(row->cfa_value, 24);
}
END_TEST

/* ---- a stack */

#define STACK UINT64_C(0x7ffc00001000)

static const struct mapped_file anon = { .path = "//anon" };
static const struct mapping code_mapping = { CODE, CODE + 0x1000, 0, &anon };

static const struct mapping *find_mapping(void *ctx, uint64_t addr)
{
	(void)ctx;
	return addr >= CODE && addr < CODE + 0x1000 ? &code_mapping : NULL;
}

static struct rules *find_rules(void *ctx, const struct mapping *m)
{
	(void)ctx;
	(void)m;
	return made_rules_of(dumps, PID);
}

static int read_stack(void *ctx, uint64_t addr, void *to, size_t len)
{
	if (addr < STACK || addr - STACK > 64 || len > 64 - (addr - STACK))
		return -EFAULT;
	memcpy(to, (const char *)ctx + (addr - STACK), len);
	return 0;
}

/*
 * The rules say that the frame pointer leads from CODE to the outermost function at CODE + 0x100. But a later stack
 * with the same addresses may belong to other code, so nothing is proven.
 */
START_TEST(test_walk)
{
	uint8_t records[] = RECORDS, root[] = RECORDS;
	uint64_t words[8] = { 0, 0, STACK + 48, CODE + 0x102 }, ips[8];
	const struct unwind_memory memory = { words, read_stack };
	const struct unwind_mappings mappings = { NULL, find_mapping };
	const struct unwind_files files = { NULL, find_rules };
	struct unwind_regs regs = { .have = ARCH_BIT(ARCH_IP) | ARCH_BIT(ARCH_SP) | ARCH_BIT(ARCH_FP) };
	struct unwind_result result = { .ips = ips, .cap = ARRAY_SIZE(ips) };
	uint64_t start;

	memcpy(records + 41, "\x0c\x06\x10\x86\x02\0\0\0\0", 9); /* CFA = rbp + 16, rbp at CFA - 16 */
	memcpy(root + 41, "\x07\x10\0\0\0\0\0\0\0", 9);          /* no return address */
	put_code(0, records, sizeof(records));
	put_code(0x100, root, sizeof(root));
	write_and_find();
	regs.r[ARCH_IP] = CODE + 1;
	regs.r[ARCH_SP] = STACK;
	regs.r[ARCH_FP] = STACK + 16;
	unwind_walk(&regs, &memory, &mappings, &files, &result);
	ck_assert_int_eq(result.end, UNWIND_ROOT);
	ck_assert_uint_eq(result.nr, 2);
	ck_assert_uint_eq(ips[1], CODE + 0x102);
	ck_assert_int_eq(result.chain, UNWIND_CHAIN_NONE);
	ck_assert(!unwind_chained(&mappings, &files, ips + 1, 1));
	ck_assert(unwind_function(&mappings, &files, CODE + 0x102, &start));
	ck_assert_uint_eq(start, CODE + 0x100);
	ck_assert(!unwind_function(&mappings, &files, CODE + 0x200, &start));
}
END_TEST

START_TEST(test_none)
{
	ck_assert_ptr_null(made_rules_of(dumps, PID));
	ck_assert_ptr_null(made_rules_of(dumps, PID + 1));
	ck_assert_ptr_null(made_rules_of(dumps, 0));
}
END_TEST

int main(void)
{
	Suite *s = suite_create("made_rules");
	TCase *tc = tcase_create("made_rules");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_set_timeout(tc, 60);
	tcase_add_test(tc, test_rows);
	tcase_add_loop_test(tc, test_flaws, 0, ARRAY_SIZE(flaws));
	tcase_add_test(tc, test_many_records);
	tcase_add_test(tc, test_used_again);
	tcase_add_test(tc, test_walk);
	tcase_add_test(tc, test_none);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
