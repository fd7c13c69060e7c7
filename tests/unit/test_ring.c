// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/ring.h"
#include "tests/unit/unit.h"

#include <errno.h>

#define BYTES 4096

/* A ring in ordinary memory, to which the test writes like the kernel. */
static struct perf_event_mmap_page page;
static unsigned char *data; /* exactly BYTES, so that a sanitizer finds reads beyond it */
static struct blocks *blocks;

static struct ring make_ring(uint64_t at)
{
	memset(&page, 0, sizeof(page));
	page.data_head = page.data_tail = at;
	memset(data, 0xff, BYTES);
	return (struct ring){ .page = &page, .data = data, .bytes = BYTES, .page_size = 4096, .blocks = blocks };
}

static void put(uint64_t at, const void *bytes, size_t len)
{
	size_t i;

	for (i = 0; i < len; i++)
		data[(at + i) % BYTES] = ((const unsigned char *)bytes)[i];
}

/* Each word after the header has the record's type, and the number of the word in the record. */
static void write_record(uint32_t type, size_t size)
{
	struct perf_event_header h = { .type = type, .size = (uint16_t)size };
	uint64_t word;

	put(page.data_head, &h, sizeof(h));
	for (word = 1; word < size / 8; word++) {
		uint64_t value = (uint64_t)type << 32 | word;

		put(page.data_head + 8 * word, &value, sizeof(value));
	}
	__atomic_store_n(&page.data_head, page.data_head + size, __ATOMIC_RELEASE);
}

struct seen {
	uint32_t type[1024];
	size_t size[1024];
	size_t nr, bytes;
	size_t fail_at; /* answer -ENOMEM to the record with this number */
	struct ring *ring;
	size_t nr_full, at_full;           /* calls of count_full(), and records before the last call */
	bool full_again, first_full_again; /* ring_full_again() in the last call, and in the first */
};

/* Forget the ring without unmapping: it was never mapped. */
static void ring_forget(struct ring *r)
{
	r->page = NULL;
	ring_unmap(r);
}

static int see(void *ctx, const struct perf_event_header *record, size_t size)
{
	struct seen *s = ctx;
	const uint64_t *words = (const uint64_t *)record;
	uint64_t i;

	ck_assert_uint_lt(s->nr, ARRAY_SIZE(s->type));
	ck_assert_uint_eq((uintptr_t)record % 8, 0);
	ck_assert_uint_eq(record->size, size);
	for (i = 1; i < size / 8; i++)
		ck_assert_uint_eq(words[i], (uint64_t)record->type << 32 | i);
	s->type[s->nr] = record->type;
	s->size[s->nr] = size;
	s->bytes += size;
	return ++s->nr == s->fail_at ? -ENOMEM : 0;
}

static void setup(void)
{
	data = malloc(BYTES);
	ck_assert_ptr_nonnull(data);
	blocks = blocks_new(64);
	ck_assert_ptr_nonnull(blocks);
}

static void teardown(void)
{
	blocks_delete(blocks);
	free(data);
}

START_TEST(test_empty)
{
	struct ring r = make_ring(0);
	struct seen s = { 0 };

	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 0);
	ck_assert_uint_eq(page.data_tail, 0);
	ring_forget(&r);
}
END_TEST

/* Counters run freely: offsets in the mapping are the counters modulo its size, also after a wrap. */
static const uint64_t starts[] = {
	0,
	BYTES,
	(1ULL << 32) - BYTES,
	1ULL << 32,
	(1ULL << 63) - BYTES,
	1ULL << 63,
	0 - 2ULL * BYTES,
	0 - 1ULL * BYTES,
};

/* Three records: the first one of 24 bytes begins at each possible place; with valgrind, at some of them. */
START_TEST(test_every_place)
{
	uint64_t place, step = unit_below_valgrind() ? 88 : 8;

	for (place = 0; place < BYTES; place += step) {
		struct ring r = make_ring(starts[_i] + place);
		struct seen s = { 0 };

		write_record(1, 24);
		write_record(2, 8);
		write_record(3, 2048);
		ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
		ck_assert_uint_eq(s.nr, 3);
		ck_assert_uint_eq(s.type[0], 1);
		ck_assert_uint_eq(s.type[1], 2);
		ck_assert_uint_eq(s.type[2], 3);
		ck_assert_uint_eq(s.size[2], 2048);
		ck_assert_uint_eq(page.data_tail, starts[_i] + place + 24 + 8 + 2048);
		ck_assert_uint_eq(page.data_tail, page.data_head);
		ring_forget(&r);
	}
}
END_TEST

