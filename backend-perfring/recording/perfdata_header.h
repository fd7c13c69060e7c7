/* SPDX-License-Identifier: Apache-2.0 */
/* The metadata of a recording: events and their ids, the host, build ids. Decodes bytes into tables. */
#ifndef PERFRING_PERFDATA_HEADER_H
#define PERFRING_PERFDATA_HEADER_H

#include "backend-perfring/recording/perfdata_types.h"
#include "core/base/intern.h"

/* Bits of the header's table of features, and numbers of PERF_RECORD_HEADER_FEATURE; only those that we read. */
enum perfdata_feature {
	FEATURE_BUILD_ID = 2,
	FEATURE_HOSTNAME = 3,
	FEATURE_OSRELEASE = 4,
	FEATURE_EVENT_DESC = 12,
	FEATURE_COMPRESSED = 27,
};

#define COMPRESSION_ZSTD 1

#define EVENTS_MAX    4096
#define EVENT_IDS_MAX (4u << 20) /* of all events: one for each event and CPU or thread */

/** struct perfdata_header - all zeros: nothing is known yet. */
struct perfdata_header {
	struct perfdata_event **events;
	size_t nr_events, cap_events;
	struct intern_table ids;
	size_t seen_ids; /* number of ids read, with repeated ones: EVENT_IDS_MAX limits it */
	/*
	 * The place of the id: words from the start of a sample, and from the end of another record; 0: there is none.
	 */
	unsigned int sample_id_at, other_id_at;
	struct build_id *build_ids;
	size_t nr_build_ids, cap_build_ids;
	char *paths; /* of build_ids, each terminated */
	size_t paths_size, cap_paths;
	char *hostname, *osrelease; /* NULL: missing */
	uint32_t compression;       /* 0: missing */
};

void header_release(struct perfdata_header *h);

/**
 * header_add_event() - add an event.
 * @attr: struct perf_event_attr of any version, in at most @size bytes
 * Return: 0; -EBADMSG: the size in @attr is impossible or exceeds @size; -E2BIG: too many; -ENOMEM.
 */
int header_add_event(struct perfdata_header *h, const void *attr, size_t size);

/** header_attr_size() - the size in @attr (0 there: PERF_ATTR_SIZE_VER0); 0: it is impossible, or exceeds @size. */
size_t header_attr_size(const void *attr, size_t size);

/**
 * header_add_ids() - add @nr ids of 64 bits, not aligned, of the newest event. Return: 0; -E2BIG: too many; -ENOMEM.
 */
int header_add_ids(struct perfdata_header *h, const void *ids, size_t nr);

/** header_event_by_id() - number of the event; SIZE_MAX: unknown id. */
size_t header_event_by_id(const struct perfdata_header *h, uint64_t id);

/** header_event_of() - see perfdata_event_of(). */
size_t header_event_of(const struct perfdata_header *h, const struct perf_event_header *record);

/** header_time_of() - when @record was written, on the clock of the recording; 0: it has no time. */
uint64_t header_time_of(const struct perfdata_header *h, const struct perf_event_header *record);

/**
 * header_name_event() - set the name of event @i to at most @size bytes of @name, unless @name is empty.
 * Return: 0 or -ENOMEM.
 */
int header_name_event(struct perfdata_header *h, size_t i, const void *name, size_t size);

/**
 * header_add_build_id() - add a record of the table: header, 4 bytes pid, 20 bytes of id, its size and padding, a path.
 * @record: as many bytes as its header says
 * Return: 0, also for a record of a guest, which is skipped; -EBADMSG: malformed; -E2BIG: too many, it is skipped;
 * -ENOMEM.
 */
int header_add_build_id(struct perfdata_header *h, const void *record);

/** header_build_id() - see perfdata_build_id(). */
bool header_build_id(const struct perfdata_header *h, size_t i, struct perfdata_build_id *out);

/** header_feature_wanted() - true if header_feature() uses this feature. */
bool header_feature_wanted(uint64_t feature);

/**
 * header_feature() - read the contents of a feature.
 * Return: 0, also for one that is not wanted; -EBADMSG: damaged, the readable part is kept; -ENOMEM.
 */
int header_feature(struct perfdata_header *h, uint64_t feature, const void *bytes, size_t size);

#endif
