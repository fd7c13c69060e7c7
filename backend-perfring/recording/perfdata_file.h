/* SPDX-License-Identifier: Apache-2.0 */
/* Where things are in a recording: the header of a file, or that of a stream, up to the first record. */
#ifndef PERFRING_PERFDATA_FILE_H
#define PERFRING_PERFDATA_FILE_H

#include "backend-perfring/recording/perfdata_header.h"
#include "backend-perfring/recording/perfdata_source.h"

#define ATTR_MAX 4096 /* bytes of attributes; the kernel takes no more than a page */

/** struct file_section - a part of the file, as it is stored. */
struct file_section {
	uint64_t offset, size;
};

/** struct file_header - of a file, as it is stored. */
struct file_header {
	uint64_t magic, size, attr_size;
	struct file_section attrs, data, event_types;
	uint64_t features[4]; /* a bitmap; not in the oldest */
};

/** struct perfdata_file - a recording and what its header tells. */
struct perfdata_file {
	char *name; /* for errors, in quotes */
	struct source source;
	struct perfdata_header header;
	struct file_header head; /* zeros: a stream, which has its header in records */
	bool late_features;      /* they come behind the data of a file that cannot be sought */
	/* As in struct perfdata_counts. */
	uint64_t bad_features;
	bool unfinished;
};

/**
 * file_open() - read up to the first record, which is where @f->source is then, with its limit behind the last one.
 * @f: all zeros; for file_close() also after a failure
 * Return: as perfdata_open().
 */
int file_open(struct perfdata_file *f, const char *path, struct err *err);
void file_close(struct perfdata_file *f);

/** file_late_features() - at the end of the data: what is behind it, if it was not read yet. Return: 0 or -errno
 * described. */
int file_late_features(struct perfdata_file *f, struct err *err);

/** file_check_compression() - can the method that the header tells be read here? Return: 0 or -ENOTSUP described. */
int file_check_compression(const struct perfdata_file *f, struct err *err);

/** file_fail() - describe a failure to read that the recording is not to blame for. Return: @code. */
int file_fail(const struct perfdata_file *f, int code, struct err *err);

#endif
