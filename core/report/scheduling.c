// SPDX-License-Identifier: Apache-2.0
#include "core/report/scheduling.h"

#include <string.h>

#define MAX_TRACING 16 /* at most so many frames of tracing code */

/*
 * True if @name is the name of @sym without what a compiler or linker appends: ".isra.0", ".constprop.0", ".llvm.123".
 */
static bool is_named(const struct symbol *sym, const char *name)
{
	size_t len = strlen(name);

	return sym->name && !strncmp(sym->name, name, len) && (!sym->name[len] || sym->name[len] == '.');
}

/* True for the functions into which __schedule() may be inlined. */
static bool is_scheduling(const struct symbol *sym)
{
	static const char *const names[] = { "schedule", "preempt_schedule_common", "preempt_schedule_irq",
					     "schedule_idle" };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(names); i++)
		if (is_named(sym, names[i]))
			return true;
	return false;
}

uint32_t report_first_frame(const struct report_names *names, const struct stack *kernel)
{
	uint32_t first = HASH_NONE, last = HASH_NONE, i;

	for (i = 0; i < kernel->nr && i < MAX_TRACING; i++) {
		struct symbol sym = { 0 };

		names->kernel(names->ctx, kernel->frames[i], i > 0, &sym);
		/*
		 * A 5.4 callchain begins with __schedule() twice: perf_callchain_kernel() stores the interrupted
		 * address, and the frame-pointer unwinder begins with it again.
		 */
		if (is_named(&sym, "__schedule"))
			last = i;
		else if (last != HASH_NONE)
			break;
		else if (first == HASH_NONE && is_scheduling(&sym))
			first = i;
	}
	if (last != HASH_NONE)
		return last + 1 < kernel->nr ? last + 1 : last;
	return first == HASH_NONE ? 0 : first;
}
