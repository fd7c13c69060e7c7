// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/kernel_ranges.h"
#include "tests/unit/unit.h"

#define M 0xffffffffc0000000ULL

static struct kernel_ranges *kr;

static void setup(void)
{
	kr = kernel_ranges_new();
	ck_assert_ptr_nonnull(kr);
}

static void teardown(void)
{
	kernel_ranges_free(kr);
}

static void record(uint64_t at, uint64_t len, const char *name, bool removed, uint64_t time)
{
	const struct kernel_range r = { M + at, len, name, true, removed, time };

	ck_assert_int_eq(kernel_ranges_add(kr, &r), 0);
}

static void came(uint64_t at, uint64_t len, const char *name, uint64_t time)
{
	record(at, len, name, false, time);
}

static void went(uint64_t at, uint64_t len, const char *name, uint64_t time)
{
	record(at, len, name, true, time);
}

/* The frame that a sample taken now gets for this leaf address. */
static uint64_t sampled(uint64_t at)
{
	const uint64_t ip = M + at;

	return *kernel_ranges_at(kr, &ip, 1, 0);
}

/* "name+0xoffset@0xaddress"; "-": no record covers the frame; "?": the frame has no name. */
static const char *name_of(uint64_t frame, bool is_return)
{
	struct kernel_symbol s = { "untouched", "untouched", 0 };
	static char text[1024];
	uint64_t addr;

	switch (kernel_ranges_find(kr, frame, is_return, &s, &addr)) {
	case RANGE_FOUND:
		ck_assert_str_eq(s.module, "bpf");
		snprintf(text, sizeof(text), "%s+0x%llx@0x%llx", s.name, (unsigned long long)(addr - s.start),
			 (unsigned long long)(addr - M));
		return text;
	case RANGE_REUSED:
		ck_assert_str_eq(s.name, "untouched");
		return "?";
	default:
		ck_assert_str_eq(s.name, "untouched");
		return "-";
	}
}

START_TEST(test_nothing)
{
	ck_assert_uint_eq(sampled(0x100), M + 0x100);
	ck_assert_str_eq(name_of(M + 0x100, false), "-");
	ck_assert_str_eq(name_of(KERNEL_RANGE_FRAME, false), "-");
	ck_assert_uint_eq(kernel_ranges_withheld(kr), 0);
}
END_TEST

/* A program that was unloaded keeps its name, whether it was loaded before the first record or after it. */
START_TEST(test_unloaded)
{
	if (_i)
		came(0x1000, 0x80, "prog", 5);
	ck_assert_uint_eq(sampled(0x1010), M + 0x1010);
	went(0x1000, 0x80, "prog", 9);
	kernel_ranges_by_address(kr, _i > 1);
	ck_assert_str_eq(name_of(M + 0x1010, false), "prog+0x10@0x1010");
	ck_assert_str_eq(name_of(M + 0x1000, false), "prog+0x0@0x1000");
	ck_assert_str_eq(name_of(M + 0x1000, true), "-");
	ck_assert_str_eq(name_of(M + 0x1080, true), "prog+0x80@0x1080");
	ck_assert_str_eq(name_of(M + 0x1080, false), "-");
	ck_assert_uint_eq(kernel_ranges_withheld(kr), 0);
}
END_TEST

/* Samples of two programs at one address, one after the other. Bit 0: the first one was loaded before all records. */
START_TEST(test_reused)
{
	uint64_t first, second, again;

	if (!(_i & 1))
		came(0x1000, 0x80, "first", 5);
	first = sampled(0x1010);
	went(0x1000, 0x80, "first", 9);
	ck_assert_uint_eq(sampled(0x1010), first); /* it may still run */
	came(0x1000, 0x40, "second", 10);
	second = sampled(0x1010);
	ck_assert_uint_eq(sampled(0x1050), M + 0x1050); /* this part belongs to the first one */
	went(0x1000, 0x40, "second", 12);
	came(0x1000, 0x80, "first", 13);
	again = sampled(0x1010);

	ck_assert_uint_eq(first, M + 0x1010);
	ck_assert_uint_eq(again, first);
	ck_assert_uint_ne(second, first);
	ck_assert_str_eq(name_of(first, false), "first+0x10@0x1010");
	ck_assert_str_eq(name_of(M + 0x1050, false), "first+0x50@0x1050");
	ck_assert_str_eq(name_of(second, false), "second+0x10@0x1010");
	ck_assert_str_eq(name_of(second, true), "second+0x10@0x1010");
	ck_assert_uint_eq(kernel_ranges_withheld(kr), 0);
}
END_TEST

