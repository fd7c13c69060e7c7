// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/kernel_code.h"

#include "core/arch/arch.h"
#include "core/host/host.h"
#include "core/symbols/kernel_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kernel_code {
	const struct host *host;
	bool asked;
	struct kernel_file *symbols; /* NULL: hidden */
	uint64_t idle;               /* an address that was found to be in the idle task's function; 0: none */
	struct {
		uint64_t addr; /* 0: none */
		bool interrupted;
		unsigned int stale;
	} entry; /* the last lookup of kernel_code_stale() */
};

struct kernel_code *kernel_code_new(const struct host *host)
{
	struct kernel_code *kc = calloc(1, sizeof(*kc));

	if (kc)
		kc->host = host;
	return kc;
}

void kernel_code_free(struct kernel_code *kc)
{
	if (!kc)
		return;
	kernel_file_free(kc->symbols);
	free(kc);
}

static void load(struct kernel_code *kc)
{
	char path[PATH_MAX];

	kc->asked = true;
	if (snprintf(path, sizeof(path), "%s/kallsyms", kc->host->proc) >= (int)sizeof(path) ||
	    kernel_file_open(path, false, &kc->symbols))
		return;
	if (kernel_file_text(kc->symbols) || kernel_symbols_empty(kernel_file_symbols(kc->symbols)) ||
	    kernel_symbols_zeroed(kernel_file_symbols(kc->symbols))) {
		kernel_file_free(kc->symbols);
		kc->symbols = NULL;
	}
}

static bool is_loaded(struct kernel_code *kc)
{
	if (!kc->asked)
		load(kc);
	return kc->symbols;
}

/* Since 3.10, every idle task is in this function from the start. */
static bool is_idle(const char *name)
{
	return !strcmp(name, "cpu_startup_entry");
}

/* @known: an address that was found to be in a function whose name @is accepts */
static bool is_in(struct kernel_code *kc, uint64_t addr, bool (*is)(const char *name), uint64_t *known)
{
	struct kernel_symbol found;

	if (addr && addr == *known)
		return true;
	if (!kernel_file_find(kc->symbols, addr, &found) || !is(found.name))
		return false;
	*known = addr;
	return true;
}

bool kernel_code_not_idle(struct kernel_code *kc, const struct stack *kernel)
{
	size_t i;

	if (!is_loaded(kc) || !kernel->nr)
		return false;
	for (i = kernel->nr; i-- > 0;)
		if (is_in(kc, kernel->frames[i], is_idle, &kc->idle))
			return false;
	return true;
}

int kernel_code_stale(struct kernel_code *kc, const struct stack *kernel)
{
	uint64_t addr = kernel->frames[kernel->nr - 1];
	bool interrupted = kernel->nr == 1;
	struct kernel_symbol found;

	if (!is_loaded(kc))
		return -ENOENT;
	if (addr == kc->entry.addr && interrupted == kc->entry.interrupted)
		return (int)kc->entry.stale;
	kc->entry.addr = addr;
	kc->entry.interrupted = interrupted;
	kc->entry.stale = kernel_file_find(kc->symbols, addr - !interrupted, &found)
				  ? arch_entry_stale(found.name, interrupted)
				  : 0;
	return (int)kc->entry.stale;
}
