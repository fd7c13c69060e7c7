/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --backend=both: do the program in the kernel and the reader of the rings agree? --unwind=both: do the two unwinders?
 * Differences are printed to stderr.
 */
#ifndef CORE_CLI_AGREEMENT_H
#define CORE_CLI_AGREEMENT_H

#include "core/cli/account.h"
#include "core/report/entry.h"
#include "core/rows/compare_intervals.h"
#include "core/session/session.h"

/** struct agreement - all zeros: nothing has been compared. */
struct agreement {
	bool differ;                         /* in one of the reports */
	struct compared_intervals intervals; /* of the last report, where intervals are counted by both */
};

/**
 * agreement_of_samples() - compare the samples of the report that ended, print what differs and why, and write them.
 * @out: NULL: they are only compared
 */
int agreement_of_samples(struct agreement *g, const struct session *s, const struct report_names *names,
			 struct report_output *out, struct account *a, struct err *err);

/**
 * agreement_of_intervals() - compare the intervals of the report that ended, and note the result in @a.
 * @total: of the reports before
 */
int agreement_of_intervals(struct agreement *g, const struct session *s, const struct report_names *names,
			   const struct account *total, struct account *a, struct err *err);
/** agreement_explain_intervals() - print what differed, and what could not be compared. */
void agreement_explain_intervals(const struct agreement *g, const struct account *a);

/** agreement_of_unwinders() - --unwind=both: print in how many stacks the two differ, why, and examples. */
void agreement_of_unwinders(struct agreement *g, const struct session *s, const struct account *a);

/** agreement_of_reader() - in the end: has the reader dropped samples? See account_unread(). */
void agreement_of_reader(struct agreement *g, const struct session *s, const struct account *total);

#endif
