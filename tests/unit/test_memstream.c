// SPDX-License-Identifier: Apache-2.0
#include "core/base/memstream.h"
#include "tests/unit/failing_memory.h"
#include "tests/unit/unit.h"

enum { LINES = 20000 };

static int write_lines(struct textbuf *text)
{
	FILE *f = memstream_begin(text);
	int i;

	for (i = 0; f && i < LINES; i++)
		fprintf(f, "line %05d\n", i);
	return memstream_end(f, text);
}

START_TEST(test_whole)
{
	struct textbuf text;

	ck_assert_int_eq(write_lines(&text), 0);
	ck_assert_uint_eq(text.len, LINES * strlen("line 00000\n"));
	ck_assert_uint_eq(strlen(text.bytes), text.len);
	ck_assert_str_eq(text.bytes + text.len - strlen("line 19999\n"), "line 19999\n");
	free(text.bytes);
}
END_TEST

START_TEST(test_empty)
{
	struct textbuf text;

	ck_assert_int_eq(memstream_end(memstream_begin(&text), &text), 0);
	ck_assert_str_eq(text.bytes, "");
	ck_assert_uint_eq(text.len, 0);
	free(text.bytes);
}
END_TEST

/* Memory that runs out at any time is an error, also if there is memory again when the stream ends. */
START_TEST(test_no_memory)
{
	struct textbuf text;
	bool failed = true;
	size_t nr;
	int rc;

	for (nr = 0; failed; nr++) {
		memory_fail_after(nr, false);
		rc = write_lines(&text);
		failed = memory_restore();
		ck_assert_int_eq(rc, failed ? -ENOMEM : 0);
		ck_assert_int_eq(text.bytes == NULL, failed);
		free(text.bytes);
	}
	ck_assert_uint_gt(nr, 4);
}
END_TEST

START_TEST(test_no_stream)
{
	struct textbuf text = { 0 };

	ck_assert_int_eq(memstream_end(NULL, &text), -ENOMEM);
	ck_assert_ptr_null(text.bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("memstream");
	TCase *tc = tcase_create("memstream");

	tcase_add_test(tc, test_whole);
	tcase_add_test(tc, test_empty);
	tcase_add_test(tc, test_no_memory);
	tcase_add_test(tc, test_no_stream);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
