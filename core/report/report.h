/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows to text. The report is a function of the rows: named, merged where they print the same, sorted; never
 * does it depend on the order in which rows were added.
 *
 * The order, the same in every form:
 *  1. value as printed, ascending;
 *  2. the comm's bytes, as the folded form prints it;
 *  3. pid and tid, in forms that print them;
 *  4. the bytes of the stack as the folded form would print it with the same -a and -d, "root;...;leaf", a
 *     stack that is the beginning of another one before it;
 *  5. where that is equal but the printed rows are not (addresses, offsets, a ';' that folds to ':'): the
 *     comm, then the frames from the root on, by the bytes of their own texts.
 */
#ifndef CORE_REPORT_H
#define CORE_REPORT_H

#include "core/base/err.h"
#include "core/report/cfg.h"
#include "core/report/forms.h"
#include "core/report/names.h"
#include "core/report/quality.h"
#include "core/report/writer.h"
#include "core/rows/rows.h"

#include <stdio.h>

struct report; /* one report, being put together */

/**
 * struct report_part - rows of a report that has several kinds. All is borrowed until report_add() returns.
 * @names:         of its addresses. What it gives out must stay until report_forget_names() or report_free()
 * @quality:       to which is added what its rows have; NULL: it is not wanted
 * @reused:        to which is added how many samples or intervals have frames with FRAME_REUSED; NULL: it is not wanted
 * @root:          a frame between the comm and the stacks; NULL: none
 * @weight:        of their values, which are multiplied by it; 1 or more
 * @from_schedule: a kernel stack begins with who calls __schedule(): not with what traces there
 * @before:        they are of the report that this one is compared with
 * @input:         name of the file that they are of; NULL: none is to be named
 */
struct report_part {
	const struct rows *rows;
	const struct report_names *names;
	struct report_quality *quality;
	uint64_t *reused;
	const char *root;
	uint64_t weight;
	bool from_schedule, before;
	const char *input;
};

/**
 * struct report_named - a row that has names already, as one that was read from another report.
 * @comm:   of report_label(), as @cgroup and @input, which may be HASH_NONE
 * @labels: @nr of report_frame(), root first; borrowed
 */
struct report_named {
	uint32_t comm, cgroup, input;
	pid_t pid, tid;
	const uint32_t *labels;
	uint32_t nr;
	uint64_t value, times;
	bool before;
};

/**
 * report_begin() - begin the output of a run: one report or, with intervals, several.
 * @form:  see core/report/forms.h
 * @about: NULL: nothing is known
 * Return, as for all of these: 0; -ENOMEM; the -errno of a failed write (also of one that stdio had buffered: @out is
 * flushed).
 */
int report_begin(struct report_output *o, FILE *out, const struct report_writer *form, const struct report_about *about,
		 struct err *err);

/** report_interval() - begin a report of that output, see struct report_interval. Nothing is flushed. */
void report_interval(struct report_output *o, unsigned int number, double seconds);

/**
 * report_new() - a report without rows, to be freed.
 * @cfg: borrowed; its form is ignored
 */
int report_new(const struct report_writer *form, const struct report_cfg *cfg, struct report **out, struct err *err);
void report_free(struct report *r);

/** report_add() - add the rows of a part. Every address of a stack but its leaf is a return address. */
int report_add(struct report *r, const struct report_part *part, struct err *err);

/** report_forget_names() - the names of parts so far are about to go; labels stay. The next part may have others. */
void report_forget_names(struct report *r);

/** report_label() - the label of a comm, a cgroup or an input. Return, as for the next ones: 0 or -ENOMEM. */
int report_label(struct report *r, const char *text, uint32_t *label);
/** report_frame() - the label of @frame, whose name is not mangled; its texts are copied. */
int report_frame(struct report *r, const struct report_frame *frame, uint32_t *label);
/** report_delimiter() - the label of what stands between a user's and a kernel's frames. */
uint32_t report_delimiter(const struct report *r);
int report_add_named(struct report *r, const struct report_named *row);

/**
 * report_print() - write all rows, sorted. Nothing can be added any more.
 * @counts: NULL: nothing is known
 */
int report_print(struct report *r, struct report_output *o, const struct report_counts *counts, struct err *err);

/** report_sums() - the values of all rows, and of those of before, as they are before they are divided by a unit. */
struct report_sums {
	double now, before;
};
struct report_sums report_sums(const struct report *r);

/**
 * report_each() - call @fn for each row, in no order. There are frames only if the form is structured, or the rows are
 * compared (struct report_cfg).
 * Return: 0; -ENOMEM; else what @fn returned first that is not 0.
 */
int report_each(struct report *r, int (*fn)(void *ctx, const struct report_row *row), void *ctx);

/** report_rows() - a report of @nr parts, from report_new() to report_free(). */
int report_rows(struct report_output *o, const struct report_part *parts, size_t nr, const struct report_cfg *cfg,
		struct err *err);

/**
 * report_end() - end the output and free what the writer keeps. A second call, or one without report_begin() (all
 * zeros), does nothing. If not @whole, something failed, and nothing more is printed.
 */
int report_end(struct report_output *o, bool whole, struct err *err);

/** report_write() - all of these: an output of one report of @rows to @out in the form of @cfg, without header. */
int report_write(FILE *out, const struct rows *rows, const struct report_names *names, const struct report_cfg *cfg,
		 struct err *err);

#endif
