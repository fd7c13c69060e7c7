// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/ring.h"

#include "backend-perfring/decode.h"
#include "core/base/clock.h"
#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define ROOM_KEPT (1UL << 20) /* of memory that is empty: more is given back */

/*
 * The reader of a ring holds its lock for so many bytes and a record: some 100 us. A real-time thread that waits for the
 * lock lends the reader its priority, which no timer bounds there. A ring whose owner asks whether it was full is read at
 * once: lost records come behind the last one.
 */
#define IN_PLACE_MAX (256UL << 10)

static int make_lock(pthread_mutex_t *lock)
{
	pthread_mutexattr_t attr;
	int rc = pthread_mutexattr_init(&attr);

	if (rc)
		return -rc;
	/* A kernel without priority inheritance refuses: then it is an ordinary one. */
	pthread_mutexattr_setprotocol(&attr, PTHREAD_PRIO_INHERIT);
	rc = pthread_mutex_init(lock, &attr);
	if (rc)
		rc = pthread_mutex_init(lock, NULL);
	pthread_mutexattr_destroy(&attr);
	return -rc;
}

int ring_map(struct ring *r, int fd, size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);
	void *base;
	int rc;

	if (bytes < page)
		return -EINVAL;
	base = mmap(NULL, page + bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (base == MAP_FAILED)
		return -errno;
	*r = (struct ring){ .page = base, .data = (unsigned char *)base + page, .bytes = bytes, .page_size = page };
	rc = make_lock(&r->lock);
	if (!rc)
		return 0;
	munmap(base, page + bytes);
	*r = (struct ring){ 0 };
	return rc;
}

static void release(struct ring_kept *k)
{
	free(k->bytes);
	free(k->parts);
	*k = (struct ring_kept){ 0 };
}

void ring_unmap(struct ring *r)
{
	if (r->page) {
		munmap(r->page, r->page_size + r->bytes);
		pthread_mutex_destroy(&r->lock);
	}
	release(&r->kept);
	release(&r->reading);
	*r = (struct ring){ 0 };
}

/*
 * Below the lock. The counters run freely over 64 bits, so only their difference counts. The load of data_head pairs
 * with the kernel's store after it wrote the records: none is read before it is there. The store of data_tail pairs
 * with the kernel's load: what we read is read before the room is used again.
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

static bool has_full(const struct ring_kept *k, size_t from)
{
	while (from < k->nr && !k->parts[from].full)
		from++;
	return from < k->nr;
}

bool ring_full_again(struct ring *r)
{
	bool full = has_full(&r->reading, r->part + 1);

	pthread_mutex_lock(&r->lock);
	full = full || has_full(&r->kept, 0) || is_full(r);
	pthread_mutex_unlock(&r->lock);
	return full;
}

/* Records are multiples of 8 bytes, so that the parts of one that continues at the ring's start come together. */
static void copy(const struct ring *r, uint64_t tail, size_t size, unsigned char *to)
{
	size_t from = tail & (r->bytes - 1), first = r->bytes - from;

	if (first > size)
		first = size;
	memcpy(to, r->data + from, first);
	memcpy(to + first, r->data, size - first);
}

/* Below the lock. */
static bool is_damaged(const struct ring *r, uint64_t head)
{
	return head - r->page->data_tail > r->bytes || (head - r->page->data_tail) % 8;
}

/* Of a record of which, with all behind it, there are @left bytes. */
static bool is_size(size_t size, size_t left)
{
	return size >= sizeof(struct perf_event_header) && size % 8 == 0 && size <= left;
}

/* A record that continues at the ring's start is put together in @whole; no header does. */
static const struct perf_event_header *record_at(const struct ring *r, uint64_t at, size_t size, unsigned char *whole)
{
	size_t from = at & (r->bytes - 1);

	if (size <= r->bytes - from)
		return (const void *)(r->data + from);
	copy(r, at, size, whole);
	return (const void *)whole;
}

/* Below the lock. From bytes on that are no record, all are kept: the reader finds that. Return: 0; -ENOMEM */
static int keep(struct ring *r, uint64_t tail, uint64_t head)
{
	struct ring_kept *k = &r->kept;
	size_t used = k->used, size, left;
	unsigned char *bytes;
	bool packs;

	for (; tail != head; tail += size) {
		left = head - tail;
		size = ((const struct perf_event_header *)(r->data + (tail & (r->bytes - 1))))->size;
		packs = r->pack && is_size(size, left);
		size = packs ? size : left;
		bytes = grow(k->bytes, &k->room, used, size, 1);
		if (!bytes)
			return -ENOMEM;
		k->bytes = bytes;
		if (packs) {
			used += r->pack(r->pack_ctx, record_at(r, tail, size, bytes + used), size, bytes + used);
		} else {
			copy(r, tail, size, bytes + used);
			used += size;
		}
	}
	k->used = used;
	return 0;
}

/* Below the lock. */
static int empty(struct ring *r)
{
	struct ring_kept *k = &r->kept;
	uint64_t head = head_of(r), tail = r->page->data_tail;
	bool damaged = is_damaged(r, head);
	struct ring_part *parts;

	if (head == tail)
		return 0;
	parts = grow(k->parts, &k->env, k->nr, 1, sizeof(*parts));
	if (!parts)
		return -ENOMEM;
	k->parts = parts;
	if (!damaged && keep(r, tail, head))
		return -ENOMEM;
	parts[k->nr++] = (struct ring_part){ k->used, now_ns(), is_full(r), damaged };
	free_until(r, head);
	return 0;
}