/* A stack with a return address at the very end of a program, where the next program begins. */
START_TEST(test_stack)
{
	const uint64_t ips[] = { M + 0x1080, M + 0x1080, 0xffffffff81000010 }, *frames;

	came(0x1000, 0x100, "old", 5);
	ck_assert_ptr_eq(kernel_ranges_at(kr, ips, 3, 0), ips);
	came(0x1000, 0x80, "left", 6);
	came(0x1080, 0x80, "right", 7);
	frames = kernel_ranges_at(kr, ips, 3, 0);
	ck_assert_str_eq(name_of(frames[0], false), "right+0x0@0x1080");
	ck_assert_str_eq(name_of(frames[1], true), "left+0x80@0x1080");
	ck_assert_uint_eq(frames[2], ips[2]);
}
END_TEST

/* Samples without times: an address of two programs has no name. */
START_TEST(test_by_address)
{
	kernel_ranges_by_address(kr, true);
	came(0x1000, 0x80, "first", 5);
	went(0x1000, 0x80, "first", 9);
	came(0x1040, 0x80, "second", 10);
	ck_assert_uint_eq(sampled(0x1050), M + 0x1050);
	ck_assert_str_eq(name_of(M + 0x1010, false), "first+0x10@0x1010");
	ck_assert_str_eq(name_of(M + 0x1050, false), "?");
	ck_assert_str_eq(name_of(M + 0x1060, false), "?");
	ck_assert_str_eq(name_of(M + 0x1090, false), "second+0x50@0x1090");
	ck_assert_uint_eq(kernel_ranges_withheld(kr), 1);
}
END_TEST

/* If the same program is loaded again at the same address, it does not count as another one. */
START_TEST(test_reloaded)
{
	uint64_t time;

	kernel_ranges_by_address(kr, _i);
	for (time = 1; time < 50000; time += 2) {
		came(0x1000, 0x80, "prog", time);
		went(0x1000, 0x80, "prog", time + 1);
	}
	ck_assert_uint_eq(sampled(0x1010), M + 0x1010);
	ck_assert_str_eq(name_of(M + 0x1010, false), "prog+0x10@0x1010");
}
END_TEST

#define S 1000000000ULL

/* Code of other intervals is ignored. */
START_TEST(test_intervals)
{
	kernel_ranges_by_address(kr, _i);
	came(0x1000, 0x80, "first", 1 * S);
	went(0x1000, 0x80, "first", 9 * S);
	came(0x1000, 0x80, "second", 10 * S);
	kernel_ranges_interval(kr, 5 * S, 9 * S);
	ck_assert_str_eq(name_of(M + 0x1010, false), "first+0x10@0x1010");
	if (_i) {
		kernel_ranges_interval(kr, 5 * S, 15 * S);
		ck_assert_str_eq(name_of(M + 0x1010, false), "?");
		kernel_ranges_interval(kr, 9 * S + 1, 15 * S); /* still remembered */
		ck_assert_str_eq(name_of(M + 0x1010, false), "second+0x10@0x1010");
	}
	kernel_ranges_interval(kr, 15 * S, 20 * S); /* forgotten */
	ck_assert_str_eq(name_of(sampled(0x1010), false), "second+0x10@0x1010");
	went(0x1000, 0x80, "second", 21 * S);
	kernel_ranges_interval(kr, 30 * S, 40 * S);
	ck_assert_str_eq(name_of(M + 0x1010, false), "-");
}
END_TEST

/* A sample long after the end of a program does not belong to it: a record is missing. */
START_TEST(test_over)
{
	const uint64_t ip = M + 0x1010;

	came(0x1000, 0x80, "first", 1 * S);
	went(0x1000, 0x80, "first", 2 * S);
	ck_assert_str_eq(name_of(*kernel_ranges_at(kr, &ip, 1, 2 * S + S / 20), false), "first+0x10@0x1010");
	ck_assert_str_eq(name_of(*kernel_ranges_at(kr, &ip, 1, 1 * S), false), "first+0x10@0x1010");
	ck_assert_str_eq(name_of(*kernel_ranges_at(kr, &ip, 1, 3 * S), false), "-");
	came(0x1000, 0x80, "first", 4 * S);
	ck_assert_str_eq(name_of(*kernel_ranges_at(kr, &ip, 1, 5 * S), false), "first+0x10@0x1010");
}
END_TEST

