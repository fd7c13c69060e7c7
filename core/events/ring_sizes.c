// SPDX-License-Identifier: Apache-2.0
#include "core/events/ring_sizes.h"

/* Records per second of events whose rate is not known, like page faults. */
#define UNKNOWN_RATE 1000

#define SAMPLES_MIN (64UL << 10)
#define SAMPLES_MAX (16UL << 20)

/* A process that starts causes some dozens of records of about 100 bytes: room for 170 starts between two readings. */
#define SIDE_WANTED (512UL << 10)
#define SIDE_MIN    (64UL << 10)
/* side-band rings get at most one part in so many of the memory for all rings, but at least SIDE_MIN each */
#define SIDE_SHARE 4

/* if locked memory is limited, a side-band ring above SIDE_MIN shrinks to one part in so many of a ring for samples */
#define SAMPLES_SHARE 4

#define MEMORY_SHARE 64 /* all rings together get one part in so many of the memory */

/* Kept records may exist three more times while they are sorted and applied. */
#define KEPT_SHARE 16
#define KEPT_MAX   (256UL << 20)

static size_t power_of_two(uint64_t bytes, size_t min, size_t max)
{
	size_t size = min;

	while (size < bytes && size < max)
		size *= 2;
	return size;
}

uint64_t ring_most_of(uint64_t bytes)
{
	return bytes - bytes / 8;
}

struct ring_sizes ring_sizes_wanted(const struct ring_needs *n)
{
	uint64_t rate = n->rate ? n->rate : UNKNOWN_RATE;

	/* This cannot overflow: a rate is at most 10^9 per second. */
	return (struct ring_sizes){
		.samples = power_of_two(ring_most_of(rate * n->record), SAMPLES_MIN, SAMPLES_MAX),
		.side = n->apart ? SIDE_WANTED : 0,
	};
}

static uint64_t part_of(uint64_t memory, unsigned int parts, uint64_t max)
{
	uint64_t share = memory / parts;

	return memory && share < max ? share : max;
}

size_t ring_sizes_kept(uint64_t memory)
{
	return part_of(memory, KEPT_SHARE, KEPT_MAX);
}

struct ring_sizes ring_sizes(const struct ring_needs *n)
{
	struct ring_sizes s = ring_sizes_wanted(n);
	uint64_t all = part_of(n->memory, MEMORY_SHARE, RINGS_MAX);
	size_t min = power_of_two(n->at_least, SAMPLES_MIN, SAMPLES_MAX);

	if (s.samples < min)
		s.samples = min;
	while (s.side > SIDE_MIN && s.side * n->cpus > all / SIDE_SHARE)
		s.side /= 2;
	while (s.samples > min && (s.samples + s.side) * n->cpus > all)
		s.samples /= 2;
	return s;
}

uint32_t ring_wakeup(size_t ring, size_t bytes)
{
	return (uint32_t)(bytes < ring / 2 ? bytes : ring / 2);
}

bool ring_sizes_halve(struct ring_sizes *s, size_t page)
{
	bool side_gives = s->side > SIDE_MIN ? s->side > s->samples / SAMPLES_SHARE : s->side > s->samples;
	size_t *gives = side_gives ? &s->side : &s->samples;

	if (*gives <= page)
		return false;
	*gives /= 2;
	return true;
}
