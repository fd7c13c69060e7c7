// SPDX-License-Identifier: Apache-2.0
/* Find the frame pointer from which the kernel walked a callchain, in a copy of the stack. */
#include "tests/unit/unit.h"
#include "unwind/frame_chain.h"

#define SP    0x7ffc00001000ULL
#define AT(i) (SP + 8 * (i)) /* address of word i */
#define NONE  UINT64_MAX

/* Return addresses. */
#define A 0x401111ULL
#define B 0x402222ULL
#define C 0x403333ULL

#define LEAF 0x400100ULL

/* A function without a frame may hold any value in rbp. The kernel takes it for a frame pointer, and goes on there. */
#define TEXT  0x401550ULL        /* __libc_csu_init() */
#define CODE  0x8949564157415541 /* its bytes after the first 8 */
#define DATA  0x4c9018ULL        /* in a static program */
#define VALUE 0x1ULL             /* the value behind the first 8 bytes there */

static const struct {
	const char *what;
	uint64_t ips[8], stack[12];
	size_t nr, words;
	uint64_t fp;                 /* NONE: not found */
	bool part;                   /* the stack continues above the copy */
	enum frame_chain_found none; /* why it is not found */
	bool right;                  /* the kernel walked by the right frame pointer for sure */
} rows[] = {
	{ "at the stack pointer", { LEAF, A, B }, { AT(2), A, 0, B }, 3, 4, AT(0) },
	{ "above locals", { LEAF, A, B }, { 1, 2, AT(5), A, 3, 0, B }, 3, 7, AT(2) },
	{ "one caller", { LEAF, A }, { 1, 2, 0, A }, 2, 4, AT(2) },
	{ "its frame pointer may be anything", { LEAF, A }, { 1, 0x1234567, A }, 2, 3, AT(1) },
	{ "an address that was left behind", { LEAF, A, B }, { 7, A, AT(5), A, 3, 0, B }, 3, 7, AT(2) },
	{ "behind a large number",
	  { LEAF, A, B, C },
	  { 0x3ff0000000000000, A, AT(5), A, 3, AT(7), B, 0, C },
	  4,
	  9,
	  AT(2),
	  true },
	{ "behind an address of the stack, not of a frame",
	  { LEAF, A, B, C },
	  { AT(100), A, AT(5), A, 3, AT(100), B },
	  4,
	  7,
	  AT(2),
	  true },
	{ "and a frame that was", { LEAF, A, B }, { AT(3), A, AT(6), A, 3, C, 0, B }, 3, 8, AT(2) },
	{ "a recursion, whole", { LEAF, A, A, B }, { 1, AT(3), A, AT(5), A, 0, B }, 4, 7, AT(1) },
	{ "a recursion, in part", { LEAF, A, A }, { AT(2), A, AT(4), A, AT(6), A, 0, B }, 3, 8, AT(0) },
	{ "the copy ends before the chain", { LEAF, A, B, C }, { 1, AT(4), A, 2, AT(100), B }, 4, 6, AT(1), true },
	{ "between two words of a frame", { LEAF, A, B }, { AT(3), A, 2, AT(9) }, 3, 4, AT(0), true },
	{ "an inner frame's data leads to it", { LEAF, A, B }, { AT(2), 0x77, AT(4), A, 0, B }, 3, 6, AT(2) },
	{ "nothing", { 0 }, { AT(2), A, 0, B }, 0, 4, NONE },
	{ "no caller", { LEAF }, { AT(2), A, 0, B }, 1, 4, NONE },
	{ "no copy", { LEAF, A }, { 0 }, 2, 0, NONE },
	{ "a copy of a word", { LEAF, A }, { A }, 2, 1, NONE },
	{ "no frame pointer before it", { LEAF, A }, { A, 1, 2 }, 2, 3, NONE },
	{ "not there", { LEAF, A, B }, { AT(2), C, 0, B }, 3, 4, NONE },
	{ "another caller's caller", { LEAF, A, B }, { AT(2), A, 0, C }, 3, 4, NONE },
	{ "down", { LEAF, A, B }, { 0, B, AT(0), A }, 3, 4, NONE },
	{ "to itself", { LEAF, A, A }, { AT(0), A }, 3, 2, NONE },
	{ "below the stack", { LEAF, A, B }, { SP - 16, A, 0, B }, 3, 4, NONE },
	{ "before 4.19: the outermost saves a small number", { LEAF, A, B }, { AT(2), A, 1, B }, 3, 4, AT(0) },
	{ "it saves the address of data", { LEAF, A, B, VALUE }, { AT(2), A, DATA, B, 0 }, 4, 5, AT(0) },
	{ "of data that leads on", { LEAF, A, B, VALUE, 0xfeed }, { 7, AT(3), A, DATA, B, 0 }, 5, 6, AT(1) },
	{ "of text", { LEAF, A, B, CODE }, { AT(2), A, TEXT, B, 0 }, 4, 5, AT(0) },
	{ "of text, in one frame", { LEAF, A, CODE }, { 1, TEXT, A, 0 }, 3, 4, AT(1) },
	{ "of text, and the copy is a part", { LEAF, A, CODE }, { 1, TEXT, A, 0 }, 3, 4, AT(1), true },
	{ "of data far above a whole copy", { LEAF, A, VALUE }, { 1, AT(1000), A, 0 }, 3, 4, AT(1) },
	{ "of the stack's own words", { LEAF, A, VALUE }, { 0, VALUE, AT(0), A }, 3, 4, AT(2) },
	{ "of other words", { LEAF, A, VALUE }, { 0, 7, AT(0), A }, 3, 4, NONE },
	{ "of a frame with a caller", { LEAF, A, B }, { TEXT, A, 0, 0 }, 3, 4, NONE },
	{ "a frame that was, of data", { LEAF, A, B, VALUE }, { DATA, A, AT(4), A, DATA, B, 0 }, 4, 7, AT(2) },
	{ "of data, and so does one that was", { LEAF, A, VALUE }, { 0x5555aaaa, A, 7, 7, DATA, A, 0 }, 3, 7, NONE },
	{ "a small number leads nowhere", { LEAF, A, VALUE }, { 4095, A, 0, 0 }, 3, 4, NONE },
	{ "nor does what is no address", { LEAF, A, VALUE }, { 1ULL << 57, A, 0, 0 }, 3, 4, NONE },
	{ "nowhere, and there is more", { LEAF, A, B }, { 0, A, 0, B }, 3, 4, NONE },
	{ "above a copy of all", { LEAF, A, B }, { AT(8), A, 0, 0 }, 3, 4, NONE },
	{ "far above a part", { LEAF, A, B }, { SP + (1ULL << 30), A, 0, 0 }, 3, 4, NONE, true, FRAME_CHAIN_BEYOND },
	{ "all ones, above a part", { LEAF, A, B }, { UINT64_MAX, A, 0, 0 }, 3, 4, NONE, true, FRAME_CHAIN_BEYOND },
	{ "the beginning is of another", { LEAF, A, B, C }, { AT(2), A, AT(4), B, 0, A }, 4, 6, NONE },
	{ "what rbp was earlier: a frame that others lead to", { LEAF, A }, { 1, AT(3), C, 0, A }, 2, 5, NONE },
	{ "a frame that others lead to, but the kernel had the right rbp",
	  { LEAF, A },
	  { 1, AT(3), C, 0, A },
	  2,
	  5,
	  AT(3),
	  .right = true },
	{ "the same, of a recursion", { LEAF, A, A, B }, { AT(2), A, AT(4), A, AT(6), A, 0, B }, 4, 8, NONE },
};

