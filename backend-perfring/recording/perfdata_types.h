/* SPDX-License-Identifier: Apache-2.0 */
#ifndef PERFRING_PERFDATA_TYPES_H
#define PERFRING_PERFDATA_TYPES_H

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>

/* Types that perf adds to the kernel's enum perf_event_type. A profiler needs nothing of those not listed here. */
enum {
	PERFDATA_USER_TYPE_FIRST = 64,
	PERFDATA_HEADER_ATTR = 64,
	PERFDATA_TRACING_DATA = 66,
	PERFDATA_BUILD_ID = 67,
	PERFDATA_FINISHED_ROUND = 68, /* ends a round: only the next one may have records older than its newest */
	PERFDATA_AUXTRACE = 71,
	PERFDATA_EVENT_UPDATE = 78,
	PERFDATA_FEATURE = 80,
	PERFDATA_COMPRESSED = 81,
	PERFDATA_COMPRESSED2 = 83,
	PERFDATA_USER_TYPE_LAST = 83,
};

/**
 * struct perfdata_event - has the same address until perfdata_close().
 * @attr: the fields that this build knows; zeros if fewer were recorded
 * @name: perf record's name; if it is missing, made up from type and config. Never NULL; hostile, so it may have any
 *        characters. perfdata_next() may replace it.
 */
struct perfdata_event {
	struct perf_event_attr attr;
	char *name;
};

/** struct perfdata_build_id - the build id of a mapped file. */
struct perfdata_build_id {
	const char *path;        /* on the recorded host; also "[kernel.kallsyms]" and the like */
	const unsigned char *id; /* @size bytes */
	size_t size;             /* 1 to 20; from perf before 5.12 always 20, with zeros at the end */
	bool kernel;             /* the kernel or one of its modules */
};

#endif
