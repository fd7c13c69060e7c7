/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts about the origin of a recording, to decide whether a file or the running kernel is the one that was recorded.
 */
#ifndef CORE_FILES_RECORDED_H
#define CORE_FILES_RECORDED_H

#include <stdbool.h>
#include <stdint.h>

struct build_id;
struct build_ids;
struct host;

/** enum recorded_boot - was a recording made on this host, and since it was booted? */
enum recorded_boot { BOOT_UNKNOWN, BOOT_SAME, BOOT_OTHER };

/**
 * struct recorded - facts in a recording about its host. All zero: none.
 * @build_ids:      of the files that were mapped, and of the kernel as BUILD_ID_KERNEL; may be NULL
 * @reference:      "_text" or "_stext": the symbol that the kernel's MMAP record names in its path, behind
 *                  "[kernel.kallsyms]"; NULL: none. Its address is the page offset of that record, @reference_addr
 * @boot:           BOOT_UNKNOWN when in doubt
 * @ended_s:        with BOOT_SAME: when the last sample was taken, in seconds of this host's wall clock, if that is
 *                  proved; else 0
 */
struct recorded {
	const struct build_ids *build_ids;
	const char *reference;
	uint64_t reference_addr;
	enum recorded_boot boot;
	int64_t ended_s;
};

/** enum same_build - whether the recorded kernel is of the same build as the running one. */
enum same_build { BUILD_OTHER, BUILD_UNKNOWN, BUILD_EQUAL };

/** kernel_running_build() - the build id of the running kernel; unknown without /sys, or if it has none. */
void kernel_running_build(const struct host *host, struct build_id *id);

/**
 * recorded_kernel_build() - compare the build ids of the sampled kernel and of the running one.
 * @r:       NULL: there is no recording, and the kernel that runs was sampled
 * @running: as of kernel_running_build()
 */
enum same_build recorded_kernel_build(const struct recorded *r, const struct build_id *running);

/**
 * recorded_kernel_runs() - true if the running kernel is the sampled one: by the build ids, or, if one is unknown, by
 * the boot. @r, @running: as above
 */
bool recorded_kernel_runs(const struct recorded *r, const struct build_id *running);

#endif
