/* SPDX-License-Identifier: Apache-2.0 */
/* Names in our JSON, shared by the writer and the reader. */
#ifndef CORE_FORMATS_JSON_NAMES_H
#define CORE_FORMATS_JSON_NAMES_H

#include "core/report/frame.h"

#include <stddef.h>

#define JSON_VERSION_KEY "fleetprof" /* only the first line of a report has it */
#define JSON_VERSION     1
#define JSON_COUNTS_KEY  "counts"

/** json_kind_name() - the name of a kind of frames; NULL: there is no such kind. */
static inline const char *json_kind_name(unsigned int kind)
{
	static const char *const names[] = {
		[REPORT_FRAME_KERNEL] = "kernel",   [REPORT_FRAME_USER] = "user",
		[REPORT_FRAME_INLINED] = "inlined", [REPORT_FRAME_JIT] = "jit",
		[REPORT_FRAME_UNKNOWN] = "unknown", [REPORT_FRAME_FUNCTION] = "function",
		[REPORT_FRAME_MARKER] = "marker",
	};

	return kind < sizeof(names) / sizeof(names[0]) ? names[kind] : NULL;
}

#endif
