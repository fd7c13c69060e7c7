/* SPDX-License-Identifier: Apache-2.0 */
/* Where a report has names from. */
#ifndef CORE_REPORT_NAMES_H
#define CORE_REPORT_NAMES_H

#include "core/rows/frame.h"
#include "core/symbols/symbols.h"

/**
 * struct report_names - where names come from: the resolver's functions, or a test's. The next call may
 * overwrite the names and files of symbols; the rest must stay until report_rows() returns.
 * @called:   as symbols_user_called(); NULL: it is not known of any address
 * @inlined:  as symbols_inlined(); NULL: nothing is
 * @frames:   of name frames, which are printed as their names alone; NULL: there are none
 * @demangle: as symbols_demangle(): what it has read stays until report_rows() returns; NULL: names are printed as they
 *            are
 * @tasks:    that know cgroups; NULL: none are known
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
