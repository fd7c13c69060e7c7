// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"
#include "unwind/expr.h"

#define B(...)    (const uint8_t[]){ __VA_ARGS__ }, sizeof((const uint8_t[]){ __VA_ARGS__ })
#define MEM_ADDR  0x1000u
#define MIN64     0x08, 1, 0x08, 63, 0x24 /* 1 << 63 */
#define MINUS_ONE 0x11, 0x7f
#define MINUS_7   0x09, 0xf9
#define CFA       0x7fff0000u
#define X8(...)   __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__, __VA_ARGS__
#define X64(...)  X8(X8(__VA_ARGS__))

static const uint8_t memory_bytes[] = { 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99 };

static int read_memory(void *ctx, uint64_t addr, void *to, size_t len)
{
	(void)ctx;
	if (addr < MEM_ADDR)
		return -EFAULT;
	if (addr - MEM_ADDR > sizeof(memory_bytes) || len > sizeof(memory_bytes) - (addr - MEM_ADDR))
		return -ENODATA;
	memcpy(to, memory_bytes + (addr - MEM_ADDR), len);
	return 0;
}

/* rax is 100, rsp MEM_ADDR, rip UINT64_MAX; the other registers are unknown. */
static const struct unwind_regs regs = { .have = 1U << 0 | 1U << ARCH_SP | 1U << ARCH_IP,
					 .r = { 100, [ARCH_SP] = MEM_ADDR, [ARCH_IP] = UINT64_MAX } };
static const struct unwind_memory memory = { .read = read_memory };

