/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of one address space: sorted, never overlapping, shared after a fork until one changes. */
#ifndef CORE_TASKS_MAPS_H
#define CORE_TASKS_MAPS_H

#include "core/tasks/mapping.h"

#include <stddef.h>

/* About twice the kernel's default vm.max_map_count: munmap(2) has no record, so a list may have more than there are.
 */
#define MAPS_MAX 131072

/** struct maps_budget - room for @max mappings in all lists that share it; @used of it is taken. */
struct maps_budget {
	size_t used, max;
};

/** struct maps - @v sorted by start. Reference counted: maps_new() gives one, maps_ref() another. */
struct maps {
	struct maps_budget *budget;
	unsigned int refs;
	uint64_t marked; /* number of the last sweep that marked it; see core/tasks/known_files.c */
	size_t nr, cap;
	uint64_t sum; /* of the hashes of all mappings */
	struct mapping *v;
	const struct mapped_file *jitdump; /* the last mapped file that has the name of a jitdump; NULL: none */
};

/** maps_new() - empty, one reference; @budget outlives it. NULL: no memory. */
struct maps *maps_new(struct maps_budget *budget);
struct maps *maps_ref(struct maps *m);
/** maps_unref() - free with the last reference; NULL is fine. */
void maps_unref(struct maps *m);

/**
 * maps_insert() - map @what; cut, split or drop the mappings that overlapped there before.
 * @m: if it is shared, *@m becomes a copy that is not shared, first
 * Return: 0; -EINVAL for an empty range; -ENOMEM, and *@m as it was; -E2BIG beyond MAPS_MAX or the
 *         budget: then the mappings that overlap @what are dropped, but a shared *@m stays as it was
 */
int maps_insert(struct maps **m, const struct mapping *what);

/**
 * maps_replaces() - true if maps_insert() would change which byte of which file is at an address that is mapped now.
 * All memory without a file, except the vDSO, counts as the same.
 */
bool maps_replaces(const struct maps *m, const struct mapping *what);

/** maps_cover() - true if the same bytes of the same file, or memory, are at all addresses of @what. */
bool maps_cover(const struct maps *m, const struct mapping *what);

/** maps_equal() - true if both have the same mappings, divided alike, and the same @jitdump. */
bool maps_equal(const struct maps *a, const struct maps *b);

/**
 * maps_overlapped() - the first of the mappings that overlap [@start, @end) whose file has a path, or NULL. Borrowed.
 */
const struct mapping *maps_overlapped(const struct maps *m, uint64_t start, uint64_t end);

/** maps_find() - the mapping at @addr, or NULL. Borrowed until the next change. */
const struct mapping *maps_find(const struct maps *m, uint64_t addr);

#endif
