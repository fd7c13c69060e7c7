/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Build ids identify the build of a file, whatever its path. ELF files carry them in a note, and recordings contain
 * those of the files that were mapped.
 */
#ifndef CORE_FILES_BUILD_IDS_H
#define CORE_FILES_BUILD_IDS_H

#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define BUILD_ID_KERNEL "[kernel.kallsyms]" /* the name of the kernel in perf's tables */

/**
 * struct build_id - compared byte by byte.
 * @size: of @bytes; 0: not known
 * @bytes: without the zeros at its end: recordings of perf before 5.12 fill shorter ids with them
 */
struct build_id {
	uint8_t size;
	unsigned char bytes[BUILD_ID_MAX];
};

/**
 * build_id_set() - set *@id to the @size bytes at @bytes, without the zeros at their end. Return: false, and *@id is
 * unknown then: @size is 0 or above BUILD_ID_MAX, or all bytes are 0.
 */
bool build_id_set(struct build_id *id, const void *bytes, size_t size);

/** build_id_hex() - @id in lower-case hex, terminated; "" if it is not known. */
void build_id_hex(const struct build_id *id, char hex[2 * BUILD_ID_MAX + 1]);

/**
 * build_id_parse() - set *@id from @hex, two digits for each byte. Return: false, and *@id is unknown then: @hex is
 * empty or not a build id.
 */
bool build_id_parse(struct build_id *id, const char *hex);

/** build_id_equal() - true if they are the same build; false if one of them is not known. */
bool build_id_equal(const struct build_id *a, const struct build_id *b);

/**
 * build_id_of_notes() - the first build id (NT_GNU_BUILD_ID) in little endian ELF notes: of a file, or
 * /sys/kernel/notes.
 * @align: the alignment of their section or segment: 8, or any other value, which counts as 4
 * Return: true and *@id; false: there is none before the end or before the first truncated note; *@id is unknown then.
 */
bool build_id_of_notes(const void *notes, size_t len, uint64_t align, struct build_id *id);

/** struct build_ids - path -> build id, as in a recording. Not thread safe. */
struct build_ids;

struct build_ids *build_ids_new(void);
void build_ids_free(struct build_ids *b);

/**
 * build_ids_add() - @path, copied, had the build id of @size bytes at @id.
 *
 * If a path has two ids, the file was replaced during the recording. Nothing says which build a mapping shows, so
 * neither id is believed.
 *
 * Return: 0; -EINVAL: no build id (see build_id_set()), or @path is empty or too long for a path; -E2BIG: more than any
 * recording has; -ENOMEM. A failure does not change the table.
 */
int build_ids_add(struct build_ids *b, const char *path, const void *id, size_t size);

/**
 * build_ids_find() - the build id that the recording has for @path.
 * @b: may be NULL: empty
 * Return: borrowed until the next build_ids_add() or build_ids_free(), unknown (size 0) after contradictions; NULL: it
 * has none.
 */
const struct build_id *build_ids_find(const struct build_ids *b, const char *path);

#endif