static int eval(const uint8_t *bytes, size_t len, const uint64_t *push, uint64_t *out)
{
	uint8_t *copy = malloc(len ? len : 1); /* exactly as long, for sanitizers */
	int rc;

	memcpy(copy, bytes, len);
	rc = expr_eval(copy, len, &regs, &memory, push, out);
	free(copy);
	return rc;
}

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t len;
	uint64_t want;
} good[] = {
	{ "lit0", B(0x30), 0 },
	{ "lit31", B(0x4f), 31 },
	{ "addr", B(0x03, 1, 2, 3, 4, 5, 6, 7, 8), 0x0807060504030201 },
	{ "const1u", B(0x08, 0xff), 255 },
	{ "const1s", B(0x09, 0xff), UINT64_MAX },
	{ "const2u", B(0x0a, 0xfe, 0xff), 0xfffe },
	{ "const2s", B(0x0b, 0xfe, 0xff), (uint64_t)-2 },
	{ "const4u", B(0x0c, 0xfd, 0xff, 0xff, 0xff), 0xfffffffd },
	{ "const4s", B(0x0d, 0xfd, 0xff, 0xff, 0xff), (uint64_t)-3 },
	{ "const8u", B(0x0e, 1, 0, 0, 0, 0, 0, 0, 0x80), 0x8000000000000001 },
	{ "const8s", B(0x0f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff), UINT64_MAX },
	{ "constu", B(0x10, 0xe5, 0x8e, 0x26), 624485 },
	{ "constu, all 64 bits", B(0x10, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1), UINT64_MAX },
	{ "constu, padded", B(0x10, 0x81, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0), 1 },
	{ "consts", B(0x11, 0xc0, 0xbb, 0x78), (uint64_t)-123456 },
	{ "consts of 9 bytes", B(0x11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f), (uint64_t)-1 << 56 },
	{ "consts, smallest", B(0x11, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x7f), 1ULL << 63 },
	{ "dup", B(0x33, 0x12, 0x22), 6 },
	{ "drop", B(0x33, 0x34, 0x13), 3 },
	{ "over", B(0x33, 0x34, 0x14), 3 },
	{ "pick", B(0x33, 0x34, 0x35, 0x15, 2), 3 },
	{ "swap", B(0x33, 0x35, 0x16, 0x1c), 2 },
	{ "rot: the second is on top", B(0x31, 0x32, 0x33, 0x17), 2 },
	{ "rot: the third is next", B(0x31, 0x32, 0x33, 0x17, 0x13), 1 },
	{ "rot: the first is below", B(0x31, 0x32, 0x33, 0x17, 0x13, 0x13), 3 },
	{ "abs", B(MINUS_7, 0x19), 7 },
	{ "abs of the smallest", B(MIN64, 0x19), 1ULL << 63 },
	{ "and", B(0x3c, 0x3a, 0x1a), 8 },
	{ "div", B(0x4e, 0x34, 0x1b), 7 },
	{ "div is signed", B(MINUS_7, 0x32, 0x1b), (uint64_t)-3 },
	{ "div of the smallest by -1", B(MIN64, MINUS_ONE, 0x1b), 1ULL << 63 },
	{ "minus", B(0x32, 0x33, 0x1c), UINT64_MAX },
	{ "mod", B(0x3e, 0x34, 0x1d), 2 },
	{ "mod is unsigned", B(MINUS_ONE, 0x3a, 0x1d), 5 },
	{ "mul wraps", B(MIN64, 0x33, 0x1e), 1ULL << 63 },
	{ "neg", B(0x31, 0x1f), UINT64_MAX },
	{ "not", B(0x30, 0x20), UINT64_MAX },
	{ "or", B(0x35, 0x3a, 0x21), 15 },
	{ "plus wraps", B(MINUS_ONE, 0x32, 0x22), 1 },
	{ "plus_uconst", B(0x31, 0x23, 0x80, 1), 129 },
	{ "shl", B(0x31, 0x3c, 0x24), 4096 },
	{ "shl by 64", B(0x31, 0x08, 64, 0x24), 0 },
	{ "shl by -1", B(0x31, MINUS_ONE, 0x24), 0 },
	{ "shr", B(MINUS_ONE, 0x08, 60, 0x25), 15 },
	{ "shr by 64", B(MINUS_ONE, 0x08, 64, 0x25), 0 },
	{ "shra", B(MINUS_7, 0x31, 0x26), (uint64_t)-4 },
	{ "shra by 64", B(MINUS_7, 0x08, 64, 0x26), UINT64_MAX },
	{ "shra by 64 of a positive", B(0x37, 0x08, 64, 0x26), 0 },
	{ "xor", B(0x3c, 0x3a, 0x27), 6 },
	{ "eq", B(0x33, 0x33, 0x29), 1 },
	{ "ge is signed", B(MINUS_7, 0x33, 0x2a), 0 },
	{ "gt", B(0x34, 0x33, 0x2b), 1 },
	{ "le is signed", B(MINUS_7, 0x33, 0x2c), 1 },
	{ "lt", B(0x33, 0x33, 0x2d), 0 },
	{ "ne", B(0x33, 0x34, 0x2e), 1 },
	{ "bra taken", B(0x35, 0x31, 0x28, 1, 0, 0x36), 5 },
	{ "bra not taken", B(0x35, 0x30, 0x28, 1, 0, 0x36), 6 },
	{ "a loop with bra", B(0x30, 0x31, 0x22, 0x12, 0x3a, 0x2e, 0x28, 0xf8, 0xff), 10 },
	{ "skip to the end", B(0x35, 0x2f, 1, 0, 0x36), 5 },
	{ "breg0", B(0x70, 0x7c), 96 },
	{ "breg7, deref", B(0x77, 1, 0x06), 0x9988776655443322 },
	{ "breg16 wraps", B(0x80, 2), 1 },
	{ "bregx", B(0x92, 0, 10), 110 },
	{ "deref_size 1", B(0x77, 8, 0x94, 1), 0x99 },
	{ "deref_size 3", B(0x77, 0, 0x94, 3), 0x332211 },
	{ "deref_size 8", B(0x77, 0, 0x94, 8), 0x8877665544332211 },
	{ "nop", B(0x96, 0x31, 0x96), 1 },
	{ "64 entries", B(X64(0x37)), 7 },
	/* The expression of linkers for .plt: rsp + 8 + ((rip & 15) >= 11) * 8. */
	{ "of a PLT", B(0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22), MEM_ADDR + 16 },
};

START_TEST(test_good)
{
	uint64_t got = 0xdead;

	ck_assert_msg(!eval(good[_i].bytes, good[_i].len, NULL, &got), "%s", good[_i].name);
	ck_assert_msg(got == good[_i].want, "%s: %llx", good[_i].name, (unsigned long long)got);
}
END_TEST

