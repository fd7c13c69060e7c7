/* SPDX-License-Identifier: Apache-2.0 */
/* What a run has to say of what it counted, besides the report: --stats, and the warnings about what is missing. */
#ifndef CORE_CLI_ACCOUNT_H
#define CORE_CLI_ACCOUNT_H

#include "core/rows/compare.h"
#include "core/rows/compare_intervals.h"
#include "core/session/session.h"
#include "core/session/statistics.h"

#include <stdio.h>

/** struct account - of one interval, or of all of them together; all zeros: of none. */
struct account {
	struct stats stats;
	struct unaccounted unaccounted;
	uint64_t started_ns, sampled_ns;
	bool due_known;
	uint64_t due; /* samples */
	struct shortfall shortfall;
	uint64_t rows, stacks;
	struct ring_sizes rings;               /* the smallest */
	uint64_t unsure;                       /* see report_unsure_stacks() */
	uint64_t reused;                       /* see struct report_part */
	uint64_t files_mismatched, files_hung; /* see symbols_mismatched(), session_files_hung() */
	uint64_t kernel_code_reused;           /* see symbols_kernel_reused() */
	struct compare_counts compared;
	uint64_t unseen; /* intervals that may be missing on the ring's side: of all reports that were added */
	uint64_t rows_compared, rows_different, missed, unsampled, apart_ns; /* of compared_intervals, for --stats */
};

/** account_take() - of the interval that ended, before session_close(). */
void account_take(const struct session *s, struct account *a);
/** account_compared() - what became of the rows of intervals with --backend=both. */
void account_compared(struct account *a, const struct compared_intervals *c);
/**
 * account_lost() - what may be missing on the ring's side with --backend=both, by what is known to be lost, at most.
 * @total, @a: of the reports before, and of this one
 */
struct intervals_lost account_lost(const struct account *total, const struct account *a);
/** account_add() - the interval that follows @to. */
void account_add(struct account *to, const struct account *more);

/** account_not_compared() - samples that the program counted and no ring gave back; those without a note were read. */
uint64_t account_not_compared(const struct account *a);

/**
 * account_unread() - with --backend=both, samples that reached the program and not the reader, though no ring lost
 * them: the reader has dropped them. @total is of all intervals, as for account_settle(). 0 before 6.0, where nobody
 * knows.
 */
uint64_t account_unread(const struct session *s, const struct account *total);

/**
 * account_settle() - @total is of all intervals: no more samples are lost than the kernel has counted as lost, and than
 * came too late. An interval alone cannot be held to that: what it lost may be told of in the next one. Before
 * session_close().
 */
void account_settle(const struct session *s, struct account *total);

/**
 * account_print() - stable "name: value" lines; profile(8), STATISTICS, says what each means.
 * @interval: "1", "2", ... or "all"; NULL: there are none
 */
void account_print(FILE *out, const struct session *s, const char *interval, const struct account *a);

/** account_print_losses() - warnings about the samples or intervals of one report; none when nothing is missing. */
void account_print_losses(FILE *out, const struct session *s, const struct account *a);

/** account_shortfall() - see shortfall_explain(); false, too, where nobody knows how many samples were due. */
bool account_shortfall(const struct account *a, struct err *why);

#endif
