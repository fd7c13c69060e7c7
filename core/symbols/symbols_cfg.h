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
 * struct symbols_cfg - what names are taken from. What it points to is borrowed until symbols_free().
 * @files:     where the files of processes are, and whose /proc and /sys are read; its recording may be filled until
 *             the first lookup
 * @perf_maps,@jitdumps: names of code made at run time; NULL: there are none
 * @namer:     what the running kernel can be asked with for its names, one by one; NULL, or none: /proc/kallsyms is read.
 *             May be filled until the first lookup, but for symbols_ahead()
 * @kernel_ranges: code that the kernel made or gave up meanwhile; NULL: none is known
 * @kallsyms:  a copy of /proc/kallsyms of the kernel that was sampled, believed as it is; NULL: that of the host
 * @vmlinux:   an ELF image of that kernel, moved to where it was loaded; NULL: none
 * @inlined:   functions that were inlined are wanted: symbols_inlined()
 * @source:    source lines are wanted
 * @interval_ns: between reports, which bounds the time that names may take; 0: there is one report
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
