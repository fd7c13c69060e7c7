/* SPDX-License-Identifier: Apache-2.0 */
/* Binary search in an array of structs, by a number that ascends. */
#ifndef CORE_BASE_SEARCH_H
#define CORE_BASE_SEARCH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* See first_above(). @size: of an entry; @at: offset of its number. Entries may be packed. */
static inline size_t search_above(const void *v, size_t nr, size_t size, size_t at, uint64_t number)
{
	size_t lo = 0, hi = nr;
	uint64_t found;

	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		memcpy(&found, (const unsigned char *)v + mid * size + at, sizeof(found));
		if (found > number)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

/**
 * first_above() - the index of the first of @nr entries of @v whose @member, a uint64_t, is above @number; @nr: none.
 */
#define first_above(v, nr, member, number)                                                                             \
	({                                                                                                              \
		_Static_assert(sizeof((v)->member) == sizeof(uint64_t), "another size of number");                       \
		search_above((v), (nr), sizeof(*(v)), offsetof(__typeof__(*(v)), member), (number));                     \
	})

#endif
