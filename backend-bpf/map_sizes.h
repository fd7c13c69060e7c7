/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How many entries the maps get that hold what is counted: as many as are asked for, but of the defaults not more than
 * a run can fill. One set is small at first, since it takes the kernel a millisecond to make one MiB.
 *
 * An entry of a stack map takes as much memory as the deepest stack there may be, and a stack goes to the one place
 * that its hash says. Most stacks are short: so half of the memory is for whole entries, half as many as are asked for,
 * and the other half for entries of BPF_SHORT_WORDS, twice as many; four times where there is one set. A short stack
 * whose place is taken is put among the others.
 */
#ifndef BACKEND_BPF_MAP_SIZES_H
#define BACKEND_BPF_MAP_SIZES_H

#include <stdbool.h>
#include <stdint.h>

struct options;

/** struct map_sizes - entries, of each set. */
struct map_sizes {
	uint32_t counts, stacks;
	uint32_t shorts; /* 0: there are no short entries */
	uint32_t proved; /* of all sets */
};

/**
 * map_sizes_choose() - for samples of @o, at its rate, on @cpus CPUs.
 * @depth: addresses that an entry of a stack map has room for
 * @first: for the first of them, until that many have shown that more is needed
 */
struct map_sizes map_sizes_choose(const struct options *o, unsigned int cpus, unsigned int depth, bool first);

/**
 * map_sizes_bound() - halve what @to has beyond @from until its set takes no more than a share of @memory: a cgroup
 * whose limit is reached kills the profiler, and what has no room in its tables is counted from the ring.
 * @depth: as above
 * @memory: bytes, see memory_limit(); 0: not known
 */
void map_sizes_bound(struct map_sizes *to, const struct map_sizes *from, unsigned int depth, uint64_t memory);

/** map_sizes_grow() - is any of @to larger than in @from? */
bool map_sizes_grow(const struct map_sizes *from, const struct map_sizes *to);

#endif
