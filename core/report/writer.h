/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The interface between core/report/report.c, which names, merges and sorts rows, and the output forms, which print
 * them. A new form is a file with its writer, an entry in REPORT_FORMS() and a line of core/module.mk.
 */
#ifndef CORE_REPORT_WRITER_H
#define CORE_REPORT_WRITER_H

#include "core/base/printable.h"
#include "core/base/text_ref.h"
#include "core/report/about.h"
#include "core/report/cfg.h"
#include "core/report/frame.h"

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/types.h>

/**
 * struct report_row - a row as printed. Everything is borrowed until row() returns.
 * @comm, @pid, @tid: its task. @comm is safe to print; @pid and @tid are 0 if the form does not print them, @tid also
 * if rows are not grouped by it
 * @cgroup, @input: its origin: path of a cgroup, name of a file that was read. Empty if not known, or if the form does
 * not print them
 * @nr:     number of @texts, @labels and @frames
 * @texts:  root first, from label(): report_part.root if there is one, the user stack, the delimiter if there is one,
 *          the kernel stack
 * @labels: the numbers of these texts, from 0: equal texts have the same number throughout a report. Some numbers
 *          belong to texts that are not in @texts of any row, such as those of the folded form
 * @frames: the frames themselves, if the form is structured or reports are compared. Equal labels have the same pointer
 *          throughout a report: to the first frame that was added with this label
 * @value:  in the unit of the output
 * @before: the value in the report with which this one is compared; 0 without one
 * @times:  number of samples or intervals off the CPU in @value; @times_before: in @before
 */
struct report_row {
	struct text_ref comm, cgroup, input;
	pid_t pid, tid;
	size_t nr;
	const struct text_ref *texts;
	const uint32_t *labels;
	const struct report_frame *const *frames;
	uint64_t value, before;
	uint64_t times, times_before;
};

/**
 * struct report_interval
 * @number:  from 1; 0: the run has no intervals, and this is its only report
 * @seconds: how long it took
 */
struct report_interval {
	unsigned int number;
	double seconds;
};

/**
 * struct report_output - the output of one run: reports that are written to @out.
 * @cfg:   of the current report
 * @scale: factor for the values of the earlier report, so that both reports have the same sum; 1 with --absolute
 * @state: the writer's own
 */
struct report_output {
	FILE *out;
	const struct report_writer *form;
	const struct report_cfg *cfg;
	double scale;
	void *state;
};

/**
 * struct report_writer - one form. After a failed write, report.c finds that the stream has failed, but not why; so a
 * function that writes much returns the -errno itself. Other functions return 0 or -ENOMEM. Functions with nothing to
 * do may be NULL, except label() and row().
 * @name:       see REPORT_FORMS()
 * @suffixes:   file name suffixes that select it, ended by NULL; NULL: there are none
 * @delimiter:  the frame between the two stacks
 * @semicolon:  printed for a ';' inside a name
 * @prints_pid, @prints_tid: prints the pid, the tid; otherwise rows that differ only in it are merged
 * @prints_origin: the same for the cgroup and the input, unless reports are compared
 * @structured: row() reads report_row.frames; otherwise frames need not be kept, and may be NULL
 * @compares:   row() prints values from before if reports are compared
 * @names_only: options that add to names (addresses, offsets, source lines) have no effect
 * @paragraphs: a row ends with an empty line, otherwise it is one line (core/report/diff.h)
 * @label:      append to @b the text that distinguishes a frame from others: rows with equal labels become one row. So
 *              a label must contain everything that row() prints of a frame. In text forms it is the printed text.
 * @begin:      the output begins
 * @interval:   a report begins
 * @row:        prints the next row; the stream is locked
 * @counts:     called after the last row
 * @end:        the output ends: free @state. If not @whole, something failed: print nothing
 */
struct report_writer {
	const char *name;
	const char *const *suffixes;
	const char *delimiter;
	char semicolon;
	bool prints_pid, prints_tid, prints_origin, structured, compares, names_only, paragraphs;
	void (*label)(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame);
	int (*begin)(struct report_output *o, const struct report_about *about);
	void (*interval)(struct report_output *o, const struct report_interval *interval);
	int (*row)(struct report_output *o, const struct report_row *row);
	int (*counts)(struct report_output *o, const struct report_counts *counts);
	int (*end)(struct report_output *o, bool whole);
};

/** report_failed() - 0, or the -errno of a failed write to @out. Set errno to 0 before the write. @out is locked. */
static inline int report_failed(FILE *out)
{
	if (!ferror_unlocked(out))
		return 0;
	return errno ? -errno : -EIO;
}

/** report_flush() - flush @out. Return: 0, or the -errno of this write or of an earlier one. */
static inline int report_flush(FILE *out)
{
	errno = 0;
	if (fflush(out))
		return errno ? -errno : -EIO;
	return report_failed(out);
}

/* Append the annotation of -a to a frame. */
static inline void textbuf_annotate(struct textbuf *b, const struct report_cfg *cfg, const struct report_frame *frame)
{
	static const char *const annotations[] = {
		[REPORT_FRAME_KERNEL] = "_[k]",
		[REPORT_FRAME_INLINED] = "_[i]",
		[REPORT_FRAME_JIT] = "_[j]",
	};

	const char *text = frame->kind <= REPORT_FRAME_JIT ? annotations[frame->kind] : NULL;

	if (cfg->annotations && text)
		textbuf_put(b, text, strlen(text));
}

#endif
