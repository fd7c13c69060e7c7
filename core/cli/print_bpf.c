// SPDX-License-Identifier: Apache-2.0
#include "core/cli/print_bpf.h"

#include "core/cli/backends.h"

void print_bpf(FILE *out, enum tool tool)
{
	const struct counter_ops *counter;
	const struct way *way;
	unsigned int i;

	for (i = 0; (way = way_at(ways_here, i)); i++) {
		counter = way->counter;
		if (counter && tool == TOOL_OFFCPUTIME && counter->switches)
			counter = counter->switches;
		if (counter)
			fputs(counter->program, out);
	}
}
