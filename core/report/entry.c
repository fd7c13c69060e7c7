// SPDX-License-Identifier: Apache-2.0
#include "core/report/entry.h"

#include <string.h>

static bool is_fast_path(const char *name)
{
	return !strcmp(name, "system_call_fastpath") || !strcmp(name, "entry_SYSCALL_64_fastpath");
}

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
		if (found.name && is_fast_path(found.name))
			sum += intervals ? row.times : row.value;
	}
	return sum;
}