START_TEST(test_full)
{
	static const size_t sizes[] = { 8, 16, 64, 1024, 2048, BYTES };
	struct ring r = make_ring(starts[_i] + 40);
	struct seen s = { 0 };
	size_t i, n;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		s = (struct seen){ 0 };
		for (n = 0; n < BYTES / sizes[i]; n++)
			write_record((uint32_t)n, sizes[i]);
		ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
		ck_assert_uint_eq(s.nr, BYTES / sizes[i]);
		ck_assert_uint_eq(s.type[s.nr - 1], s.nr - 1);
		ck_assert_uint_eq(page.data_tail, page.data_head);
	}
	ring_forget(&r);
}
END_TEST

/* @left bytes were free when the ring was read; the largest record needs 1024. */
static const struct {
	size_t left;
	bool full;
} nearly_full[] = { { 0, true }, { 8, true }, { 1016, true }, { 1024, false }, { BYTES - 8, false } };

static int count_full(void *ctx, uint64_t copied_ns)
{
	struct seen *s = ctx;

	ck_assert_uint_gt(copied_ns, 0);
	s->nr_full++;
	s->at_full = s->nr;
	s->full_again = ring_full_again(s->ring);
	if (s->nr_full == 1)
		s->first_full_again = s->full_again;
	return 0;
}

START_TEST(test_nearly_full)
{
	struct ring r = make_ring(starts[0]);
	struct seen s = { .ring = &r };

	r.record = 1024;
	write_record(1, BYTES - nearly_full[_i].left);
	ck_assert_int_eq(ring_read(&r, see, count_full, &s), 0);
	ck_assert_uint_eq(s.nr_full, nearly_full[_i].full);
	ck_assert(!s.full_again);

	/* It is reported once. */
	write_record(2, 64);
	ck_assert_int_eq(ring_read(&r, see, count_full, &s), 0);
	ck_assert_uint_eq(s.nr_full, nearly_full[_i].full);

	/* Without ring.record, the owner is not told. */
	ring_forget(&r);
	r = make_ring(starts[0]);
	write_record(3, BYTES);
	ck_assert_int_eq(ring_read(&r, see, count_full, &s), 0);
	ck_assert_uint_eq(s.nr_full, nearly_full[_i].full);
	ring_forget(&r);
}
END_TEST

/* Whenever the ring was full, count_full() is called once, for records in memory and for records in the ring. */
START_TEST(test_full_again)
{
	struct ring r = make_ring(starts[0]);
	struct seen s = { .ring = &r };

	r.record = 1024;
	write_record(0, BYTES);
	ck_assert_int_eq(ring_empty(&r), 0);
	write_record(1, 64);
	ck_assert_int_eq(ring_empty(&r), 0);
	ck_assert_uint_eq(ring_kept(&r), BYTES + 64);
	ck_assert_int_eq(ring_read(&r, see, count_full, &s), 0);
	ck_assert_uint_eq(s.nr_full, 1);
	ck_assert_uint_eq(s.at_full, 1);
	ck_assert(!s.full_again);

	write_record(2, BYTES);
	ck_assert_int_eq(ring_empty(&r), 0);
	write_record(3, BYTES);
	ck_assert_int_eq(ring_read(&r, see, count_full, &s), 0);
	ck_assert_uint_eq(s.nr_full, 3);
	ck_assert_uint_eq(s.at_full, 4);
	ck_assert(!s.full_again); /* after the last of them */
	ck_assert_uint_eq(ring_kept(&r), 0);
	ring_forget(&r);
}
END_TEST

/* While a full ring is read, it becomes full again; if @fail_at is set, its records then go to memory at once. */
static int fill(void *ctx, const struct perf_event_header *record, size_t size)
{
	struct seen *s = ctx;

	if (!s->nr) {
		write_record(1, BYTES);
		if (s->fail_at)
			ck_assert_int_eq(ring_empty(s->ring), 0);
	}
	s->nr++;
	(void)record;
	(void)size;
	return 0;
}

