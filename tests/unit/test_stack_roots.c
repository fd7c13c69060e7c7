// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/pack.h"
#include "backend-perfring/stack_roots.h"
#include "core/arch/arch.h"
#include "tests/unit/unit.h"

#include <string.h>

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

#define TID   42
#define STACK UINT64_C(0x7ffd00001000)
#define WORDS 64 /* number of words from STACK on */
#define ROOT  (STACK + 8 * 20)
#define NEXT  8 /* words at the root that must be equal */

static struct stack_roots roots;
static uint64_t regs[2], words[WORDS];

/* The registers are the frame pointer and the stack pointer. */
static struct record sample(pid_t tid, uint64_t sp)
{
	size_t at = sp >= STACK && sp < STACK + 8 * WORDS ? (size_t)(sp - STACK) / 8 : 0;

	regs[0] = 1;
	regs[1] = sp;
	return (struct record){ .type = PERF_RECORD_SAMPLE,
				.pid = TID,
				.tid = tid,
				.sample = { .abi = PERF_SAMPLE_REGS_ABI_64,
					    .mask = 1ULL << arch_perf_regs[ARCH_FP] | 1ULL << arch_perf_regs[ARCH_SP],
					    .regs = regs,
					    .stack = words + at,
					    .stack_size = 8 * (WORDS - at) } };
}

static void setup(void)
{
	struct record r = sample(TID, STACK);
	size_t i;

	memset(&roots, 0, sizeof(roots));
	for (i = 0; i < WORDS; i++)
		words[i] = i + 1;
	stack_roots_note(&roots, &r, ROOT);
}

static void assert_needed(pid_t tid, uint64_t sp, uint64_t needed)
{
	struct record r = sample(tid, sp);

	ck_assert_uint_eq(stack_roots_needed(&roots, &r), needed);
}

static void assert_all_needed(pid_t tid, uint64_t sp)
{
	assert_needed(tid, sp, sample(tid, sp).sample.stack_size);
}

/* At any depth, up to the root itself and the words that prove it. */
START_TEST(test_depths)
{
	uint64_t sp;

	for (sp = STACK; sp <= ROOT; sp += 8)
		assert_needed(TID, sp, ROOT + 8 * NEXT - sp);
	assert_all_needed(TID, ROOT + 8);
	/* Words below the root may be anything. */
	memset(words, 0xff, ROOT - STACK);
	assert_needed(TID, STACK, ROOT + 8 * NEXT - STACK);
}
END_TEST

START_TEST(test_strangers)
{
	assert_all_needed(TID + 1, STACK);
	assert_all_needed(TID + STACK_ROOTS, STACK);
	assert_all_needed(0, STACK);
	assert_all_needed(-1, STACK);
	assert_needed(TID, STACK, ROOT + 8 * NEXT - STACK);
}
END_TEST

/* The thread has another stack now, that of another program. */
START_TEST(test_other_words)
{
	size_t i;

	for (i = 0; i < NEXT; i++) {
		words[20 + i]++;
		assert_all_needed(TID, STACK);
		words[20 + i]--;
	}
	words[20 + NEXT]++;
	assert_needed(TID, STACK, ROOT + 8 * NEXT - STACK);
}
END_TEST

/* The higher root counts; after its words have changed, the last one. */
START_TEST(test_again)
{
	struct record r = sample(TID, STACK);

	stack_roots_note(&roots, &r, ROOT - 80);
	assert_needed(TID, STACK, ROOT + 8 * NEXT - STACK);
	stack_roots_note(&roots, &r, ROOT + 80);
	assert_needed(TID, STACK, ROOT + 80 + 8 * NEXT - STACK);
	words[30]++; /* where the higher root is */
	stack_roots_note(&roots, &r, ROOT - 80);
	assert_needed(TID, STACK, ROOT - 80 + 8 * NEXT - STACK);
	r = sample(TID + STACK_ROOTS, STACK);
	stack_roots_note(&roots, &r, ROOT);
	assert_all_needed(TID, STACK);
	assert_needed(TID + STACK_ROOTS, STACK, ROOT + 8 * NEXT - STACK);
}
END_TEST

/* A walk that would have needed more of a truncated copy. After that, no root of this thread is trusted. */
START_TEST(test_doubt)
{
	struct record r = sample(TID, STACK);
	uint64_t end = 8 * (20 + NEXT), size;

	for (size = 0; size <= 8 * WORDS; size += 8) {
		r.sample.stack_size = size;
		if (size != end)
			stack_roots_doubt(&roots, &r);
	}
	assert_needed(TID, STACK, end);
	r.sample.stack_size = end;
	r.tid = TID + STACK_ROOTS;
	stack_roots_doubt(&roots, &r);
	words[20]++;
	r.tid = TID;
	stack_roots_doubt(&roots, &r);
	words[20]--;
	assert_needed(TID, STACK, end);
	stack_roots_doubt(&roots, &r);
	assert_all_needed(TID, STACK);
	stack_roots_note(&roots, &r, ROOT);
	assert_all_needed(TID, STACK);
}
END_TEST

