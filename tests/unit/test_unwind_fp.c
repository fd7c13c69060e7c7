// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/unit.h"

#include "unwind/unwind.h"

#define STACK 0x7ffc00001000ULL /* address of words[0] */
#define IP    0x401000ULL
#define HAVE  (1U << UNWIND_FP | 1U << UNWIND_SP | 1U << UNWIND_IP)

/* The address of word @i of the stack. */
#define AT(i) (STACK + 8 * (i))

/** struct memory - the words known of a stack; what follows up to @stack_end was there, but not copied. */
struct memory {
	const uint64_t *words;
	size_t nr;
	uint64_t stack_end;
	unsigned int reads;
};

static int read_stack(void *ctx, uint64_t addr, void *to, size_t len)
{
	struct memory *m = ctx;
	uint64_t end = STACK + 8 * m->nr;

	m->reads++;
	if (addr < STACK || addr >= m->stack_end)
		return -EFAULT;
	if (addr > end || len > end - addr)
		return -ENODATA;
	memcpy(to, (const char *)m->words + (addr - STACK), len);
	return 0;
}

static const struct mapping *find_none(void *ctx, uint64_t addr)
{
	(void)ctx;
	(void)addr;
	return NULL;
}

static void walk(struct memory *m, uint32_t have, uint64_t fp, uint64_t *ips, struct unwind_result *out)
{
	struct unwind_regs regs = { .have = have, .r = { [UNWIND_FP] = fp, [UNWIND_SP] = STACK, [UNWIND_IP] = IP } };
	struct unwind_memory memory = { m, read_stack };
	struct unwind_mappings mappings = { NULL, find_none };
	struct unwinder *u = unwinder_fp.new();

	ck_assert_ptr_nonnull(u);
	out->ips = ips;
	out->nr = 77;
	unwinder_fp.walk(u, &regs, &memory, &mappings, out);
	unwinder_fp.flush(u);
	unwinder_fp.free(u);
	ck_assert_uint_le(out->nr, out->cap);
	ck_assert_uint_le(m->reads, out->cap + 1);
}

/* 12 words, frames where the numbers say; the known part ends after @known words, the stack itself after
 * word 15. */
static const struct {
	const char *what;
	uint64_t words[12];
	size_t known;
	uint64_t fp;
	uint32_t have;
	size_t cap;
	size_t nr;
	uint64_t ips[4];
	enum unwind_end end;
} rows[] = {
	{ "three frames",
	  { 0, 0, AT(4), 0xa, AT(8), 0xb, 0, 0, 0, 0xc },
	  12,
	  AT(2),
	  HAVE,
	  8,
	  4,
	  { IP, 0xa, 0xb, 0xc },
	  UNWIND_ROOT },
	{ "exactly enough room",
	  { 0, 0, AT(4), 0xa, AT(8), 0xb, 0, 0, 0, 0xc },
	  12,
	  AT(2),
	  HAVE,
	  4,
	  4,
	  { IP, 0xa, 0xb, 0xc },
	  UNWIND_ROOT },
	{ "one place too few",
	  { 0, 0, AT(4), 0xa, AT(8), 0xb, 0, 0, 0, 0xc },
	  12,
	  AT(2),
	  HAVE,
	  3,
	  3,
	  { IP, 0xa, 0xb },
	  UNWIND_TRUNCATED },
	{ "exactly enough, a zero address follows",
	  { AT(2), 0xa, AT(4), 0 },
	  12,
	  AT(0),
	  HAVE,
	  2,
	  2,
	  { IP, 0xa },
	  UNWIND_ROOT },
	{ "room for one", { AT(2), 0xa }, 12, AT(0), HAVE, 1, 1, { IP }, UNWIND_TRUNCATED },
	{ "room for one, no caller", { 0 }, 12, 0, HAVE, 1, 1, { IP }, UNWIND_ROOT },
	{ "no room", { AT(2), 0xa }, 12, AT(0), HAVE, 0, 0, { 0 }, UNWIND_TRUNCATED },
	{ "outermost frame", { 0 }, 12, 0, HAVE, 8, 1, { IP }, UNWIND_ROOT },
	{ "frame pointer unknown", { AT(2), 0xa }, 12, AT(0), 1U << UNWIND_IP, 8, 1, { IP }, UNWIND_NO_RULES },
	{ "zero return address", { AT(2), 0xa, AT(4), 0, 0, 0xb }, 12, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_ROOT },
	{ "frame that points to itself", { AT(0), 0xa }, 12, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_BAD },
	{ "cycle of two", { AT(2), 0xa, AT(0), 0xb }, 12, AT(0), HAVE, 8, 3, { IP, 0xa, 0xb }, UNWIND_BAD },
	{ "caller below", { 0, 0xb, AT(0), 0xa }, 12, AT(2), HAVE, 8, 2, { IP, 0xa }, UNWIND_BAD },
	{ "misaligned at first", { AT(2), 0xa }, 12, AT(0) + 1, HAVE, 8, 1, { IP }, UNWIND_BAD },
	{ "misaligned by 4", { AT(2), 0xa }, 12, AT(0) + 4, HAVE, 8, 1, { IP }, UNWIND_BAD },
	{ "misaligned later", { AT(2) + 4, 0xa, AT(4), 0xb }, 12, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_BAD },
	{ "beyond the copy at first", { 0 }, 4, AT(4), HAVE, 8, 1, { IP }, UNWIND_TRUNCATED },
	{ "beyond the copy later", { AT(8), 0xa }, 8, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_TRUNCATED },
	{ "half of a frame in the copy", { AT(7), 0xa }, 8, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_TRUNCATED },
	{ "last frame of the copy",
	  { AT(6), 0xa, 0, 0, 0, 0, 0, 0xb },
	  8,
	  AT(0),
	  HAVE,
	  8,
	  3,
	  { IP, 0xa, 0xb },
	  UNWIND_ROOT },
	{ "outside of the stack", { AT(100), 0xa }, 12, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_BAD },
	{ "below the stack", { 0 }, 12, 0x1000, HAVE, 8, 1, { IP }, UNWIND_BAD },
	{ "not a pointer", { 0 }, 12, 8, HAVE, 8, 1, { IP }, UNWIND_BAD },
	{ "end of the address space", { 0xfffffffffffffff8, 0xa }, 12, AT(0), HAVE, 8, 2, { IP, 0xa }, UNWIND_BAD },
	{ "end of the address space at once", { 0 }, 12, 0xfffffffffffffff8, HAVE, 8, 1, { IP }, UNWIND_BAD },
};

