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
#include "core/report/writer.h"
#include "core/rows/rows.h"

#include <stdio.h>

/**
 * struct report_part - rows of a report that has several kinds.
 * @root:          a frame between the comm and the stacks; NULL: none
 * @weight:        of their values, which are multiplied by it; 1 or more
 * @from_schedule: a kernel stack begins with who calls __schedule(): not with what traces there
 */
struct report_part {
	const struct rows *rows;
	const char *root;
	uint64_t weight;
	bool from_schedule;
};

/**
 * report_begin() - begin the output of a run: one report or, with intervals, several.
 * @form: see core/report/forms.h
 * @header: a line without its end, which some forms print; NULL: none
 * Return, as for all of these: 0; -ENOMEM; the -errno of a failed write (also of one that stdio had buffered: @out is
 * flushed).
 */
int report_begin(struct report_output *o, FILE *out, const struct report_writer *form, const char *header,
		 struct err *err);

/** report_interval() - begin a report of that output, see struct report_interval. Nothing is flushed. */
void report_interval(struct report_output *o, unsigned int number, double seconds);

/**
 * report_rows() - write all rows of @nr parts. Every address of a stack but its leaf is a return address.
 * @cfg: its form is ignored
 */
int report_rows(struct report_output *o, const struct report_part *parts, size_t nr, const struct report_names *names,
		const struct report_cfg *cfg, struct err *err);

/**
 * report_end() - end the output and free what the writer keeps. A second call, or one without report_begin() (all
 * zeros), does nothing. If not @whole, something failed, and nothing more is printed.
 */
int report_end(struct report_output *o, bool whole, struct err *err);

/** report_write() - all of these: an output of one report of @rows to @out in the form of @cfg, without header. */
int report_write(FILE *out, const struct rows *rows, const struct report_names *names, const struct report_cfg *cfg,
		 struct err *err);

#endif
