/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Predict the next pieces of code of a compiler that only makes copies of one template at equal distances.
 *
 * Compilers write their jitdumps through a buffer, mostly of 4 KiB, so the newest code is not in the file yet. CPython
 * (-X perf_jit) calls each function through a trampoline of its own. All trampolines are alike, and those of a script's
 * own functions are the newest. So we predict where the next ones are, and use the unwind rules of those in the file:
 * otherwise no stack would be complete.
 */
#ifndef CORE_SYMBOLS_JITDUMP_PATTERN_H
#define CORE_SYMBOLS_JITDUMP_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#define PATTERN_FRAMES_MAX 1024 /* bytes of rules; longer ones are not compared, and break the pattern */

/** struct jitdump_pattern - all zeros: no code yet. */
struct jitdump_pattern {
	uint64_t rules;          /* hash of their bytes */
	uint64_t size;           /* of each piece of code */
	uint64_t last, distance; /* start of the newest piece; distance of the second piece from the first */
	uint32_t nr, nr_at_distance;
	bool broken; /* the pieces differ */
};

/** jitdump_pattern_add() - add code of @size bytes at @start. @rules: hash of its rules; 0: it has none to compare */
void jitdump_pattern_add(struct jitdump_pattern *p, uint64_t start, uint64_t size, uint64_t rules);

/** jitdump_pattern_next() - true if @addr is in one of the next pieces of code; *@start: of that piece. */
bool jitdump_pattern_next(const struct jitdump_pattern *p, uint64_t addr, uint64_t *start);

#endif
