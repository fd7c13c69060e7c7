/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Choose the sizes of the maps with counts and stacks: as many entries as the user wants. Sizes up to the default are
 * also limited by the number of samples of a run, or of an interval of the report. A run without intervals has one set
 * of maps, others have two. A single set is small at first, because the kernel takes a millisecond to make one MiB.
 *
 * An entry of a stack map takes as much memory as the deepest possible stack, and the hash of a stack gives its only
 * place. Most stacks are short. So only half as many entries as requested have room for the deepest stack. A second map
 * has short entries, with room for BPF_SHORT_WORDS words: twice as many entries as requested, or four times as many if
 * there is one set. A short stack whose place is taken there goes to the other map.
 */
#ifndef BACKEND_BPF_MAP_SIZES_H
#define BACKEND_BPF_MAP_SIZES_H

#include <stdbool.h>
#include <stdint.h>

struct request;

/** struct map_sizes - numbers of entries, for each set. */
struct map_sizes {
	uint32_t counts, stacks;
	uint32_t shorts; /* 0: there are no short entries */
	uint32_t proved; /* for all sets together */
};

/**
 * map_sizes_choose() - choose sizes for samples of @r, at its rate, on @cpus CPUs.
 * @depth: addresses for which an entry of a stack map has room
 * @first: sizes for the first samples, until it is known that more room is needed
 */
struct map_sizes map_sizes_choose(const struct request *r, unsigned int cpus, unsigned int depth, bool first);

/**
 * map_sizes_bound() - halve the sizes in @to, but not below those in @from, until a set takes no more than an eighth of
 * @memory. If a cgroup reaches its limit, the kernel kills the profiler. If a sample has no room in the tables, the
 * ring's reader counts it.
 * @depth: as above
 * @memory: bytes, see memory_limit(); 0: not known
 */
void map_sizes_bound(struct map_sizes *to, const struct map_sizes *from, unsigned int depth, uint64_t memory);

/** map_sizes_grow() - true if @to has more entries for counts, stacks or short stacks than @from. */
bool map_sizes_grow(const struct map_sizes *from, const struct map_sizes *to);

#endif
