// SPDX-License-Identifier: Apache-2.0
#include "core/rows/frame.h"
#include "tests/unit/unit.h"

/* Addresses of all kinds, and values that a process may have put at the place of one. */
static const struct {
	frame_t frame;
	bool exact, name;
} frames[] = {
	{ 1, false, false },
	{ 0x401000, false, false },
	{ 0x7fffffffffff, false, false },
	{ (1ULL << 56) - 1, false, false },
	{ 0xffff800000000000, false, false },
	{ 0xff00000000000000, false, false },
	{ 0xffffffff81000000, false, false },
	{ UINT64_MAX, false, false },
	{ FRAME_EXACT | 0x401000, true, false },
	{ FRAME_EXACT | ((1ULL << 57) - 1), true, false },
	{ FRAME_EXACT | FRAME_NAME, false, false },
	{ 1ULL << 63 | FRAME_NAME, false, false },
	{ 1ULL << 57 | FRAME_NAME, false, false },
	{ FRAME_NAME, false, true },
	{ FRAME_NAME | ((1ULL << 57) - 1), false, true },
};

START_TEST(test_address)
{
	struct frame_names names = { 0 };
	frame_t frame;

	ck_assert_int_eq(frame_is_exact(frames[_i].frame), frames[_i].exact);
	ck_assert_int_eq(frame_is_name(frames[_i].frame), frames[_i].name);
	if (!frames[_i].name)
		ck_assert_int_eq(frame_kind(frames[_i].frame), FRAME_ADDRESS);
	/* If there are no names, no frame has one. */
	ck_assert_ptr_null(frame_names_text(NULL, frames[_i].frame));
	ck_assert_ptr_null(frame_names_text(&names, frames[_i].frame));
	ck_assert_int_eq(frame_names_add(&names, FRAME_MARKER, "x", &frame), 0);
	if (!frames[_i].name || (uint32_t)frames[_i].frame)
		ck_assert_ptr_null(frame_names_text(&names, frames[_i].frame));
	frame_names_release(&names);
}
END_TEST

START_TEST(test_names)
{
	static const char *const texts[] = { "main", "", "main.", "a;b", "\xff", "[marker]" };
	struct frame_names names = { 0 };
	frame_t f[ARRAY_SIZE(texts)], again;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(texts); i++)
		ck_assert_int_eq(frame_names_add(&names, FRAME_FUNCTION, texts[i], &f[i]), 0);
	ck_assert_uint_eq(names.table.nr, ARRAY_SIZE(texts));
	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		ck_assert_int_eq(frame_names_add(&names, FRAME_FUNCTION, texts[i], &again), 0);
		ck_assert_uint_eq(again, f[i]);
		ck_assert_str_eq(frame_names_text(&names, f[i]), texts[i]);
		ck_assert_int_eq(frame_kind(f[i]), FRAME_FUNCTION);
		for (k = 0; k < i; k++)
			ck_assert_uint_ne(f[i], f[k]);
	}
	frame_names_release(&names);
	ck_assert_ptr_null(frame_names_text(&names, f[0]));
}
END_TEST

/* One name of two kinds: two frames, but the name is kept once. */
START_TEST(test_kinds)
{
	struct frame_names names = { 0 };
	frame_t function, marker;

	ck_assert_int_eq(frame_names_add(&names, FRAME_FUNCTION, "x", &function), 0);
	ck_assert_int_eq(frame_names_add(&names, FRAME_MARKER, "x", &marker), 0);
	ck_assert_uint_ne(function, marker);
	ck_assert_int_eq(frame_kind(function), FRAME_FUNCTION);
	ck_assert_int_eq(frame_kind(marker), FRAME_MARKER);
	ck_assert_uint_eq(frame_name_id(function), frame_name_id(marker));
	ck_assert_uint_eq(names.table.nr, 1);
	frame_names_release(&names);
}
END_TEST

START_TEST(test_many)
{
	enum { MANY = 20000 };
	struct frame_names names = { 0 };
	frame_t *f = calloc(MANY, sizeof(*f));
	char text[16];
	size_t i;

	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		ck_assert_int_eq(frame_names_add(&names, FRAME_FUNCTION, text, &f[i]), 0);
	}
	for (i = 0; i < MANY; i++) {
		snprintf(text, sizeof(text), "%zu", i);
		ck_assert_str_eq(frame_names_text(&names, f[i]), text);
	}
	frame_names_release(&names);
	free(f);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("frame");
	TCase *tc = tcase_create("frame");

	tcase_add_loop_test(tc, test_address, 0, ARRAY_SIZE(frames));
	tcase_add_test(tc, test_names);
	tcase_add_test(tc, test_kinds);
	tcase_add_test(tc, test_many);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
