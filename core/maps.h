/* SPDX-License-Identifier: Apache-2.0 */
/* The executable mappings of one address space: sorted, never overlapping, shared after a fork until one changes. */
#ifndef CORE_MAPS_H
#define CORE_MAPS_H

#include "core/mapping.h"

#include <stddef.h>

/* Twice the kernel's default vm.max_map_count: what is unmapped is not told, so a list may hold more than there is. */
#define MAPS_MAX 131072

/** struct maps - @v sorted by start. Reference counted: maps_new() gives one, maps_ref() another. */
struct maps {
	unsigned int refs;
	size_t nr, cap;
	struct mapping *v;
};

/** maps_new() - empty, one reference. NULL: no memory. */
struct maps *maps_new(void);
struct maps *maps_ref(struct maps *m);
/** maps_unref() - free with the last reference; NULL is fine. */
void maps_unref(struct maps *m);

/**
 * maps_insert() - @what now shows its range; what overlapped there before is cut, split or dropped.
 * @m: when others share it, *@m becomes a copy of its own first
 * Return: 0; -EINVAL for an empty range; -ENOMEM, or -E2BIG beyond MAPS_MAX, and *@m as it was.
 */
int maps_insert(struct maps **m, const struct mapping *what);

/** maps_find() - the mapping that shows @addr, or NULL. Borrowed until the next change. */
const struct mapping *maps_find(const struct maps *m, uint64_t addr);

#endif
