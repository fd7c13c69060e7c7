/* SPDX-License-Identifier: Apache-2.0 */
/* The distinct frames of an output, over all its reports: for forms that write a frame once, and its number in rows. */
#ifndef CORE_FORMATS_FRAME_TABLE_H
#define CORE_FORMATS_FRAME_TABLE_H

#include "core/base/intern.h"
#include "core/report/writer.h"

/**
 * struct frame_table - all zeros is valid and empty.
 * @frames: struct text_ref, by number: the labels, copied
 * @known:  for the current report, by label: 1 + the number of the frame; 0: not found yet
 */
struct frame_table {
	struct intern_table frames;
	uint32_t *known;
	size_t nr_known, known_cap;
};

/** frame_table_begin() - begin a report: it numbers its labels anew (report_row.labels). */
void frame_table_begin(struct frame_table *t);

/**
 * frame_table_add() - find or add frame @i of @row. Frames with equal labels are one
 * frame, so the label must have all that the format writes of it.
 * @nr:     out: its number
 * @is_new: out: the output had no such frame before
 *
 * Return: 0 or -ENOMEM, as does frame_table_find().
 */
int frame_table_add(struct frame_table *t, const struct report_row *row, size_t i, uint32_t *nr, bool *is_new);

/** frame_table_find() - the same for a label outside of a row. */
int frame_table_find(struct frame_table *t, const struct text_ref *label, uint32_t *nr, bool *is_new);

void frame_table_release(struct frame_table *t);

#endif
