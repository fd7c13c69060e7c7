/* SPDX-License-Identifier: Apache-2.0 */
/* Write the reports of a run, one for each interval, with all messages about them. */
#ifndef CORE_CLI_REPORTS_H
#define CORE_CLI_REPORTS_H

#include "core/cli/account.h"
#include "core/cli/agreement.h"
#include "core/cli/command_line.h"
#include "core/cli/output.h"
#include "core/formats/read.h"
#include "core/host/cpu_wait.h"
#include "core/report/entry.h"
#include "core/report/quality.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"

/**
 * struct reports - the state of a run until its last report is written. The caller sets @options, @out, @symbols,
 * @before, @more and @input.
 * @run: the options with which @session was made: @options, or a recording's own copy
 * @session, @symbols: of the run or recording being counted or read
 * @before:  the baseline is being read: its rows become the earlier values of the report
 * @more:    more files, or the baseline, belong to the same report: do not print it yet
 * @named:   warned that options for names have no effect on an input that is a report
 * @input:   the current file, as the user gave it
 * @body:    the current report, if it has rows already
 * @counts:  of the @nr_counts files, or intervals, that were added to @body
 * @unit, @event, @freq_hz: of the first data counted or read; "": no event is known
 * @grown:   with --fail-above: number of functions that grew by more than its value
 * @wait:    begins at the end of the sampling; not for --input
 */
struct reports {
	const struct options *options;
	struct output *out;
	const struct options *run;
	struct session *session;
	struct symbols *symbols;
	bool before, more, named;
	const char *input;
	struct report_output report;
	struct report *body;
	struct report_counts counts;
	unsigned int nr_counts;
	char event[64];
	uint64_t freq_hz;
	bool unit_known;
	enum report_unit unit;
	int grown;
	struct cpu_wait wait;
	unsigned int intervals; /* intervals reported so far */
	struct account total;
	struct agreement agreement;
	struct report_quality quality; /* for the current report */
	bool advised;
};

/** reports_next() - the next rows come from session @s, made with @o: that of the live run, or of one recording. */
void reports_next(struct reports *r, const struct options *o, struct session *s);

/** reports_read() - read @in, a report, into the current report. Print this and commit the output unless @r->more. */
int reports_read(struct reports *r, struct infile *in, struct err *err);

/**
 * reports_check_baseline() - read the baseline @in, a report, and check that a live run can be compared with it. This
 * function leaves @r in the state of reading a baseline, so call it in a child process. Return: 0; -errno, described.
 */
int reports_check_baseline(struct reports *r, struct infile *in, struct err *err);

/** reports_release() - free the current report and the writer's state, after a failure or at the end. */
void reports_release(struct reports *r);

/**
 * reports_begin() - write the header, which is visible before counting begins. If it cannot be written, counting need
 * not begin.
 */
int reports_begin(struct reports *r, struct err *err);

/**
 * reports_add() - an interval of the session is over: print everything about it.
 * @last: the last one of the run: close the session, commit the output unless @r->more, and print the messages about
 *        the whole run
 */
int reports_add(struct reports *r, bool last, struct err *err);

#endif
