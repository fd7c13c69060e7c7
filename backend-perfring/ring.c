// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int ring_map(struct ring *r, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base;

	if (bytes < page)
		return -EINVAL;
	base = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	*r = (struct ring){ .page = base, .data = (unsigned char *)base + page, .bytes = bytes, .page_size = page };
	return 0;
}

void ring_unmap(struct ring *r)
{
	if (r->page)
		munmap(r->page, r->page_size + r->bytes);
	*r = (struct ring){ 0 };
}

/* The record at @at: in place, or put together in @whole when it continues at the ring's start. */
static const struct perf_event_header *record_at(const struct ring *r, uint64_t at, size_t size, unsigned char *whole)
{
	size_t from = at & (r->bytes - 1), first = r->bytes - from;

	if (size <= first)
		return (const void *)(r->data + from);
	memcpy(whole, r->data + from, first);
	memcpy(whole + first, r->data, size - first);
	return (const void *)whole;
}

bool ring_is_full(const struct ring *r)
{
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);

	return r->record && head - r->page->data_tail + r->record > r->bytes;
}

/* Pairs with the kernel's load of data_tail: what we read is read before the room is used again. */
static void free_until(struct ring *r, uint64_t tail)
{
	r->full |= ring_is_full(r); /* before there is room again */
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

int ring_read(struct ring *r, int (*fn)(void *ctx, const struct perf_event_header *record, size_t size), void *ctx)
{
	_Alignas(struct perf_event_header) unsigned char whole[RECORD_MAX];
	/* Pairs with the kernel's store of data_head after it wrote the records: none is read before it is there. */
	uint64_t head = __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE), tail = r->page->data_tail;
	int rc = 0;

	/*
	 * The counters run freely over 64 bits, so only their difference counts; no step is larger than it. Records are
	 * multiples of 8 bytes and aligned to 8, so a header never continues at the ring's start.
	 */
	while (tail != head && !rc) {
		size_t size = ((const struct perf_event_header *)(r->data + (tail & (r->bytes - 1))))->size;

		if (size < sizeof(struct perf_event_header) || size % 8 || size > head - tail ||
		    head - tail > r->bytes) {
			tail = head;
			rc = -EBADMSG;
			break;
		}
		rc = fn(ctx, record_at(r, tail, size, whole), size);
		tail += size;
		if (tail - r->page->data_tail > RECORD_MAX)
			free_until(r, tail);
	}
	free_until(r, tail);
	return rc;
}
