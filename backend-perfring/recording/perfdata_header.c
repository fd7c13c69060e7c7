// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata_header.h"

#include "backend-perfring/decode.h"
#include "core/base/grow.h"
#include "core/host/event_types.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRING_MAX    4096
#define BUILD_IDS_MAX (1u << 20)
#define PATHS_MAX     (64u << 20) /* bytes of all paths of build ids */

#define BUILD_ID_BYTES    20
#define BUILD_ID_SIZE_AT  32 /* in its record */
#define BUILD_ID_PATH_AT  36
#define BUILD_ID_HAS_SIZE (1u << 15) /* PERF_RECORD_MISC_BUILD_ID_SIZE, perf 5.12 */

struct event_id {
	uint64_t id;
	uint32_t event;
};

static const struct intern_kind id_kind = INTERN_BYTES(struct event_id, id);

struct build_id {
	uint32_t path; /* offset in paths */
	uint8_t size;
	bool kernel;
	unsigned char id[BUILD_ID_BYTES];
};

/* The rest of some bytes. */
struct cursor {
	const unsigned char *at;
	size_t left;
};

static const void *take_bytes(struct cursor *c, size_t size)
{
	const void *p = c->at;

	if (size > c->left)
		return NULL;
	c->at += size;
	c->left -= size;
	return p;
}

static bool take_u32(struct cursor *c, uint32_t *out)
{
	const void *p = take_bytes(c, sizeof(*out));

	if (p)
		memcpy(out, p, sizeof(*out));
	return p;
}

/* Take a string of the format: its size with padding, then that many bytes, possibly with a terminator. */
static const char *take_string(struct cursor *c, uint32_t *size)
{
	return take_u32(c, size) ? take_bytes(c, *size) : NULL;
}

void header_release(struct perfdata_header *h)
{
	size_t i;

	for (i = 0; i < h->nr_events; i++) {
		free(h->events[i]->name);
		free(h->events[i]);
	}
	free(h->events);
	intern_release(&h->ids);
	free(h->build_ids);
	free(h->paths);
	free(h->hostname);
	free(h->osrelease);
}

/* ---- events */

static char *made_up_name(const struct perf_event_attr *attr)
{
	const struct event_type *e;
	unsigned int i;
	char *name;
	int n;

	for (i = 0; (e = event_at(i)); i++)
		if (e->type == attr->type && e->config == attr->config)
			return strdup(e->name);
	if (attr->type == PERF_TYPE_RAW)
		n = asprintf(&name, "r%llx", attr->config);
	else
		n = asprintf(&name, "type %u config 0x%llx", attr->type, attr->config);
	return n < 0 ? NULL : name;
}

size_t header_attr_size(const void *attr, size_t size)
{
	uint32_t said;

	if (size < PERF_ATTR_SIZE_VER0)
		return 0;
	memcpy(&said, (const char *)attr + offsetof(struct perf_event_attr, size), sizeof(said));
	if (!said)
		said = PERF_ATTR_SIZE_VER0;
	return said < PERF_ATTR_SIZE_VER0 || said > size ? 0 : said;
}

static unsigned int has_field(const struct perf_event_attr *attr, uint64_t bit)
{
	return attr->sample_type & bit ? 1 : 0;
}

/* perf puts the id at the same place for all events of a recording, so the first event shows it. */
static void place_ids(struct perfdata_header *h)
{
	const struct perf_event_attr *a = &h->events[0]->attr;

	if (has_field(a, PERF_SAMPLE_IDENTIFIER)) {
		h->sample_id_at = 1;
		h->other_id_at = 1;
	} else if (has_field(a, PERF_SAMPLE_ID)) {
		h->sample_id_at = 1 + has_field(a, PERF_SAMPLE_IP) + has_field(a, PERF_SAMPLE_TID) +
				  has_field(a, PERF_SAMPLE_TIME) + has_field(a, PERF_SAMPLE_ADDR);
		h->other_id_at = 1 + has_field(a, PERF_SAMPLE_CPU) + has_field(a, PERF_SAMPLE_STREAM_ID);
	}
	if (!a->sample_id_all)
		h->other_id_at = 0;
}

int header_add_event(struct perfdata_header *h, const void *attr, size_t size)
{
	size_t use = header_attr_size(attr, size);
	struct perfdata_event **events, *e;

	if (!use)
		return -EBADMSG;
	if (h->nr_events >= EVENTS_MAX)
		return -E2BIG;
	events = grow(h->events, &h->cap_events, h->nr_events, 1, sizeof(struct perfdata_event *));
	if (!events)
		return -ENOMEM;
	h->events = events;
	e = calloc(1, sizeof(*e));
	if (!e)
		return -ENOMEM;
	memcpy(&e->attr, attr, use < sizeof(e->attr) ? use : sizeof(e->attr));
	e->name = made_up_name(&e->attr);
	if (!e->name) {
		free(e);
		return -ENOMEM;
	}
	events[h->nr_events++] = e;
	if (h->nr_events == 1)
		place_ids(h);
	return 0;
}

