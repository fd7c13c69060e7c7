/* SPDX-License-Identifier: Apache-2.0 */
/* The reports of a run, one for each interval, with everything that is printed about them. */
#ifndef CORE_CLI_REPORTS_H
#define CORE_CLI_REPORTS_H

#include "core/cli/account.h"
#include "core/cli/agreement.h"
#include "core/cli/output.h"
#include "core/report/entry.h"
#include "core/session/session.h"
#include "core/symbols/symbols.h"

/** struct reports - what a run needs until its last report is written. The first three are the caller's. */
struct reports {
	struct session *session;
	struct output *out;
	struct symbols *symbols;
	struct report_output report;
	unsigned int intervals; /* reported */
	struct account total;
	struct agreement agreement;
};

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