START_TEST(test_full_meanwhile)
{
	struct ring r = make_ring(starts[0]);
	struct seen s = { .ring = &r, .fail_at = (size_t)_i };

	r.record = 1024;
	write_record(0, BYTES);
	ck_assert_int_eq(ring_empty(&r), 0);
	ck_assert_int_eq(ring_read(&r, fill, count_full, &s), 0);
	ck_assert_uint_eq(s.nr_full, 2);
	ck_assert(s.first_full_again);
	ck_assert(!s.full_again);
	ck_assert_uint_eq(ring_kept(&r), 0);
	ring_forget(&r);
}
END_TEST

static int fill_and_count(void *ctx, uint64_t copied_ns)
{
	write_record(1, BYTES);
	return count_full(ctx, copied_ns);
}

/* The same for a full ring that is read without ring_empty(), and full again when count_full() is called: one call. */
START_TEST(test_full_afterwards)
{
	struct ring r = make_ring(starts[0]);
	struct seen s = { .ring = &r };

	r.record = 1024;
	write_record(0, BYTES);
	ck_assert_int_eq(ring_read(&r, see, fill_and_count, &s), 0);
	ck_assert_uint_eq(s.nr_full, 1);
	ck_assert(s.full_again);
	ring_forget(&r);
}
END_TEST

/* Records in memory come before those in the ring, and each record once; an empty ring adds nothing. */
START_TEST(test_kept)
{
	struct ring r = make_ring(starts[_i] + 48);
	struct seen s = { 0 };
	uint32_t n = 0, i;
	size_t kept;

	for (i = 0; i < 100; i++) {
		write_record(n++, 8 * (1 + i % 40));
		write_record(n++, 8);
		ck_assert_int_eq(ring_empty(&r), 0);
		ck_assert_uint_eq(page.data_tail, page.data_head);
		kept = ring_kept(&r);
		ck_assert_uint_ge(kept, 16);
		ck_assert_int_eq(ring_empty(&r), 0);
		ck_assert_uint_eq(ring_kept(&r), kept);
		if (i % 7 == 6)
			ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	}
	write_record(n++, 16);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, n);
	for (i = 0; i < n; i++)
		ck_assert_uint_eq(s.type[i], i);
	ring_forget(&r);
}
END_TEST

/* Keep half of each record's words; a record of odd type stays unchanged. */
static size_t pack_half(void *ctx, const struct perf_event_header *record, size_t size, void *to)
{
	size_t half = record->type % 2 ? size : 8 * ((size / 8 + 1) / 2);

	ck_assert_ptr_eq(ctx, &page);
	ck_assert_uint_eq((uintptr_t)record % 8, 0);
	ck_assert_uint_eq((uintptr_t)to % 8, 0);
	ck_assert_uint_eq(record->size, size);
	memmove(to, record, half);
	((struct perf_event_header *)to)->size = (uint16_t)half;
	return half;
}

/* Records are packed when they are moved, wherever they begin. */
START_TEST(test_packed)
{
	uint64_t place, step = unit_below_valgrind() ? 88 : 8;

	for (place = 0; place < BYTES; place += step) {
		struct ring r = make_ring(starts[_i] + place);
		struct seen s = { 0 };

		r.pack = pack_half;
		r.pack_ctx = &page;
		write_record(2, 24);
		write_record(3, 16);
		write_record(4, 2048);
		ck_assert_int_eq(ring_empty(&r), 0);
		ck_assert_uint_eq(ring_kept(&r), 16 + 16 + 1024);
		ck_assert_uint_eq(page.data_tail, page.data_head);
		write_record(6, 800);
		ck_assert_int_eq(ring_empty(&r), 0);
		ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
		write_record(8, 24);
		ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
		ck_assert_uint_eq(s.nr, 5);
		ck_assert_uint_eq(s.size[0], 16);
		ck_assert_uint_eq(s.size[1], 16);
		ck_assert_uint_eq(s.size[2], 1024);
		ck_assert_uint_eq(s.size[3], 400);
		ck_assert_uint_eq(s.size[4], 16);
		ring_forget(&r);
	}
}
END_TEST

/* An impossible size: the records after it are dropped, and the reader notices. */
START_TEST(test_packed_bad_size)
{
	static const size_t sizes[] = { 0, 4, 12, 48, 65528 };
	struct perf_event_header bad = { .type = 9, .size = (uint16_t)sizes[_i] };
	struct ring r = make_ring(BYTES - 32);
	struct seen s = { 0 };

	r.pack = pack_half;
	r.pack_ctx = &page;
	write_record(2, 24);
	put(page.data_head, &bad, sizeof(bad));
	page.data_head += 40;
	ck_assert_int_eq(ring_empty(&r), 0);
	ck_assert_uint_eq(ring_kept(&r), 16);
	write_record(4, 24);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -EBADMSG);
	ck_assert_uint_eq(s.nr, 1);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 2);
	ck_assert_uint_eq(s.type[1], 4);
	ring_forget(&r);
}
END_TEST

