// SPDX-License-Identifier: Apache-2.0
#include "core/host/event_types.h"

#include "core/base/err.h"

#include <linux/perf_event.h>
#include <string.h>

#define SW(n) PERF_TYPE_SOFTWARE, PERF_COUNT_SW_##n
#define HW(n) PERF_TYPE_HARDWARE, PERF_COUNT_HW_##n

/* The first one is the default. */
static const struct event_type events[] = {
	{ "cpu-clock", NULL, SW(CPU_CLOCK) },
	{ "task-clock", NULL, SW(TASK_CLOCK) },
	{ "page-faults", "faults", SW(PAGE_FAULTS) },
	{ "context-switches", "cs", SW(CONTEXT_SWITCHES) },
	{ "cpu-migrations", "migrations", SW(CPU_MIGRATIONS) },
	{ "minor-faults", NULL, SW(PAGE_FAULTS_MIN) },
	{ "major-faults", NULL, SW(PAGE_FAULTS_MAJ) },
	{ "alignment-faults", NULL, SW(ALIGNMENT_FAULTS) },
	{ "emulation-faults", NULL, SW(EMULATION_FAULTS) },
	{ "cycles", "cpu-cycles", HW(CPU_CYCLES) },
	{ "instructions", NULL, HW(INSTRUCTIONS) },
	{ "cache-references", NULL, HW(CACHE_REFERENCES) },
	{ "cache-misses", NULL, HW(CACHE_MISSES) },
	{ "branches", "branch-instructions", HW(BRANCH_INSTRUCTIONS) },
	{ "branch-misses", NULL, HW(BRANCH_MISSES) },
	{ "bus-cycles", NULL, HW(BUS_CYCLES) },
	{ "stalled-cycles-frontend", "idle-cycles-frontend", HW(STALLED_CYCLES_FRONTEND) },
	{ "stalled-cycles-backend", "idle-cycles-backend", HW(STALLED_CYCLES_BACKEND) },
	{ "ref-cycles", NULL, HW(REF_CPU_CYCLES) },
};

const struct event_type *event_default(void)
{
	return &events[0];
}

const struct event_type *event_find(const char *name)
{
	const struct event_type *e;
	unsigned int i;

	for (i = 0; (e = event_at(i)); i++)
		if (!strcmp(name, e->name) || (e->alias && !strcmp(name, e->alias)))
			return e;
	return NULL;
}

const struct event_type *event_switches(void)
{
	return event_find("context-switches");
}

struct event_type event_sched_switch(uint64_t id)
{
	return (struct event_type){ "sched:sched_switch", NULL, PERF_TYPE_TRACEPOINT, id };
}

const struct event_type *event_at(unsigned int i)
{
	return i < ARRAY_SIZE(events) ? &events[i] : NULL;
}

bool event_is_software(const struct event_type *event)
{
	return event->type == PERF_TYPE_SOFTWARE;
}

bool event_is_clock(const struct event_type *event)
{
	return event_is_software(event) &&
	       (event->config == PERF_COUNT_SW_CPU_CLOCK || event->config == PERF_COUNT_SW_TASK_CLOCK);
}
