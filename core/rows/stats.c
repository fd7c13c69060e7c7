// SPDX-License-Identifier: Apache-2.0
#include "core/rows/stats.h"

#include <stddef.h>

_Static_assert(sizeof(struct stats) % sizeof(uint64_t) == 0, "stats_add() takes it for numbers");

void stats_add(struct stats *to, const struct stats *more)
{
	const uint64_t *from = (const uint64_t *)more;
	uint64_t *sum = (uint64_t *)to;
	size_t i;

	for (i = 0; i < sizeof(*to) / sizeof(*sum); i++)
		sum[i] += from[i];
}
