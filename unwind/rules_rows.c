// SPDX-License-Identifier: Apache-2.0
#include "unwind/rules_rows.h"

#include "core/base/faults.h"

#include <stdlib.h>

/*
 * 64 slots at first, 14 KiB, and at most 1024: most files of a process are seen once or twice, but its program and libc
 * in every sample.
 */
#define BITS_MIN  6
#define BITS_MAX  10
#define BITS_STEP 2

void rules_rows_release(struct rules_rows *rows)
{
	free(rows->slots);
}

static size_t nr_slots(const struct rules_rows *rows)
{
	return rows->slots ? (size_t)1 << rows->bits : 0;
}

size_t rules_rows_memory(const struct rules_rows *rows)
{
	return nr_slots(rows) * sizeof(*rows->slots);
}

static struct rules_row *slot_of(const struct rules_rows *rows, uint64_t addr)
{
	return &rows->slots[addr * 0x9e3779b97f4a7c15ULL >> (64 - rows->bits)];
}

const struct rules_row *rules_rows_find(const struct rules_rows *rows, uint64_t addr)
{
	const struct rules_row *slot = rows->slots ? slot_of(rows, addr) : NULL;

	return slot && slot->used && slot->addr == addr ? slot : NULL;
}

/* Move known rows along: in more slots there are no new collisions. */
static bool resize(struct rules_rows *rows, unsigned int bits)
{
	struct rules_rows bigger = { calloc((size_t)1 << bits, sizeof(*rows->slots)), bits, 0 };
	size_t i, nr = nr_slots(rows);

	if (!bigger.slots)
		return false;
	for (i = 0; i < nr; i++)
		if (rows->slots[i].used)
			*slot_of(&bigger, rows->slots[i].addr) = rows->slots[i];
	free(rows->slots);
	*rows = bigger;
	return true;
}

const struct rules_row *rules_rows_add(struct rules_rows *rows, uint64_t addr, int rc, const struct cfi_row *row)
{
	struct rules_row *slot;

	if (!rows->slots && !resize(rows, BITS_MIN)) {
		fault(-ENOMEM);
		return NULL;
	}
	/* If there is no memory for more slots, go on with these. */
	if (++rows->misses > 2 * nr_slots(rows) && rows->bits < BITS_MAX && !resize(rows, rows->bits + BITS_STEP))
		rows->misses = 0;
	slot = slot_of(rows, addr);
	slot->addr = addr;
	slot->rc = rc;
	slot->used = true;
	if (rc > 0)
		slot->row = *row;
	return slot;
}
