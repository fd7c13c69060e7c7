/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Recordings made by `perf record`: files, also unfinished and compressed ones, and streams (`perf record -o -`),
 * record by record. Such a file may come from a stranger: every size in it is checked, memory is bounded, and what
 * cannot be read is counted. Source: tools/perf/Documentation/perf.data-file-format.txt of the kernel.
 *
 * A recording that is read from a pipe tells some things late: events and their names in the course of it, the host and
 * build ids of a file at its end.
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

/** struct perfdata_counts - of what was read so far. */
struct perfdata_counts {
	uint64_t bytes;         /* of the file, those skipped included */
	uint64_t records;       /* that perfdata_next() gave */
	uint64_t bad_records;   /* left out: their contents are impossible, or damaged where they are compressed */
	uint64_t unknown;       /* left out: of types that this reader has never heard of */
	uint64_t bad_features;  /* parts of the header that do not fit into the file or into themselves */
	uint64_t damaged;       /* places where no record is, but should be; each is one of bad_records, too */
	uint64_t damaged_at;    /* offset in the file of the first of them, */
	const char *damaged_in; /* and which file of a directory that is; "": the recording itself */
	uint64_t left_out;      /* bytes that were skipped there */
	uint64_t missing;       /* bytes of records that the file should have at its end, but has not */
	bool truncated;         /* it ends within a record, or before it should */
	bool unfinished;        /* perf record was killed: there are no names of events, no host, no build ids */
};

/**
 * perfdata_open() - read the header.
 * @path: "-" for standard input; or a directory that perf record --threads or --kcore wrote
 * @out:  for perfdata_close(); NULL after a failure
 * Return: 0 or -errno described: not a recording (-EINVAL), a kind that cannot be read (-ENOTSUP, -EISDIR), a header
 * that does not fit the file (-EBADMSG).
 */
int perfdata_open(struct perfdata **out, const char *path, struct err *err);
void perfdata_close(struct perfdata *pd);

/**
 * perfdata_next() - the next record from the kernel (type below 64) or PERFDATA_FINISHED_ROUND.
 * @record: aligned to 8, its size a multiple of 8 and all there; valid until the next call. Its contents are not
 * checked. Return: 1; 0: the end, see perfdata_counts() for how it came; -errno described: cannot be read at all.
 */
int perfdata_next(struct perfdata *pd, const struct perf_event_header **record, struct err *err);

/** perfdata_is_file() - a regular file, not a stream that somebody may still write to. */
bool perfdata_is_file(const struct perfdata *pd);

/** perfdata_nr_events() - in a stream, perfdata_next() may find more. */
size_t perfdata_nr_events(const struct perfdata *pd);
/** perfdata_event() - the @i-th of them, in the order of perf record's -e. */
const struct perfdata_event *perfdata_event(const struct perfdata *pd, size_t i);

/**
 * perfdata_event_of() - the event that @record, a record of perfdata_next(), is of.
 * Return: its number. The first one when there is no other, and for what is not a sample and has no known id, such as
 * the records perf record makes up at the start; also for samples without ids of several events, which nobody can tell
 * apart. SIZE_MAX: a sample with an id that nobody knows, or there is no event yet.
 */
size_t perfdata_event_of(const struct perfdata *pd, const struct perf_event_header *record);

/**
 * perfdata_build_id() - the @i-th of the table of build ids.
 * @out: its pointers are valid until the next perfdata_next()
 * Return: false behind the last one.
 */
bool perfdata_build_id(const struct perfdata *pd, size_t i, struct perfdata_build_id *out);

/** perfdata_hostname(), perfdata_osrelease() - as uname(2) had it there; "" when the recording does not tell. Not
 * checked. */
const char *perfdata_hostname(const struct perfdata *pd);
const char *perfdata_osrelease(const struct perfdata *pd);

struct perfdata_counts perfdata_counts(const struct perfdata *pd);

#endif