static const struct {
	const char *name;
	const uint8_t *bytes;
	size_t len;
	int rc;
} bad[] = {
	{ "addr, cut", B(0x03, 1, 2, 3, 4, 5, 6, 7), -EBADMSG },
	{ "const1u, cut", B(0x08), -EBADMSG },
	{ "const1s, cut", B(0x09), -EBADMSG },
	{ "const2u, cut", B(0x0a, 1), -EBADMSG },
	{ "const2s, cut", B(0x0b, 1), -EBADMSG },
	{ "const4u, cut", B(0x0c, 1, 1, 1), -EBADMSG },
	{ "const4s, cut", B(0x0d, 1, 1, 1), -EBADMSG },
	{ "const8u, cut", B(0x0e, 1, 1, 1, 1, 1, 1, 1), -EBADMSG },
	{ "const8s, cut", B(0x0f, 1, 1, 1, 1, 1, 1, 1), -EBADMSG },
	{ "constu, cut", B(0x10, 0x80), -EBADMSG },
	{ "constu without end", B(0x10, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0), -EBADMSG },
	{ "consts, cut", B(0x11), -EBADMSG },
	{ "dup of nothing", B(0x12), -EBADMSG },
	{ "drop of nothing", B(0x13), -EBADMSG },
	{ "nothing is left", B(0x31, 0x13), -EBADMSG },
	{ "over of one", B(0x31, 0x14), -EBADMSG },
	{ "pick too deep", B(0x31, 0x15, 1), -EBADMSG },
	{ "pick 255", B(0x31, 0x15, 255), -EBADMSG },
	{ "pick, cut", B(0x31, 0x15), -EBADMSG },
	{ "swap of one", B(0x31, 0x16), -EBADMSG },
	{ "rot of two", B(0x31, 0x31, 0x17), -EBADMSG },
	{ "abs of nothing", B(0x19), -EBADMSG },
	{ "and of one", B(0x31, 0x1a), -EBADMSG },
	{ "div of one", B(0x31, 0x1b), -EBADMSG },
	{ "div by 0", B(0x31, 0x30, 0x1b), -EBADMSG },
	{ "minus of one", B(0x31, 0x1c), -EBADMSG },
	{ "mod by 0", B(0x31, 0x30, 0x1d), -EBADMSG },
	{ "mod of one", B(0x31, 0x1d), -EBADMSG },
	{ "mul of one", B(0x31, 0x1e), -EBADMSG },
	{ "neg of nothing", B(0x1f), -EBADMSG },
	{ "not of nothing", B(0x20), -EBADMSG },
	{ "or of one", B(0x31, 0x21), -EBADMSG },
	{ "plus of one", B(0x31, 0x22), -EBADMSG },
	{ "plus_uconst of nothing", B(0x23, 1), -EBADMSG },
	{ "plus_uconst, cut", B(0x31, 0x23), -EBADMSG },
	{ "shl of one", B(0x31, 0x24), -EBADMSG },
	{ "shr of one", B(0x31, 0x25), -EBADMSG },
	{ "shra of one", B(0x31, 0x26), -EBADMSG },
	{ "xor of one", B(0x31, 0x27), -EBADMSG },
	{ "bra of nothing", B(0x28, 0, 0), -EBADMSG },
	{ "bra, cut", B(0x31, 0x31, 0x28, 0), -EBADMSG },
	{ "bra behind the end", B(0x31, 0x31, 0x28, 1, 0), -EBADMSG },
	{ "bra before the begin", B(0x31, 0x31, 0x28, 0xfa, 0xff), -EBADMSG },
	{ "skip behind the end", B(0x31, 0x2f, 0xff, 0x7f), -EBADMSG },
	{ "skip before the begin", B(0x31, 0x2f, 0x00, 0x80), -EBADMSG },
	{ "skip, cut", B(0x31, 0x2f, 0), -EBADMSG },
	{ "eq of one", B(0x31, 0x29), -EBADMSG },
	{ "ge of one", B(0x31, 0x2a), -EBADMSG },
	{ "gt of one", B(0x31, 0x2b), -EBADMSG },
	{ "le of one", B(0x31, 0x2c), -EBADMSG },
	{ "lt of one", B(0x31, 0x2d), -EBADMSG },
	{ "ne of one", B(0x31, 0x2e), -EBADMSG },
	{ "skip to itself", B(0x31, 0x2f, 0xfd, 0xff), -EBADMSG },
	{ "a loop with bra", B(0x31, 0x31, 0x28, 0xfc, 0xff), -EBADMSG },
	{ "a loop that pushes", B(0x31, 0x2f, 0xfc, 0xff), -EBADMSG },
	{ "65 entries", B(X64(0x37), 0x37), -EBADMSG },
	{ "65 entries by dup", B(X64(0x37), 0x12), -EBADMSG },
	{ "breg, cut", B(0x77), -EBADMSG },
	{ "bregx, cut", B(0x92), -EBADMSG },
	{ "bregx without an offset", B(0x92, 7), -EBADMSG },
	{ "breg of an unknown one", B(0x76, 0), -ENOENT },
	{ "breg17", B(0x81, 0), -ENOENT },
	{ "breg31", B(0x8f, 0), -ENOENT },
	{ "bregx 17", B(0x92, 17, 0), -ENOENT },
	{ "bregx 32: no shift by 32", B(0x92, 32, 0), -ENOENT },
	{ "bregx 2^32 + 7", B(0x92, 0x87, 0x80, 0x80, 0x80, 0x10, 0), -ENOENT },
	{ "deref of nothing", B(0x06), -EBADMSG },
	{ "deref elsewhere", B(0x31, 0x06), -EFAULT },
	{ "deref beyond what is there", B(0x77, 2, 0x06), -ENODATA },
	{ "deref at the last address", B(0x80, 0, 0x06), -ENODATA },
	{ "deref_size 0", B(0x77, 0, 0x94, 0), -EBADMSG },
	{ "deref_size 9", B(0x77, 0, 0x94, 9), -EBADMSG },
	{ "deref_size 255", B(0x77, 0, 0x94, 255), -EBADMSG },
	{ "deref_size, cut", B(0x77, 0, 0x94), -EBADMSG },
	{ "deref_size elsewhere", B(0x31, 0x94, 1), -EFAULT },
	{ "no operation: 0", B(0x31, 0x00), -ENOTSUP },
	{ "xderef", B(0x31, 0x31, 0x18), -ENOTSUP },
	{ "reg0", B(0x50), -ENOTSUP },
	{ "reg7", B(0x57), -ENOTSUP },
	{ "regx", B(0x90, 7), -ENOTSUP },
	{ "fbreg", B(0x91, 0), -ENOTSUP },
	{ "piece", B(0x31, 0x93, 8), -ENOTSUP },
	{ "push_object_address", B(0x97), -ENOTSUP },
	{ "call2", B(0x98, 0, 0), -ENOTSUP },
	{ "form_tls_address", B(0x31, 0x9b), -ENOTSUP },
	{ "call_frame_cfa", B(0x9c), -ENOTSUP },
	{ "stack_value", B(0x31, 0x9f), -ENOTSUP },
	{ "entry_value", B(0xa3, 1, 0x57), -ENOTSUP },
	{ "of no standard", B(0xff), -ENOTSUP },
};

