/* SPDX-License-Identifier: Apache-2.0 */
/* Print what a run has counted, besides the report: --stats, and the warnings about missing samples. */
#ifndef CORE_CLI_ACCOUNT_H
#define CORE_CLI_ACCOUNT_H

#include "core/rows/compare.h"
#include "core/rows/compare_intervals.h"
#include "core/session/session.h"
#include "core/session/statistics.h"

#include <stdio.h>

/** struct account - the numbers of one interval of the report, or of all together; all zeros: of none. */
struct account {
	struct stats stats;
	struct unaccounted unaccounted;
	uint64_t started_ns, sampled_ns;
	bool due_known;
	uint64_t due; /* number of samples */
	struct shortfall shortfall;
	uint64_t rows, stacks;
	struct ring_sizes rings;               /* of the smallest rings */
	uint64_t unsure;                       /* see report_unsure_stacks() */
	uint64_t reused;                       /* see struct report_part */
	uint64_t files_mismatched, files_hung; /* see symbols_mismatched(), session_files_hung() */
	uint64_t kernel_code_reused;           /* see symbols_kernel_reused() */
	struct compare_counts compared;
	uint64_t unseen;  /* intervals off the CPU that the reader of the rings may lack, in all added reports */
	uint64_t unbegun; /* those whose beginning it did not see, because a CPU came online, in all added reports */
	uint64_t rows_compared, rows_different, missed, unsampled, surplus, apart_ns; /* see account_compared() */
};

/** account_take() - take the numbers of the interval that ended. Call it before session_close(). */
void account_take(const struct session *s, struct account *a);
/**
 * account_compared() - note the result of comparing the rows of intervals off the CPU, with --backend=both.
 * a->apart_ns, a->missed, a->unsampled and a->surplus are as in struct compared_intervals, but a->missed excludes
 * a->unsampled.
 */
void account_compared(struct account *a, const struct compared_intervals *c);
/**
 * account_lost() - with --backend=both, upper limits of how many intervals off the CPU each side may lack in this
 * report because of known losses. These are the sums of all reports so far, without the intervals that were lacking in
 * earlier ones.
 * @total, @a: of the earlier reports, and of this one
 */
struct intervals_lost account_lost(const struct account *total, const struct account *a);
/** account_add() - add @more, the numbers of the next interval of the report, to the sums in @to. */
void account_add(struct account *to, const struct account *more);

/**
 * account_not_compared() - samples that were taken but not compared, because no ring returned them. This number does
 * not include samples without their note (compared.unpaired).
 */
uint64_t account_not_compared(const struct account *a);

/**
 * account_unread() - with --backend=both, samples that reached the program but not the reader, though no ring lost
 * them: the reader has dropped them. @total: of all intervals, as for account_settle(). 0 before 6.0, where this
 * number is unknown.
 */
uint64_t account_unread(const struct session *s, const struct account *total);

/**
 * account_settle() - @total is of all intervals: limit the lost samples to the kernel's count of lost ones plus those
 * that were damaged or came too late; the rest is not accounted for. A single interval cannot be limited so, because
 * the kernel may report its losses in the next one. Call it before session_close().
 */
void account_settle(const struct session *s, struct account *total);

/**
 * account_print() - print stable "name: value" lines; profile(8), STATISTICS, explains each.
 * @interval: "1", "2", ... or "all"; NULL: there are no intervals
 */
void account_print(FILE *out, const struct session *s, const char *interval, const struct account *a);

/** account_print_losses() - print warnings about lost samples or intervals of one report, if there are any. */
void account_print_losses(FILE *out, const struct session *s, const struct account *a);

/** account_shortfall() - see shortfall_explain(). Also false if it is not known how many samples were due. */
bool account_shortfall(const struct account *a, struct err *why);

#endif
