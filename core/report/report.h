/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turn rows into text: name their frames, merge rows that print the same, and sort them. The order in which rows were
 * added has no influence on the report.
 *
 * The order, the same in every form:
 *  1. value as printed, ascending; then the value of the baseline, if reports are compared;
 *  2. the comm's bytes, as the folded form prints it;
 *  3. pid and tid, in forms that print them;
 *  4. the bytes of the stack as the folded form would print it with the same -a and -d, "root;...;leaf", and a stack
 *     before a longer one that begins with it;
 *  5. if that is equal but the printed rows are not (addresses, offsets, a ';' that folds to ':'): the comm, then the
 *     frames from the root on, by the bytes of their labels in this form;
 *  6. the cgroup, then the input, in forms that print them: unknown ones first.
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

struct report; /* one report that is being put together */

/**
 * struct report_part - rows of one kind (samples, or intervals) for a report. All is borrowed until report_add()
 * returns.
 * @names:         of the addresses in @rows. For how long its strings must stay, see struct report_names
 * @quality:       report_add() adds the numbers of its user stacks, see quality.h; NULL: it is not wanted
 * @reused:        report_add() adds the number of samples or intervals with FRAME_REUSED; NULL: it is not wanted
 * @root:          a frame between the comm and the stacks; NULL: none
 * @weight:        values are multiplied by it; 1 or more
 * @from_schedule: leave out frames of tracing code: kernel stacks begin with the caller of __schedule()
 * @before:        the rows are of the earlier report, with which this one is compared
 * @input:         name of the file that the rows come from; NULL: none
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
 * struct report_named - a row that has names already, for example from another report.
 * @comm:   from report_label(), like @cgroup and @input, which may be HASH_NONE
 * @labels: @nr labels from report_frame(), root first; borrowed
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
 *
 * Return, as for all functions with @err: 0; -ENOMEM; the -errno of a failed write (also one of earlier, buffered
 * output: @out is flushed).
 */
int report_begin(struct report_output *o, FILE *out, const struct report_writer *form, const struct report_about *about,
		 struct err *err);

/** report_interval() - begin one of the reports of that output, see struct report_interval. Flushes nothing. */
void report_interval(struct report_output *o, unsigned int number, double seconds);

/**
 * report_new() - make a report without rows; the caller frees it.
 * @cfg: borrowed; its form is ignored
 */
int report_new(const struct report_writer *form, const struct report_cfg *cfg, struct report **out, struct err *err);
void report_free(struct report *r);

/**
 * report_add() - add the rows of a part. All addresses of a stack are return addresses, except the leaf and those with
 * FRAME_EXACT (core/rows/frame.h).
 */
int report_add(struct report *r, const struct report_part *part, struct err *err);

/**
 * report_forget_names() - the names of the parts so far become invalid; labels stay. The next part may have other
 * names.
 */
void report_forget_names(struct report *r);

/**
 * report_label() - make the label of a comm, a cgroup or an input.
 * Return, as report_frame() and report_add_named(): 0 or -ENOMEM.
 */
int report_label(struct report *r, const char *text, uint32_t *label);
/** report_frame() - make the label of @frame, whose name is not mangled; texts are copied. */
int report_frame(struct report *r, const struct report_frame *frame, uint32_t *label);
/** report_delimiter() - the label of the delimiter between user and kernel frames. */
uint32_t report_delimiter(const struct report *r);
int report_add_named(struct report *r, const struct report_named *row);

/**
 * report_print() - write all rows, sorted. After that, nothing can be added.
 * @counts: NULL: not known
 */
int report_print(struct report *r, struct report_output *o, const struct report_counts *counts, struct err *err);

/**
 * report_sums() - the sums of all values: of this report, @now, and of the one that it is compared with, @before. After
 * report_print() they are in the printed unit, because it divides the values.
 */
struct report_sums {
	double now, before;
};
struct report_sums report_sums(const struct report *r);

/**
 * report_each() - call @fn for each row, in no order. Rows have frames only if the form is structured, or if reports
 * are compared (struct report_cfg).
 * Return: 0; -ENOMEM; otherwise the first nonzero value that @fn returned.
 */
int report_each(struct report *r, int (*fn)(void *ctx, const struct report_row *row), void *ctx);

/** report_rows() - print a report of @nr parts: all steps from report_new() to report_free(). */
int report_rows(struct report_output *o, const struct report_part *parts, size_t nr, const struct report_cfg *cfg,
		struct err *err);

/**
 * report_end() - end the output and free the writer's state. A second call, or one without report_begin() (all zeros),
 * does nothing. If not @whole, something failed, and nothing more is printed.
 */
int report_end(struct report_output *o, bool whole, struct err *err);

/** report_write() - all of these steps: write one report of @rows to @out in the form of @cfg, without header. */
int report_write(FILE *out, const struct rows *rows, const struct report_names *names, const struct report_cfg *cfg,
		 struct err *err);

#endif