START_TEST(test_bad)
{
	uint64_t got = 0xdead;
	int rc = eval(bad[_i].bytes, bad[_i].len, NULL, &got);

	ck_assert_msg(rc == bad[_i].rc, "%s: %d", bad[_i].name, rc);
	ck_assert_uint_eq(got, 0xdead);
}
END_TEST

START_TEST(test_first)
{
	uint64_t got, first = CFA;

	ck_assert_int_eq(eval(B(0x23, 8), &first, &got), 0);
	ck_assert_uint_eq(got, CFA + 8);
	ck_assert_int_eq(eval((const uint8_t *)"", 0, &first, &got), 0);
	ck_assert_uint_eq(got, CFA);
	ck_assert_int_eq(eval((const uint8_t *)"", 0, NULL, &got), -EBADMSG);
	ck_assert_int_eq(eval(B(X64(0x37)), &first, &got), -EBADMSG);
}
END_TEST

/* DW_OP_nop counts as a step: there may be as many as bytes. */
START_TEST(test_bounds)
{
	uint8_t bytes[EXPR_MAX_BYTES + 1];
	uint64_t got;

	memset(bytes, 0x96, sizeof(bytes));
	bytes[0] = 0x35;
	ck_assert_int_eq(eval(bytes, EXPR_MAX_STEPS, NULL, &got), 0);
	ck_assert_uint_eq(got, 5);
	ck_assert_int_eq(eval(bytes, EXPR_MAX_STEPS + 1, NULL, &got), -EBADMSG);
	bytes[1] = 0x2f; /* few steps, but too many bytes */
	bytes[2] = (EXPR_MAX_BYTES - 4) & 0xff;
	bytes[3] = (EXPR_MAX_BYTES - 4) >> 8;
	ck_assert_int_eq(eval(bytes, EXPR_MAX_BYTES, NULL, &got), 0);
	ck_assert_int_eq(eval(bytes, EXPR_MAX_BYTES + 1, NULL, &got), -EBADMSG);
}
END_TEST

/* Any bytes give an answer or one of the documented errors. */
START_TEST(test_random)
{
	unsigned short seed[3] = { 1, 2, 3 };
	uint8_t bytes[48];
	uint64_t got, first = CFA;
	size_t i, n;

	for (n = 0; n < 200000; n++) {
		size_t len = (size_t)nrand48(seed) % (sizeof(bytes) + 1);
		int rc;

		for (i = 0; i < len; i++)
			bytes[i] = (uint8_t)(nrand48(seed) >> 8);
		rc = eval(bytes, len, n % 2 ? &first : NULL, &got);
		ck_assert(rc == 0 || rc == -EBADMSG || rc == -ENOTSUP || rc == -EFAULT || rc == -ENOENT ||
			  rc == -ENODATA);
	}
}
END_TEST

int main(void)
{
	Suite *s = suite_create("expr");
	TCase *tc = tcase_create("eval");

	tcase_set_timeout(tc, 60);
	tcase_add_loop_test(tc, test_good, 0, sizeof(good) / sizeof(good[0]));
	tcase_add_loop_test(tc, test_bad, 0, sizeof(bad) / sizeof(bad[0]));
	tcase_add_test(tc, test_first);
	tcase_add_test(tc, test_bounds);
	tcase_add_test(tc, test_random);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
