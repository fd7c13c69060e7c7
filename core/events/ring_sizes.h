/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How large the rings are: rate x size of a record x the time for which nobody may come to read them, within the memory
 * of the host.
 */
#ifndef CORE_EVENTS_RING_SIZES_H
#define CORE_EVENTS_RING_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RINGS_MAX         (128UL << 20) /* bytes of all rings of a host together */
#define RING_WAKEUP_BYTES (32UL << 10)  /* a ring is read when it holds that much */

/** struct ring_sizes - bytes of the rings of a CPU, each a power of two of pages; 0: there is none. */
struct ring_sizes {
	size_t samples, side;
};

/**
 * struct ring_needs - what the rings are for.
 * @rate: records in a second; 0: not known
 * @record: bytes of one that is as large as most may be: of copies of stacks, half of the largest
 * @at_least: bytes that have room at once, however many CPUs there are
 * @apart: records about tasks and mappings have rings of their own
 * @memory: that may be used, in bytes, see memory_limit(); 0: not known
 */
struct ring_needs {
	size_t cpus;
	uint64_t rate;
	size_t record, at_least;
	bool apart;
	uint64_t memory;
};

/**
 * ring_most_of() - what is wanted for @bytes of a stall, if all records have the largest size: few have it, and the
 * kernel has to clear what it gives.
 */
uint64_t ring_most_of(uint64_t bytes);

/**
 * ring_sizes_wanted() - what survives a stall of seven eighths of a second, when all records have that size,
 * without any limit but what one ring may have.
 */
struct ring_sizes ring_sizes_wanted(const struct ring_needs *n);

/** ring_sizes() - the same within RINGS_MAX, and a part of the memory, for all CPUs. */
struct ring_sizes ring_sizes(const struct ring_needs *n);

/**
 * ring_sizes_kept() - bytes of records that may wait in the memory of the process, if it may use so much @memory (0:
 * not known): who works on them may have to wait for a CPU, a file system or a lock for longer than the rings have
 * room.
 */
size_t ring_sizes_kept(uint64_t memory);

/** ring_wakeup() - @bytes, but no more than half of a @ring: one that is read when it is full has lost what came then.
 */
uint32_t ring_wakeup(size_t ring, size_t bytes);

/**
 * ring_sizes_halve() - the next smaller ones. Rings for tasks and mappings give first while they have more than 64 KiB
 * and a quarter of those for samples: then these, until they are as small; then both.
 * Return: false: there are none.
 */
bool ring_sizes_halve(struct ring_sizes *s, size_t page);

#endif
