/* SPDX-License-Identifier: Apache-2.0 */
/* The results of the interval that ended: its rows, its statistics, and its missing samples. */
#ifndef CORE_SESSION_STATISTICS_H
#define CORE_SESSION_STATISTICS_H

#include "core/session/state.h"

/** session_samples(), session_intervals() - the rows of the interval that ended. */
const struct rows *session_samples(const struct session *s);
const struct rows *session_intervals(const struct session *s);

/** struct unaccounted - samples and intervals that a run cannot account for, with sign; a nonzero value is a bug. */
struct unaccounted {
	int64_t samples, intervals;
};

/**
 * session_stats() - what happened to every sample and every interval off the CPU, in the interval of the report that
 * ended.
 *
 * A sample is lost if the BPF program passed it on but no ring returned it. If the kernel reports lost records (since
 * 6.0) and the run has no intervals (-i), at most as many samples are lost as records are lost or refused. Without a
 * program, every record in stats.lost_here counts as a sample, which gives at least the true number, and samples that
 * the decoder refused are lost, too.
 * Return: samples taken, minus those in the rows, filtered or lost. Intervals off the CPU begun, minus those in the
 * rows, filtered, open or lost. An interval off the CPU may end in a later interval of the report: so only the
 * sum over all reports of the run has to be 0.
 */
struct unaccounted session_stats(const struct session *s, struct stats *out);

/**
 * session_shortfall() - the facts about samples that were due in the interval that ended but were not taken.
 * @stats: the statistics of that interval
 * Return: false: it is not known how many samples were due: the event is not a clock, threads are followed, a recording
 * is read, or no samples are taken.
 */
bool session_shortfall(const struct session *s, const struct stats *stats, struct shortfall *out);

/**
 * session_command_shortfall() - see shortfall_explain_command(). Also false if the command has not ended within the
 * run, or if it is not known how many samples it should have given.
 * @stats, @total: for the whole run; @total is the sum of session_shortfall() over its intervals
 */
bool session_command_shortfall(const struct session *s, const struct stats *stats, const struct shortfall *total,
			       struct err *why);

#endif
