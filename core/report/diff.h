/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The difference of two reports: the rows that only one of them has.
 *
 * A row is a line of the folded form, or a paragraph of the text form with the empty line that ends it. No row comes
 * twice in a report, and the common rows of two reports are in the same order (see report.h).
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
 * @bytes: borrowed; any bytes; may be NULL if @len is 0
 */
struct report_side {
	const char *name;
	const char *bytes;
	size_t len;
};

/**
 * report_diff() - write the difference between @old and @new to @out; nothing if they are equal.
 * @form:     of both
 * @max_rows: write at most so many rows, those of both sides together. If there are more, a last line says "... and N
 *            more rows differ". SIZE_MAX: all
 * @err:      set on failure; may be NULL
 *
 * Each line of a row has "-" in front if only @old has the row, "+" if only @new has it. Rows are in the order of the
 * reports. Between two common rows, the rows of the two sides alternate.
 *
 * Return: the number of rows that differ, 0 only if the reports are equal; a row that is in both reports with different
 * values counts twice. If only the order or the repetition of rows differs, which never happens with reports of
 * report_write(): 1, and a line in @out that says so. -ENOMEM; the -errno of a failed write (@out is flushed).
 */
int64_t report_diff(FILE *out, const struct report_side *old, const struct report_side *new,
		    const struct report_writer *form, size_t max_rows, struct err *err);

#endif
