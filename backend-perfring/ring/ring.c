// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/ring.h"

#include "core/base/clock.h"
#include "core/base/pi_mutex.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/*
 * A thread holds the lock of a ring while it moves this many bytes, some 100 us. While the real-time thread waits for
 * the lock, the reader inherits its priority, but not the timer that limits the real-time thread
 * (core/host/priority.h). And this timer may make the real-time thread sleep while it has the lock. If ring.record is
 * set, everything is moved at once, so that lost records can only be behind the last one that was moved.
 */
#define MOVED_AT_ONCE (256UL << 10)

/*
 * struct ring_part - in front of the records that were moved at once into one block.
 * @copied_ns: CLOCK_MONOTONIC, before the ring had room again
 * @full: behind the last record, there may have been no room for another one, so that records may be lost
 * @damaged: a malformed record followed the last one; the rest of the ring was dropped
 */
struct ring_part {
	uint64_t copied_ns;
	uint32_t bytes; /* of records */
	bool full, damaged;
};

_Static_assert(sizeof(struct ring_part) % 8 == 0, "records are aligned to 8 bytes");

int ring_map(struct ring *r, int fd, size_t bytes, struct blocks *blocks)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base;
	int rc;

	if (bytes < page)
		return -EINVAL;
	base = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	*r = (struct ring){
		.page = base, .data = (unsigned char *)base + page, .bytes = bytes, .page_size = page, .blocks = blocks
	};
	rc = pi_mutex_init(&r->lock);
	if (!rc)
		return 0;
	munmap(base, page + bytes);
	*r = (struct ring){ 0 };
	return rc;
}

static void release_kept(struct ring *r, struct ring_kept *k)
{
	struct block *block;

	while ((block = k->first)) {
		k->first = block->next;
		blocks_put(r->blocks, block);
	}
	*k = (struct ring_kept){ 0 };
}

void ring_unmap(struct ring *r)
{
	if (r->page) {
		munmap(r->page, r->page_size + r->bytes);
		pthread_mutex_destroy(&r->lock);
	}
	release_kept(r, &r->kept);
	release_kept(r, &r->reading);
	*r = (struct ring){ 0 };
}

/*
 * With the lock held. The counters run freely over 64 bits, so only their difference counts. The load of data_head
 * pairs with the kernel's store after it wrote the records: we read no record before it is there. The store of
 * data_tail pairs with the kernel's load: our reads are over before the kernel reuses the room.
 */
static uint64_t head_of(const struct ring *r)
{
	return __atomic_load_n(&r->page->data_head, __ATOMIC_ACQUIRE);
}

static void free_until(struct ring *r, uint64_t tail)
{
	__atomic_store_n(&r->page->data_tail, tail, __ATOMIC_RELEASE);
}

static bool is_full(const struct ring *r)
{
	return r->record && head_of(r) - r->page->data_tail + r->record > r->bytes;
}

bool ring_full_again(struct ring *r)
{
	bool full = r->reading.nr_full;

	pthread_mutex_lock(&r->lock);
	full = full || r->kept.nr_full || is_full(r);
	pthread_mutex_unlock(&r->lock);
	return full;
}

/* Records are multiples of 8 bytes; this joins the two parts of a record that continues at the ring's start. */
static void copy(const struct ring *r, uint64_t tail, size_t size, unsigned char *to)
{
	size_t from = tail & (r->bytes - 1), first = r->bytes - from;

	if (first > size)
		first = size;
	memcpy(to, r->data + from, first);
	memcpy(to + first, r->data, size - first);
}

/* With the lock held. */
static bool is_damaged(const struct ring *r, uint64_t head)
{
	return head - r->page->data_tail > r->bytes || (head - r->page->data_tail) % 8;
}

/* True if a record can have @size bytes. @left: bytes from the record to the end of the data */
static bool is_size(size_t size, size_t left)
{
	return size >= sizeof(struct perf_event_header) && size % 8 == 0 && size <= left;
}

