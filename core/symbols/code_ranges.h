/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the one of many ranges that an address belongs to. Memory of code that is made at run time is reused, so ranges
 * overlap, and each address belongs to the range that came last. Not thread safe.
 */
#ifndef CORE_SYMBOLS_CODE_RANGES_H
#define CORE_SYMBOLS_CODE_RANGES_H

#include <stddef.h>
#include <stdint.h>

/** struct code_range - addresses [@start, @end), not empty. A larger @id came later; no two are equal. */
struct code_range {
	uint64_t start, end;
	uint32_t id;
};

struct code_span;

/** struct code_ranges - all zeros: none. @ranges is borrowed, and must not change. Do not write to the struct. */
struct code_ranges {
	const struct code_range *ranges;
	struct code_span *spans;
	size_t nr_spans;
};

/**
 * code_ranges_index() - sort the @nr @ranges, and find the one that each address belongs to.
 * @out: owned: code_ranges_release(); borrows @ranges until then
 * Return: 0, or -ENOMEM with nothing to release.
 */
int code_ranges_index(struct code_range *ranges, size_t nr, struct code_ranges *out);
void code_ranges_release(struct code_ranges *r);

/** code_ranges_find() - the range that @addr belongs to; NULL: none. */
const struct code_range *code_ranges_find(const struct code_ranges *r, uint64_t addr);

/** code_ranges_memory() - bytes of memory that @r uses, without the ranges. */
size_t code_ranges_memory(const struct code_ranges *r);

#endif
