/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes of the rings, within the memory of the host. For samples: rate x size of a record x the time for which the
 * reader may stall. For records about tasks and mappings: 512 KiB, or less.
 */
#ifndef CORE_EVENTS_RING_SIZES_H
#define CORE_EVENTS_RING_SIZES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RINGS_MAX         (128UL << 20) /* bytes of all rings of a host together; more if there are many CPUs */
#define RING_WAKEUP_BYTES (32UL << 10)  /* by default, the reader is woken when a ring holds so many bytes */

/**
 * struct ring_sizes - bytes of the rings of a CPU, each a power of two of pages; 0: there is none.
 * @side: for records about tasks and mappings
 */
struct ring_sizes {
	size_t samples, side;
};

/**
 * struct ring_needs - the needs that the rings have to meet.
 * @rate: records per second on each CPU; 0: not known
 * @record: bytes of a large record: few are larger. If stacks are copied, it has a copy of half the largest size
 * @at_least: bytes that must fit at once into each ring for samples, however many CPUs there are
 * @apart: records about tasks and mappings have rings of their own
 * @memory: bytes that the process may use, see memory_limit() (core/tasks/cgroup_limits.h); 0: not known
 */
struct ring_needs {
	size_t cpus;
	uint64_t rate;
	size_t record, at_least;
	bool apart;
	uint64_t memory;
};

/**
 * ring_most_of() - the size that a ring should have if during a stall of the reader the kernel would write @bytes, with
 * all records as large as the largest: seven eighths of that. More would rarely be used, and the kernel has to clear
 * the memory.
 */
uint64_t ring_most_of(uint64_t bytes);

/**
 * ring_sizes_wanted() - the sizes that lose no sample in a stall of the reader of seven eighths of a second, if all
 * samples have the size @n->record. Limited only by the smallest and the largest size of one ring, not by @n->memory.
 */
struct ring_sizes ring_sizes_wanted(const struct ring_needs *n);

/**
 * ring_sizes() - the same, but at least @n->at_least for samples, then halved until the rings of all CPUs together fit
 * into RINGS_MAX and into a part of @n->memory. No ring is halved below its minimum, which for samples is at least
 * @n->at_least. The rings for tasks and mappings get at most a quarter of the memory, if that is above their minimum.
 */
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
 * ring_sizes_halve() - halve one of both sizes: @s->side if it is more than 64 KiB and more than a quarter of
 * @s->samples, or if it is more than @s->samples; otherwise @s->samples.
 * Return: false: there are no smaller sizes.
 */
bool ring_sizes_halve(struct ring_sizes *s, size_t page);

#endif
