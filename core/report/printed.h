/* SPDX-License-Identifier: Apache-2.0 */
/* Rows as they will be printed: merged where they print the same, sorted, written. Private to core/report/. */
#ifndef CORE_REPORT_PRINTED_H
#define CORE_REPORT_PRINTED_H

#include "core/report/labels.h"
#include "core/report/writer.h"

/**
 * struct printed_row - all but the texts.
 * @comm:         label
 * @cgroup, @input: labels; HASH_NONE where they are not printed, or not known
 * @root:         label of the part's root; HASH_NONE: it has none
 * @pid, @tid:    0 where they are not printed
 * @user, @kernel: sequences of labels; @delimited: with a delimiter between them
 */
struct printed_row {
	uint64_t value, before, times, times_before; /* as struct report_row has them */
	uint32_t comm, cgroup, input;
	uint32_t root;
	int32_t pid, tid;
	uint32_t user, kernel;
	bool delimited;
};

/** struct printed_rows - all zeros but @labels and @delimiter is valid and empty. @labels is borrowed. */
struct printed_rows {
	const struct labels *labels;
	uint32_t delimiter; /* label */
	struct intern_table table;
};

void printed_release(struct printed_rows *p);

/** printed_add() - add @row, or its values to the row that prints the same. Return: 0 or -ENOMEM. */
int printed_add(struct printed_rows *p, const struct printed_row *row);

/** printed_divide() - divide all values by @unit: only after the last row, because what rows lack of a unit adds up. */
void printed_divide(struct printed_rows *p, uint64_t unit);

/** printed_sort() - put rows in the order of core/report/report.h. No row can be added any more. */
void printed_sort(struct printed_rows *p);

/**
 * printed_each() - call @fn for each row. Frames are there if they are kept (struct labels).
 * Return: 0; -ENOMEM; else what @fn returned first that is not 0.
 */
int printed_each(const struct printed_rows *p, int (*fn)(void *ctx, const struct report_row *row), void *ctx);

#endif
