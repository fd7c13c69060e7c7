/* SPDX-License-Identifier: Apache-2.0 */
/* Recent results of rules_find(), by address. Not thread safe. */
#ifndef UNWIND_RULES_ROWS_H
#define UNWIND_RULES_ROWS_H

#include "unwind/cfi.h"

/** struct rules_row - a result: @rc is the return value of rules_find(), @row is set if it is 1. */
struct rules_row {
	uint64_t addr;
	int rc;
	bool used;
	struct cfi_row row;
};

/**
 * struct rules_rows - @slots: 1 << @bits of them, by a hash of the address; NULL until the first result is added
 * @misses: additions since @bits was set, or since there was no memory to raise it
 */
struct rules_rows {
	struct rules_row *slots;
	unsigned int bits;
	size_t misses;
};

void rules_rows_release(struct rules_rows *rows);
size_t rules_rows_memory(const struct rules_rows *rows);

/** rules_rows_find() - the result for @addr, borrowed until the next one is added; NULL: not known. */
const struct rules_row *rules_rows_find(const struct rules_rows *rows, uint64_t addr);

/** rules_rows_add() - put a result into its slot, in place of another. Return: like _find(); NULL: no memory. */
const struct rules_row *rules_rows_add(struct rules_rows *rows, uint64_t addr, int rc, const struct cfi_row *row);

#endif
