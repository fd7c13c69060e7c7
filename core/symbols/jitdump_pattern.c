// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/jitdump_pattern.h"

#define PROOF_NR 16 /* copies that prove that there is a pattern */
#define NEXT_NR  32 /* pieces of code in a buffer of 4 KiB: each takes 150 bytes or more there */

void jitdump_pattern_add(struct jitdump_pattern *p, uint64_t start, uint64_t size, uint64_t rules)
{
	uint64_t distance = start - p->last;

	if (!p->nr) {
		p->size = size;
		p->rules = rules;
	}
	p->broken |= !rules || rules != p->rules || size != p->size;
	if (p->nr && !p->distance)
		p->distance = distance;
	p->nr_at_distance += p->nr && distance == p->distance;
	p->last = start;
	p->nr += p->nr < UINT32_MAX;
}

bool jitdump_pattern_next(const struct jitdump_pattern *p, uint64_t addr, uint64_t *start)
{
	uint64_t behind = addr - p->last;

	/* Nearly all are at the same distance; a few begin a new area of memory. */
	if (p->broken || p->nr < PROOF_NR || p->nr_at_distance < p->nr - 1 - p->nr / 16)
		return false;
	if (p->distance < p->size || behind / p->distance - 1 >= NEXT_NR || behind % p->distance >= p->size)
		return false;
	*start = addr - behind % p->distance;
	return true;
}
