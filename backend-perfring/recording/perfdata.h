/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Read recordings made by `perf record`, record by record: files, also unfinished and compressed ones, and streams
 * (`perf record -o -`). Such a file may be hostile: every size in it is checked, memory is limited, and unreadable
 * parts are counted. Source: tools/perf/Documentation/perf.data-file-format.txt of the kernel.
 *
 * If a recording is read from a pipe, some facts come late. A stream has them between its records: events, their names,
 * the host, build ids. A file that comes through a pipe has the events in its header, and the rest behind its records.
 */
#ifndef PERFRING_PERFDATA_H
#define PERFRING_PERFDATA_H

#include "backend-perfring/recording/perfdata_types.h"
#include "core/base/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct perfdata;

/** struct perfdata_counts - numbers for the part that was read so far. */
struct perfdata_counts {
	uint64_t bytes;         /* read, also skipped ones; in a directory, of all its files */
	uint64_t records;       /* that perfdata_next() has returned */
	uint64_t bad_records;   /* skipped: their contents are impossible, or damaged inside compressed data */
	uint64_t unknown;       /* skipped: of unknown types */
	uint64_t bad_features;  /* parts of the header that are damaged, larger than 16 MiB, or not within the file */
	uint64_t damaged;       /* places without the expected record; each also counts as one of bad_records */
	uint64_t damaged_at;    /* offset in the file of the first of them */
	const char *damaged_in; /* if the recording is a directory: the file in it with this place; else "" */
	uint64_t left_out;      /* bytes that were skipped at all these places */
	uint64_t missing;       /* bytes of records that are missing at the end of the file */
	bool truncated;         /* a file ends within a record, or before it should */
	bool unfinished;        /* perf record has not completed the file: no names of events, no host, no build ids */
};

/**
 * perfdata_open() - read the header.
 * @path: "-" for standard input; or a directory that perf record --threads or --kcore wrote
 * @out:  for perfdata_close(); NULL after a failure
 * Return: 0 or -errno, described: not a recording (-EINVAL), an unsupported kind (-ENOTSUP, -EISDIR), a header that
 * does not fit the file (-EBADMSG), too many events or ids (-E2BIG), others of reading it.
 */
int perfdata_open(struct perfdata **out, const char *path, struct err *err);
void perfdata_close(struct perfdata *pd);

/**
 * perfdata_next() - the next record from the kernel (type below 64) or PERFDATA_FINISHED_ROUND.
 * @record: aligned to 8, its size a multiple of 8, and complete; valid until the next call. Its contents are not
 * checked. Return: 1; 0: the end, see perfdata_counts() for details; -errno, described: the file cannot be read, is of
 * an unsupported kind (-ENOTSUP), or has too many events or ids (-E2BIG).
 */
int perfdata_next(struct perfdata *pd, const struct perf_event_header **record, struct err *err);

/** perfdata_is_file() - true for a regular file or a directory, false for a pipe. */
bool perfdata_is_file(const struct perfdata *pd);

/** perfdata_nr_events() - number of events; in a stream, perfdata_next() may find more. */
size_t perfdata_nr_events(const struct perfdata *pd);
/** perfdata_event() - the @i-th event, in the order of perf record's -e. */
const struct perfdata_event *perfdata_event(const struct perfdata *pd, size_t i);

/**
 * perfdata_event_of() - the event of @record, a record from perfdata_next().
 * Return: the event's number, for perfdata_event(). It is 0, the first event, if there is no other event, if the record
 * has id 0 (perf record makes up some at the start), or if it is not a sample and its id is unknown. If the samples of
 * several events have no ids, all count as the first event. SIZE_MAX: a sample with an unknown id, or there is no event
 * yet.
 */
size_t perfdata_event_of(const struct perfdata *pd, const struct perf_event_header *record);

/**
 * perfdata_build_id() - the @i-th entry of the table of build ids.
 * @out: its pointers are valid until the next perfdata_next()
 * Return: false after the last one.
 */
bool perfdata_build_id(const struct perfdata *pd, size_t i, struct perfdata_build_id *out);

/** perfdata_hostname(), perfdata_osrelease() - from uname(2) of the recorded host; "" if missing. Not checked. */
const char *perfdata_hostname(const struct perfdata *pd);
const char *perfdata_osrelease(const struct perfdata *pd);

struct perfdata_counts perfdata_counts(const struct perfdata *pd);

#endif
