/* SPDX-License-Identifier: Apache-2.0 */
/* Arithmetic that stops at the limits of uint64_t instead of wrapping. */
#ifndef CORE_BASE_SATURATE_H
#define CORE_BASE_SATURATE_H

#include <stdint.h>

/** add_or_max() - @a + @b, at most UINT64_MAX. */
static inline uint64_t add_or_max(uint64_t a, uint64_t b)
{
	uint64_t sum;

	return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

/** sub_or_0() - @a - @b; 0 if @b is larger. */
static inline uint64_t sub_or_0(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/** mul_or_max() - @a * @b, at most UINT64_MAX. */
static inline uint64_t mul_or_max(uint64_t a, uint64_t b)
{
	uint64_t product;

	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

#endif
