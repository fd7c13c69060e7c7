/* SPDX-License-Identifier: Apache-2.0 */
/* Add the rows of a file to a report, with the filters of struct read_cfg. Private to the readers of formats. */
#ifndef CORE_FORMATS_READ_ROWS_H
#define CORE_FORMATS_READ_ROWS_H

#include "core/base/intern.h"
#include "core/formats/read.h"

#define READ_DEPTH (1 << 16) /* frames in a stack */

/**
 * enum read_part - the part of a stack to which a frame belongs.
 * PART_ROOT:      a first frame like "off-cpu", before the user and the kernel part; elsewhere it counts as PART_USER
 * PART_NEXT:      the part of the frame after it: "[truncated]"
 * PART_DELIMITER: between the user and the kernel part
 */
enum read_part { PART_USER, PART_KERNEL, PART_MISSED_USER, PART_MISSED_KERNEL, PART_ROOT, PART_NEXT, PART_DELIMITER };

/** struct read_frame - @label: from report_frame() */
struct read_frame {
	uint32_t label;
	enum read_part part;
};

/**
 * struct read_row - a row as read. Texts are zero-terminated; @cgroup and @input may be NULL. @pid, @tid: 0: not known
 */
struct read_row {
	const char *comm, *cgroup, *input;
	pid_t pid, tid;
	uint64_t value, times;
};

/**
 * struct row_reader - valid if all except the first four members is zero; see row_reader_release().
 * @known, @texts: frames and texts that have a label already
 */
struct row_reader {
	struct infile *in;
	struct report *report;
	const struct read_cfg *cfg;
	struct read_about *about;
	struct intern_table known, texts;
	size_t copied;    /* bytes of the texts of all frames so far; limited, because the report may copy each text */
	uint32_t *labels; /* scratch */
	size_t labels_cap;
	struct read_frame *frames; /* frames of the current row */
	size_t nr_frames, frames_cap;
	uint64_t total; /* number of frames in all rows added so far */
};

void row_reader_release(struct row_reader *r);

/** row_reader_failed() - describe the failure @rc of a function below. Return: @rc. */
int row_reader_failed(const struct row_reader *r, int rc, struct err *err);

/** row_reader_label() - make the report's label for @frame. Return: 0; -ENOMEM; -E2BIG: too many bytes of names. */
int row_reader_label(struct row_reader *r, const struct report_frame *frame, struct read_frame *out);

/**
 * row_reader_known() - find a frame by @key, bytes that identify it in the file, or add one.
 * @frame:  out, valid until the next call; the caller sets it if it is new
 * Return: 0 or -ENOMEM.
 */
int row_reader_known(struct row_reader *r, const struct text_ref *key, struct read_frame **frame, bool *is_new);

/** row_reader_push() - append a frame to the current row, in r->frames. Return: 0 or -ENOMEM. */
int row_reader_push(struct row_reader *r, const struct read_frame *frame);

/**
 * row_reader_add() - add @row with the pushed frames to the report if it passes the filters, and begin the next row. A
 * row whose value and times are both 0 is dropped. Return: 0; -ENOMEM; -E2BIG: too many frames in all rows together.
 */
int row_reader_add(struct row_reader *r, const struct read_row *row);

/**
 * read_name() - set the name of @frame to @name. But "[file+0xfunction]", "[file]" and "[unknown]" are not names: the
 * name becomes NULL, and the module and the function are set if the text has them. The kind becomes
 * REPORT_FRAME_UNKNOWN; only a kernel frame keeps its kind.
 * @name: may be changed; must stay valid as long as @frame
 */
void read_name(struct report_frame *frame, char *name);

/** read_is_marker() - true if @name is a word that this program itself puts into stacks. */
bool read_is_marker(const char *name);

#endif
