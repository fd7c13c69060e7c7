// SPDX-License-Identifier: Apache-2.0
#include "core/report/entry.h"

#include "core/arch/arch.h"

uint64_t report_unsure_stacks(const struct stacks *rows, bool intervals, const struct report_names *names)
{
	struct symbol found;
	struct stack_row row;
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < stacks_nr_rows(rows); i++) {
		stacks_row(rows, i, &row);
		if (!row.kernel.nr || row.user.state != STACK_TAKEN)
			continue;
		names->kernel(names->ctx, row.kernel.frames[row.kernel.nr - 1], true, &found);
		if (found.name && arch_is_fast_entry(found.name))
			sum += intervals ? row.times : row.value;
	}
	return sum;
}
