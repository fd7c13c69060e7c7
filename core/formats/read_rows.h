/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows that were read, on their way into a report: what is not wanted is filtered, as from live ones. Private to the
 * readers of formats.
 */
#ifndef CORE_FORMATS_READ_ROWS_H
#define CORE_FORMATS_READ_ROWS_H

#include "core/base/intern.h"
#include "core/formats/read.h"

#define READ_DEPTH (1 << 16) /* frames of a stack that is read */

/**
 * enum read_part - of which part of a stack a frame is.
 * PART_ROOT:      before both, where it is the first frame: "off-cpu"
 * PART_NEXT:      of that of the frame behind it: "[truncated]"
 * PART_DELIMITER: it stands between the two
 */
enum read_part { PART_USER, PART_KERNEL, PART_MISSED_USER, PART_MISSED_KERNEL, PART_ROOT, PART_NEXT, PART_DELIMITER };

/** struct read_frame - @label: of report_frame() */
struct read_frame {
	uint32_t label;
	enum read_part part;
};

/** struct read_row - as it was read. Texts are terminated; @cgroup and @input may be NULL. @pid, @tid: 0: not known */
struct read_row {
	const char *comm, *cgroup, *input;
	pid_t pid, tid;
	uint64_t value, times;
};

/**
 * struct row_reader - all zeros but the first four is valid; see row_reader_release().
 * @known, @texts: what has a label already
 */
struct row_reader {
	struct infile *in;
	struct report *report;
	const struct read_cfg *cfg;
	struct read_about *about;
	struct intern_table known, texts;
	size_t copied;    /* bytes of the texts of frames, each of which the report may copy */
	uint32_t *labels; /* scratch */
	size_t labels_cap;
	struct read_frame *frames; /* of the row at hand */
	size_t nr_frames, frames_cap;
	uint64_t total; /* frames of the rows so far */
};

void row_reader_release(struct row_reader *r);

/** row_reader_failed() - describe what the next ones returned. Return: @rc. */
int row_reader_failed(const struct row_reader *r, int rc, struct err *err);

/** row_reader_label() - the frame of the report for @frame. Return, as for the next ones: 0 or -ENOMEM. */
int row_reader_label(struct row_reader *r, const struct report_frame *frame, struct read_frame *out);

/**
 * row_reader_known() - what was found before for these bytes, which tell a frame of the file from others.
 * @frame:  out, until the next call; the caller sets it if it is new
 */
int row_reader_known(struct row_reader *r, const struct text_ref *key, struct read_frame **frame, bool *is_new);

/** row_reader_push() - one more frame of the row at hand, in r->frames. */
int row_reader_push(struct row_reader *r, const struct read_frame *frame);

/**
 * row_reader_add() - add @row, with the frames that were pushed, to the report, if it is wanted; then the next row
 * begins. One without value and times is none. Return: 0; -ENOMEM; -E2BIG: there are too many frames, of all rows
 * together.
 */
int row_reader_add(struct row_reader *r, const struct read_row *row);

/**
 * read_name() - set the name of @frame from @name as a report prints it: "[file+0xfunction]", "[file]" and "[unknown]"
 * are no names. If it is one of these, the kind is REPORT_FRAME_UNKNOWN, unless it is of the kernel.
 * @name: may be changed; must stay as long as @frame
 */
void read_name(struct report_frame *frame, char *name);

/** read_is_marker() - is @name a word that this program puts into stacks? */
bool read_is_marker(const char *name);

#endif