/* An unaligned stack pointer, which cannot be a real one. */
START_TEST(test_unaligned)
{
	struct record r = sample(TID, STACK);

	r.sample.stack = (char *)words + 3;
	r.sample.stack_size -= 3;
	regs[1] = STACK + 3;
	ck_assert_uint_eq(stack_roots_needed(&roots, &r), ROOT + 8 * NEXT - STACK - 3);
	stack_roots_note(&roots, &r, ROOT + 5);
	ck_assert_uint_eq(stack_roots_needed(&roots, &r), ROOT + 5 + 8 * NEXT - STACK - 3);
}
END_TEST

/* A copy that ends before the words do. */
START_TEST(test_short)
{
	struct record r = sample(TID, STACK);
	uint64_t nr;

	for (nr = 0; nr < 20 + NEXT; nr++) {
		r.sample.stack_size = 8 * nr;
		ck_assert_uint_eq(stack_roots_needed(&roots, &r), 8 * nr);
	}
}
END_TEST

static const struct {
	uint64_t abi, root;
	bool no_regs, no_sp, no_stack;
	pid_t tid;
} bad[] = {
	{ PERF_SAMPLE_REGS_ABI_32, ROOT, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_NONE, ROOT, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, STACK - 8, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, 0, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, UINT64_MAX, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, STACK + 8 * (WORDS - NEXT + 1), .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, STACK + 8 * WORDS, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, ROOT, .tid = 0 },
	{ PERF_SAMPLE_REGS_ABI_64, ROOT, .tid = -1 },
	{ PERF_SAMPLE_REGS_ABI_64, ROOT, .no_regs = true, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, ROOT, .no_sp = true, .tid = TID },
	{ PERF_SAMPLE_REGS_ABI_64, ROOT, .no_stack = true, .tid = TID },
};

/* Bad roots and samples are neither stored nor looked up. */
START_TEST(test_bad)
{
	struct record r = sample(bad[_i].tid, STACK);

	r.sample.abi = bad[_i].abi;
	if (bad[_i].no_regs)
		r.sample.regs = NULL;
	if (bad[_i].no_sp)
		r.sample.mask = 1;
	if (bad[_i].no_stack)
		r.sample.stack = NULL;
	if (bad[_i].root == ROOT)
		ck_assert_uint_eq(stack_roots_needed(&roots, &r), 8 * WORDS);
	memset(&roots, 0, sizeof(roots));
	stack_roots_note(&roots, &r, bad[_i].root);
	assert_all_needed(TID, STACK);
	assert_all_needed(bad[_i].tid, STACK);
}
END_TEST

/* The part of a record after the root is dropped, and its size is adjusted; the copy counts as complete then. */
START_TEST(test_pack)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_REGS_USER |
							     PERF_SAMPLE_STACK_USER | PERF_SAMPLE_CGROUP,
					      .sample_regs_user = sample(TID, STACK).sample.mask };
	const size_t room = WORDS + (size_t)_i, before = 1 + 1 + 3 + 1, needed = 20 + NEXT;
	uint64_t record[256] = { [1] = TID | (uint64_t)TID << 32, PERF_SAMPLE_REGS_ABI_64, 1, STACK, 8 * room },
		 to[256];
	struct perf_event_header header = { PERF_RECORD_SAMPLE, 0, (uint16_t)(8 * (before + room + 2)) };
	struct record r;
	size_t size;

	memcpy(record, &header, sizeof(header));
	memcpy(record + before, words, sizeof(words));
	record[before + room] = sizeof(words);
	record[before + room + 1] = 77;
	ck_assert_int_eq(decode_record(&attr, record, header.size, &r), 1);
	ck_assert_int_eq(r.sample.stack_whole, _i > 0);
	size = pack_record(&attr, &roots, record, header.size, to);
	ck_assert_uint_eq(size, 8 * (before + needed + 1 + 2));
	ck_assert_int_eq(decode_record(&attr, to, size, &r), 1);
	ck_assert_uint_eq(r.sample.stack_size, 8 * needed);
	ck_assert(r.sample.stack_whole);
	ck_assert_uint_eq(r.sample.cgroup, 77);
	ck_assert_int_eq(memcmp(r.sample.stack, words, 8 * needed), 0);
	ck_assert_uint_eq(pack_record(&attr, &roots, to, size, to), size);
	ck_assert_uint_eq(pack_record(&attr, &roots, record, header.size, record), size);
	ck_assert_int_eq(memcmp(record, to, size), 0);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("stack_roots");
	TCase *tc = tcase_create("stack_roots");

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, test_depths);
	tcase_add_test(tc, test_strangers);
	tcase_add_test(tc, test_other_words);
	tcase_add_test(tc, test_again);
	tcase_add_test(tc, test_doubt);
	tcase_add_test(tc, test_unaligned);
	tcase_add_test(tc, test_short);
	tcase_add_loop_test(tc, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(tc, test_pack, 0, 10);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
