/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two reports, as a unified diff of their rows.
 *
 * A row is a line of the folded form, or a paragraph of the text form with the empty line that ends it. No row comes
 * twice in a report, and the common rows of two reports are in the same order (see report.h): so a minimal diff is
 * found in linear time. For other rows, the diff is correct but not minimal.
 */
#ifndef CORE_REPORT_DIFF_H
#define CORE_REPORT_DIFF_H

#include "core/base/err.h"
#include "core/report/report.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct report_side - one of two complete reports, as report_write() wrote it.
 * @name:  its name in the diff, without newline
 * @bytes: borrowed; any bytes, the last row may lack its end; may be NULL if @len is 0
 */
struct report_side {
	const char *name;
	const char *bytes;
	size_t len;
};

/**
 * report_diff() - write the difference between @old and @new to @out; nothing if they are equal.
 * @form:     of both
 * @max_rows: write at most so many rows, removed and added ones together. If there are more, a last line says "... and
 *            N more rows differ". SIZE_MAX: all
 * @err:      set on failure; may be NULL
 *
 * The format is that of `diff -U0`, in whole rows. patch(1) makes @new from @old with it. A diff that was cut is still
 * well formed, and patch(1) applies the part that it has. In a hunk that is cut, both sides are shown.
 *
 * Return: the number of rows that differ, 0 if the reports are equal; a row that is in both reports with different
 * values counts twice. -ENOMEM; the -errno of a failed write (@out is flushed).
 */
int64_t report_diff(FILE *out, const struct report_side *old, const struct report_side *new,
		    const struct report_writer *form, size_t max_rows, struct err *err);

#endif