static const struct perf_event_header *header_at(const struct ring *r, uint64_t at)
{
	return (const void *)(r->data + (at & (r->bytes - 1)));
}

/* If a record continues at the ring's start, join it in @whole. Headers never do. */
static const struct perf_event_header *record_at(const struct ring *r, uint64_t at, size_t size, unsigned char *whole)
{
	size_t from = at & (r->bytes - 1);

	if (size <= r->bytes - from)
		return (const void *)(r->data + from);
	copy(r, at, size, whole);
	return (const void *)whole;
}

/*
 * With the lock held. Make room for @size bytes behind the kept records, in a new part if there is none, or if its
 * block is full. Return: NULL: no block is free
 */
static unsigned char *room_for(struct ring *r, size_t size, struct ring_part **part, bool for_reader)
{
	struct ring_kept *k = &r->kept;
	size_t needs = size + (*part ? 0 : sizeof(**part));
	struct block *block = k->last;

	if (!block || needs > BLOCK_ROOM - block->used) {
		block = blocks_get(r->blocks, for_reader);
		if (!block)
			return NULL;
		if (k->last)
			k->last->next = block;
		else
			k->first = block;
		k->last = block;
		*part = NULL;
	}
	if (!*part) {
		*part = (struct ring_part *)(block->bytes + block->used);
		**part = (struct ring_part){ 0 };
		block->used += sizeof(**part);
	}
	return block->bytes + block->used;
}

/*
 * With the lock held. Copy the record at @at, without unneeded parts, into @part. Return: 0; -ENOMEM: no block is free
 */
static int keep_record(struct ring *r, uint64_t at, size_t size, struct ring_part **part, bool for_reader)
{
	unsigned char *to = room_for(r, size, part, for_reader);

	if (!to)
		return -ENOMEM;
	if (r->pack)
		size = r->pack(r->pack_ctx, record_at(r, at, size, to), size, to);
	else
		copy(r, at, size, to);
	r->kept.last->used += size;
	r->kept.used += size;
	(*part)->bytes += (uint32_t)size;
	return 0;
}

/*
 * With the lock held. Move records into memory until @most bytes are reached.
 * @more: out: some records that were in the ring at the start were not moved
 * Return: 0; -ENOMEM: no block was free for the next record
 */
static int move(struct ring *r, size_t most, bool for_reader, bool *more)
{
	uint64_t head = head_of(r), begin = r->page->data_tail, tail = begin;
	struct ring_part *part = NULL;
	bool damaged = is_damaged(r, head);
	int rc = 0;

	while (tail != head && tail - begin < most && !damaged && !rc) {
		size_t size = header_at(r, tail)->size;

		damaged = !is_size(size, head - tail);
		if (!damaged)
			rc = keep_record(r, tail, size, &part, for_reader);
		if (!damaged && !rc)
			tail += size;
	}
	if (damaged && !part && !room_for(r, 0, &part, for_reader))
		rc = -ENOMEM; /* the damage stays, and is found again */
	else if (damaged)
		tail = head;
	*more = tail != head;
	if (part) {
		part->copied_ns = now_ns();
		part->full = !*more && is_full(r);
		part->damaged = damaged;
		r->kept.nr_full += part->full;
	}
	free_until(r, tail);
	return rc;
}

/* Call after the kept records have changed. */
static void unlock(struct ring *r)
{
	__atomic_store_n(&r->waits, r->kept.used, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&r->lock);
}

static size_t moved_at_once(const struct ring *r)
{
	return r->record ? SIZE_MAX : MOVED_AT_ONCE;
}

/* Limited, because the kernel may write as fast as records are moved. */
static size_t moves_at_most(const struct ring *r)
{
	return 2 + r->bytes / MOVED_AT_ONCE;
}

int ring_empty(struct ring *r)
{
	size_t times = moves_at_most(r);
	bool more = true;
	int rc = 0;

	while (more && times-- && !rc) {
		pthread_mutex_lock(&r->lock);
		rc = move(r, moved_at_once(r), false, &more);
		unlock(r);
	}
	return rc;
}

