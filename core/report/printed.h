/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as printed: merge rows that print the same, sort them, and hand them to the writer. Private to core/report/. */
#ifndef CORE_REPORT_PRINTED_H
#define CORE_REPORT_PRINTED_H

#include "core/report/labels.h"
#include "core/report/writer.h"

/**
 * struct printed_row - a row without its texts.
 * @comm:         label
 * @cgroup, @input: labels; HASH_NONE if not printed or not known
 * @root:         label of the root of its struct report_part; HASH_NONE: it has none
 * @pid, @tid:    0 if not printed
 * @user, @kernel: sequences of labels; @delimited: with a delimiter between them
 */
struct printed_row {
	uint64_t value, before, times, times_before; /* as in struct report_row */
	uint32_t comm, cgroup, input;
	uint32_t root;
	int32_t pid, tid;
	uint32_t user, kernel;
	bool delimited;
};

/** struct printed_rows - valid and empty if all except @labels and @delimiter is zero. @labels is borrowed. */
struct printed_rows {
	const struct labels *labels;
	uint32_t delimiter; /* label */
	struct intern_table table;
};

void printed_release(struct printed_rows *p);

/** printed_add() - add @row, or add its values to the row that prints the same. Return: 0 or -ENOMEM. */
int printed_add(struct printed_rows *p, const struct printed_row *row);

/**
 * printed_divide() - divide @value and @before of all rows by @unit, rounding down; 0, 1: no change. Call it only after
 * the last row: values of rows that print the same are added before they are rounded.
 */
void printed_divide(struct printed_rows *p, uint64_t unit);

/** printed_sort() - sort the rows in the order of core/report/report.h. After that, no row can be added. */
void printed_sort(struct printed_rows *p);

/**
 * printed_each() - call @fn for each row. report_row.frames is NULL unless frames were kept (struct labels).
 * Return: 0; -ENOMEM; otherwise the first nonzero value that @fn returned.
 */
int printed_each(const struct printed_rows *p, int (*fn)(void *ctx, const struct report_row *row), void *ctx);

#endif
