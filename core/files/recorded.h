/* SPDX-License-Identifier: Apache-2.0 */
/* What a recording tells of where it was made: what decides whether a file or a kernel of now is what was recorded. */
#ifndef CORE_FILES_RECORDED_H
#define CORE_FILES_RECORDED_H

#include <stdint.h>

struct build_ids;

/** enum recorded_boot - was a recording made on this host, and since it was booted? */
enum recorded_boot { BOOT_UNKNOWN, BOOT_SAME, BOOT_OTHER };

/**
 * struct recorded - what a recording tells of where it was made. All zero: nothing.
 * @build_ids:      of the files that were mapped, and of the kernel as BUILD_ID_KERNEL; may be NULL
 * @reference:      "_text" or "_stext": what follows "[kernel.kallsyms]" in the path of the MMAP record of the kernel,
 *                  whose page offset is @reference_addr: where that symbol was; NULL: not told
 * @boot:           believed; BOOT_UNKNOWN when in doubt
 */
struct recorded {
	const struct build_ids *build_ids;
	const char *reference;
	uint64_t reference_addr;
	enum recorded_boot boot;
};

#endif
