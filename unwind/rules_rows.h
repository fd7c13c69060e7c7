/* SPDX-License-Identifier: Apache-2.0 */
/* The answers of rules_find() that were given lately, by address. Not thread safe. */
#ifndef UNWIND_RULES_ROWS_H
#define UNWIND_RULES_ROWS_H

#include "unwind/cfi.h"

/** struct rules_row - an answer: @rc is what rules_find() returns, @row is set if it is 1. */
struct rules_row {
	uint64_t addr;
	int rc;
	bool used;
	struct cfi_row row;
};

/**
 * struct rules_rows - @slots: 1 << @bits of them, by a hash of the address; NULL until the first one is added
 * @misses: additions since there are as many
 */
struct rules_rows {
	struct rules_row *slots;
	unsigned int bits;
	size_t misses;
};

void rules_rows_release(struct rules_rows *rows);
size_t rules_rows_memory(const struct rules_rows *rows);

/** rules_rows_find() - the answer for @addr, borrowed until the next one is added; NULL: not known. */
const struct rules_row *rules_rows_find(const struct rules_rows *rows, uint64_t addr);

/** rules_rows_add() - remember an answer in place of another one. Return: it, borrowed as above; NULL: no memory. */
const struct rules_row *rules_rows_add(struct rules_rows *rows, uint64_t addr, int rc, const struct cfi_row *row);

#endif
