/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRING_PERFDATA_TYPES_H
#define PERFRING_PERFDATA_TYPES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

/* What perf adds to the kernel's enum perf_event_type. The types that are not named have nothing that a profiler needs.
 */
enum {
	PERFDATA_USER_TYPE_FIRST = 64,
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68, /* no record from before it is written later than one behind it */
	PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_COMPRESSED2 = 83,
	PERFDATA_USER_TYPE_LAST = 83,
};

/**
 * struct perfdata_event - stays where it is until perfdata_close().
 * @attr: what this build knows of it; zeros where it was recorded with fewer fields
 * @name: as perf record calls it; where the recording does not tell, made up from type and config. Never NULL; from the
 *        recording, so that it may hold anything. perfdata_next() may replace it.
 */
struct perfdata_event {
	struct perf_event_attr attr;
	char *name;
};

/** struct perfdata_build_id - of a file that was mapped. */
struct perfdata_build_id {
	const char *path;        /* as the recorded host had it, "[kernel.kallsyms]" and the like */
	const unsigned char *id; /* @size bytes */
	size_t size;             /* 1 to 20; 20 from perf before 5.12 whatever the size was, with zeros at the end */
	bool kernel;             /* the kernel or one of its modules */
};

#endif
