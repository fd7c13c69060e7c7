/* SPDX-License-Identifier: Apache-2.0 */
/* Facts about a run that report forms print beside its rows: the command line, the host, and the counts. */
#ifndef CORE_REPORT_ABOUT_H
#define CORE_REPORT_ABOUT_H

#include "core/base/percent.h"
#include "core/base/saturate.h"

#include <stdbool.h>
#include <stdint.h>

/** enum report_unit - the unit of the values of rows. */
enum report_unit { UNIT_SAMPLES, UNIT_USEC };

/** report_unit_name() - its name as printed: "samples" or "us". */
static inline const char *report_unit_name(enum report_unit unit)
{
	return unit == UNIT_USEC ? "us" : "samples";
}

/**
 * struct report_about - facts known when the output begins. All zeros: nothing is known. Texts are borrowed until the
 * output has begun. They may have any bytes: print them with textbuf_name().
 * @header:    a line without its newline: what is counted, and for which tasks; NULL: none
 * @tool:      name of the command; NULL: not known, as for all of these texts
 * @version:   of the command
 * @command:   the command line
 * @host:      name of the host that was sampled; @kernel: its release
 * @backend:   name of the backend; @unwinder: name as in --unwind
 * @event:     the sampled event
 * @time:      when the run began, in seconds since 1970; 0: not known
 * @cpus:      number of sampled CPUs; 0: not known
 * @period_ns: CPU time of one sample; 0: samples do not stand for time
 * @unit:      unit of the values
 * @off_cpu:   intervals off the CPU are counted, alone or beside samples
 */
struct report_about {
	const char *header, *tool, *version, *command, *host, *kernel, *backend, *unwinder, *event;
	int64_t time;
	unsigned int cpus;
	uint64_t period_ns;
	enum report_unit unit;
	bool off_cpu;
};

/** struct about_text - a text of struct report_about and its key in JSON and pprof; NULL: not known. */
struct about_text {
	const char *key, *text;
};

#define ABOUT_TEXTS(about)                                                                                             \
	{                                                                                                              \
		{ "tool", (about)->tool }, { "version", (about)->version }, { "command", (about)->command },           \
			{ "host", (about)->host }, { "kernel", (about)->kernel }, { "backend", (about)->backend },     \
			{ "unwind", (about)->unwinder }, { "event", (about)->event },                                  \
	}

/** struct report_share - @part of @all. Shares of several reports are added up. */
struct report_share {
	uint64_t part, all;
};

/**
 * struct report_counts - numbers of one report: samples, or intervals off the CPU.
 * @due:      samples that were due on all CPUs by the clock. For each that was not taken, a CPU was idle. 0: it is not
 *            known, as many were taken, or not all tasks were sampled
 * @taken:    by the kernel, including those @lost; @counted: in the rows; @lost: known to be missing
 * @incomplete: the share of the user stacks that lack their root end; @unnamed: that lack names
 * @seconds:  how long samples were taken for the report
 * @intervals: the numbers are of intervals, not of samples
 * @known:    false: only @seconds is valid
 */
struct report_counts {
	uint64_t due, taken, counted, lost;
	struct report_share incomplete, unnamed;
	double seconds;
	bool intervals, known;
};

static inline double report_share_percent(const struct report_share *s)
{
	return percent_of(s->part, s->all);
}

static inline void report_share_add(struct report_share *to, const struct report_share *more)
{
	to->part = add_or_max(to->part, more->part);
	to->all = add_or_max(to->all, more->all);
}

/** report_counts_add() - add the numbers of @more, another report of the run. The sum of @due is not known: 0. */
static inline void report_counts_add(struct report_counts *to, const struct report_counts *more)
{
	to->due = 0;
	to->known |= more->known;
	to->intervals |= more->intervals;
	to->taken = add_or_max(to->taken, more->taken);
	to->counted = add_or_max(to->counted, more->counted);
	to->lost = add_or_max(to->lost, more->lost);
	report_share_add(&to->incomplete, &more->incomplete);
	report_share_add(&to->unnamed, &more->unnamed);
	to->seconds += more->seconds;
}

#endif
