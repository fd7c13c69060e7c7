/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays that double when full, with every size computation checked. */
#ifndef CORE_BASE_GROW_H
#define CORE_BASE_GROW_H

#include "core/base/faults.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>

/**
 * grow() - make room for @more entries of @size bytes after the @used ones of @array.
 * @cap: number of entries for which there is room; updated
 * Return: the array, perhaps moved; NULL: no memory, and the old array is unchanged.
 */
static inline void *grow(void *array, size_t *cap, size_t used, size_t more, size_t size)
{
	size_t need, bytes;

	if (__builtin_add_overflow(used, more, &need))
		return NULL;
	if (array && need <= *cap)
		return array;
	if (need < 2 * *cap)
		need = 2 * *cap;
	if (need < 16)
		need = 16;
	if (__builtin_mul_overflow(need, size, &bytes))
		return NULL;
	array = realloc(array, bytes);
	if (array)
		*cap = need;
	else
		fault(-ENOMEM);
	return array;
}

#endif