START_TEST(test_rows)
{
	/* Exactly as long as what is known, so that a sanitizer sees what is read or written beyond. */
	struct memory m = { malloc(8 * rows[_i].known), rows[_i].known, AT(16), 0 };
	uint64_t *ips = malloc(8 * rows[_i].cap + 1);
	struct unwind_result out = { .cap = rows[_i].cap };
	size_t i;

	ck_assert_ptr_nonnull(m.words);
	ck_assert_ptr_nonnull(ips);
	memcpy((void *)m.words, rows[_i].words, 8 * rows[_i].known);
	walk(&m, rows[_i].have, rows[_i].fp, ips, &out);
	ck_assert_msg(out.nr == rows[_i].nr, "%s: %zu addresses", rows[_i].what, out.nr);
	for (i = 0; i < out.nr; i++)
		ck_assert_msg(ips[i] == rows[_i].ips[i], "%s: address %zu", rows[_i].what, i);
	ck_assert_msg(out.end == rows[_i].end, "%s: end %d", rows[_i].what, out.end);
	free((void *)m.words);
	free(ips);
}
END_TEST

/* A stack of nothing but frames ends with the room for addresses. */
START_TEST(test_deep)
{
	enum { FRAMES = 4 * UNWIND_MAX_FRAMES };
	uint64_t *words = malloc(16 * FRAMES), ips[UNWIND_MAX_FRAMES];
	struct memory m = { words, 2 * FRAMES, STACK + 16 * FRAMES, 0 };
	struct unwind_result out = { .cap = UNWIND_MAX_FRAMES };
	uint64_t i;

	ck_assert_ptr_nonnull(words);
	for (i = 0; i < FRAMES; i++) {
		words[2 * i] = AT(2 * i + 2);
		words[2 * i + 1] = 0x500000 + i;
	}
	walk(&m, HAVE, STACK, ips, &out);
	ck_assert_uint_eq(out.nr, UNWIND_MAX_FRAMES);
	ck_assert_int_eq(out.end, UNWIND_TRUNCATED);
	ck_assert_uint_eq(ips[UNWIND_MAX_FRAMES - 1], 0x500000 + UNWIND_MAX_FRAMES - 2);
	free(words);
}
END_TEST

START_TEST(test_ops)
{
	ck_assert_str_eq(unwinder_fp.name, "fp");
	unwinder_fp.free(NULL);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("unwind_fp");
	TCase *tc = tcase_create("unwind_fp");

	tcase_add_loop_test(tc, test_rows, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, test_deep);
	tcase_add_test(tc, test_ops);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