size_t header_event_by_id(const struct perfdata_header *h, uint64_t id)
{
	const struct event_id *found = intern_find(&h->ids, &id_kind, &id);

	return found ? found->event : SIZE_MAX;
}

size_t header_event_of(const struct perfdata_header *h, const struct perf_event_header *record)
{
	bool sample = record->type == PERF_RECORD_SAMPLE;
	size_t at = sample ? h->sample_id_at : h->other_id_at, words = record->size / sizeof(uint64_t), written, event;
	uint64_t id;

	if (!h->nr_events)
		return SIZE_MAX;
	if (h->nr_events == 1 || !at || record->type == PERFDATA_FINISHED_ROUND)
		return 0;
	written = decode_size(&h->events[0]->attr, record, record->size) / sizeof(uint64_t);
	if (at >= written)
		return sample ? SIZE_MAX : 0;
	id = ((const uint64_t *)record)[sample ? at : written - at];
	event = id || written < words ? header_event_by_id(h, id) : 0;
	/* The sample_id of another event may be longer than that of the first one. */
	if (event == SIZE_MAX && written < words)
		event = header_event_by_id(h, ((const uint64_t *)record)[words - at]);
	return event == SIZE_MAX && !sample ? 0 : event;
}

uint64_t header_time_of(const struct perfdata_header *h, const struct perf_event_header *record)
{
	const uint64_t *words = (const uint64_t *)record;
	size_t event = header_event_of(h, record), nr, at;
	const struct perf_event_attr *a;

	if (!h->nr_events)
		return 0;
	a = &h->events[event == SIZE_MAX ? 0 : event]->attr;
	if (!has_field(a, PERF_SAMPLE_TIME))
		return 0;
	if (record->type == PERF_RECORD_SAMPLE) {
		at = 1 + has_field(a, PERF_SAMPLE_IDENTIFIER) + has_field(a, PERF_SAMPLE_IP) +
		     has_field(a, PERF_SAMPLE_TID);
		return at < record->size / sizeof(*words) ? words[at] : 0;
	}
	nr = decode_size(a, record, record->size) / sizeof(*words);
	at = 1 + has_field(a, PERF_SAMPLE_ID) + has_field(a, PERF_SAMPLE_STREAM_ID) + has_field(a, PERF_SAMPLE_CPU) +
	     has_field(a, PERF_SAMPLE_IDENTIFIER);
	return a->sample_id_all && at < nr ? words[nr - at] : 0;
}

int header_add_ids(struct perfdata_header *h, const void *ids, size_t nr)
{
	const char *at = ids;
	struct event_id *e;
	uint64_t id;
	bool is_new;

	if (nr > EVENT_IDS_MAX - h->seen_ids)
		return -E2BIG;
	h->seen_ids += nr;
	for (; nr; nr--, at += sizeof(id)) {
		memcpy(&id, at, sizeof(id));
		if (!id) /* records that perf made up have id 0 */
			continue;
		e = intern(&h->ids, &id_kind, &id, &is_new);
		if (!e)
			return -ENOMEM;
		if (is_new)
			e->event = (uint32_t)h->nr_events - 1;
	}
	return 0;
}

int header_name_event(struct perfdata_header *h, size_t i, const void *name, size_t size)
{
	char *copy = strndup(name, size < STRING_MAX ? size : STRING_MAX);

	if (!copy)
		return -ENOMEM;
	if (!*copy) {
		free(copy);
		return 0;
	}
	free(h->events[i]->name);
	h->events[i]->name = copy;
	return 0;
}

/* Find the event of the @i-th description: by its first id, else the @i-th event if it has the same type and config. */
static size_t described(const struct perfdata_header *h, size_t i, const void *attr, const void *ids, uint32_t nr_ids)
{
	struct perf_event_attr a = { 0 };
	size_t event = SIZE_MAX;
	uint64_t id;

	if (nr_ids) {
		memcpy(&id, ids, sizeof(id));
		event = header_event_by_id(h, id);
	}
	if (event != SIZE_MAX || i >= h->nr_events)
		return event;
	memcpy(&a, attr, PERF_ATTR_SIZE_VER0);
	return a.type == h->events[i]->attr.type && a.config == h->events[i]->attr.config ? i : SIZE_MAX;
}

static int read_event_desc(struct perfdata_header *h, struct cursor c)
{
	uint32_t nr, attr_size, nr_ids, len, i;
	const void *attr, *ids;
	const char *name;
	size_t event;
	int rc;

	if (!take_u32(&c, &nr) || !take_u32(&c, &attr_size) || attr_size < PERF_ATTR_SIZE_VER0)
		return -EBADMSG;
	for (i = 0; i < nr; i++) {
		if (!(attr = take_bytes(&c, attr_size)) || !take_u32(&c, &nr_ids) || !(name = take_string(&c, &len)) ||
		    !(ids = take_bytes(&c, sizeof(uint64_t) * (size_t)nr_ids)))
			return -EBADMSG;
		event = described(h, i, attr, ids, nr_ids);
		rc = event == SIZE_MAX ? 0 : header_name_event(h, event, name, len);
		if (rc)
			return rc;
	}
	return 0;
}

