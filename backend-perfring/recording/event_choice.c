// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/event_choice.h"

#include "core/host/event_types.h"

#include <string.h>

#define NAME_BYTES 256

static bool is_sampling(const struct perf_event_attr *attr)
{
	bool dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;

	return !dummy && attr->sample_period;
}

/* "cycles" is also found as "cycles:P", and by its other name. */
static bool is_called(const struct perfdata_event *e, const char *name, bool exactly)
{
	const struct event_type *type = event_find(name);
	size_t len = strlen(name);

	if (exactly)
		return !strcmp(e->name, name);
	if (!strncmp(e->name, name, len) && e->name[len] == ':')
		return true;
	return type && type->type == e->attr.type && type->config == e->attr.config;
}

size_t choice_find(const struct perfdata *pd, const char *name)
{
	size_t nr = perfdata_nr_events(pd), i;
	int pass;

	for (i = 0; !name && i < nr; i++)
		if (is_sampling(&perfdata_event(pd, i)->attr))
			return i;
	for (pass = 0; name && pass < 2; pass++)
		for (i = 0; i < nr; i++)
			if (is_sampling(&perfdata_event(pd, i)->attr) && is_called(perfdata_event(pd, i), name, !pass))
				return i;
	return SIZE_MAX;
}

size_t choice_name(char *to, size_t used, const char *name)
{
	size_t i, len = strnlen(name, NAME_BYTES);

	if (used && used + 2 < EVENT_NAMES_BYTES) {
		to[used++] = ',';
		to[used++] = ' ';
	}
	for (i = 0; i < len && used + 1 < EVENT_NAMES_BYTES; i++)
		to[used++] = name[i] >= ' ' && name[i] < 0x7f ? name[i] : '?';
	to[used] = 0;
	return used;
}

void choice_list(const struct perfdata *pd, size_t but, char *to)
{
	size_t i, used = 0;

	*to = 0;
	for (i = 0; i < perfdata_nr_events(pd); i++)
		if (i != but && is_sampling(&perfdata_event(pd, i)->attr))
			used = choice_name(to, used, perfdata_event(pd, i)->name);
}
