/* SPDX-License-Identifier: Apache-2.0 */
/* How the user wants a report. */
#ifndef CORE_REPORT_CFG_H
#define CORE_REPORT_CFG_H

#include <stdbool.h>
#include <stdint.h>

struct report_writer;

/** struct report_cfg - see doc/profile.8 for the options. */
struct report_cfg {
	const struct report_writer *form; /* core/report/forms.h */
	bool delimited;                   /* -d */
	bool annotations;                 /* -a */
	bool addresses;                   /* -A */
	bool offsets;                     /* -s */
	bool inlined;                     /* --inline */
	bool source;                      /* --source, only with @offsets */
	/* for tables: */
	size_t limit;       /* --limit: lines of each table; 0: all */
	bool by_total;      /* --sort total */
	unsigned int width; /* width of the terminal; 0: the output is no terminal */
	/* for comparisons: */
	bool compared; /* --baseline: rows also have a value of the earlier report */
	bool absolute; /* --absolute */
	/* for off-CPU time: */
	bool from_schedule; /* for report_write(): see report_part */
	uint64_t unit;      /* divide values by this and round down; 0, 1: print values as they are */
};

#endif
