// SPDX-License-Identifier: Apache-2.0
#include "core/report/diff.h"
#include "tests/unit/unit.h"

#define FOLDED &report_folded
#define TEXT   &report_text
#define ALL    SIZE_MAX
#define HEAD   "--- a\n+++ b\n"

/* Two paragraphs of the text form, 3 and 4 lines long with their empty lines. */
#define P(comm, value)  "    -                " comm " (1)\n        " value "\n\n"
#define PF(comm, value) "    main\n" P(comm, value)

struct bytes {
	char *p;
	size_t len;
};

static int64_t diff(const struct bytes *a, const struct bytes *b, const struct report_writer *form, size_t max,
		    struct bytes *got)
{
	const struct report_side old = { "a", a->p, a->len }, new = { "b", b->p, b->len };
	FILE *out = open_memstream(&got->p, &got->len);
	struct err err = { 0 };
	int64_t rc;

	ck_assert_ptr_nonnull(out);
	rc = report_diff(out, &old, &new, form, max, &err);
	ck_assert_int_eq(err.code, 0);
	fclose(out);
	return rc;
}

static const struct {
	const struct report_writer *form;
	const char *a, *b;
	size_t max;
	int64_t nr;
	const char *want;
} tables[] = {
	/* equal */
	{ FOLDED, "", "", ALL, 0, "" },
	{ FOLDED, "x 1\n", "x 1\n", ALL, 0, "" },
	{ FOLDED, "x 1", "x 1", ALL, 0, "" },
	{ TEXT, P("x", "1") PF("y", "2"), P("x", "1") PF("y", "2"), ALL, 0, "" },
	/* one side is empty */
	{ FOLDED, "", "x 1\n", ALL, 1, HEAD "+x 1\n" },
	{ FOLDED, "x 1\n", "", ALL, 1, HEAD "-x 1\n" },
	{ FOLDED, "x 1\ny 1\n", "", ALL, 2, HEAD "-x 1\n-y 1\n" },
	{ FOLDED, "", "\n", ALL, 1, HEAD "+\n" },
	{ FOLDED, "", "x 1", ALL, 1, HEAD "+x 1\n" },
	{ TEXT, "", P("x", "1"), ALL, 1, HEAD "+    -                x (1)\n+        1\n+\n" },
	{ TEXT, "", "\n", ALL, 1, HEAD "+\n" },
	/* a row at the beginning, in the middle, at the end */
	{ FOLDED, "y 1\nz 1\n", "x 1\ny 1\nz 1\n", ALL, 1, HEAD "+x 1\n" },
	{ FOLDED, "x 1\nz 1\n", "x 1\ny 1\nz 1\n", ALL, 1, HEAD "+y 1\n" },
	{ FOLDED, "x 1\ny 1\n", "x 1\ny 1\nz 1\n", ALL, 1, HEAD "+z 1\n" },
	{ FOLDED, "x 1\ny 1\nz 1\n", "y 1\nz 1\n", ALL, 1, HEAD "-x 1\n" },
	{ FOLDED, "x 1\ny 1\nz 1\n", "x 1\nz 1\n", ALL, 1, HEAD "-y 1\n" },
	{ FOLDED, "x 1\ny 1\nz 1\n", "x 1\ny 1\n", ALL, 1, HEAD "-z 1\n" },
	/* a value differs: at the same place, at another one; all differ */
	{ FOLDED, "x 1\ny 2\nz 5\n", "x 1\ny 3\nz 5\n", ALL, 2, HEAD "-y 2\n+y 3\n" },
	{ FOLDED, "x 1\ny 2\nz 5\n", "y 2\nx 3\nz 5\n", ALL, 2, HEAD "-x 1\n+x 3\n" },
	{ FOLDED, "x 1\ny 2\nz 3\n", "x 2\ny 3\n", ALL, 5, HEAD "-x 1\n+x 2\n-y 2\n+y 3\n-z 3\n" },
	/* rows that look like a difference, rows that begin like others, no text at all */
	{ FOLDED, "-- a 1\n", "++ b 1\n", ALL, 2, HEAD "--- a 1\n+++ b 1\n" },
	{ FOLDED, "x 1\nx 10\n", "x 1\nx 100\n", ALL, 2, HEAD "-x 10\n+x 100\n" },
	{ FOLDED, "\xff\x80\r\t 1\n", "\xff\x81\r\t 1\n", ALL, 2, HEAD "-\xff\x80\r\t 1\n+\xff\x81\r\t 1\n" },
	/* the end of the last row is missing */
	{ FOLDED, "x 1\ny 1", "x 1\ny 1\n", ALL, 2, HEAD "-y 1\n+y 1\n" },
	{ FOLDED, "x 1\ny 1", "y 1", ALL, 1, HEAD "-x 1\n" },
	{ TEXT, "x\n1\n", "x\n1\n\n", ALL, 2, HEAD "-x\n-1\n+x\n+1\n+\n" },
	/* paragraphs, whole */
	{ TEXT, P("x", "1") PF("y", "2") P("z", "3"), P("x", "1") PF("y", "7") P("z", "3"), ALL, 2,
	  HEAD "-    main\n-    -                y (1)\n-        2\n-\n"
	       "+    main\n+    -                y (1)\n+        7\n+\n" },
	{ TEXT, "a\n\n\nb\n\n", "a\n\nb\n\n", ALL, 1, HEAD "-\n" },
	/* reports are not like this, but they differ */
	{ FOLDED, "x 1\ny 1\n", "y 1\nx 1\n", ALL, 1, HEAD "... the same rows in another order, or repeated\n" },
	{ FOLDED, "x\nx\n", "x\n", ALL, 1, HEAD "... the same rows in another order, or repeated\n" },
	/* cut */
	{ FOLDED, "", "", 0, 0, "" },
	{ FOLDED, "x\n", "y\n", 0, 2, HEAD "... and 2 more rows differ\n" },
	{ FOLDED, "x\n", "y\n", 1, 2, HEAD "-x\n... and 1 more row differs\n" },
	{ FOLDED, "x\n", "y\n", 2, 2, HEAD "-x\n+y\n" },
	{ FOLDED, "x\n", "y\n", 3, 2, HEAD "-x\n+y\n" },
	{ FOLDED, "1\n2\n3\n4\n", "5\n6\n7\n8\n", 3, 8, HEAD "-1\n+5\n-2\n... and 5 more rows differ\n" },
	{ FOLDED, "1\nx\n3\n", "x\n", 1, 2, HEAD "-1\n... and 1 more row differs\n" },
	{ FOLDED, "x\n", "1\nx\n3\n4\n", 2, 3, HEAD "+1\n+3\n... and 1 more row differs\n" },
	{ TEXT, P("x", "1"), P("x", "2"), 1, 2,
	  HEAD "-    -                x (1)\n-        1\n-\n... and 1 more row differs\n" },
};