/* Another thread empties the ring all the time: each record is read once, in order. */
struct emptier {
	struct ring *ring;
	bool over;
};

static void *empty_always(void *arg)
{
	struct emptier *e = arg;

	while (!__atomic_load_n(&e->over, __ATOMIC_RELAXED))
		if (ring_empty(e->ring))
			return e;
	return NULL;
}

static int see_next(void *ctx, const struct perf_event_header *record, size_t size)
{
	uint32_t *next = ctx;

	(void)size;
	return record->type == (*next)++ ? 0 : -EPROTO;
}

START_TEST(test_two_threads)
{
	struct ring r = make_ring(0);
	struct emptier e = { .ring = &r };
	uint32_t written = 0, next = 0, all = (uint32_t)unit_times(200000);
	pthread_t thread;
	void *failed;

	ck_assert_int_eq(pthread_create(&thread, NULL, empty_always, &e), 0);
	while (written < all) {
		while (written < all && page.data_head - __atomic_load_n(&page.data_tail, __ATOMIC_ACQUIRE) < BYTES / 2)
			write_record(written++, 8);
		ck_assert_int_eq(ring_read(&r, see_next, NULL, &next), 0);
	}
	__atomic_store_n(&e.over, true, __ATOMIC_RELAXED);
	pthread_join(thread, &failed);
	ck_assert_ptr_null(failed);
	ck_assert_int_eq(ring_read(&r, see_next, NULL, &next), 0);
	ck_assert_uint_eq(next, all);
	ring_forget(&r);
}
END_TEST

/* A bad record costs only the records behind it that ring_empty() found in the ring with it. */
START_TEST(test_bad_part)
{
	struct perf_event_header bad = { .type = 9, .size = 12 };
	struct ring r = make_ring(0);
	struct seen s = { 0 };

	write_record(1, 16);
	ck_assert_int_eq(ring_empty(&r), 0);
	write_record(2, 16);
	put(page.data_head, &bad, sizeof(bad));
	page.data_head += 64;
	ck_assert_int_eq(ring_empty(&r), 0);
	write_record(3, 16);
	ck_assert_int_eq(ring_empty(&r), 0);
	page.data_head += 2 * BYTES; /* no kernel does this */
	ck_assert_int_eq(ring_empty(&r), 0);
	write_record(4, 16);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -EBADMSG);
	ck_assert_uint_eq(s.nr, 2);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -EBADMSG);
	ck_assert_uint_eq(s.nr, 3);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 4);
	ck_assert_uint_eq(s.type[3], 4);
	ring_forget(&r);
}
END_TEST

/* An impossible size after a valid record; @left bytes are in the ring from the bad record on. */
static const struct {
	uint16_t size;
	uint64_t left;
} bad_sizes[] = {
	{ 0, 8 },       { 0, 1024 },          { 1, 64 },           { 4, 64 },     { 7, 64 },
	{ 9, 64 },      { 12, 64 },           { 63, 64 },          { 16, 8 },     { 24, 16 },
	{ 1032, 1024 }, { BYTES, BYTES - 8 }, { 4104, 4096 - 32 }, { 65528, 64 }, { 65535, 64 },
};

START_TEST(test_bad_size)
{
	struct perf_event_header h = { .type = 2, .size = bad_sizes[_i].size };
	struct ring r = make_ring(4096 - 32);
	struct seen s = { 0 };

	write_record(1, 8);
	put(page.data_head, &h, sizeof(h));
	page.data_head += bad_sizes[_i].left;
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -EBADMSG);
	ck_assert_uint_eq(s.nr, 1);
	ck_assert_uint_eq(page.data_tail, page.data_head);

	write_record(3, 16); /* records that come later are read */
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 2);
	ck_assert_uint_eq(s.type[1], 3);
	ring_forget(&r);
}
END_TEST

/*
 * Counters that no kernel writes: more than the ring holds, or a head before the tail. The data is a sequence of valid
 * records.
 */
