/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of the rings: rate x size of a record x the time for which the reader may stall, within the memory of the host.
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
 * struct ring_needs - the needs that the rings have to meet.
 * @rate: records per second; 0: not known
 * @record: bytes of a large record, which few exceed; for stack copies, half of the largest
 * @at_least: bytes that must fit at once, however many CPUs there are
 * @apart: records about tasks and mappings have rings of their own
 * @memory: bytes that may be used, see memory_limit(); 0: not known
 */
struct ring_needs {
	size_t cpus;
	uint64_t rate;
	size_t record, at_least;
	bool apart;
	uint64_t memory;
};

/**
 * ring_most_of() - how much of @bytes, which a stall brings if all records have the largest size, a ring should hold.
 * It is only a part: few records are that large, and the kernel has to clear the memory that it gives.
 */
uint64_t ring_most_of(uint64_t bytes);

/**
 * ring_sizes_wanted() - the sizes that survive a stall of seven eighths of a second when all records have the size
 * @n->record. The only limit is that of one ring.
 */
struct ring_sizes ring_sizes_wanted(const struct ring_needs *n);

/** ring_sizes() - the same within RINGS_MAX for all CPUs, and within a part of the memory. */
struct ring_sizes ring_sizes(const struct ring_needs *n);

/**
 * ring_sizes_kept() - bytes of records that may wait in the memory of the process: its work on records may have to wait
 * for a CPU, a file system or a lock for longer than the rings have room.
 * @memory: bytes that the process may use; 0: not known
 */
size_t ring_sizes_kept(uint64_t memory);

/**
 * ring_wakeup() - @bytes, but at most half of @ring: a ring that is read only when it is full loses the records of that
 * moment.
 */
uint32_t ring_wakeup(size_t ring, size_t bytes);

/**
 * ring_sizes_halve() - make @s the next smaller sizes. While rings for tasks and mappings have more than 64 KiB and
 * more than a quarter of those for samples, halve them first. Then halve the rings for samples until they are as small,
 * then both.
 * Return: false: there are no smaller sizes.
 */
bool ring_sizes_halve(struct ring_sizes *s, size_t page);

#endif
