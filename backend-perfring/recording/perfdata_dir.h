/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A recording that is a directory. perf record --kcore writes a file "data" and a copy of the kernel there. perf record
 * --threads writes "data" and the files "data.0", "data.1" ..., each with the records of one ring buffer.
 */
#ifndef PERFRING_PERFDATA_DIR_H
#define PERFRING_PERFDATA_DIR_H

#include "core/base/err.h"

#include <stddef.h>

#define DIR_DATA      "data"
#define DIR_FILES_MAX 1024 /* each has a buffer of 256 KiB */

/** struct dir_files - the numbers N of the files "data.N", ascending. The caller frees @numbers, also after errors. */
struct dir_files {
	unsigned int *numbers;
	size_t nr, cap;
};

/** dir_list() - list the files of directory @dir. @name: of the recording, for errors. Return: 0; -errno, described. */
int dir_list(struct dir_files *files, int dir, const char *name, struct err *err);

/** dir_open_file() - open @file of directory @dir, a regular file and no symlink. Return: a descriptor; -errno. */
int dir_open_file(int dir, const char *file);

#endif
