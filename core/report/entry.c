// SPDX-License-Identifier: Apache-2.0
#include "core/report/entry.h"

#include "core/arch/arch.h"

uint64_t report_unsure_stacks(const struct rows *rows, bool intervals, const struct report_names *names)
{
	struct symbol found;
	struct row row;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < rows_nr(rows); i++) {
		rows_get(rows, i, &row);
		if (!row.key.kernel.nr || row.key.user.state != STACK_TAKEN)
			continue;
		names->kernel(names->ctx, row.key.kernel.frames[row.key.kernel.nr - 1], true, &found);
		if (found.name && arch_entry_stale(found.name, row.key.kernel.nr == 1) & ARCH_STALE_SAVED)
			sum += intervals ? row.times : row.value;
	}
	return sum;
}
