// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata.h"

#include "backend-perfring/decode.h"
#include "backend-perfring/recording/perfdata_dir.h"
#include "backend-perfring/recording/perfdata_file.h"
#include "backend-perfring/recording/perfdata_search.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EVENT_UPDATE_NAME 2

#define ROUND_RECORDS 16384

#define BACK_MAX 1000 /* searches that begin within the record before: each may read 64 KiB again */

/* A file of records. */
struct part {
	struct source *source; /* that of the recording, or @own: another file of its directory */
	struct source own;
	struct inflater inflater;
	bool inflating, ended;
	const struct perf_event_header *head;            /* with several parts: the next record; NULL: read it */
	uint64_t time;                                   /* the largest time of its records up to @head */
	char name[16];                                   /* of the file in the directory */
	uint64_t aligned[RECORD_MAX / sizeof(uint64_t)]; /* a copy of a record that is not aligned in the window */
};

struct perfdata {
	struct perfdata_file file;
	struct perfdata_counts counts; /* without those in @file */
	struct part **parts;
	size_t nr_parts;
	struct part *part;        /* the current one */
	unsigned int since_round; /* with several parts: records since we last returned PERFDATA_FINISHED_ROUND */
};

/* The result of a step of the reader; or -errno. */
enum step { STEP_END, STEP_RECORD, STEP_ON };

static struct part *add_part(struct perfdata *pd)
{
	struct part *p = calloc(1, sizeof(*p));

	if (p)
		pd->parts[pd->nr_parts++] = p;
	return p;
}

static int open_part(struct perfdata *pd, unsigned int number, struct err *err)
{
	struct part *p = add_part(pd);
	int rc;

	if (!p)
		return file_fail(&pd->file, -ENOMEM, err);
	p->source = &p->own;
	snprintf(p->name, sizeof(p->name), DIR_DATA ".%u", number);
	rc = source_open_file(&p->own, pd->file.source.dir, p->name);
	p->own.limit = INT64_MAX;
	return rc ? err_sys(err, rc, "cannot open '%s' in %s", p->name, pd->file.name) : 0;
}

static int open_parts(struct perfdata *pd, struct err *err)
{
	struct dir_files files = { 0 };
	int rc = 0;
	size_t i;

	if (pd->file.source.dir >= 0)
		rc = dir_list(&files, pd->file.source.dir, pd->file.name, err);
	if (!rc) {
		pd->parts = calloc(1 + files.nr, sizeof(*pd->parts));
		pd->part = pd->parts ? add_part(pd) : NULL;
		rc = pd->part ? 0 : file_fail(&pd->file, -ENOMEM, err);
	}
	if (!rc) {
		pd->part->source = &pd->file.source;
		if (pd->file.source.dir >= 0)
			snprintf(pd->part->name, sizeof(pd->part->name), DIR_DATA);
	}
	for (i = 0; i < files.nr && !rc; i++)
		rc = open_part(pd, files.numbers[i], err);
	free(files.numbers);
	return rc;
}

int perfdata_open(struct perfdata **out, const char *path, struct err *err)
{
	struct perfdata *pd = calloc(1, sizeof(*pd));
	int rc;

	*out = NULL;
	if (!pd)
		return err_sys(err, -ENOMEM, "cannot read '%s'", path);
	rc = file_open(&pd->file, path, err);
	if (!rc)
		rc = open_parts(pd, err);
	if (rc) {
		perfdata_close(pd);
		return rc;
	}
	*out = pd;
	return 0;
}

void perfdata_close(struct perfdata *pd)
{
	size_t i;

	if (!pd)
		return;
	for (i = 0; i < pd->nr_parts; i++) {
		if (pd->parts[i]->source == &pd->parts[i]->own)
			source_close(&pd->parts[i]->own);
		inflater_release(&pd->parts[i]->inflater);
		free(pd->parts[i]);
	}
	free(pd->parts);
	file_close(&pd->file);
	free(pd);
}

/* ---- records */

/* Return a record to the caller; @bytes stay until the next step. */
static int give(struct perfdata *pd, const unsigned char *bytes, size_t size, const struct perf_event_header **out)
{
	if (size % sizeof(uint64_t)) {
		pd->counts.bad_records++;
		return STEP_ON;
	}
	if ((uintptr_t)bytes % sizeof(uint64_t)) {
		memcpy(pd->part->aligned, bytes, size);
		bytes = (const unsigned char *)pd->part->aligned;
	}
	*out = (const struct perf_event_header *)bytes;
	return STEP_RECORD;
}

