// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata_search.h"

#include "backend-perfring/recording/perfdata_types.h"
#include "compat/perf_deferred.h"

#include <errno.h>

#define TYPE_MAX 65535 /* far above all types of the kernel and of perf */
#define IN_A_ROW 2     /* a single one may be found by chance, in the copy of a stack */

/* Sizes without the fields of sample_id_all. A sample may have no fields at all. */
static const uint16_t least_sizes[] = {
	[PERF_RECORD_MMAP] = 48,          [PERF_RECORD_LOST] = 24,      [PERF_RECORD_COMM] = 24,
	[PERF_RECORD_EXIT] = 32,          [PERF_RECORD_THROTTLE] = 32,  [PERF_RECORD_UNTHROTTLE] = 32,
	[PERF_RECORD_FORK] = 32,          [PERF_RECORD_READ] = 24,      [PERF_RECORD_SAMPLE] = 8,
	[PERF_RECORD_MMAP2] = 80,         [PERF_RECORD_AUX] = 32,       [PERF_RECORD_ITRACE_START] = 16,
	[PERF_RECORD_LOST_SAMPLES] = 16,  [PERF_RECORD_SWITCH] = 8,     [PERF_RECORD_SWITCH_CPU_WIDE] = 16,
	[PERF_RECORD_NAMESPACES] = 24,    [PERF_RECORD_KSYMBOL] = 32,   [PERF_RECORD_BPF_EVENT] = 24,
	[PERF_RECORD_CGROUP] = 24,        [PERF_RECORD_TEXT_POKE] = 24, [PERF_RECORD_AUX_OUTPUT_HW_ID] = 16,
	[RECORD_CALLCHAIN_DEFERRED] = 24,
};

static bool is_known(uint32_t type)
{
	return (type && type < ARRAY_SIZE(least_sizes)) ||
	       (type >= PERFDATA_USER_TYPE_FIRST && type <= PERFDATA_USER_TYPE_LAST);
}

bool record_possible(const struct perf_event_header *h)
{
	if (!h->type || h->type > TYPE_MAX || h->size < sizeof(*h))
		return false;
	if (h->type < PERFDATA_USER_TYPE_FIRST && h->size % sizeof(uint64_t))
		return false;
	return h->type >= ARRAY_SIZE(least_sizes) || h->size >= least_sizes[h->type];
}

int search_here(const struct window *w, bool ended)
{
	struct perf_event_header h;
	size_t at = w->at;
	int nr;

	for (nr = 0; nr < IN_A_ROW; nr++) {
		if (at + sizeof(h) > w->end) {
			if (!ended)
				return -EAGAIN;
			return nr && at == w->end;
		}
		memcpy(&h, w->bytes + at, sizeof(h));
		if (!is_known(h.type) || !record_possible(&h))
			return 0;
		/* Data follow it that its size does not include. */
		if (h.type == PERFDATA_AUXTRACE || h.type == PERFDATA_TRACING_DATA)
			return nr > 0;
		at += h.size;
	}
	return 1;
}
