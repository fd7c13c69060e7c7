/* SPDX-License-Identifier: Apache-2.0 */
/* Words in our JSON that both the writer and the reader know. */
#ifndef CORE_FORMATS_JSON_NAMES_H
#define CORE_FORMATS_JSON_NAMES_H

#include "core/report/frame.h"

#include <stddef.h>

#define JSON_VERSION_KEY "fleetprof" /* of the first line, which has it and others have not */
#define JSON_VERSION     1
#define JSON_COUNTS_KEY  "counts"

/** json_kind_name() - of a kind of frames; NULL: there is none of that number. */
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
