/* SPDX-License-Identifier: Apache-2.0 */
/* --backend=both: compare the reports of the two backends. */
#ifndef CORE_REPORT_BOTH_H
#define CORE_REPORT_BOTH_H

#include "core/report/report.h"

enum report_agreement {
	REPORTS_EQUAL,
	REPORTS_EXPLAINED, /* every difference is explained */
	REPORTS_DIFFERENT,
};

/** struct report_pair - the rows of the same samples. */
struct report_pair {
	const struct rows *program;   /* as the bpf backend has them */
	const struct rows *ring;      /* as perfring has them */
	const struct rows *explained; /* the rows of @ring, after the explained differences were corrected */
};

/**
 * report_both() - compare the two reports. If not all differences are explained, write the rows that differ between
 * rows.program and rows.explained, at most 1000 (see report_diff()). Values are numbers of samples: cfg.unit is
 * ignored.
 * @out: NULL: write nothing
 * @agreement: out
 * Return: as report_write(). Both reports are in memory meanwhile.
 */
int report_both(FILE *out, const struct report_pair *rows, const struct report_names *names,
		const struct report_cfg *cfg, enum report_agreement *agreement, struct err *err);

#endif
