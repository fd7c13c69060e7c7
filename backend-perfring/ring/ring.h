/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One perf event's mmap ring. Source: perf_event_open(2), section MMAP layout.
 *
 * Two threads take part. Either may move records from the ring into memory (struct blocks). Only one of them, the
 * reader, reads them there, and works on them, which may take long: it unwinds stacks and opens files. A thread holds
 * the ring's lock only for short work, such as moving records: it allocates no memory meanwhile, and calls no function
 * of the owner but ring_pack_fn and ring_look_fn. If a thread with a higher priority waits for the lock, the thread
 * that holds it inherits that priority meanwhile.
 */
#ifndef PERFRING_RING_H
#define PERFRING_RING_H

#include "backend-perfring/ring/blocks.h"
#include "core/base/err.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ring_part;

/**
 * struct ring_kept - records that were moved out of the ring, in their order, in a list of blocks. A part is what was
 * moved at once into one block.
 */
struct ring_kept {
	struct block *first, *last;
	size_t used;                  /* bytes of records that are still to be read */
	size_t nr_full;               /* parts behind which the ring may have been full */
	const struct ring_part *part; /* the part that is being read; NULL: the next part begins at @at */
	size_t at, left;              /* offset of the next byte in @first; bytes of @part that are still to be read */
};

/**
 * ring_pack_fn - copy a whole record of @size bytes without the bytes that are not needed. The thread that moves
 * records calls it with the lock held.
 * @to: room for @size bytes, aligned to 8 bytes; it may be @record
 * Return: the size of the record that is there now, a multiple of 8
 */
typedef size_t ring_pack_fn(void *ctx, const struct perf_event_header *record, size_t size, void *to);

/** struct ring - all zeros: not mapped. */
struct ring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	size_t bytes; /* of data, a power of two */
	size_t page_size;
	size_t record;      /* the largest expected record; 0: do not check whether the ring was full */
	ring_pack_fn *pack; /* set before any record is moved; NULL: keep records as they are */
	void *pack_ctx;
	struct blocks *blocks; /* not owned */
	pthread_mutex_t lock;
	struct ring_kept kept;    /* protected by @lock, as are @page and @looked */
	uint64_t looked;          /* ring_look() has seen all records before this position */
	struct ring_kept reading; /* taken from @kept by the reader, which uses it without the lock */
	size_t waits, taken;      /* bytes of records in @kept and @reading; atomic, for ring_kept() */
};

/**
 * ring_map() - map the ring of event @fd.
 * @bytes: a power of two of pages
 * @blocks: for records that are moved; shared with other rings
 *
 * Return: 0; -EPERM: the user may lock no more memory (kernel.perf_event_mlock_kb, RLIMIT_MEMLOCK); -ENOMEM; -errno.
 * After -EPERM and -ENOMEM, a smaller ring may fit.
 */
int ring_map(struct ring *r, int fd, size_t bytes, struct blocks *blocks);
void ring_unmap(struct ring *r);

/**
 * ring_full_again() - true if the ring may be full now, or may have been full since the time that ring_part_fn gets as
 * @copied_ns. Call it only from that function, in the reader.
 */
bool ring_full_again(struct ring *r);

/**
 * ring_empty() - move the records in the ring to memory. Call from any thread. Return: 0; -ENOMEM: no block was free,
 * the rest stays in the ring.
 */
int ring_empty(struct ring *r);

/** ring_look_fn - gets the header of a record that is in the ring, and one of its words. */
typedef void ring_look_fn(void *ctx, const struct perf_event_header *record, uint64_t word);

/**
 * ring_look() - call @fn, with the lock held, for each record that came into the ring since the last call and is still
 * there. Call from one thread only.
 * @word: the offset of the 8 bytes that @fn gets, a multiple of 8; shorter records are left out
 */
void ring_look(struct ring *r, size_t word, ring_look_fn *fn, void *ctx);

/** ring_used() - bytes in the ring that were not moved to memory yet. Call from any thread. */
size_t ring_used(struct ring *r);

/** ring_kept() - bytes of records in memory: they wait, or are being read. Call from any thread; takes no lock. */
size_t ring_kept(const struct ring *r);

/** ring_fn - gets a whole record, @size bytes, valid only during the call; a non-zero result ends the reading. */
typedef int ring_fn(void *ctx, const struct perf_event_header *record, size_t size);

/**
 * ring_part_fn - called after a record behind which the ring may have had no room, so that records may be lost. A
 * non-zero result ends the reading.
 * @copied_ns: CLOCK_MONOTONIC, before the ring had room again
 */
typedef int ring_part_fn(void *ctx, uint64_t copied_ns);

/**
 * ring_read() - pass every record that is complete now to @fn, oldest first. Call from one thread only.
 * @full: may be NULL
 *
 * Return: 0; what @fn or @full returned: the next call goes on behind that; -ENOMEM: no block was free; -EBADMSG: the
 * size of a record or the ring's counters were impossible. The bad record and those behind it in the ring are dropped.
 * Records that came later are not dropped: call it again to read them.
 */
int ring_read(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx);

#endif
