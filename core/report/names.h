/* SPDX-License-Identifier: Apache-2.0 */
/* The functions that give a report its names. */
#ifndef CORE_REPORT_NAMES_H
#define CORE_REPORT_NAMES_H

#include "core/rows/frame.h"
#include "core/symbols/symbols.h"

/**
 * struct report_names - the resolver's functions, or those of a test. The next call may overwrite the names and files
 * of symbols; everything else must stay until report_forget_names() or report_free().
 * @called:   as symbols_user_called(); NULL: not known for any address
 * @inlined:  as symbols_inlined(); NULL: nothing is inlined
 * @frames:   the names of name frames (core/rows/frame.h), which have no address and no module; NULL: there are none
 * @demangle: as symbols_demangle(); results must stay as long. NULL: names are printed as they are
 * @tasks:    tasks with their cgroups; NULL: no cgroups are known
 */
struct report_names {
	void *ctx;
	void (*kernel)(void *ctx, uint64_t addr, bool is_return, struct symbol *out);
	void (*user)(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return,
		     struct symbol *out);
	size_t (*inlined)(void *ctx, const struct symbol **out);
	const struct frame_names *frames;
	int (*demangle)(void *ctx, const char *const *names, size_t nr, const char **out);
	bool (*called)(void *ctx, pid_t pid, const char *comm, uint32_t image, uint64_t addr, bool is_return);
	struct tasks *tasks;
};

#endif