/* The part ends here, too early. */
static int cut(struct perfdata *pd)
{
	pd->counts.truncated = true;
	pd->part->ended = true;
	return STEP_END;
}

static int finish(struct perfdata *pd, struct err *err)
{
	struct source *s = pd->part->source;

	if (s->limit != INT64_MAX)
		pd->counts.missing = s->limit - source_at(s);
	if (window_nr(&pd->part->inflater.window) || pd->counts.missing)
		pd->counts.truncated = true;
	pd->part->ended = true;
	return s == &pd->file.source ? file_late_features(&pd->file, err) : 0;
}

/* A record of a pipe: attributes, then ids up to its end. */
static int take_attr(struct perfdata *pd, const unsigned char *payload, size_t size)
{
	size_t attr = header_attr_size(payload, size);
	int rc;

	if (pd->file.head.size || !attr || attr > ATTR_MAX)
		return -EBADMSG; /* the events of a file are in its header */
	rc = header_add_event(&pd->file.header, payload, attr);
	return rc ? rc : header_add_ids(&pd->file.header, payload + attr, (size - attr) / sizeof(uint64_t));
}

/* type, id, and data that depend on the type */
static int take_event_update(struct perfdata *pd, const unsigned char *payload, size_t size)
{
	uint64_t words[2];
	size_t event;

	if (size < sizeof(words))
		return -EBADMSG;
	memcpy(words, payload, sizeof(words));
	event = header_event_by_id(&pd->file.header, words[1]);
	if (words[0] != EVENT_UPDATE_NAME || event == SIZE_MAX)
		return 0;
	return header_name_event(&pd->file.header, event, payload + sizeof(words), size - sizeof(words));
}

/* number of the feature, then the contents that a file has in the feature's section */
static int take_feature(struct perfdata *pd, const unsigned char *payload, size_t size)
{
	uint64_t feature;
	int rc;

	if (size < sizeof(feature))
		return -EBADMSG;
	memcpy(&feature, payload, sizeof(feature));
	rc = header_feature(&pd->file.header, feature, payload + sizeof(feature), size - sizeof(feature));
	if (rc != -EBADMSG)
		return rc;
	pd->file.bad_features++;
	return 0;
}

/*
 * Skip the data behind this record, which its size does not include. @payload begins with the size of the data, a
 * number of @width bytes.
 */
static int skip_data(struct perfdata *pd, const unsigned char *payload, size_t size, size_t width)
{
	uint64_t len = 0;
	int rc;

	if (size < width)
		return -EBADMSG;
	memcpy(&len, payload, width);
	if (width == sizeof(uint32_t))
		len = (len + 7) / 8 * 8; /* tracing data is padded */
	rc = source_skip(pd->part->source, len);
	return rc ? (rc < 0 ? rc : 0) : cut(pd);
}

static int take_compressed(struct perfdata *pd, const unsigned char *payload, size_t size, bool padded)
{
	uint64_t len = size;

	if (padded) {
		if (size < sizeof(len))
			return -EBADMSG;
		memcpy(&len, payload, sizeof(len));
		payload += sizeof(len);
		if (len > size - sizeof(len))
			return -EBADMSG;
	}
	if (pd->part->inflater.broken) {
		pd->counts.left_out += len;
		return -EBADMSG;
	}
	if (!pd->file.header.compression)
		pd->file.header.compression = COMPRESSION_ZSTD; /* the only method: the recording need not name it */
	inflater_feed(&pd->part->inflater, payload, len);
	pd->part->inflating = true;
	return 0;
}

/* Return: 0; -EBADMSG: skip it; -errno. */
static int take_user(struct perfdata *pd, uint32_t type, const unsigned char *record, size_t size)
{
	const unsigned char *payload = record + sizeof(struct perf_event_header);
	size_t len = size - sizeof(struct perf_event_header);

	switch (type) {
	case PERFDATA_HEADER_ATTR:
		return take_attr(pd, payload, len);
	case PERFDATA_TRACING_DATA:
		return skip_data(pd, payload, len, sizeof(uint32_t));
	case PERFDATA_BUILD_ID:
		return header_add_build_id(&pd->file.header, record);
	case PERFDATA_AUXTRACE:
		return skip_data(pd, payload, len, sizeof(uint64_t));
	case PERFDATA_EVENT_UPDATE:
		return take_event_update(pd, payload, len);
	case PERFDATA_FEATURE:
		return take_feature(pd, payload, len);
	case PERFDATA_COMPRESSED:
	case PERFDATA_COMPRESSED2:
		return take_compressed(pd, payload, len, type == PERFDATA_COMPRESSED2);
	default:
		pd->counts.unknown += type > PERFDATA_USER_TYPE_LAST;
		return 0;
	}
}

