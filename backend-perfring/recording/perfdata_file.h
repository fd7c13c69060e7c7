/* SPDX-License-Identifier: Apache-2.0 */
/* The layout of a recording: the header of a file or of a stream, up to the first record. */
#ifndef PERFRING_PERFDATA_FILE_H
#define PERFRING_PERFDATA_FILE_H

#include "backend-perfring/recording/perfdata_header.h"
#include "backend-perfring/recording/perfdata_source.h"

#define ATTR_MAX 4096 /* bytes of an event's attributes; the kernel takes no more than a page */

/** struct file_section - a part of the file, in the stored form. */
struct file_section {
	uint64_t offset, size;
};

/** struct file_header - the header of a file, in the stored form. */
struct file_header {
	uint64_t magic, size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[4]; /* a bitmap; the oldest files have none */
};

/** struct perfdata_file - a recording and the contents of its header. */
struct perfdata_file {
	char *name; /* for errors: the path in quotes, or: standard input */
	struct source source;
	struct perfdata_header header;
	struct file_header head; /* zeros: a stream, whose header is in its records */
	bool late_features;      /* the features come after the data, and the file is a pipe: read them at the end */
	/* For the members of struct perfdata_counts (perfdata.h) with these names. */
	uint64_t bad_features;
	bool unfinished;
};

/**
 * file_open() - read up to the first record. Then @f->source is at that record; its limit is the end of the last
 * record, or INT64_MAX if the header does not have it (a stream, an unfinished file).
 * @f: all zeros; call file_close() also after a failure
 * Return: as perfdata_open().
 */
int file_open(struct perfdata_file *f, const char *path, struct err *err);
void file_close(struct perfdata_file *f);

/**
 * file_late_features() - call this at the end of the data: if @f->late_features is set, read the features, which
 * follow. Return: 0 or -errno, described.
 */
int file_late_features(struct perfdata_file *f, struct err *err);

/**
 * file_may_be_compressed() - true if compressed records were found, or the header announces them. In a pipe, the
 * method is known only at the end.
 */
bool file_may_be_compressed(const struct perfdata_file *f);

/** file_check_compression() - check that this build can decompress the data. Return: 0 or -ENOTSUP, described. */
int file_check_compression(const struct perfdata_file *f, struct err *err);

/** file_fail() - describe an error of reading that is not caused by the contents. Return: @code. */
int file_fail(const struct perfdata_file *f, int code, struct err *err);

#endif
