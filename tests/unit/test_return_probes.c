// SPDX-License-Identifier: Apache-2.0
#include "core/arch/arch.h"
#include "tests/unit/unit.h"
#include "unwind/return_probes.h"

#define SP       0x7ffc00001000ULL
#define CODE     0x7fffffffe000ULL
#define WORDS    12
#define AT(word) (SP + 8 * (word))

/* The kernel walks from the frame at @fp: its words in the copy are the next frame pointer and the return address. */
static const struct {
	const char *what;
	uint64_t fp;
	uint64_t words[WORDS];
	uint64_t ips[6];
	size_t nr;
	size_t restored;
	uint64_t now[WORDS]; /* 0: as it was */
} stacks[] = {
	{ "one of three frames",
	  AT(2),
	  { 9, 9, AT(5), 0x401000, 9, AT(8), CODE, 9, 0, 0x403000, 9, 9 },
	  { 0x400000, 0x401000, 0x402000, 0x403000 },
	  4,
	  1,
	  { [6] = 0x402000 } },
	{ "two, the first of them the innermost",
	  AT(2),
	  { 9, 9, AT(5), CODE, 9, AT(8), 0x402000, 9, 0, CODE, 9, 9 },
	  { 0x400000, 0x401000, 0x402000, 0x403000 },
	  4,
	  2,
	  { [3] = 0x401000, [9] = 0x403000 } },
	{ "the first instruction of a function: the kernel adds its return address",
	  AT(2),
	  { 0x400500, 9, AT(5), CODE, 9, 0, 0x402000, 9, 9, 9, 9, 9 },
	  { 0x400000, 0x400500, 0x401000, 0x402000 },
	  4,
	  1,
	  { [3] = 0x401000 } },
	{ "a callchain that was cut",
	  AT(2),
	  { 9, 9, AT(5), CODE, 9, AT(8), CODE, 9, 0, 0x403000, 9, 9 },
	  { 0x400000, 0x401000 },
	  2,
	  1,
	  { [3] = 0x401000 } },
	{ "a copy that was cut",
	  AT(2),
	  { 9, 9, AT(5), CODE, 9, AT(20), 0x402000, 9, 9, 9, 9, 9 },
	  { 0x400000, 0x401000, 0x402000, 0x403000 },
	  4,
	  1,
	  { [3] = 0x401000 } },
	/* nothing is restored */
	{ "a kernel that leaves callchains as they are",
	  AT(2),
	  { 9, 9, AT(5), CODE, 9, 0, 0x402000, 9, 9, 9, 9, 9 },
	  { 0x400000, CODE, 0x402000 },
	  3,
	  0,
	  { 0 } },
	{ "no callchain", AT(2), { 9, 9, AT(5), CODE, 9, 0, 0x402000, 9, 9, 9, 9, 9 }, { 0 }, 0, 0, { 0 } },
	{ "the innermost address alone", AT(2), { 9, 9, 0, CODE, 9, 9, 9, 9, 9, 9, 9, 9 }, { 0x400000 }, 1, 0, { 0 } },
	{ "another stack",
	  AT(2),
	  { 9, 9, AT(5), CODE, 9, 0, 0x404000, 9, 9, 9, 9, 9 },
	  { 0x400000, 0x401000, 0x402000 },
	  3,
	  0,
	  { 0 } },
	{ "a function without a frame",
	  0x1234,
	  { CODE, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 },
	  { 0x400000, 0x401000 },
	  2,
	  0,
	  { 0 } },
	{ "a frame at the very end",
	  AT(11),
	  { 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, AT(2) },
	  { 0x400000, 0x401000 },
	  2,
	  0,
	  { 0 } },
	{ "a frame below the stack pointer",
	  SP - 8,
	  { CODE, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9, 9 },
	  { 0x400000, 0x401000 },
	  2,
	  0,
	  { 0 } },
	{ "frames in a circle",
	  AT(2),
	  { 9, 9, AT(2), 0x401000, 9, 9, 9, 9, 9, 9, 9, 9 },
	  { 0x400000, 0x401000, 0x401000, 0x401000 },
	  4,
	  0,
	  { 0 } },
};

START_TEST(test_restore)
{
	/* No memory follows the copy, so that sanitizers see an access behind it. */
	uint64_t *copy = malloc(sizeof(stacks[_i].words));
	const struct return_probes p = { stacks[_i].ips, stacks[_i].nr,           stacks[_i].fp, CODE, SP,
					 copy,           sizeof(stacks[_i].words) };
	size_t i;

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, stacks[_i].words, sizeof(stacks[_i].words));
	ck_assert_msg(return_probes_restore(&p) == stacks[_i].restored, "%s", stacks[_i].what);
	for (i = 0; i < WORDS; i++)
		ck_assert_msg(copy[i] == (stacks[_i].now[i] ? stacks[_i].now[i] : stacks[_i].words[i]),
			      "%s: word %zu is %llx", stacks[_i].what, i, (unsigned long long)copy[i]);
	free(copy);
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("return_probes");
	TCase *t = tcase_create("return_probes");

	tcase_add_loop_test(t, test_restore, 0, ARRAY_SIZE(stacks));
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
