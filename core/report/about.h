/* SPDX-License-Identifier: Apache-2.0 */
/* What forms say of a run beside its rows: how it was asked for, and what it counted. */
#ifndef CORE_REPORT_ABOUT_H
#define CORE_REPORT_ABOUT_H

#include "core/base/saturate.h"

#include <stdbool.h>
#include <stdint.h>

/** enum report_unit - what values of rows are. */
enum report_unit { UNIT_SAMPLES, UNIT_USEC };

/** report_unit_name() - as forms print it: "samples", "us". */
static inline const char *report_unit_name(enum report_unit unit)
{
	return unit == UNIT_USEC ? "us" : "samples";
}

/**
 * struct report_about - what is known when the output begins. All zeros: nothing is. Texts are borrowed until then.
 * They may have any bytes: print them with textbuf_name().
 * @header:    a line without its end: what is counted, of whom; NULL: none
 * @tool:      name of the command; NULL: not known, as for all of these texts
 * @version:   of the command
 * @command:   the command line
 * @host:      name of the host the samples are of; @kernel: its release
 * @backend:   that counts; @unwinder: as --unwind has it
 * @event:     that is sampled
 * @time:      when the run began, seconds since 1970; 0: not known
 * @cpus:      that are sampled; 0: not known
 * @period_ns: CPU time of one sample; 0: samples are not of time
 * @unit:      of values
 * @off_cpu:   intervals off the CPU are counted, alone or too
 */
struct report_about {
	const char *header, *tool, *version, *command, *host, *kernel, *backend, *unwinder, *event;
	int64_t time;
	unsigned int cpus;
	uint64_t period_ns;
	enum report_unit unit;
	bool off_cpu;
};

/**
 * struct report_counts - of one report. Samples, or intervals off the CPU.
 * @due:      by the clock, on all CPUs: the others were idle; 0: not known, or not of all tasks
 * @taken:    that the kernel handed over; @counted: that the rows have; @lost: that are known to be missing
 * @incomplete: percent of the user stacks, without their end; @unnamed: percent that lack names
 * @seconds:  how long the report took
 * @known:    false: nothing but @seconds is
 */
struct report_counts {
	uint64_t due, taken, counted, lost;
	double incomplete, unnamed;
	double seconds;
	bool known;
};

/** report_counts_add() - the same report has also what @more is of. Shares of stacks stay those of @to. */
static inline void report_counts_add(struct report_counts *to, const struct report_counts *more)
{
	to->due = 0;
	to->known |= more->known;
	to->taken = add_or_max(to->taken, more->taken);
	to->counted = add_or_max(to->counted, more->counted);
	to->lost = add_or_max(to->lost, more->lost);
	to->seconds += more->seconds;
}

#endif