static int user_step(struct perfdata *pd, uint32_t type, const unsigned char *record, size_t size, struct err *err)
{
	int rc = take_user(pd, type, record, size);

	if (rc == -EBADMSG || (rc == -E2BIG && type == PERFDATA_BUILD_ID))
		pd->counts.bad_records++;
	else if (rc == -E2BIG)
		return err_set(err, rc, "%s has more than %u events or %u ids of them", pd->file.name, EVENTS_MAX,
			       EVENT_IDS_MAX);
	else if (rc)
		return file_fail(&pd->file, rc, err);
	rc = file_check_compression(&pd->file, err);
	return rc ? rc : STEP_ON;
}

/* Count damage: records go on only at @found, though one should have begun at @at, @held bytes after the one before. */
static void note_damage(struct perfdata *pd, uint64_t at, size_t held, uint64_t found)
{
	struct perfdata_counts *counts = &pd->counts;

	/* If records go on within the record before, the size of that record was wrong. */
	if (!counts->damaged++) {
		counts->damaged_at = found < at ? at - held : at;
		counts->damaged_in = pd->part->name;
	}
	if (found > at)
		counts->left_out += found - at;
	counts->bad_records++;
}

/*
 * No record begins at the front of the window: go on where several in a row do. The size of the record before may be
 * wrong, so the search begins within that record. @tail: the recording ends within the bytes at the front.
 */
static int find_next(struct perfdata *pd, bool tail, struct err *err)
{
	struct source *s = pd->part->source;
	struct window *w = &s->window;
	uint64_t at = source_at(s);
	size_t held = w->at - w->held;
	/* Compressed records have any size; the size of the kernel's is a multiple of 8. */
	size_t step = file_may_be_compressed(&pd->file) ? 1 : sizeof(uint64_t);
	bool ended = tail;
	int rc;

	if (!tail && pd->counts.damaged < BACK_MAX)
		w->at = w->held;
	do {
		window_take(w, step < window_nr(w) ? step : window_nr(w));
		while ((rc = search_here(w, ended)) == -EAGAIN) {
			rc = source_fill(s);
			if (rc < 0)
				return file_fail(&pd->file, rc, err);
			ended = !rc;
		}
	} while (!rc && window_nr(w));
	if (rc || !tail)
		note_damage(pd, at, held, source_at(s));
	else
		pd->counts.truncated = true;
	return STEP_ON;
}

/* The file has no more bytes. */
static int end_step(struct perfdata *pd, struct err *err)
{
	return window_nr(&pd->part->source->window) ? find_next(pd, true, err) : finish(pd, err);
}

/* The next record of the file itself. */
static int outer_step(struct perfdata *pd, const struct perf_event_header **out, struct err *err)
{
	struct window *w = &pd->part->source->window;
	struct perf_event_header h;
	const unsigned char *record;
	size_t size;
	int rc;

	if (window_header(w, &h) && !record_possible(&h))
		return find_next(pd, false, err);
	if (!window_record(w, &record, &size)) {
		rc = source_fill(pd->part->source);
		if (rc > 0)
			return STEP_ON;
		return rc ? file_fail(&pd->file, rc, err) : end_step(pd, err);
	}
	window_give(w, size);
	if (h.type < PERFDATA_USER_TYPE_FIRST || h.type == PERFDATA_FINISHED_ROUND)
		return give(pd, record, size, out);
	return user_step(pd, h.type, record, size, err);
}

/* Compressed data are damaged: the rest of them cannot be read. */
static int inner_broken(struct perfdata *pd)
{
	const struct source *s = pd->part->source;

	pd->part->inflater.broken = true;
	window_take(&pd->part->inflater.window, window_nr(&pd->part->inflater.window));
	pd->part->inflating = false;
	pd->counts.left_out += pd->part->inflater.in_size;
	note_damage(pd, source_at(s) - (s->window.at - s->window.held), 0, 0);
	return STEP_ON;
}