START_TEST(test_table)
{
	const struct bytes a = { (char *)tables[_i].a, strlen(tables[_i].a) };
	const struct bytes b = { (char *)tables[_i].b, strlen(tables[_i].b) };
	struct bytes got;

	ck_assert_int_eq(diff(&a, &b, tables[_i].form, tables[_i].max, &got), tables[_i].nr);
	ck_assert_str_eq(got.p, tables[_i].want);
	free(got.p);
}
END_TEST

START_TEST(test_null_is_empty)
{
	const struct bytes none = { NULL, 0 }, one = { (char *)"x 1\n", 4 };
	struct bytes got;

	ck_assert_int_eq(diff(&none, &none, FOLDED, ALL, &got), 0);
	ck_assert_str_eq(got.p, "");
	free(got.p);
	ck_assert_int_eq(diff(&none, &one, TEXT, ALL, &got), 1);
	ck_assert_str_eq(got.p, HEAD "+x 1\n");
	free(got.p);
	ck_assert_int_eq(diff(&one, &none, TEXT, ALL, &got), 1);
	ck_assert_str_eq(got.p, HEAD "-x 1\n");
	free(got.p);
}
END_TEST

static bool has_line(const struct bytes *report, const char *line, size_t len)
{
	const char *at = report->p, *end = report->p + report->len;

	for (; at < end; at = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1)
		if ((size_t)(end - at) >= len && !memcmp(at, line, len))
			return true;
	return false;
}

