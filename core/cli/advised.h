/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_CLI_ADVISED_H
#define CORE_CLI_ADVISED_H

#include "core/report/names.h"
#include "core/report/quality.h"
#include "core/report/report.h"
#include "core/session/state.h"
#include "core/symbols/symbols.h"

/** struct advised - a report for which to give advice, and the source of its names. Borrowed. */
struct advised {
	const struct session *session;
	struct symbols *symbols;
	const struct report_names *names;
	const struct report_part *parts; /* the @nr_parts parts of the report */
	size_t nr_parts;
	const struct report_quality *quality;
};

#endif
