/* SPDX-License-Identifier: Apache-2.0 */
/* How a report is asked for. */
#ifndef CORE_REPORT_CFG_H
#define CORE_REPORT_CFG_H

#include <stdbool.h>
#include <stdint.h>

struct report_writer;

/** struct report_cfg - see doc/profile.8 for what each does. */
struct report_cfg {
	const struct report_writer *form; /* core/report/forms.h */
	bool delimited;                   /* -d */
	bool annotations;                 /* -a */
	bool addresses;                   /* -A */
	bool offsets;                     /* -s */
	bool inlined;                     /* --inline */
	bool source;                      /* --source, only with @offsets */
	/* of tables: */
	size_t limit;       /* --limit: lines of each; 0: all */
	bool by_total;      /* --sort total */
	unsigned int width; /* columns of the terminal it goes to; 0: of none */
	/* of comparisons: */
	bool compared; /* --baseline: rows have values of before */
	bool absolute; /* --absolute */
	/* off-CPU time: */
	bool from_schedule; /* of report_write(): see report_part */
	uint64_t unit;      /* printed is value / unit, rounded down; 0, 1: values as they are */
};

#endif
