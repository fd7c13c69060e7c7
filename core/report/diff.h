/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where two reports differ, as a unified diff of their rows.
 *
 * A row is a line of the folded form, or a paragraph of the text form with the empty line that ends it. No row
 * comes twice in a report, and rows that are in both reports are in the same order in both (see report.h): so a
 * minimal diff is found in linear time. Where the rows do not keep to this, the diff is still one, but not minimal.
 */
#ifndef CORE_REPORT_DIFF_H
#define CORE_REPORT_DIFF_H

#include "core/base/err.h"
#include "core/report/report.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/**
 * struct report_side - one of two reports, whole, as report_write() wrote it.
 * @name:  what the diff calls it, without newline
 * @bytes: borrowed; any bytes, a last row may lack its end; may be NULL when @len is 0
 */
struct report_side {
	const char *name;
	const char *bytes;
	size_t len;
};

/**
 * report_diff() - write to @out how @new differs from @old; nothing when they are equal.
 * @form:     of both
 * @max_rows: write at most so many rows, removed and added ones together, and when there are more, a last line
 *            "... and N more rows differ". SIZE_MAX: all
 * @err:      set when it fails; may be NULL
 *
 * The format is that of `diff -U0`, in whole rows. patch(1) makes @new of @old with it; a diff that was cut short
 * is well formed too, and makes the changes it shows. Where a hunk is cut, both sides are shown.
 *
 * Return: the number of rows that differ, 0 when the reports are equal: a row that is in both reports with
 * different values counts twice; -ENOMEM; the -errno of a failed write (@out is flushed).
 */
int64_t report_diff(FILE *out, const struct report_side *old, const struct report_side *new,
		    const struct report_writer *form, size_t max_rows, struct err *err);

#endif