/* Records were lost: names at addresses with records are unknown, and other addresses may have new code. */
START_TEST(test_lost)
{
	came(0x1000, 0x80, "first", 5);
	ck_assert(!kernel_ranges_incomplete(kr));
	kernel_ranges_lost(kr);
	ck_assert(kernel_ranges_incomplete(kr));
	ck_assert_str_eq(name_of(M + 0x1010, false), "?");
	ck_assert_str_eq(name_of(M + 0x10000, false), "-");
}
END_TEST

/* The number of programs is limited: further ones have no names, and the others keep theirs. */
START_TEST(test_many)
{
	char name[32];
	uint64_t i;

	for (i = 0; i < 20000; i++) {
		snprintf(name, sizeof(name), "prog_%llu", (unsigned long long)i);
		came(i * 0x100, 0x80, name, i + 1);
	}
	ck_assert_str_eq(name_of(M + 0x100, false), "prog_1+0x0@0x100");
	ck_assert_str_eq(name_of(M + 16383 * 0x100, false), "prog_16383+0x0@0x3fff00");
	ck_assert_str_eq(name_of(M + 16384 * 0x100, false), "?");
	ck_assert_str_eq(name_of(M + 19999 * 0x100, false), "?");
}
END_TEST

/* Impossible records are ignored. */
static const struct kernel_range bad[] = {
	{ M, 0, "empty", true, false, 1 },
	{ M, 1ULL << 32, "huge", true, false, 1 },
	{ UINT64_MAX - 1, 4, "around", true, false, 1 },
	{ 0x1000, 0x80, "user", true, false, 1 },
	{ M, 0x80, "", true, false, 1 },
	{ M, 0x80, "two words", true, false, 1 },
	{ M, 0x80, "line\nline", true, true, 1 },
};

START_TEST(test_bad)
{
	ck_assert_int_eq(kernel_ranges_add(kr, &bad[_i]), 0);
	ck_assert_str_eq(name_of(bad[_i].start, false), "-");
	ck_assert_uint_eq(sampled(0), M);
}
END_TEST

/* A recording may have numbers that look like our own frames. */
static const uint64_t forged[] = {
	KERNEL_RANGE_FRAME | 1ULL << 32,
	KERNEL_RANGE_FRAME | 0x1ffffffULL << 32,
	KERNEL_RANGE_FRAME | 0x80,
	KERNEL_RANGE_FRAME | UINT32_MAX,
};

START_TEST(test_forged)
{
	came(0x1000, 0x80, "first", 5);
	ck_assert_str_eq(name_of(forged[_i], false), "-");
	ck_assert_str_eq(name_of(KERNEL_RANGE_FRAME, true), "-");
}
END_TEST

/* The last record about an address decides. */
START_TEST(test_random)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	const char *now[256] = { 0 };
	uint32_t seed = (uint32_t)_i + 1;
	uint64_t time, i;

	for (time = 1; time < 2000; time++) {
		uint64_t at, len;
		const char *name;

		seed = seed * 1664525 + 1013904223;
		at = seed >> 24;
		len = 1 + (seed >> 16 & 0x1f);
		name = names[seed >> 10 & 7];
		if (at + len > 256)
			len = 256 - at;
		came(at, len, name, time);
		for (i = at; i < at + len; i++)
			now[i] = name;
		for (i = 0; i < 256; i += 7) {
			const char *told = name_of(sampled(i), false);

			if (now[i])
				ck_assert_msg(told[0] == *now[i] && told[1] == '+', "%s is not %s", told, now[i]);
			else
				ck_assert_str_eq(told, "-");
		}
	}
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("kernel_ranges");
	TCase *t = tcase_create("kernel_ranges");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_nothing);
	tcase_add_loop_test(t, test_unloaded, 0, 3);
	tcase_add_loop_test(t, test_reused, 0, 2);
	tcase_add_test(t, test_stack);
	tcase_add_test(t, test_by_address);
	tcase_add_loop_test(t, test_reloaded, 0, 2);
	tcase_add_loop_test(t, test_intervals, 0, 2);
	tcase_add_test(t, test_over);
	tcase_add_test(t, test_lost);
	tcase_add_test(t, test_many);
	tcase_add_loop_test(t, test_bad, 0, ARRAY_SIZE(bad));
	tcase_add_loop_test(t, test_forged, 0, ARRAY_SIZE(forged));
	tcase_add_loop_test(t, test_random, 0, 4);
	suite_add_tcase(suite, t);
	return unit_main(suite);
}
