/* SPDX-License-Identifier: Apache-2.0 */
/* One perf event's mmap ring, read by one reader. Source: perf_event_open(2), section MMAP layout. */
#ifndef PERFRING_RING_H
#define PERFRING_RING_H

#include "core/err.h"

#include <linux/perf_event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define RECORD_MAX 65536 /* struct perf_event_header.size has 16 bits */

/** struct ring - all zeros: not mapped. */
struct ring {
	struct perf_event_mmap_page *page;
	const unsigned char *data;
	size_t bytes; /* of data, a power of two */
	size_t page_size;
	size_t record; /* the largest that is expected; 0: nobody asks for @full */
	bool full;     /* set by ring_read(): there may have been no room for one more, so that some may be lost */
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

/** ring_is_full() - is there perhaps no room for one more, now? */
bool ring_is_full(const struct ring *r);

/**
 * ring_read() - give every record that is complete now to @fn, oldest first, and free their room.
 * @fn: gets a whole record, @size bytes, valid during the call only; non-zero ends the reading after this record
 *
 * Return: 0; what @fn returned; -EBADMSG when a size or the counters are impossible: what is in the ring then is
 * dropped.
 */
int ring_read(struct ring *r, int (*fn)(void *ctx, const struct perf_event_header *record, size_t size), void *ctx);

#endif