void ring_look(struct ring *r, size_t word, ring_look_fn *fn, void *ctx)
{
	uint64_t head, at, tail;

	pthread_mutex_lock(&r->lock);
	head = head_of(r);
	tail = r->page->data_tail;
	at = r->looked - tail <= head - tail ? r->looked : tail; /* what was read since needs no look */
	while (at != head && !is_damaged(r, head) && is_size(header_at(r, at)->size, head - at)) {
		const struct perf_event_header *h = header_at(r, at);

		if (word + sizeof(uint64_t) <= h->size)
			fn(ctx, h, *(const uint64_t *)header_at(r, at + word));
		at += h->size;
	}
	r->looked = head;
	pthread_mutex_unlock(&r->lock);
}

size_t ring_used(struct ring *r)
{
	uint64_t used;

	pthread_mutex_lock(&r->lock);
	used = head_of(r) - r->page->data_tail;
	pthread_mutex_unlock(&r->lock);
	return used;
}

size_t ring_kept(const struct ring *r)
{
	return __atomic_load_n(&r->waits, __ATOMIC_RELAXED) + __atomic_load_n(&r->taken, __ATOMIC_RELAXED);
}

/*
 * Give the kept records to the reader, which has none. If there are none, the reader moves records itself.
 * @more: out: there may be more
 * Return: 0; -ENOMEM
 */
static int fetch(struct ring *r, bool *more)
{
	int rc = 0;

	*more = true;
	pthread_mutex_lock(&r->lock);
	if (!r->kept.first)
		rc = move(r, moved_at_once(r), true, more);
	r->reading = r->kept;
	r->kept = (struct ring_kept){ 0 };
	__atomic_store_n(&r->taken, r->reading.used, __ATOMIC_RELAXED);
	unlock(r);
	return r->reading.first ? 0 : rc;
}

/* Return: as ring_read() */
static int read_records(struct ring_kept *k, ring_fn *fn, void *ctx)
{
	int rc = 0;

	while (k->left && !rc) {
		const struct perf_event_header *record = (const void *)(k->first->bytes + k->at);
		size_t size = record->size;

		k->at += size;
		k->left -= size;
		k->used -= size;
		rc = fn(ctx, record, size);
	}
	return rc;
}

/* Read a part, or the rest of it. Return: as ring_read() */
static int read_part(struct ring_kept *k, ring_fn *fn, ring_part_fn *full, void *ctx)
{
	const struct ring_part *part = k->part;
	int rc;

	if (!part) {
		part = k->part = (const void *)(k->first->bytes + k->at);
		k->left = part->bytes;
		k->at += sizeof(*part);
	}
	rc = read_records(k, fn, ctx);
	if (rc)
		return rc;
	k->part = NULL;
	k->nr_full -= part->full;
	if (part->damaged)
		return -EBADMSG;
	return part->full && full ? full(ctx, part->copied_ns) : 0;
}

/* Return: as ring_read() */
static int read_kept(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx)
{
	struct ring_kept *k = &r->reading;
	struct block *block;
	int rc = 0;

	while ((block = k->first) && !rc) {
		rc = read_part(k, fn, full, ctx);
		if (k->at < block->used || k->part)
			continue;
		k->first = block->next;
		k->at = 0;
		blocks_put(r->blocks, block);
	}
	__atomic_store_n(&r->taken, k->used, __ATOMIC_RELAXED);
	return rc;
}

/* Repeat: more records may be in the ring, or another thread may have moved some to memory meanwhile. */
int ring_read(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx)
{
	size_t times = moves_at_most(r);
	bool more = true;
	int rc = 0;

	while (more && times-- && !rc) {
		if (!r->reading.first)
			rc = fetch(r, &more);
		if (!rc)
			rc = read_kept(r, fn, full, ctx);
	}
	return rc;
}
