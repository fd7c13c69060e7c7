// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/base/saturate.h"

/* Wake the reader if this much waits: it should apply records bit by bit. */
#define MUCH_BYTES      (1UL << 20)
#define MUCH_SIDE_BYTES (32UL << 10) /* less, because the reader should open mapped files before processes exit */

#define KEPT_SIDE_SHARE 4 /* records about tasks and mappings get a quarter of the memory for waiting records */

static size_t kept_in_all(const struct source *b, bool side)
{
	size_t waits = 0, i;

	for (i = 0; i < b->env->events->nr_places; i++)
		waits += ring_kept(side ? &b->rings[i].side : &b->rings[i].samples);
	return waits;
}

/*
 * The kernel wakes us whenever wakeup_watermark bytes have been written, even if most of them have been read. If the
 * ring will be at most half full when the kernel wakes us again, leave its samples to the reader, because copying them
 * is more work. Records about tasks and mappings cannot wait: the reader should see them.
 */
static bool wants_to_be_empty(const struct source *b, struct ring *r, bool side)
{
	const struct events *ev = b->env->events;
	bool names = side || !ev->apart;

	return r->page && (names || ring_used(r) + events_attr(ev)->wakeup_watermark > r->bytes / 2);
}

/*
 * Without a free block, or beyond @most bytes, records stay in the ring. When the ring is full, new records are lost,
 * and the kernel counts them.
 */
static size_t fetch_all(const struct source *b, bool side, size_t most)
{
	size_t waits = kept_in_all(b, side), i;

	for (i = 0; i < b->env->events->nr_places && waits < most; i++) {
		struct ring *r = side ? &b->rings[i].side : &b->rings[i].samples;
		size_t before = ring_kept(r);

		if (wants_to_be_empty(b, r, side))
			ring_empty(r);
		/* The reader may have taken some meanwhile. */
		waits += sub_or_0(ring_kept(r), before);
	}
	return waits;
}

/* Records about tasks and mappings have a part of the memory that samples cannot use. */
int rings_fetch(struct source *b, struct err *err)
{
	size_t of_side = b->env->events->kept_bytes_max / KEPT_SIDE_SHARE;
	size_t side = fetch_all(b, true, of_side);
	size_t waits = side + fetch_all(b, false, b->env->events->kept_bytes_max - of_side);

	(void)err;
	if (waits > b->kept_most)
		__atomic_store_n(&b->kept_most, waits, __ATOMIC_RELAXED);
	return waits >= MUCH_BYTES || side >= MUCH_SIDE_BYTES;
}
