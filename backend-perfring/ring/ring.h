/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One perf event's mmap ring. Source: perf_event_open(2), section MMAP layout.
 *
 * Two threads take part. One reads the records, and then works on them, which may take long: they are unwound, and
 * files are opened for them. Another one may empty the ring meanwhile, into memory: whoever reads gets what is there
 * first, and then what is in the ring. The reader holds the lock between them while it copies a part of the ring; if
 * the other thread has a higher priority and waits for the lock, the reader has that priority so long
 * (PTHREAD_PRIO_INHERIT).
 */
#ifndef PERFRING_RING_H
#define PERFRING_RING_H

#include "core/base/err.h"

#include <linux/perf_event.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct ring_part - up to @end, in bytes, records were copied at once; then the ring may have been full. */
struct ring_part {
	size_t end;
	uint64_t copied_ns; /* CLOCK_MONOTONIC, before there was room again */
	bool full;          /* there may have been no room for one more, so that some may be lost */
	bool damaged;       /* the counters were impossible: what was in the ring is not here */
};

/** struct ring_kept - bytes that were in the ring, in their order. */
struct ring_kept {
	unsigned char *bytes;
	size_t used, room;
	struct ring_part *parts;
	size_t nr, env;
};

/**
 * ring_pack_fn - copy a whole record of @size bytes, and leave out what nobody needs. By the thread that empties the
 * ring, below the lock.
 * @to: room for @size bytes, aligned to 8; it may be @record
 * Return: the size of the record that is there now, a multiple of 8
 */
typedef size_t ring_pack_fn(void *ctx, const struct perf_event_header *record, size_t size, void *to);

/** struct ring - all zeros: not mapped. */
struct ring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	size_t bytes; /* of data, a power of two */
	size_t page_size;
	size_t record;      /* the largest that is expected; 0: nobody asks whether it was full */
	ring_pack_fn *pack; /* set before anyone reads; NULL: records are kept as they are */
	void *pack_ctx;
	pthread_mutex_t lock;
	struct ring_kept kept;    /* below @lock, as are @page and @taken */
	size_t taken;             /* bytes that the reader has, until it comes for more */
	size_t in_memory;         /* both together; written below @lock, read without it */
	struct ring_kept reading; /* the reader's, */
	size_t part;              /* who is at this one */
};

/**
 * ring_map() - map the ring of event @fd.
 * @bytes: a power of two of pages
 *
 * Return: 0; -EPERM: locked memory of a user without rights is limited, by kernel.perf_event_mlock_kb and
 * RLIMIT_MEMLOCK; -ENOMEM; -errno. Of the first two a smaller ring may have room.
 */
int ring_map(struct ring *r, int fd, size_t bytes);
void ring_unmap(struct ring *r);

/**
 * ring_full_again() - is there perhaps no room for one more now, or was there none since the part that is read? By the
 * reader, in ring_part_fn.
 */
bool ring_full_again(struct ring *r);

/** ring_empty() - copy what is in the ring, and give its room back. By any thread. Return: 0; -ENOMEM: as it was. */
int ring_empty(struct ring *r);

/** ring_used() - bytes in the ring that nobody has read. By any thread. */
size_t ring_used(struct ring *r);

/** ring_kept() - bytes in memory: they wait to be read, or the reader has them. By any thread, without the lock. */
size_t ring_kept(const struct ring *r);

/**
 * ring_fn - gets a whole record, @size bytes, valid during the call only; non-zero ends the reading after it. It may
 * be called below the lock: it copies what it wants, and calls nothing of the same ring.
 */
typedef int ring_fn(void *ctx, const struct perf_event_header *record, size_t size);

/**
 * ring_part_fn - told after the last record of each part in which the ring was full. Non-zero ends the reading.
 */
typedef int ring_part_fn(void *ctx, const struct ring_part *part);

/**
 * ring_read() - give every record that is complete now to @fn, oldest first. By one thread.
 * @full: NULL: nobody asks
 *
 * Return: 0; what @fn or @full returned: the next call goes on behind that; -EBADMSG when a size or the counters were
 * impossible: what came with it is dropped, what has come since is not, and has not been read yet: call it again.
 */
int ring_read(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx);

#endif
