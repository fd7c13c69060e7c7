/* SPDX-License-Identifier: Apache-2.0 */
/* What became of the samples of a run, of the interval that ended: its rows, its stats, what is missing. */
#ifndef CORE_SESSION_STATISTICS_H
#define CORE_SESSION_STATISTICS_H

#include "core/session/state.h"

/** session_samples(), session_intervals() - the rows of the interval that ended. */
const struct rows *session_samples(const struct session *s);
const struct rows *session_intervals(const struct session *s);

/** struct unaccounted - what a run cannot account for, with its sign; not 0 is a bug. */
struct unaccounted {
	int64_t samples, intervals;
};

/**
 * session_stats() - what became of every sample, and every interval off the CPU, of the interval that ended.
 *
 * Lost are the samples the program passed on and no ring gave back, if the kernel tells of so many records lost (since
 * 6.0; before, they are believed); where there is no program, every record that a ring lost counts as a sample, which
 * is at least as many. Samples the decoder refused are lost, too.
 * Return: samples taken minus what is in the rows, filtered or lost. Of intervals off the CPU those begun minus what is
 * in the rows, filtered, open or lost; as one may end in a later interval of the report, that is 0 for all of these
 * together, when the run is over.
 */
struct unaccounted session_stats(const struct session *s, struct stats *out);

/**
 * session_shortfall() - the facts about samples that were due in the interval that ended, and not taken.
 * @stats: of that interval
 * Return: false when the event is not a clock, so that nobody knows how many were due.
 */
bool session_shortfall(const struct session *s, const struct stats *stats, struct shortfall *out);

/**
 * session_command_shortfall() - see shortfall_explain_command(); false, too, where the command has not ended within the
 * run, and where what it should have given is not known.
 * @stats, @total: of the whole run, session_shortfall() of its intervals added up
 */
bool session_command_shortfall(const struct session *s, const struct stats *stats, const struct shortfall *total,
			       struct err *why);

#endif
