/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of a run, one for each interval, with everything that is printed about them. */
#ifndef CORE_CLI_REPORTS_H
#define CORE_CLI_REPORTS_H

#include "core/cli/account.h"
#include "core/cli/agreement.h"
#include "core/cli/output.h"
#include "core/formats/read.h"
#include "core/report/entry.h"
#include "core/report/quality.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"

/**
 * struct reports - what a run needs until its last report is written. The first ones are the caller's.
 * @session, @symbols: of what is counted, or read, now
 * @before:  that is the report which the next one is compared with
 * @more:    it is not all that the report has: others follow
 * @input:   the file at hand, as it was given
 * @body:    the report at hand, if it has something already
 * @counts:  of the @nr_counts files that were read into it
 * @unit, @event, @freq_hz: of what was counted, or read, first; "": no event is known
 * @grown:   functions, with --fail-above
 */
struct reports {
	const struct options *options;
	struct output *out;
	struct session *session;
	struct symbols *symbols;
	bool before, more;
	const char *input;
	struct report_output report;
	struct report *body;
	struct report_counts counts;
	unsigned int nr_counts;
	char event[64];
	uint64_t freq_hz;
	bool unit_known;
	enum report_unit unit;
	int grown;
	unsigned int intervals; /* reported */
	struct account total;
	struct agreement agreement;
	struct report_quality quality; /* of the report at hand */
	bool advised;
};

/** reports_next() - what follows is of session @s: the only one, or that of one recording of several. */
void reports_next(struct reports *r, struct session *s);

/** reports_read() - @in, a report that was written before, is a part of the report, or all of it: as reports_add(). */
int reports_read(struct reports *r, struct infile *in, struct err *err);

/** reports_release() - what is left after a failure, or the end. */
void reports_release(struct reports *r);

/**
 * reports_begin() - write the header, which is seen before anything is counted; when nobody can see it, that need not
 * begin.
 */
int reports_begin(struct reports *r, struct err *err);

/**
 * reports_add() - an interval of the session is over: everything the user gets of it.
 * @last: of the run: close the session, commit the output, and print what there is to be said of all
 */
int reports_add(struct reports *r, bool last, struct err *err);

#endif