/* Each line of @got is in one of @sides; if each row is a line (@rows), in one only. Return: number of lines. */
static size_t check_lines(const struct bytes *sides, const struct bytes *got, bool rows)
{
	const char *at = got->p + strlen(HEAD), *end = got->p + got->len, *next;
	size_t nr = 0, len;

	for (; at < end; at = next, nr++) {
		next = (const char *)memchr(at, '\n', (size_t)(end - at)) + 1;
		len = (size_t)(next - at) - 1;
		if (*at == '.')
			return nr;
		ck_assert(*at == '-' || *at == '+');
		ck_assert(has_line(&sides[*at == '+'], at + 1, len));
		ck_assert(!rows || !has_line(&sides[*at == '-'], at + 1, len));
	}
	return nr;
}

/* Mixes of @rows rows. Of 1024 rows, @unlike are in one report only, @astray of the new one are at random places. */
static const struct {
	unsigned int rows, unlike, astray;
	const struct report_writer *form;
} mixes[] = {
	{ 1, 1024, 0, FOLDED },       { 3, 512, 0, FOLDED },       { 100, 0, 0, FOLDED },     { 100, 20, 0, FOLDED },
	{ 100, 20, 0, TEXT },         { 100, 512, 0, FOLDED },     { 100, 512, 0, TEXT },     { 100, 1024, 0, FOLDED },
	{ 1000, 0, 1, FOLDED },       { 1000, 0, 1024, FOLDED },   { 1000, 20, 300, FOLDED }, { 1000, 512, 50, TEXT },
	{ 100000, 1, 0, FOLDED },     { 100000, 300, 0, FOLDED },  { 100000, 300, 0, TEXT },  { 100000, 1024, 0, TEXT },
	{ 100000, 300, 100, FOLDED }, { 100000, 0, 1024, FOLDED },
};

static bool chance(unsigned int of_1024)
{
	return (unsigned int)(random() & 1023) < of_1024;
}

/* A row with bytes of all kinds except NUL and newline; its text is unique. */
static void put_row(FILE *out, const struct report_writer *form, unsigned int id)
{
	unsigned int i;

	for (i = 0; form == TEXT && i < id % 5; i++)
		fprintf(out, "    %u\n", i);
	fprintf(out, "%c%c%c %u\n", "-+@\\ "[id % 5], 1 + (int)(id % 9), 0x80 + (int)(id % 128), id);
	if (form == TEXT)
		putc('\n', out);
}

static size_t row_lines(const struct report_writer *form, unsigned int id)
{
	return form == TEXT ? id % 5 + 2 : 1;
}

struct mixed {
	struct bytes side[2];
	size_t rows, lines; /* on one side only */
};

static void put_side(struct bytes *side, const struct report_writer *form, const unsigned int *ids, size_t nr)
{
	FILE *out = open_memstream(&side->p, &side->len);
	size_t i;

	ck_assert_ptr_nonnull(out);
	for (i = 0; i < nr; i++)
		put_row(out, form, ids[i]);
	fclose(out);
}

static void mix(struct mixed *m, unsigned int rows, unsigned int unlike, unsigned int astray,
		const struct report_writer *form)
{
	unsigned int *ids[2], id, tmp;
	size_t nr[2] = { 0 }, i, at;

	for (i = 0; i < 2; i++) {
		ids[i] = calloc(rows, sizeof(*ids[i]));
		ck_assert_ptr_nonnull(ids[i]);
	}
	for (id = 0; id < rows; id++) {
		at = (size_t)random() & 1;
		ids[at][nr[at]++] = id;
		if (chance(unlike)) {
			m->rows++;
			m->lines += row_lines(form, id);
		} else {
			ids[!at][nr[!at]++] = id;
		}
	}
	for (i = 0; i < nr[1]; i++) {
		if (!chance(astray))
			continue;
		at = (size_t)random() % nr[1];
		tmp = ids[1][i];
		ids[1][i] = ids[1][at];
		ids[1][at] = tmp;
	}
	for (i = 0; i < 2; i++) {
		put_side(&m->side[i], form, ids[i], nr[i]);
		free(ids[i]);
	}
}

static void mixed_release(struct mixed *m)
{
	free(m->side[0].p);
	free(m->side[1].p);
}