/* ---- build ids */

/* Copy the id and its size, 20 if the record has none; false: the size is impossible. */
static bool copy_build_id(struct build_id *b, const struct perf_event_header *head, const unsigned char *record)
{
	b->size = head->misc & BUILD_ID_HAS_SIZE ? record[BUILD_ID_SIZE_AT] : BUILD_ID_BYTES;
	if (!b->size || b->size > BUILD_ID_BYTES)
		return false;
	memcpy(b->id, record + BUILD_ID_SIZE_AT - BUILD_ID_BYTES, b->size);
	return true;
}

int header_add_build_id(struct perfdata_header *h, const void *record)
{
	unsigned int mode;
	struct perf_event_header head;
	struct build_id *all, b = { 0 };
	const char *path = (const char *)record + BUILD_ID_PATH_AT;
	size_t len;
	char *paths;

	memcpy(&head, record, sizeof(head));
	if (head.size <= BUILD_ID_PATH_AT || !copy_build_id(&b, &head, record))
		return -EBADMSG;
	len = strnlen(path, head.size - BUILD_ID_PATH_AT);
	if (len == (size_t)head.size - BUILD_ID_PATH_AT)
		return -EBADMSG;
	mode = head.misc & PERF_RECORD_MISC_CPUMODE_MASK;
	if (mode == PERF_RECORD_MISC_GUEST_KERNEL || mode == PERF_RECORD_MISC_GUEST_USER)
		return 0; /* its paths are those of another system */
	if (h->nr_build_ids >= BUILD_IDS_MAX || len >= PATHS_MAX - h->paths_size)
		return -E2BIG;
	paths = grow(h->paths, &h->cap_paths, h->paths_size, len + 1, 1);
	if (!paths)
		return -ENOMEM;
	h->paths = paths;
	all = grow(h->build_ids, &h->cap_build_ids, h->nr_build_ids, 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	h->build_ids = all;
	b.path = (uint32_t)h->paths_size;
	b.kernel = mode == PERF_RECORD_MISC_KERNEL;
	memcpy(paths + h->paths_size, path, len + 1);
	h->paths_size += len + 1;
	all[h->nr_build_ids++] = b;
	return 0;
}

static int read_build_ids(struct perfdata_header *h, struct cursor c)
{
	struct perf_event_header head;
	const void *record;
	int rc = 0, r;

	while (c.left) {
		if (c.left < sizeof(head))
			return -EBADMSG;
		memcpy(&head, c.at, sizeof(head));
		record = take_bytes(&c, head.size);
		if (!record || head.size < sizeof(head))
			return -EBADMSG;
		r = header_add_build_id(h, record);
		if (r == -ENOMEM)
			return r;
		if (r)
			rc = -EBADMSG;
	}
	return rc;
}

bool header_build_id(const struct perfdata_header *h, size_t i, struct perfdata_build_id *out)
{
	const struct build_id *b;

	if (i >= h->nr_build_ids)
		return false;
	b = &h->build_ids[i];
	*out = (struct perfdata_build_id){ h->paths + b->path, b->id, b->size, b->kernel };
	return true;
}

/* ---- features */

static int read_string(char **out, struct cursor c)
{
	uint32_t size;
	const char *s = take_string(&c, &size);
	char *copy;

	if (!s || strnlen(s, size) > STRING_MAX)
		return -EBADMSG;
	copy = strndup(s, size);
	if (!copy)
		return -ENOMEM;
	free(*out);
	*out = copy;
	return 0;
}

/* version, type, level, ratio, size of perf record's buffers; 32 bits each */
static int read_compressed(struct perfdata_header *h, struct cursor c)
{
	uint32_t version;

	return take_u32(&c, &version) && take_u32(&c, &h->compression) ? 0 : -EBADMSG;
}

bool header_feature_wanted(uint64_t feature)
{
	return feature == FEATURE_BUILD_ID || feature == FEATURE_HOSTNAME || feature == FEATURE_OSRELEASE ||
	       feature == FEATURE_EVENT_DESC || feature == FEATURE_COMPRESSED;
}

int header_feature(struct perfdata_header *h, uint64_t feature, const void *bytes, size_t size)
{
	struct cursor c = { bytes, size };

	switch (feature) {
	case FEATURE_BUILD_ID:
		return read_build_ids(h, c);
	case FEATURE_HOSTNAME:
		return read_string(&h->hostname, c);
	case FEATURE_OSRELEASE:
		return read_string(&h->osrelease, c);
	case FEATURE_EVENT_DESC:
		return read_event_desc(h, c);
	case FEATURE_COMPRESSED:
		return read_compressed(h, c);
	default:
		return 0;
	}
}
