/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_SYMBOLS_SYMBOLS_CFG_H
#define CORE_SYMBOLS_SYMBOLS_CFG_H

#include <stdbool.h>
#include <stdint.h>

struct jitdumps;
struct kernel_ranges;
struct mapped_files_cfg;
struct perf_maps;
struct used_namer;

/**
 * struct symbols_cfg - where names come from. All pointers are borrowed until symbols_free().
 * @files:     how to open the files of processes, and the host whose /proc and /sys are read; @files->recorded may be
 *             filled until the first lookup
 * @perf_maps,@jitdumps: names of code made at run time; NULL: there are none
 * @namer:     asks the running kernel for one name at a time; not for a recording, nor with @kallsyms or @vmlinux.
 *             NULL, or without ops: /proc/kallsyms is read. May be filled until the first lookup or symbols_ahead()
 * @kernel_ranges: code that the kernel added or removed during the run; NULL: not known
 * @kallsyms:  path of a copy of /proc/kallsyms of the sampled kernel, which is not checked against that kernel; NULL:
 *             the host's /proc/kallsyms, see kernel_names.h
 * @vmlinux:   path of an ELF image of the sampled kernel, whose symbols are moved to the load address; NULL: none
 * @inlined:   functions that were inlined are wanted: symbols_inlined()
 * @source:    source lines are wanted
 * @interval_ns: time between reports, which limits the time for debug information and for demangling; 0: there is
 *             one report
 */
struct symbols_cfg {
	const struct mapped_files_cfg *files;
	struct perf_maps *perf_maps;
	struct jitdumps *jitdumps;
	const struct used_namer *namer;
	struct kernel_ranges *kernel_ranges;
	const char *kallsyms, *vmlinux;
	bool inlined, source;
	uint64_t interval_ns;
};

#endif