static const struct {
	uint64_t head, tail;
} bad_counters[] = {
	{ BYTES + 8, 0 }, { 1ULL << 40, 0 }, { 1ULL << 63, 8 }, { UINT64_MAX - 7, 0 }, { 0, 8 }, { 4096, 8192 },
};

START_TEST(test_bad_counters)
{
	struct ring r = make_ring(0);
	struct seen s = { 0 };
	size_t i;

	for (i = 0; i < BYTES / 8; i++)
		write_record(1, 8);
	page.data_head = bad_counters[_i].head;
	page.data_tail = bad_counters[_i].tail;
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -EBADMSG);
	ck_assert_uint_eq(s.nr, 0);
	ck_assert_uint_eq(page.data_tail, bad_counters[_i].head);
	ring_forget(&r);
}
END_TEST

/* An error of the callback: its record has been read, the next one is read by the next call. */
START_TEST(test_callback_error)
{
	struct ring r = make_ring(BYTES - 24);
	struct seen s = { .fail_at = (size_t)_i };
	int i;

	for (i = 1; i <= 5; i++)
		write_record((uint32_t)i, 16);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -ENOMEM);
	ck_assert_uint_eq(s.nr, _i);
	ck_assert_uint_eq(ring_kept(&r), 16 * (5 - (size_t)_i));
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 5);
	for (i = 1; i <= 5; i++)
		ck_assert_uint_eq(s.type[i - 1], i);
	ring_forget(&r);
}
END_TEST

static int see_and_write(void *ctx, const struct perf_event_header *record, size_t size)
{
	int rc = see(ctx, record, size);

	write_record(9, 8); /* a kernel as fast as the reader */
	return rc;
}

/* Records that come while the ring is read are for the next time: a busy CPU cannot hold up the reader. */
START_TEST(test_ends_with_busy_writer)
{
	struct ring r = make_ring(0);
	struct seen s = { 0 };

	write_record(1, 8);
	write_record(1, 8);
	ck_assert_int_eq(ring_read(&r, see_and_write, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 2);
	ck_assert_uint_eq(page.data_tail, 16);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 4);
	ring_forget(&r);
}
END_TEST

struct slices {
	uint64_t seen;
	uint64_t tail, moved; /* where the ring began at the last record; most bytes that were moved at once */
	uint64_t full_after;  /* @seen at the first call of told_full() */
};

static int told_full(void *ctx, uint64_t copied_ns)
{
	struct slices *s = ctx;

	(void)copied_ns;
	if (!s->full_after)
		s->full_after = s->seen;
	return 0;
}

static int see_slices(void *ctx, const struct perf_event_header *record, size_t size)
{
	struct slices *s = ctx;

	(void)record;
	s->seen += size;
	if (page.data_tail - s->tail > s->moved)
		s->moved = page.data_tail - s->tail;
	s->tail = page.data_tail;
	return 0;
}

/* The reader moves a large ring part by part: it holds the lock for a short time. */
START_TEST(test_large)
{
	enum { LARGE = 1 << 20, RECORD = 8192 };
	struct perf_event_header *large = calloc(1, LARGE);
	struct ring r = {
		.page = &page, .data = (unsigned char *)large, .bytes = LARGE, .page_size = 4096, .blocks = blocks
	};
	struct slices s = { 0 };
	size_t i;

	ck_assert_ptr_nonnull(large);
	for (i = 0; i < LARGE / RECORD; i++)
		large[i * RECORD / sizeof(*large)] = (struct perf_event_header){ .type = 1, .size = RECORD };
	page = (struct perf_event_mmap_page){ .data_head = LARGE };
	ck_assert_int_eq(ring_read(&r, see_slices, NULL, &s), 0);
	ck_assert_uint_eq(s.seen, LARGE);
	ck_assert_uint_eq(page.data_tail, LARGE);
	ck_assert_uint_le(s.moved, LARGE / 4);

	/* The other thread moves it part by part, too. */
	page = (struct perf_event_mmap_page){ .data_head = LARGE };
	ck_assert_int_eq(ring_empty(&r), 0);
	ck_assert_uint_eq(page.data_tail, LARGE);
	ck_assert_uint_eq(ring_kept(&r), LARGE);
	s = (struct slices){ 0 };
	ck_assert_int_eq(ring_read(&r, see_slices, NULL, &s), 0);
	ck_assert_uint_eq(s.seen, LARGE);

	/* An owner that asks whether the ring was full gets the answer after all records. */
	s = (struct slices){ 0 };
	r.record = RECORD;
	page = (struct perf_event_mmap_page){ .data_head = LARGE };
	ck_assert_int_eq(ring_read(&r, see_slices, told_full, &s), 0);
	ck_assert_uint_eq(s.full_after, LARGE);
	ring_forget(&r);
	free(large);
}
END_TEST

