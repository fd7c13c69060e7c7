/* SPDX-License-Identifier: Apache-2.0 */
/* How a report is asked for. */
#ifndef CORE_REPORT_CFG_H
#define CORE_REPORT_CFG_H

#include <stdbool.h>
#include <stdint.h>

enum report_form { REPORT_TEXT, REPORT_FOLDED };

/** struct report_cfg - see doc/profile.8 for what each does. */
struct report_cfg {
	enum report_form form;
	bool delimited;   /* -d */
	bool annotations; /* -a */
	bool addresses;   /* -A, text form only */
	bool offsets;     /* -s, text form only */
	bool inlined;     /* --inline */
	bool source;      /* --source, only with @offsets */
	/* off-CPU time: */
	bool from_schedule; /* of report_write(): see report_part */
	uint64_t unit;      /* printed is value / unit, rounded down; 0, 1: values as they are */
};

#endif
