// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/event_choice.h"

#include "core/base/grow.h"
#include "core/host/event_types.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 256
#define AHEAD_MAX  (64u << 20) /* bytes of records */

static bool is_sampling(const struct perf_event_attr *attr)
{
	bool dummy = attr->type == PERF_TYPE_SOFTWARE && attr->config == PERF_COUNT_SW_DUMMY;

	return !dummy && attr->sample_period;
}

/* Unless @exactly, "cycles" also matches "cycles:P" and other names of the same event. */
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

/* The sampled event with the name @name; if there is none, the first one that is_called() @name. */
static size_t find_called(const struct perfdata *pd, const char *name)
{
	size_t nr = perfdata_nr_events(pd), i;
	int pass;

	for (pass = 0; pass < 2; pass++)
		for (i = 0; i < nr; i++)
			if (is_sampling(&perfdata_event(pd, i)->attr) && is_called(perfdata_event(pd, i), name, !pass))
				return i;
	return SIZE_MAX;
}

/* The first event with samples so far, or if no event has any, the first one that is sampled. */
static size_t find_first(const struct event_choice *c, const struct perfdata *pd)
{
	size_t nr = perfdata_nr_events(pd), i;

	for (i = 0; i < c->nr; i++)
		if (c->samples[i] && is_sampling(&perfdata_event(pd, i)->attr))
			return i;
	for (i = 0; i < nr; i++)
		if (is_sampling(&perfdata_event(pd, i)->attr))
			return i;
	return SIZE_MAX;
}

/* True if there are several events to choose from, and the first of them has no sample yet. */
static bool is_open(const struct event_choice *c, const struct perfdata *pd)
{
	size_t nr = perfdata_nr_events(pd), sampling = 0, first = SIZE_MAX, i;

	for (i = 0; i < nr; i++) {
		if (!is_sampling(&perfdata_event(pd, i)->attr))
			continue;
		if (!sampling++)
			first = i;
	}
	return sampling > 1 && (first >= c->nr || !c->samples[first]);
}

/* Make room to count the samples of @event. Return: 0; -ENOMEM. */
static int count_to(struct event_choice *c, size_t event)
{
	size_t more = event < c->nr ? 0 : event + 1 - c->nr;
	uint64_t *samples;

	if (!more)
		return 0;
	samples = grow(c->samples, &c->cap, c->nr, more, sizeof(*samples));
	if (!samples)
		return -ENOMEM;
	memset(samples + c->nr, 0, more * sizeof(*samples));
	c->samples = samples;
	c->nr += more;
	return 0;
}

/* Keep a record that was read to choose the event: choice_next() returns it later. */
static int keep_ahead(struct event_choice *c, const struct perf_event_header *record)
{
	unsigned char *ahead = grow(c->ahead, &c->ahead_cap, c->ahead_nr, record->size, 1);

	if (!ahead)
		return -ENOMEM;
	c->ahead = ahead;
	memcpy(ahead + c->ahead_nr, record, record->size);
	c->ahead_nr += record->size;
	return 0;
}

static int look_at(struct event_choice *c, const struct perfdata *pd, const struct perf_event_header *record)
{
	size_t event = record->type == PERF_RECORD_SAMPLE ? perfdata_event_of(pd, record) : SIZE_MAX;
	int rc = keep_ahead(c, record);

	if (!rc && event != SIZE_MAX)
		rc = count_to(c, event);
	if (!rc && event != SIZE_MAX)
		c->samples[event]++;
	return rc;
}

int choice_open(struct event_choice *c, struct perfdata *pd, const struct input *in, struct err *err)
{
	const char *name = in->event;
	const struct perf_event_header *record;
	int rc;

	c->event = SIZE_MAX;
	/* Read at least one record: a stream describes its events before the first one. */
	do {
		rc = perfdata_next(pd, &record, err);
		if (rc > 0 && look_at(c, pd, record))
			rc = err_sys(err, -ENOMEM, "cannot read '%.400s'", in->path);
	} while (rc > 0 && !name && is_open(c, pd) && c->ahead_nr < AHEAD_MAX);
	if (rc < 0)
		return rc;
	c->event = name ? find_called(pd, name) : find_first(c, pd);
	if (c->nr)
		memset(c->samples, 0, c->nr * sizeof(*c->samples));
	return 0;
}

void choice_release(struct event_choice *c)
{
	free(c->samples);
	free(c->ahead);
	*c = (struct event_choice){ 0 };
}

int choice_next(struct event_choice *c, struct perfdata *pd, const struct perf_event_header **record, struct err *err)
{
	if (c->ahead_at < c->ahead_nr) {
		*record = (const struct perf_event_header *)(c->ahead + c->ahead_at);
		c->ahead_at += (*record)->size;
		return 1;
	}
	free(c->ahead);
	c->ahead = NULL;
	c->ahead_nr = c->ahead_cap = c->ahead_at = 0;
	return perfdata_next(pd, record, err);
}

bool choice_is(const struct event_choice *c, const struct perfdata *pd, size_t event)
{
	return event == c->event ||
	       (event != SIZE_MAX && !strcmp(perfdata_event(pd, event)->name, perfdata_event(pd, c->event)->name));
}

int choice_count(struct event_choice *c, const struct perfdata *pd, size_t event)
{
	if (event == SIZE_MAX)
		return 0;
	if (count_to(c, event))
		return -ENOMEM;
	c->samples[event]++;
	return choice_is(c, pd, event);
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

void choice_list(const struct event_choice *c, const struct perfdata *pd, char *to)
{
	size_t i, used = 0;

	*to = 0;
	for (i = 0; i < perfdata_nr_events(pd); i++)
		if (is_sampling(&perfdata_event(pd, i)->attr) && (c->event == SIZE_MAX || !choice_is(c, pd, i)))
			used = choice_name(to, used, perfdata_event(pd, i)->name);
}