static bool is_call(void *ctx, uint64_t addr)
{
	return addr != 0x77 && !ctx;
}

static bool is_return(void *ctx, uint64_t addr)
{
	return !ctx && (addr == A || addr == B || addr == C);
}

START_TEST(test_find)
{
	uint64_t fp = NONE, *stack = malloc(8 * rows[_i].words + 1); /* not a word more */
	const struct frame_chain c = { rows[_i].ips,       rows[_i].nr,    SP,   stack,
				       8 * rows[_i].words, !rows[_i].part, NULL, rows[_i].right ? NULL : is_call,
				       is_return };
	enum frame_chain_found found, want = rows[_i].fp != NONE ? FRAME_CHAIN_FOUND : rows[_i].none;

	memcpy(stack, rows[_i].stack, 8 * rows[_i].words);
	found = frame_chain_find(&c, &fp);
	ck_assert_msg(found == want && fp == rows[_i].fp, "%s: %d, %#lx", rows[_i].what, found, fp);
	free(stack);
}
END_TEST

/* The last addresses of memory: nothing wraps. */
START_TEST(test_end_of_memory)
{
	const uint64_t ips[] = { LEAF, A, B }, stack[] = { UINT64_MAX - 15, A, UINT64_MAX, B };
	const struct frame_chain c = { ips, 3, UINT64_MAX - 31, stack, sizeof(stack), true, NULL, is_call, is_return };
	uint64_t fp;

	ck_assert_int_eq(frame_chain_find(&c, &fp), FRAME_CHAIN_FOUND);
	ck_assert_uint_eq(fp, UINT64_MAX - 31);
}
END_TEST

/* A stack made to take long: each second word begins a chain of all those behind it. */
START_TEST(test_bounded)
{
	enum { WORDS = 8192, NR = 127 };
	uint64_t *stack = malloc(8 * WORDS), ips[NR], fp;
	const struct frame_chain c = { ips, NR, SP, stack, 8 * WORDS, true, NULL, is_call, is_return };
	size_t i;

	for (i = 0; i < WORDS; i++)
		stack[i] = i % 2 ? A : AT(i + 2);
	for (i = 0; i < NR; i++)
		ips[i] = A;
	ck_assert_int_eq(frame_chain_find(&c, &fp), FRAME_CHAIN_NONE);
	free(stack);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("frame_chain");
	TCase *tc = tcase_create("frame_chain");

	tcase_add_loop_test(tc, test_find, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, test_end_of_memory);
	tcase_add_test(tc, test_bounded);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