/* What is in memory has changed. */
static void unlock(struct ring *r)
{
	__atomic_store_n(&r->in_memory, r->kept.used + r->taken, __ATOMIC_RELAXED);
	pthread_mutex_unlock(&r->lock);
}

int ring_empty(struct ring *r)
{
	int rc;

	pthread_mutex_lock(&r->lock);
	rc = empty(r);
	unlock(r);
	return rc;
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
	return __atomic_load_n(&r->in_memory, __ATOMIC_RELAXED);
}

/* Below the lock. What is kept becomes the reader's, who has nothing else. */
static void take(struct ring *r)
{
	struct ring_kept none = r->reading;

	none.used = none.nr = 0;
	if (none.room > ROOM_KEPT) {
		free(none.bytes);
		none.bytes = NULL;
		none.room = 0;
	}
	r->reading = r->kept;
	r->kept = none;
	r->taken = r->reading.used;
}

/* Return: as ring_read(). @at: in and out: how far it has been read */
static int read_part(const struct ring *r, const struct ring_part *part, size_t *at, ring_fn *fn, ring_part_fn *full,
		     void *ctx)
{
	int rc = part->damaged ? -EBADMSG : 0;

	while (*at < part->end && !rc) {
		const struct perf_event_header *record = (const void *)(r->reading.bytes + *at);
		size_t size = record->size;

		if (!is_size(size, part->end - *at)) {
			*at = part->end;
			rc = -EBADMSG;
			break;
		}
		*at += size;
		rc = fn(ctx, record, size);
	}
	return !rc && part->full && full ? full(ctx, part) : rc;
}

static void drop_read(struct ring_kept *k, size_t parts, size_t bytes)
{
	size_t i;

	memmove(k->bytes, k->bytes + bytes, k->used - bytes);
	memmove(k->parts, k->parts + parts, (k->nr - parts) * sizeof(*k->parts));
	k->used -= bytes;
	k->nr -= parts;
	for (i = 0; i < k->nr; i++)
		k->parts[i].end -= bytes;
}

/*
 * Below the lock. Return: as ring_read().
 * @part: out: what was read
 * @more: out: some is left
 */
static int read_in_place(struct ring *r, ring_fn *fn, void *ctx, struct ring_part *part, bool *more)
{
	_Alignas(struct perf_event_header) unsigned char whole[RECORD_MAX];
	uint64_t head = head_of(r), begin = r->page->data_tail, tail = begin;
	int rc = is_damaged(r, head) ? -EBADMSG : 0;

	while (tail != head && (tail - begin < IN_PLACE_MAX || r->record) && !rc) {
		size_t size = ((const struct perf_event_header *)(r->data + (tail & (r->bytes - 1))))->size;

		if (!is_size(size, head - tail)) {
			rc = -EBADMSG;
			break;
		}
		rc = fn(ctx, record_at(r, tail, size, whole), size);
		tail += size;
	}
	*part = (struct ring_part){ .copied_ns = now_ns(), .full = is_full(r) };
	*more = tail != head;
	free_until(r, rc == -EBADMSG ? head : tail);
	return rc;
}

/* Return: as ring_read() */
static int read_kept(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx)
{
	size_t i, at = 0;
	int rc = 0;

	for (i = 0; i < r->reading.nr && !rc; i++) {
		r->part = i;
		rc = read_part(r, &r->reading.parts[i], &at, fn, full, ctx);
	}
	/* The part that is not read to its end stays; one that is damaged has nothing more. */
	if (i && at < r->reading.parts[i - 1].end)
		i--;
	if (i == r->reading.nr)
		r->reading.nr = r->reading.used = 0;
	else
		drop_read(&r->reading, i, at);
	pthread_mutex_lock(&r->lock);
	r->taken = r->reading.used;
	unlock(r);
	return rc;
}

/* Return: as ring_read(). @more: out: there may be more */
static int read_once(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx, bool *more)
{
	bool kept = r->reading.nr;
	struct ring_part part = { 0 };
	int rc = 0;

	*more = true;
	if (!kept) {
		pthread_mutex_lock(&r->lock);
		kept = r->kept.nr;
		if (kept)
			take(r);
		else
			rc = read_in_place(r, fn, ctx, &part, more);
		unlock(r);
	}
	if (kept)
		return read_kept(r, fn, full, ctx);
	return !rc && part.full && full ? full(ctx, &part) : rc;
}

/*
 * Records behind the kept ones are still in the ring, or another thread has put all of them into memory since. The
 * kernel may write as fast as this reads: so a call reads the ring a limited number of times.
 */
int ring_read(struct ring *r, ring_fn *fn, ring_part_fn *full, void *ctx)
{
	size_t times = 2 + r->bytes / IN_PLACE_MAX;
	bool more = true;
	int rc = 0;

	while (more && times-- && !rc)
		rc = read_once(r, fn, full, ctx, &more);
	return rc;
}