/* The last two blocks are for the reader: without others, records stay in the ring until they are read. */
START_TEST(test_no_block)
{
	struct blocks *few = blocks_new(4);
	struct block *taken[4];
	struct ring r = make_ring(0);
	struct seen s = { 0 };
	size_t i, nr = 0;

	r.blocks = few;
	while ((taken[nr] = blocks_get(few, false)))
		nr++;
	ck_assert_uint_eq(nr, 2);
	write_record(1, 64);
	write_record(2, 64);
	ck_assert_int_eq(ring_empty(&r), -ENOMEM);
	ck_assert_uint_eq(page.data_tail, 0);
	ck_assert_uint_eq(ring_kept(&r), 0);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 2);

	taken[nr++] = blocks_get(few, true);
	taken[nr++] = blocks_get(few, true);
	ck_assert_ptr_null(blocks_get(few, true));
	write_record(3, 64);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), -ENOMEM);
	for (i = 0; i < nr; i++)
		blocks_put(few, taken[i]);
	ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
	ck_assert_uint_eq(s.nr, 3);
	ring_forget(&r);
	blocks_delete(few);
}
END_TEST

/* The records fill several blocks. An error at the first of them loses none. */
START_TEST(test_many_blocks)
{
	struct ring r = make_ring(0);
	uint32_t written = 0, next = 0;
	int round;

	for (round = 0; round < 3; round++) {
		while (ring_kept(&r) < 20 * BLOCK_BYTES) {
			write_record(written++, BYTES / 2 - 64);
			ck_assert_int_eq(ring_empty(&r), 0);
		}
		next += 7; /* a number that does not come now: see_next() ends the reading at the first record */
		ck_assert_int_eq(ring_read(&r, see_next, NULL, &next), -EPROTO);
		next -= 7;
		ck_assert_int_eq(ring_read(&r, see_next, NULL, &next), 0);
		ck_assert_uint_eq(next, written);
		ck_assert_uint_eq(ring_kept(&r), 0);
	}
	ring_forget(&r);
}
END_TEST

/* Blocks that are given back are used again, each only once; first those that have kept their memory. */
START_TEST(test_blocks)
{
	struct block *b[64] = { NULL }, *again;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(b); i++) {
		b[i] = blocks_get(blocks, true);
		ck_assert_ptr_nonnull(b[i]);
		ck_assert_uint_eq(b[i]->used, 0);
		for (k = 0; k < i; k++)
			ck_assert_ptr_ne(b[i], b[k]);
		memset(b[i]->bytes, (int)i, BLOCK_ROOM);
	}
	ck_assert_ptr_null(blocks_get(blocks, true));
	for (i = 0; i < ARRAY_SIZE(b); i++)
		blocks_put(blocks, b[i]);
	again = blocks_get(blocks, false);
	for (k = 0; k < ARRAY_SIZE(b) && b[k] != again; k++)
		;
	ck_assert_uint_lt(k, 32); /* the memory of the later ones was given back */
	for (i = 1; i < ARRAY_SIZE(b); i++)
		ck_assert_ptr_nonnull(blocks_get(blocks, true));
	ck_assert_ptr_null(blocks_get(blocks, true));
}
END_TEST

/* Random sizes for long: what is written is what is read. */
START_TEST(test_stream)
{
	struct ring r = make_ring(starts[_i]);
	size_t written = 0, nr = 0, round;
	struct seen s = { 0 };
	uint32_t seed = 7;

	for (round = 0; round < (uint64_t)unit_times(200); round++) {
		for (;;) {
			size_t size;

			seed = seed * 1103515245 + 12345;
			size = 8 * (1 + (seed >> 16) % 100);
			if (page.data_head + size - page.data_tail > BYTES)
				break;
			write_record((uint32_t)nr++, size);
			written += size;
		}
		ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
		ck_assert_uint_eq(s.bytes, written);
		ck_assert_uint_eq(s.type[s.nr - 1], nr - 1);
		s.nr = 0;
	}
	ring_forget(&r);
}
END_TEST

