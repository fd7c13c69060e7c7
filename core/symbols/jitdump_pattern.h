/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the next piece of code will be, of a compiler that makes nothing but copies of one template at equal distances.
 *
 * Compilers write their jitdumps through a buffer, mostly of 4 KiB, so the newest code is not in the file yet. CPython
 * (-X perf_jit) calls each function through a trampoline of its own, all of which are alike, and a script's own
 * functions are the last ones. Their rules are known before they are in the file, and without them no stack is
 * complete.
 */
#ifndef CORE_SYMBOLS_JITDUMP_PATTERN_H
#define CORE_SYMBOLS_JITDUMP_PATTERN_H

#include <stdbool.h>
#include <stdint.h>

#define PATTERN_FRAMES_MAX 1024 /* bytes of rules that are compared */

/** struct jitdump_pattern - all zeros: of no code. */
struct jitdump_pattern {
	uint64_t rules;          /* hash of their bytes */
	uint64_t size;           /* of each piece of code */
	uint64_t last, distance; /* where the newest begins, and how far behind the one before */
	uint32_t nr, nr_at_distance;
	bool broken; /* they are not alike */
};

/** jitdump_pattern_add() - code of @size bytes was made at @start. @rules: hash of its rules; 0: it has none to compare
 */
void jitdump_pattern_add(struct jitdump_pattern *p, uint64_t start, uint64_t size, uint64_t rules);

/** jitdump_pattern_next() - is @addr in one of the next pieces of code? Return: true and *@start of that. */
bool jitdump_pattern_next(const struct jitdump_pattern *p, uint64_t addr, uint64_t *start);

#endif
