// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/idle_code.h"

#include "core/host.h"
#include "core/symbols/kernel_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct idle_code {
	const struct host *host;
	bool asked;
	struct kernel_file *symbols; /* NULL: hidden */
	uint64_t inside;             /* an address that has been found to be in it; 0: none */
};

struct idle_code *idle_code_new(const struct host *host)
{
	struct idle_code *ic = calloc(1, sizeof(*ic));

	if (ic)
		ic->host = host;
	return ic;
}

void idle_code_free(struct idle_code *ic)
{
	if (!ic)
		return;
	kernel_file_free(ic->symbols);
	free(ic);
}

static void load(struct idle_code *ic)
{
	char path[PATH_MAX];

	ic->asked = true;
	if (snprintf(path, sizeof(path), "%s/kallsyms", ic->host->proc) >= (int)sizeof(path) ||
	    kernel_file_open(path, false, &ic->symbols))
		return;
	if (kernel_file_text(ic->symbols) || kernel_symbols_empty(kernel_file_symbols(ic->symbols)) ||
	    kernel_symbols_zeroed(kernel_file_symbols(ic->symbols))) {
		kernel_file_free(ic->symbols);
		ic->symbols = NULL;
	}
}

/* Every idle task since 3.10 is in this function, from its first moment on. */
static bool is_idle(struct idle_code *ic, uint64_t addr)
{
	struct kernel_symbol found;

	if (addr == ic->inside)
		return true;
	if (!kernel_file_find(ic->symbols, addr, &found) || strcmp(found.name, "cpu_startup_entry") != 0)
		return false;
	ic->inside = addr;
	return true;
}

bool idle_code_absent(struct idle_code *ic, const struct stack *kernel)
{
	size_t i;

	if (!ic->asked)
		load(ic);
	if (!ic->symbols || !kernel->nr)
		return false;
	for (i = kernel->nr; i-- > 0;)
		if (is_idle(ic, kernel->frames[i]))
			return false;
	return true;
}
