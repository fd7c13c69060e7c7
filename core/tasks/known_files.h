/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that processes map: each exists once, as long as a process maps it. Part of struct tasks.
 *
 * A process can map 65,000 files with paths of 4 KB. So the memory of all files is bounded. If those with paths that
 * are longer than a file name (NAME_MAX) take KNOWN_FILES_LONG bytes, the next ones have only the last component of
 * their path, below "/...": frames still have the name of the module, but such a file is found only if it was opened
 * when it was mapped. If all files take KNOWN_FILES_MAX bytes, no file is added.
 */
#ifndef CORE_TASKS_KNOWN_FILES_H
#define CORE_TASKS_KNOWN_FILES_H

#include "core/base/intern.h"
#include "core/tasks/maps.h"

#define KNOWN_FILES_LONG (64u << 20)
#define KNOWN_FILES_MAX  (128u << 20)

/** struct known_file - a file of mappings; the @file of each mapping points to one. */
struct known_file {
	struct mapped_file file;
	bool used;    /* seen by known_files_mark(), and not swept since */
	uint8_t told; /* calls of on_mapped() for it (tasks_maps.c); TELLS_MAX once it returned true */
};

/** struct known_files - all zeros: none. */
struct known_files {
	struct intern_table table; /* of pointers to struct known_file */
	size_t bytes, long_bytes;  /* of all files with their paths; of those whose path is long */
	uint64_t sweeps;
	uint64_t forgotten; /* see tasks_forgotten() */
};

/**
 * known_files_add() - find or add the file that equals @file, which is copied with its path.
 * Return: 0 and *@out; -E2BIG: all files already take KNOWN_FILES_MAX bytes; -ENOMEM.
 */
int known_files_add(struct known_files *files, const struct mapped_file *file, const struct mapped_file **out);

/** known_files_mark() - mark all files in @maps as mapped. */
void known_files_mark(struct known_files *files, struct maps *maps);
/** known_files_sweep() - drop the files that were not marked since the last call. */
void known_files_sweep(struct known_files *files);

void known_files_release(struct known_files *files);

#endif