/* The next of the compressed records. perf compresses only records from the kernel. */
static int inner_step(struct perfdata *pd, const struct perf_event_header **out, struct err *err)
{
	struct window *w = &pd->part->inflater.window;
	const unsigned char *record;
	uint32_t type;
	size_t size;
	int rc = window_record(w, &record, &size);

	if (!rc) {
		rc = inflater_fill(&pd->part->inflater);
		if (rc >= 0) {
			pd->part->inflating = rc;
			return STEP_ON;
		}
	}
	if (rc < 0)
		return rc == -EBADMSG ? inner_broken(pd) : file_fail(&pd->file, rc, err);
	window_take(w, size);
	memcpy(&type, record, sizeof(type));
	if (type < PERFDATA_USER_TYPE_FIRST)
		return give(pd, record, size, out);
	pd->counts.bad_records++;
	return STEP_ON;
}

/* The next record of the current part. */
static int part_next(struct perfdata *pd, const struct perf_event_header **record, struct err *err)
{
	int rc;

	while (!pd->part->ended) {
		rc = pd->part->inflating ? inner_step(pd, record, err) : outer_step(pd, record, err);
		if (rc != STEP_ON)
			return rc;
	}
	return 0;
}

/* Each file of a directory is in time order by itself. Leave out its round marks: they mean nothing for other files. */
static int fill_head(struct perfdata *pd, struct part *p, struct err *err)
{
	const struct perf_event_header *record;
	uint64_t time;
	int rc;

	pd->part = p;
	do
		rc = part_next(pd, &record, err);
	while (rc > 0 && record->type == PERFDATA_FINISHED_ROUND);
	if (rc <= 0)
		return rc;
	time = header_time_of(&pd->file.header, record);
	if (time > p->time)
		p->time = time;
	p->head = record;
	return 1;
}

/* Find the part with the earliest next record. */
static int find_earliest(struct perfdata *pd, struct part **out, struct err *err)
{
	struct part *p;
	size_t i;
	int rc;

	*out = NULL;
	for (i = 0; i < pd->nr_parts; i++) {
		p = pd->parts[i];
		rc = p->head ? 1 : fill_head(pd, p, err);
		if (rc < 0)
			return rc;
		if (rc && (!*out || p->time < (*out)->time))
			*out = p;
	}
	return 0;
}

static int merged_next(struct perfdata *pd, const struct perf_event_header **record, struct err *err)
{
	static const struct perf_event_header round = { PERFDATA_FINISHED_ROUND, 0, sizeof(round) };
	struct part *p;
	int rc;

	if (pd->since_round++ == ROUND_RECORDS) {
		pd->since_round = 0;
		*record = &round;
		return 1;
	}
	rc = find_earliest(pd, &p, err);
	if (rc || !p)
		return rc;
	*record = p->head;
	p->head = NULL;
	return 1;
}

int perfdata_next(struct perfdata *pd, const struct perf_event_header **record, struct err *err)
{
	int rc;

	*record = NULL;
	rc = pd->nr_parts > 1 ? merged_next(pd, record, err) : part_next(pd, record, err);
	pd->counts.records += rc > 0;
	return rc;
}

/* ---- results */

size_t perfdata_event_of(const struct perfdata *pd, const struct perf_event_header *record)
{
	return header_event_of(&pd->file.header, record);
}

bool perfdata_is_file(const struct perfdata *pd)
{
	return pd->file.source.seekable;
}

size_t perfdata_nr_events(const struct perfdata *pd)
{
	return pd->file.header.nr_events;
}

const struct perfdata_event *perfdata_event(const struct perfdata *pd, size_t i)
{
	return pd->file.header.events[i];
}

bool perfdata_build_id(const struct perfdata *pd, size_t i, struct perfdata_build_id *out)
{
	return header_build_id(&pd->file.header, i, out);
}

const char *perfdata_hostname(const struct perfdata *pd)
{
	return pd->file.header.hostname ? pd->file.header.hostname : "";
}

const char *perfdata_osrelease(const struct perfdata *pd)
{
	return pd->file.header.osrelease ? pd->file.header.osrelease : "";
}

struct perfdata_counts perfdata_counts(const struct perfdata *pd)
{
	struct perfdata_counts counts = pd->counts;
	size_t i;

	for (i = 0; i < pd->nr_parts; i++)
		counts.bytes += source_at(pd->parts[i]->source);
	counts.bad_features = pd->file.bad_features;
	counts.unfinished = pd->file.unfinished;
	return counts;
}
