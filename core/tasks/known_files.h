/* SPDX-License-Identifier: Apache-2.0 */
/* The files that processes map: each is there once, as long as one of them does. Part of struct tasks. */
#ifndef CORE_TASKS_KNOWN_FILES_H
#define CORE_TASKS_KNOWN_FILES_H

#include "core/base/intern.h"
#include "core/tasks/maps.h"

/** struct known_file - a file of mappings; their pointers to @file point to one of these. */
struct known_file {
	struct mapped_file file;
	bool used;    /* seen by known_files_mark(), and not swept since */
	uint8_t told; /* how often tasks_on_mapped()'s function was called, see there */
};

/** struct known_files - all zeros: none. */
struct known_files {
	struct intern_table table; /* of pointers to struct known_file */
	uint64_t sweeps;
	uint64_t forgotten; /* see tasks_forgotten() */
};

/** known_files_add() - the one that equals @file, of which all is copied. NULL: no memory. */
const struct mapped_file *known_files_add(struct known_files *files, const struct mapped_file *file);

/** known_files_mark() - all files that @maps has are mapped. */
void known_files_mark(struct known_files *files, struct maps *maps);
/** known_files_sweep() - drop the files that were not marked since the last call. */
void known_files_sweep(struct known_files *files);

void known_files_release(struct known_files *files);

#endif