START_TEST(test_map_fails)
{
	struct ring r = { 0 };

	ck_assert_int_eq(ring_map(&r, -1, 65536, blocks), -EBADF);
	ck_assert_ptr_null(r.page);
	ck_assert_int_eq(ring_map(&r, -1, 0, blocks), -EINVAL);
	ck_assert_int_eq(ring_map(&r, -1, (size_t)sysconf(_SC_PAGESIZE) / 2, blocks), -EINVAL);
	ring_unmap(&r);
	ring_unmap(&r);
}
END_TEST

struct looked {
	uint64_t words[16];
	size_t nr;
};

static void look(void *ctx, const struct perf_event_header *record, uint64_t word)
{
	struct looked *l = ctx;

	ck_assert_uint_lt(l->nr, ARRAY_SIZE(l->words));
	ck_assert_uint_eq(record->type, word >> 32);
	l->words[l->nr++] = word;
}

/* Each record is looked at once, at each possible place, unless it was read before. */
START_TEST(test_look)
{
	uint64_t place;

	for (place = 0; place < BYTES; place += 8) {
		struct ring r = make_ring(starts[_i] + place);
		struct looked l = { 0 };
		struct seen s = { 0 };

		ring_look(&r, 16, look, &l);
		write_record(1, 24);
		write_record(2, 8); /* has no such word */
		write_record(3, 16);
		write_record(4, 2048);
		ring_look(&r, 16, look, &l);
		ring_look(&r, 16, look, &l);
		ck_assert_uint_eq(l.nr, 2);
		ck_assert_uint_eq(l.words[0], 1ULL << 32 | 2);
		ck_assert_uint_eq(l.words[1], 4ULL << 32 | 2);
		write_record(5, 24);
		ck_assert_int_eq(ring_read(&r, see, NULL, &s), 0);
		write_record(6, 24);
		ring_look(&r, 16, look, &l);
		ck_assert_uint_eq(l.nr, 3);
		ck_assert_uint_eq(l.words[2], 6ULL << 32 | 2);
		ck_assert_uint_eq(page.data_tail, page.data_head - 24);
		ring_forget(&r);
	}
}
END_TEST

/* A look ends at an impossible size or counter. The next look begins behind all that was in the ring then. */
START_TEST(test_look_damaged)
{
	static const uint16_t sizes[] = { 0, 7, 12, 4000 };
	struct ring r = make_ring(starts[_i]);
	struct perf_event_header bad = { .type = 9 };
	struct looked l = { 0 };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		bad.size = sizes[i];
		write_record(1, 16);
		put(page.data_head, &bad, sizeof(bad));
		page.data_head += 16;
		ring_look(&r, 8, look, &l);
		ck_assert_uint_eq(l.nr, i + 1);
	}
	page.data_head += 2 * BYTES;
	ring_look(&r, 8, look, &l);
	page.data_tail = page.data_head - 4;
	ring_look(&r, 8, look, &l);
	ck_assert_uint_eq(l.nr, i);
	ring_forget(&r);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("ring");
	TCase *tc = tcase_create("ring");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_empty);
	tcase_add_loop_test(tc, test_every_place, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, test_full, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, test_nearly_full, 0, ARRAY_SIZE(nearly_full));
	tcase_add_test(tc, test_full_again);
	tcase_add_loop_test(tc, test_full_meanwhile, 0, 2);
	tcase_add_test(tc, test_full_afterwards);
	tcase_add_loop_test(tc, test_kept, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, test_packed, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, test_packed_bad_size, 0, 5);
	tcase_add_test(tc, test_two_threads);
	tcase_add_test(tc, test_bad_part);
	tcase_add_loop_test(tc, test_bad_size, 0, ARRAY_SIZE(bad_sizes));
	tcase_add_loop_test(tc, test_bad_counters, 0, ARRAY_SIZE(bad_counters));
	tcase_add_loop_test(tc, test_callback_error, 1, 6);
	tcase_add_test(tc, test_ends_with_busy_writer);
	tcase_add_test(tc, test_large);
	tcase_add_test(tc, test_no_block);
	tcase_add_test(tc, test_many_blocks);
	tcase_add_test(tc, test_blocks);
	tcase_add_loop_test(tc, test_look, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, test_look_damaged, 0, ARRAY_SIZE(starts));
	tcase_add_loop_test(tc, test_stream, 0, ARRAY_SIZE(starts));
	tcase_add_test(tc, test_map_fails);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