START_TEST(test_random)
{
	struct mixed m = { 0 };
	struct bytes got;
	int64_t nr;

	srandom((unsigned int)_i + 1);
	mix(&m, mixes[_i].rows > 1000 ? (unsigned int)unit_times((int)mixes[_i].rows) : mixes[_i].rows,
	    mixes[_i].unlike, mixes[_i].astray, mixes[_i].form);
	nr = diff(&m.side[0], &m.side[1], mixes[_i].form, ALL, &got);
	if (m.rows || !mixes[_i].astray)
		ck_assert_int_eq(nr, (int64_t)m.rows);
	else /* another order is one difference */
		ck_assert_int_le(nr, 1);
	if (mixes[_i].rows <= 1000 && got.len)
		ck_assert_uint_eq(check_lines(m.side, &got, mixes[_i].form == FOLDED), m.lines);
	free(got.p);
	mixed_release(&m);
}
END_TEST

/* However much is cut: the rows shown and the rows counted at the end are all. */
START_TEST(test_random_cut)
{
	size_t max = (size_t)_i, shown, said = 0;
	struct mixed m = { 0 };
	struct bytes got;
	const char *last;

	srandom((unsigned int)_i + 1);
	mix(&m, 100, 700, 0, FOLDED);
	ck_assert_int_eq(diff(&m.side[0], &m.side[1], FOLDED, max, &got), (int64_t)m.rows);
	last = strstr(got.p, "\n... and ");
	ck_assert_int_eq(!last, m.rows <= max);
	if (last)
		said = strtoul(last + strlen("\n... and "), NULL, 10);
	shown = check_lines(m.side, &got, true);
	ck_assert_uint_eq(shown, m.rows <= max ? m.rows : max);
	ck_assert_uint_eq(shown + said, m.rows);
	free(got.p);
	mixed_release(&m);
}
END_TEST

/* The last row does not fit into stdio's buffer; or it fits, and the flush fails. */
static const size_t full[] = { 1, 100, 1u << 20 };

START_TEST(test_full_disk)
{
	const struct report_side none = { "a", NULL, 0 };
	struct report_side one = { "b", NULL, full[_i] };
	FILE *out = fopen("/dev/full", "we");
	struct err err = { 0 };
	char *bytes;

	ck_assert_ptr_nonnull(out);
	bytes = malloc(full[_i]);
	ck_assert_ptr_nonnull(bytes);
	one.bytes = memset(bytes, 'x', full[_i]);
	ck_assert_int_eq(report_diff(out, &none, &one, FOLDED, ALL, &err), -ENOSPC);
	ck_assert_int_eq(err.code, -ENOSPC);
	ck_assert_str_eq(err.msg, "cannot write how the reports differ: No space left on device");
	ck_assert_int_lt(report_diff(out, &none, &one, FOLDED, 0, NULL), 0);  /* the stream stays failed */
	ck_assert_int_eq(report_diff(out, &one, &one, FOLDED, ALL, NULL), 0); /* nothing to write */
	fclose(out);
	free(bytes);
}
END_TEST

/* Half of the rows differ, all. */
static const unsigned int unlikes[] = { 512, 1024 };

/* After a failed write, nothing more is written. */
START_TEST(test_stops)
{
	struct mixed m = { 0 };
	struct report_side old, new;
	int calls = 0;
	FILE *out = fopencookie(&calls, "w", (cookie_io_functions_t){ .write = unit_failing_write });

	ck_assert_ptr_nonnull(out);
	srandom(1);
	mix(&m, 20000, unlikes[_i], 0, FOLDED);
	old = (struct report_side){ "a", m.side[0].p, m.side[0].len };
	new = (struct report_side){ "b", m.side[1].p, m.side[1].len };
	ck_assert_int_eq(report_diff(out, &old, &new, FOLDED, ALL, NULL), -EIO);
	ck_assert_int_le(calls, 4);
	fclose(out);
	mixed_release(&m);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("report_diff");
	TCase *tc = tcase_create("report_diff");

	tcase_add_loop_test(tc, test_table, 0, ARRAY_SIZE(tables));
	tcase_add_test(tc, test_null_is_empty);
	tcase_add_loop_test(tc, test_random, 0, ARRAY_SIZE(mixes));
	tcase_add_loop_test(tc, test_random_cut, 0, unit_times(90));
	tcase_add_loop_test(tc, test_full_disk, 0, ARRAY_SIZE(full));
	tcase_add_loop_test(tc, test_stops, 0, ARRAY_SIZE(unlikes));
	tcase_set_timeout(tc, 60);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
