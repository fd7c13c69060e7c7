/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --backend=both: compare the BPF program's results with those of the ring's reader. --unwind=both: compare the two
 * unwinders. Differences are printed to stderr.
 */
#ifndef CORE_CLI_AGREEMENT_H
#define CORE_CLI_AGREEMENT_H

#include "core/cli/account.h"
#include "core/report/entry.h"
#include "core/rows/compare_intervals.h"
#include "core/session/session.h"

/** struct agreement - all zeros: nothing has been compared. */
struct agreement {
	bool differ;                         /* at least one report differed */
	struct compared_intervals intervals; /* for the last report, if both backends count intervals */
};

/**
 * agreement_of_samples() - compare the samples of the report that ended, and print differences with their reasons.
 * @out: gets a diff, if the reports differ in a way that is not explained; NULL: write none
 * Return: 1: the reports differ in such a way; 0: they do not; -errno, described.
 */
int agreement_of_samples(struct agreement *g, const struct session *s, const struct report_names *names,
			 const struct report_cfg *cfg, FILE *out, struct account *a, struct err *err);

/**
 * agreement_of_intervals() - compare the intervals of the report that ended, and store the result in @g and @a.
 * @total: the sum of the accounts of the earlier reports
 * Return: 0; -ENOMEM, described.
 */
int agreement_of_intervals(struct agreement *g, const struct session *s, const struct report_names *names,
			   const struct account *total, struct account *a, struct err *err);
/** agreement_explain_intervals() - print the differences, and how many intervals could not be compared. */
void agreement_explain_intervals(const struct agreement *g, const struct account *a);

/** agreement_of_unwinders() - --unwind=both: print in how many stacks the two differ, the reasons, and examples. */
void agreement_of_unwinders(struct agreement *g, const struct session *s, const struct account *a);

/** agreement_of_reader() - at the end: report samples that the reader has dropped. See account_unread(). */
void agreement_of_reader(struct agreement *g, const struct session *s, const struct account *total);

#endif
