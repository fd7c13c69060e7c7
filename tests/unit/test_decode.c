// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/decode.h"
#include "backend-perfring/pack.h"
#include "compat/perf_deferred.h"
#include "tests/unit/unit.h"

/* A record in the kernel's format, word by word. */
struct writer {
	uint64_t words[64];
	size_t nr;
};

static void put(struct writer *w, uint64_t word)
{
	ck_assert_uint_lt(w->nr, ARRAY_SIZE(w->words));
	w->words[w->nr++] = word;
}

static uint64_t two(uint32_t low, uint32_t high)
{
	return (uint64_t)high << 32 | low;
}

static void put_text(struct writer *w, const char *text)
{
	size_t words = strlen(text) / 8 + 1;

	ck_assert_uint_le(w->nr + words, ARRAY_SIZE(w->words));
	memcpy(&w->words[w->nr], text, strlen(text) + 1);
	w->nr += words;
}

static void finish(struct writer *w, uint32_t type, uint16_t misc)
{
	struct perf_event_header h = { type, misc, (uint16_t)(8 * w->nr) };

	memcpy(w->words, &h, sizeof(h));
}

/* Decode a copy of the first @size bytes, in memory that ends there. @fix: the header has this size, too. */
static int decode_copy(const struct perf_event_attr *attr, const struct writer *w, size_t size, bool fix,
		       struct record *r, void **bytes)
{
	/* One byte instead of none: malloc(0) may return anything. */
	struct perf_event_header *copy = malloc(size ? size : 1);

	ck_assert_ptr_nonnull(copy);
	memcpy(copy, w->words, size);
	if (fix && size >= 8)
		copy->size = (uint16_t)size;
	*bytes = copy;
	return decode_record(attr, copy, size, r);
}

/* The fields after every record that is not a sample, see perf_event_open(2). */
static void put_sample_id(struct writer *w, const struct perf_event_attr *attr)
{
	uint64_t type = attr->sample_type;

	if (!attr->sample_id_all)
		return;
	if (type & PERF_SAMPLE_TID)
		put(w, two(901, 902));
	if (type & PERF_SAMPLE_TIME)
		put(w, 77000);
	if (type & PERF_SAMPLE_ID)
		put(w, 903);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(w, 904);
	if (type & PERF_SAMPLE_CPU)
		put(w, two(5, 0xffffffff));
	if (type & PERF_SAMPLE_IDENTIFIER)
		put(w, 905);
}

static const uint64_t bits[] = {
	PERF_SAMPLE_IDENTIFIER, PERF_SAMPLE_TID, PERF_SAMPLE_TIME, PERF_SAMPLE_ID,     PERF_SAMPLE_STREAM_ID,
	PERF_SAMPLE_CPU,        PERF_SAMPLE_IP,  PERF_SAMPLE_ADDR, PERF_SAMPLE_PERIOD, PERF_SAMPLE_CALLCHAIN,
};
#define SAMPLE_ID_SETS (1 << 6)
#define SAMPLE_SETS    (1 << 10)

/* The @n-th combination of bits. */
static uint64_t bit_set(unsigned int n)
{
	uint64_t type = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bits); i++)
		if (n & 1U << i)
			type |= bits[i];
	return type;
}

/* ---- samples */

static const uint64_t chain[] = { PERF_CONTEXT_KERNEL, 0xffffffff81000000, PERF_CONTEXT_USER, 0x401000, 0x402000 };

/* The order of a sample's fields, see perf_event_open(2). */
static struct writer make_sample(uint64_t type)
{
	struct writer w = { .nr = 1 };
	size_t i;

	if (type & PERF_SAMPLE_IDENTIFIER)
		put(&w, 801);
	if (type & PERF_SAMPLE_IP)
		put(&w, 0x401000);
	if (type & PERF_SAMPLE_TID)
		put(&w, two(11, 12));
	if (type & PERF_SAMPLE_TIME)
		put(&w, 123456789);
	if (type & PERF_SAMPLE_ADDR)
		put(&w, 802);
	if (type & PERF_SAMPLE_ID)
		put(&w, 803);
	if (type & PERF_SAMPLE_STREAM_ID)
		put(&w, 804);
	if (type & PERF_SAMPLE_CPU)
		put(&w, two(3, 0xffffffff));
	if (type & PERF_SAMPLE_PERIOD)
		put(&w, 805);
	if (type & PERF_SAMPLE_CALLCHAIN) {
		put(&w, ARRAY_SIZE(chain));
		for (i = 0; i < ARRAY_SIZE(chain); i++)
			put(&w, chain[i]);
	}
	finish(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
	return w;
}

static void assert_sample(const struct record *r, uint64_t type, const void *bytes, size_t size)
{
	bool callchain = type & PERF_SAMPLE_CALLCHAIN;

	ck_assert_uint_eq(r->type, PERF_RECORD_SAMPLE);
	ck_assert_int_eq(r->pid, type & PERF_SAMPLE_TID ? 11 : 0);
	ck_assert_int_eq(r->tid, type & PERF_SAMPLE_TID ? 12 : 0);
	ck_assert_uint_eq(r->time, type & PERF_SAMPLE_TIME ? 123456789 : 0);
	ck_assert_uint_eq(r->cpu, type & PERF_SAMPLE_CPU ? 3 : UINT32_MAX);
	ck_assert_uint_eq(r->sample.ip, type & PERF_SAMPLE_IP ? 0x401000 : 0);
	ck_assert_uint_eq(r->sample.nr, callchain ? ARRAY_SIZE(chain) : 0);
	ck_assert((const char *)(r->sample.ips + r->sample.nr) <= (const char *)bytes + size);
	if (callchain)
		ck_assert_mem_eq(r->sample.ips, chain, sizeof(chain));
}

START_TEST(test_sample)
{
	unsigned int n;

	for (n = 0; n < SAMPLE_SETS; n++) {
		uint64_t type = bit_set(n);
		struct perf_event_attr attr = { .sample_type = type, .sample_id_all = (unsigned int)_i };
		struct writer w = make_sample(type);
		struct record r;
		size_t size;
		void *bytes;

		ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
		assert_sample(&r, type, bytes, 8 * w.nr);
		free(bytes);
		for (size = 0; size < 8 * w.nr; size += 8) {
			ck_assert_int_eq(decode_copy(&attr, &w, size, true, &r, &bytes), -EBADMSG);
			free(bytes);
		}
	}
}
END_TEST

/* The fields after the callchain. The mask has three registers. */
#define REGS_MASK (1ULL << 3 | 1ULL << 7 | 1ULL << 63)

enum { RAW = 1, BRANCHES = 2, REGS = 4, STACK = 8, ALL_TAILS = 16 };

static const uint64_t copied[] = { 0x5151515151515151, 0x5252525252525252, 0x5353535353535353 };

static void put_words(struct writer *w, const uint64_t *words, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		put(w, words[i]);
}

/* Their order, see perf_event_open(2). @size: how much of the copy is valid. */
static struct writer make_tails(unsigned int tails, uint64_t size, struct perf_event_attr *attr)
{
	static const uint64_t raw[] = { 4 | 0xa1a2a3a4ULL << 32 }, regs[] = { PERF_SAMPLE_REGS_ABI_64, 33, 77, 6363 };
	static const uint64_t branches[] = { 2, 1, 2, 3, 4, 5, 6 };
	struct writer w = make_sample(attr->sample_type);

	if (tails & RAW)
		put_words(&w, raw, ARRAY_SIZE(raw));
	if (tails & BRANCHES)
		put_words(&w, branches, ARRAY_SIZE(branches));
	if (tails & REGS)
		put_words(&w, regs, ARRAY_SIZE(regs));
	if (tails & STACK) {
		put(&w, sizeof(copied));
		put_words(&w, copied, ARRAY_SIZE(copied));
		put(&w, size);
	}
	attr->sample_type |= (tails & RAW ? PERF_SAMPLE_RAW : 0) | (tails & BRANCHES ? PERF_SAMPLE_BRANCH_STACK : 0) |
			     (tails & REGS ? PERF_SAMPLE_REGS_USER : 0) | (tails & STACK ? PERF_SAMPLE_STACK_USER : 0);
	attr->sample_regs_user = REGS_MASK;
	finish(&w, PERF_RECORD_SAMPLE, 0);
	return w;
}

static void assert_tails(const struct record *r, unsigned int tails)
{
	ck_assert_int_eq(r->sample.raw != NULL, !!(tails & RAW));
	ck_assert_uint_eq(r->sample.raw_size, tails & RAW ? 4 : 0);
	ck_assert_uint_eq(r->sample.abi, tails & REGS ? PERF_SAMPLE_REGS_ABI_64 : PERF_SAMPLE_REGS_ABI_NONE);
	if (tails & REGS) {
		ck_assert_uint_eq(r->sample.mask, REGS_MASK);
		ck_assert_uint_eq(r->sample.regs[0], 33);
		ck_assert_uint_eq(r->sample.regs[1], 77);
		ck_assert_uint_eq(r->sample.regs[2], 6363);
	}
	ck_assert_int_eq(r->sample.stack != NULL, !!(tails & STACK));
	ck_assert_uint_eq(r->sample.stack_size, tails & STACK ? 16 : 0);
	ck_assert_int_eq(r->sample.stack_whole, !!(tails & STACK));
	if (tails & STACK)
		ck_assert_mem_eq(r->sample.stack, copied, 16);
}

/* Each combination of these fields, and all sizes below the needed one. A word after them is left alone. */
START_TEST(test_tails)
{
	const uint64_t heads[] = { 0, PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN, bit_set(SAMPLE_SETS - 1) };
	struct record r;
	size_t i, size;
	void *bytes;

	for (i = 0; i < ARRAY_SIZE(heads); i++) {
		struct perf_event_attr attr = { .sample_type = heads[i] };
		struct writer w = make_tails((unsigned int)_i, 16, &attr);

		for (size = 0; size < 8 * w.nr; size += 8) {
			ck_assert_int_eq(decode_copy(&attr, &w, size, true, &r, &bytes), -EBADMSG);
			free(bytes);
		}
		put(&w, UINT64_MAX);
		finish(&w, PERF_RECORD_SAMPLE, 0);
		ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
		assert_sample(&r, heads[i], bytes, 8 * w.nr);
		assert_tails(&r, (unsigned int)_i);
		free(bytes);
	}
}
END_TEST

/* Nine words after a sample's head: registers first, then the size of a copy. */
static const struct {
	const char *what;
	uint64_t mask; /* 0: the event has no registers */
	uint64_t words[9];
	int rc;
	uint64_t abi, size;
	bool stack, whole;
} copies[] = {
	{ "whole", 0, { 40, 1, 2, 3, 4, 5, 39 }, 1, 0, 39, true, true },
	{ "full", 0, { 40, 1, 2, 3, 4, 5, 40 }, 1, 0, 40, true, false },
	{ "nothing copied", 0, { 40, 1, 2, 3, 4, 5, 0 }, 1, 0, 0, true, true },
	{ "no room", 0, { 0, 9, 9 }, 1, 0, 0, false, false },
	{ "as large as the record", 0, { 56, 1, 2, 3, 4, 5, 6, 7, 56 }, 1, 0, 56, true, false },
	{ "more than the room", 0, { 40, 1, 2, 3, 4, 5, 41 }, -EBADMSG },
	{ "far more", 0, { 40, 1, 2, 3, 4, 5, UINT64_MAX }, -EBADMSG },
	{ "more by 2^32", 0, { 40, 1, 2, 3, 4, 5, (1ULL << 32) + 40 }, -EBADMSG },
	{ "a room that is not a multiple of words", 0, { 41, 1, 2, 3, 4, 5, 40 }, -EBADMSG },
	{ "a room of a byte", 0, { 1, 1 }, -EBADMSG },
	{ "a room of 7 bytes", 0, { 7, 0 }, -EBADMSG },
	{ "without a size", 0, { 64, 1, 2, 3, 4, 5, 6, 7, 8 }, -EBADMSG },
	{ "one word too large", 0, { 72, 1, 2, 3, 4, 5, 6, 7, 8 }, -EBADMSG },
	{ "far too large", 0, { 1 << 20 }, -EBADMSG },
	{ "2^32 and the record", 0, { (1ULL << 32) + 40, 1, 2, 3, 4, 5, 40 }, -EBADMSG },
	{ "2^63", 0, { 1ULL << 63, 40 }, -EBADMSG },
	{ "all of memory", 0, { UINT64_MAX - 7, 40 }, -EBADMSG },
	{ "UINT64_MAX", 0, { UINT64_MAX, 40 }, -EBADMSG },
	{ "registers and a copy", 7, { 2, 11, 12, 13, 24, 1, 2, 3, 23 }, 1, 2, 23, true, true },
	{ "of 32 bits", 7, { 1, 11, 12, 13, 24, 1, 2, 3, 24 }, 1, 1, 24, true, false },
	{ "without registers no copy", 7, { 0, 0 }, 1, 0, 0, false, false },
	{ "without registers a copy", 7, { 0, 40, 1, 2, 3, 4, 5, 40 }, 1, 0, 40, true, false },
	{ "an unknown abi", 7, { 99, 11, 12, 13, 0 }, 1, 99, 0, false, false },
	{ "the last registers", 0x8000000000000003, { 2, 11, 12, 13, 0 }, 1, 2, 0, false, false },
	{ "registers up to the end: no copy", 0xff, { 2, 1, 2, 3, 4, 5, 6, 7, 8 }, -EBADMSG },
	{ "more registers than words", 0x1ff, { 2, 1, 2, 3, 4, 5, 6, 7, 8 }, -EBADMSG },
	{ "all registers", UINT64_MAX, { 2, 1, 2, 3, 4, 5, 6, 7, 8 }, -EBADMSG },
	{ "all registers of an unknown abi", UINT64_MAX, { UINT64_MAX, 1 }, -EBADMSG },
	{ "registers, a copy beyond", 7, { 2, 11, 12, 13, 32, 1, 2, 3, 4 }, -EBADMSG },
};

START_TEST(test_copy)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_STACK_USER |
						       (copies[_i].mask ? PERF_SAMPLE_REGS_USER : 0),
					.sample_regs_user = copies[_i].mask };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;
	int rc;

	put(&w, two(11, 12));
	put_words(&w, copies[_i].words, ARRAY_SIZE(copies[_i].words));
	finish(&w, PERF_RECORD_SAMPLE, 0);
	rc = decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes);
	ck_assert_msg(rc == copies[_i].rc, "%s: %d", copies[_i].what, rc);
	if (rc == 1) {
		ck_assert_uint_eq(r.sample.abi, copies[_i].abi);
		ck_assert_uint_eq(r.sample.stack_size, copies[_i].size);
		ck_assert_int_eq(r.sample.stack != NULL, copies[_i].stack);
		ck_assert_int_eq(r.sample.stack_whole, copies[_i].whole);
		if (r.sample.stack)
			ck_assert((const char *)r.sample.stack + r.sample.stack_size <= (char *)bytes + 8 * w.nr);
		if (r.sample.abi)
			ck_assert_uint_eq(r.sample.regs[0], 11);
	}
	free(bytes);
}
END_TEST

static void assert_same_copy(const struct record *a, const struct record *b)
{
	ck_assert_int_eq(a->pid, b->pid);
	ck_assert_uint_eq(a->sample.abi, b->sample.abi);
	ck_assert_uint_eq(a->sample.mask, b->sample.mask);
	ck_assert_uint_eq(a->sample.stack_size, b->sample.stack_size);
	ck_assert_int_eq(a->sample.stack != NULL, b->sample.stack != NULL);
	ck_assert_int_eq(a->sample.stack_whole, b->sample.stack_whole);
	ck_assert_uint_eq(a->sample.cgroup, b->sample.cgroup);
	if (a->sample.stack)
		ck_assert(!memcmp(a->sample.stack, b->sample.stack, a->sample.stack_size));
	if (a->sample.abi)
		ck_assert(!memcmp(a->sample.regs, b->sample.regs, 8 * (size_t)__builtin_popcountll(a->sample.mask)));
}

/*
 * A packed record keeps the words of the stack that the kernel wrote, and one more. An invalid record is unchanged.
 * Both also in place.
 */
START_TEST(test_pack)
{
	bool more = _i % 2;
	size_t i = (size_t)_i / 2, room, kept, size;
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_STACK_USER |
						       (more ? PERF_SAMPLE_CGROUP : 0) |
						       (copies[i].mask ? PERF_SAMPLE_REGS_USER : 0),
					.sample_regs_user = copies[i].mask };
	struct writer w = { .nr = 1 };
	struct record before, after;
	void *bytes, *to;
	int rc;

	put(&w, two(11, 12));
	put_words(&w, copies[i].words, ARRAY_SIZE(copies[i].words));
	put(&w, 77);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	rc = decode_copy(&attr, &w, 8 * w.nr, false, &before, &bytes);
	to = malloc(8 * w.nr);
	ck_assert_ptr_nonnull(to);
	size = pack_record(&attr, NULL, bytes, 8 * w.nr, to);
	if (rc != 1) {
		ck_assert_uint_eq(size, 8 * w.nr);
		ck_assert(!memcmp(to, bytes, size));
	} else {
		room = before.sample.stack ? (size_t)((const uint64_t *)before.sample.stack)[-1] : 0;
		kept = 8 * (before.sample.stack_size / 8 + 1);
		ck_assert_uint_eq(size, 8 * w.nr - (kept < room ? room - kept : 0));
		ck_assert_int_eq(decode_record(&attr, to, size, &after), 1);
		assert_same_copy(&before, &after);
		ck_assert_uint_eq(pack_record(&attr, NULL, to, size, to), size);
	}
	ck_assert_uint_eq(pack_record(&attr, NULL, bytes, 8 * w.nr, bytes), size);
	ck_assert(!memcmp(to, bytes, size));
	free(to);
	free(bytes);
}
END_TEST

/* A record that is not a sample, and an event without copies. */
START_TEST(test_pack_other)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_STACK_USER };
	struct writer w = { .nr = 1 };
	uint64_t to[16];

	put(&w, two(11, 12));
	put_words(&w, (const uint64_t[]){ 40, 1, 2, 3, 4, 5, 8 }, 7);
	finish(&w, PERF_RECORD_EXIT, 0);
	ck_assert_uint_eq(pack_record(&attr, NULL, w.words, 8 * w.nr, to), 8 * w.nr);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_uint_eq(pack_record(&attr, NULL, w.words, 8 * w.nr, to), 8 * w.nr - 24);
	attr.sample_type = PERF_SAMPLE_TID;
	ck_assert_uint_eq(pack_record(&attr, NULL, w.words, 8 * w.nr, to), 8 * w.nr);
	ck_assert(!memcmp(to, w.words, 8 * w.nr));
}
END_TEST

#define HW_INDEX PERF_SAMPLE_BRANCH_HW_INDEX
#define COUNTERS (1U << 19) /* PERF_SAMPLE_BRANCH_COUNTERS, of 6.8's header */

/* Eight words after the number of branches. A copy of size 0 follows the skipped part, and is found only there. */
static const struct {
	uint64_t type, nr;
	int rc;
} branches[] = {
	{ 0, 0, 1 },
	{ 0, 2, 1 },
	{ 0, 3, -EBADMSG }, /* nine words */
	{ HW_INDEX, 0, 1 },
	{ HW_INDEX, 2, 1 },
	{ COUNTERS, 0, 1 },
	{ COUNTERS, 1, 1 },
	{ COUNTERS, 2, -EBADMSG }, /* nothing is left for the copy */
	{ COUNTERS, 3, -EBADMSG },
	{ HW_INDEX | COUNTERS, 1, 1 },
	{ HW_INDEX | COUNTERS, 2, -EBADMSG },
	{ 0, 8, -EBADMSG },
	{ 0, 9, -EBADMSG },
	{ 0, 1 << 16, -EBADMSG },
	{ 0, 1ULL << 61, -EBADMSG },
	{ 0, 0x5555555555555556, -EBADMSG }, /* thrice that is 2 */
	{ 0, 0xaaaaaaaaaaaaaaab, -EBADMSG }, /* 1 */
	{ 0, UINT64_MAX, -EBADMSG },
	{ COUNTERS, 1ULL << 62, -EBADMSG }, /* four times that is 0 */
	{ COUNTERS, (1ULL << 62) + 1, -EBADMSG },
	{ HW_INDEX, UINT64_MAX, -EBADMSG },
};

START_TEST(test_branches)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_BRANCH_STACK | PERF_SAMPLE_STACK_USER,
					.branch_sample_type = branches[_i].type };
	uint64_t skipped = !!(branches[_i].type & HW_INDEX) + (branches[_i].type & COUNTERS ? 4 : 3) * branches[_i].nr,
		 i;
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;

	put(&w, branches[_i].nr);
	for (i = 0; i < 8; i++)
		put(&w, branches[_i].rc != 1 || i == skipped ? 0 : 0x7777777777777777);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), branches[_i].rc);
	free(bytes);
}
END_TEST

START_TEST(test_branches_missing)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_BRANCH_STACK,
					.branch_sample_type = _i ? HW_INDEX : 0 };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;

	if (_i)
		put(&w, 0);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), -EBADMSG);
	free(bytes);
}
END_TEST

#define READ_FORMATS (1 << 5) /* combinations of the counters in perf_event_open(2) */

/* The values of a group come with their number, those of a single event without; see perf_event_open(2). */
static void put_read(struct writer *w, uint64_t format, uint64_t nr)
{
	if (format & PERF_FORMAT_GROUP)
		put(w, nr);
	if (format & PERF_FORMAT_TOTAL_TIME_ENABLED)
		put(w, 1001);
	if (format & PERF_FORMAT_TOTAL_TIME_RUNNING)
		put(w, 1002);
	for (; nr; nr--) {
		put(w, 1003);
		if (format & PERF_FORMAT_ID)
			put(w, 1004);
		if (format & PERF_FORMAT_LOST)
			put(w, 1005);
	}
}

/* The callchain is found after any number of counters, and not in a record that ends before it. */
START_TEST(test_read)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_READ | PERF_SAMPLE_CALLCHAIN,
					.read_format = (uint64_t)_i };
	bool group = attr.read_format & PERF_FORMAT_GROUP;
	uint64_t nr;

	for (nr = group ? 0 : 1; nr <= (group ? 4 : 1); nr++) {
		struct writer w = { .nr = 1 };
		struct record r;
		size_t size;
		void *bytes;

		put(&w, two(11, 12));
		put_read(&w, attr.read_format, nr);
		put(&w, 2);
		put(&w, 0x401000);
		put(&w, 0x402000);
		finish(&w, PERF_RECORD_SAMPLE, PERF_RECORD_MISC_USER);
		ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
		ck_assert_int_eq(r.tid, 12);
		ck_assert_uint_eq(r.sample.nr, 2);
		ck_assert_ptr_eq(r.sample.ips, (uint64_t *)bytes + w.nr - 2);
		free(bytes);
		for (size = 0; size < 8 * w.nr; size += 8) {
			ck_assert_int_eq(decode_copy(&attr, &w, size, true, &r, &bytes), -EBADMSG);
			free(bytes);
		}
	}
}
END_TEST

/* Six words after the number of counters. */
static const struct {
	uint64_t format;
	uint64_t nr;
	int rc;
} groups[] = {
	{ 0, 6, 1 },
	{ 0, 7, -EBADMSG },
	{ 0, 1 << 16, -EBADMSG },
	{ 0, UINT64_MAX, -EBADMSG },
	{ PERF_FORMAT_ID, 0, 1 },
	{ PERF_FORMAT_ID, 3, 1 },
	{ PERF_FORMAT_ID, 4, -EBADMSG },
	{ PERF_FORMAT_ID, 6, -EBADMSG },
	{ PERF_FORMAT_ID, 1ULL << 63, -EBADMSG },       /* twice that is 0, */
	{ PERF_FORMAT_ID, (1ULL << 63) + 1, -EBADMSG }, /* or 2 */
	{ PERF_FORMAT_ID, UINT64_MAX, -EBADMSG },
	{ PERF_FORMAT_ID | PERF_FORMAT_LOST, 2, 1 },
	{ PERF_FORMAT_ID | PERF_FORMAT_LOST, 3, -EBADMSG },
	{ PERF_FORMAT_ID | PERF_FORMAT_LOST, 0x5555555555555556, -EBADMSG }, /* thrice that is 2 */
	{ PERF_FORMAT_ID | PERF_FORMAT_LOST, 0xaaaaaaaaaaaaaaab, -EBADMSG },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, 5, 1 },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, 6, -EBADMSG },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED, UINT64_MAX, -EBADMSG }, /* with the time: 0 */
	{ PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING, 4, 1 },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING, 5, -EBADMSG },
	{ PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING, UINT64_MAX - 1, -EBADMSG },
};

START_TEST(test_read_group)
{
	uint64_t each = 1 + !!(groups[_i].format & PERF_FORMAT_ID) + !!(groups[_i].format & PERF_FORMAT_LOST);
	uint64_t times = !!(groups[_i].format & PERF_FORMAT_TOTAL_TIME_ENABLED) +
			 !!(groups[_i].format & PERF_FORMAT_TOTAL_TIME_RUNNING);
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_READ,
					.read_format = PERF_FORMAT_GROUP | groups[_i].format };
	struct writer w = { .nr = 1 };
	struct record r;
	uint64_t i;
	void *bytes;

	put(&w, groups[_i].nr);
	for (i = 0; i < 6; i++)
		put(&w, 1);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), groups[_i].rc);
	if (groups[_i].rc == 1)
		ck_assert_ptr_eq(r.sample.ips, (uint64_t *)bytes + 2 + times + each * groups[_i].nr);
	free(bytes);
}
END_TEST

/* The mode of the CPU is three bits of the header's. */
static const struct {
	uint16_t misc;
	uint32_t mode;
} modes[] = {
	{ PERF_RECORD_MISC_KERNEL, PERF_RECORD_MISC_KERNEL },
	{ PERF_RECORD_MISC_USER, PERF_RECORD_MISC_USER },
	{ PERF_RECORD_MISC_USER | PERF_RECORD_MISC_EXACT_IP, PERF_RECORD_MISC_USER },
	{ PERF_RECORD_MISC_KERNEL | PERF_RECORD_MISC_MMAP_DATA, PERF_RECORD_MISC_KERNEL },
	{ PERF_RECORD_MISC_CPUMODE_UNKNOWN, 0 },
	{ PERF_RECORD_MISC_EXACT_IP, 0 },
	{ PERF_RECORD_MISC_HYPERVISOR, PERF_RECORD_MISC_HYPERVISOR },
	{ PERF_RECORD_MISC_GUEST_KERNEL, PERF_RECORD_MISC_GUEST_KERNEL },
	{ PERF_RECORD_MISC_GUEST_USER, PERF_RECORD_MISC_GUEST_USER },
	{ 0xfff8, 0 },
	{ 0xffff, 7 },
};

START_TEST(test_mode)
{
	static const uint32_t types[] = { PERF_RECORD_SAMPLE, PERF_RECORD_MMAP, PERF_RECORD_THROTTLE, 12345 };
	static const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_IP };
	struct writer w = { .nr = 8 };
	struct record r;
	void *bytes;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		finish(&w, types[i], modes[_i].misc);
		ck_assert_int_ge(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 0);
		ck_assert_uint_eq(r.mode, modes[_i].mode);
		free(bytes);
	}
}
END_TEST

/* Raw data in two words, four bytes of which are its size. */
static const struct {
	uint32_t size;
	int rc;
} raws[] = {
	{ 0, 1 },
	{ 1, 1 },
	{ 8, 1 },
	{ 12, 1 },
	{ 13, -EBADMSG },
	{ 16, -EBADMSG },
	{ 17, -EBADMSG },
	{ 1 << 16, -EBADMSG },
	{ INT32_MAX, -EBADMSG },
	{ UINT32_MAX - 3, -EBADMSG },
	{ UINT32_MAX, -EBADMSG },
};

START_TEST(test_raw)
{
	struct perf_event_attr attr = { .sample_type = bit_set(SAMPLE_SETS - 1) | PERF_SAMPLE_RAW };
	struct writer w = make_sample(attr.sample_type);
	struct record r;
	void *bytes;

	put(&w, raws[_i].size | 0xa1a2a3a4ULL << 32);
	put(&w, 0xb1b2b3b4b5b6b7b8);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), raws[_i].rc);
	if (raws[_i].rc == 1) {
		assert_sample(&r, attr.sample_type, bytes, 8 * w.nr);
		ck_assert_uint_eq(r.sample.raw_size, raws[_i].size);
		ck_assert_ptr_eq(r.sample.raw, (char *)bytes + 8 * (w.nr - 2) + 4);
	}
	free(bytes);
}
END_TEST

START_TEST(test_raw_missing)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_RAW };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;

	put(&w, 11 | 12ULL << 32);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), -EBADMSG);
	free(bytes);
}
END_TEST

/* The identifier is always the first field; a sample without fields has none. */
START_TEST(test_identifier)
{
	uint64_t words[2] = { 0, 4711 };

	ck_assert_uint_eq(decode_identifier((const void *)words, sizeof(words)), 4711);
	ck_assert_uint_eq(decode_identifier((const void *)words, 8), 0);
	ck_assert_uint_eq(decode_identifier((const void *)words, 0), 0);
}
END_TEST

/* A callchain of 3 words with @nr in its header. */
static const struct {
	uint64_t nr;
	int rc;
} chains[] = {
	{ 0, 1 },
	{ 2, 1 },
	{ 3, 1 },
	{ 4, -EBADMSG },
	{ 5, -EBADMSG },
	{ 1 << 16, -EBADMSG },
	{ 1ULL << 32, -EBADMSG },
	{ (1ULL << 32) + 3, -EBADMSG },
	{ 1ULL << 61, -EBADMSG },
	{ (1ULL << 61) + 3, -EBADMSG },
	{ INT64_MAX, -EBADMSG },
	{ UINT64_MAX, -EBADMSG },
};

START_TEST(test_callchain_size)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CALLCHAIN };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;

	put(&w, two(1, 1));
	put(&w, chains[_i].nr);
	put(&w, 1);
	put(&w, 2);
	put(&w, 3);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), chains[_i].rc);
	if (chains[_i].rc == 1)
		ck_assert_uint_eq(r.sample.nr, chains[_i].nr);
	free(bytes);
}
END_TEST

START_TEST(test_dying_task)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;

	put(&w, two(UINT32_MAX, UINT32_MAX));
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 16, false, &r, &bytes), 1);
	ck_assert_int_eq(r.pid, -1);
	ck_assert_int_eq(r.tid, -1);
	free(bytes);
}
END_TEST

/* ---- side-band */

#define MISC_LOST_SAMPLES_BPF (1 << 15) /* perf 6.5 */

/* @words and @text are the record's own part. @least: minimal number of words after the header. */
static const struct {
	uint32_t type;
	uint16_t misc;
	size_t nr;
	uint64_t words[8];
	const char *text; /* NULL: none */
	size_t least;
	int rc;
} others[] = {
	{ PERF_RECORD_COMM, 0, 1, { 11 | 12ULL << 32 }, "cat", 2, 1 },
	{ PERF_RECORD_COMM, PERF_RECORD_MISC_COMM_EXEC, 1, { 11 | 12ULL << 32 }, "fifteen letters", 3, 1 },
	{ PERF_RECORD_COMM, 0, 1, { 11 | 12ULL << 32 }, "", 2, 1 },
	{ PERF_RECORD_MMAP, 0, 4, { 11 | 12ULL << 32, 0x400000, 0x1000, 0x2000 }, "/bin/cat", 6, 1 },
	{ PERF_RECORD_MMAP, 0, 4, { 11 | 12ULL << 32, 0x400000, 0x1000, 0x2000 }, "", 5, 1 },
	{ PERF_RECORD_MMAP2,
	  0,
	  8,
	  { 11 | 12ULL << 32, 0x400000, 0x1000, 0x2000, 8 | 1ULL << 32, 4711, 1, 5 },
	  "/usr/lib/x86_64-linux-gnu/libc.so.6",
	  13,
	  1 },
	{ PERF_RECORD_MMAP2,
	  PERF_RECORD_MISC_MMAP_BUILD_ID,
	  8,
	  { 11 | 12ULL << 32, 0x400000, 0x1000, 0x2000, 0xa123456789abcd14, 4711, 1, 5 },
	  "/bin/cat",
	  10,
	  1 },
	{ PERF_RECORD_FORK, 0, 3, { 11 | 21ULL << 32, 12 | 22ULL << 32, 555 }, NULL, 3, 1 },
	{ PERF_RECORD_FORK, PERF_RECORD_MISC_FORK_EXEC, 3, { 11 | 21ULL << 32, 12 | 22ULL << 32, 555 }, NULL, 3, 1 },
	{ PERF_RECORD_EXIT, 0, 3, { 11 | 21ULL << 32, 12 | 22ULL << 32, 555 }, NULL, 3, 1 },
	{ PERF_RECORD_LOST, 0, 2, { 4, 99 }, NULL, 2, 1 },
	{ PERF_RECORD_LOST, MISC_LOST_SAMPLES_BPF, 2, { 4, 99 }, NULL, 2, 1 },
	{ PERF_RECORD_LOST_SAMPLES, 0, 1, { 99 }, NULL, 1, 1 },
	{ PERF_RECORD_LOST_SAMPLES, MISC_LOST_SAMPLES_BPF, 1, { 99 }, NULL, 1, 1 },
	{ PERF_RECORD_LOST_SAMPLES, 0x7fff, 1, { 99 }, NULL, 1, 1 },
	{ PERF_RECORD_THROTTLE, 0, 3, { 5, 6, 7 }, NULL, 0, 1 },
	{ PERF_RECORD_UNTHROTTLE, 0, 3, { 5, 6, 7 }, NULL, 0, 1 },
	{ PERF_RECORD_READ, 0, 2, { 5, 6 }, NULL, 0, 0 },
	{ RECORD_CALLCHAIN_DEFERRED + 1, 0, 3, { 5, 1, 6 }, NULL, 0, 0 },
	{ PERF_RECORD_AUX, 0, 3, { 5, 6, 7 }, NULL, 0, 0 },
	{ 0, 0, 1, { 5 }, NULL, 0, 0 },
	{ 12345, 0, 1, { 5 }, NULL, 0, 0 },
	{ UINT32_MAX, 0xffff, 0, { 0 }, NULL, 0, 0 },
};

static struct writer make_other(int row, const struct perf_event_attr *attr)
{
	struct writer w = { .nr = 1 };
	size_t i;

	for (i = 0; i < others[row].nr; i++)
		put(&w, others[row].words[i]);
	if (others[row].text)
		put_text(&w, others[row].text);
	put_sample_id(&w, attr);
	finish(&w, others[row].type, others[row].misc);
	return w;
}

static void assert_mmap(int row, const struct record *r)
{
	bool device = others[row].type == PERF_RECORD_MMAP2 && !(others[row].misc & PERF_RECORD_MISC_MMAP_BUILD_ID);

	ck_assert_uint_eq(r->mmap.start, 0x400000);
	ck_assert_uint_eq(r->mmap.len, 0x1000);
	ck_assert_uint_eq(r->mmap.pgoff, 0x2000);
	ck_assert_uint_eq(r->mmap.maj, device ? 8 : 0);
	ck_assert_uint_eq(r->mmap.min, device ? 1 : 0);
	ck_assert_uint_eq(r->mmap.ino, device ? 4711 : 0);
	ck_assert_str_eq(r->mmap.path, others[row].text);
}

static void assert_other(int row, const struct perf_event_attr *attr, const struct record *r)
{
	uint64_t id = attr->sample_id_all ? attr->sample_type : 0;
	bool fork = others[row].type == PERF_RECORD_FORK || others[row].type == PERF_RECORD_EXIT;

	ck_assert_uint_eq(r->type, others[row].type);
	ck_assert_uint_eq(r->cpu, id & PERF_SAMPLE_CPU ? 5 : UINT32_MAX);
	/* FORK and EXIT have a time of their own, even without sample_id_all. */
	ck_assert_uint_eq(r->time, fork ? 555 : id & PERF_SAMPLE_TIME ? 77000 : 0);
	switch (others[row].type) {
	case PERF_RECORD_COMM:
		ck_assert_str_eq(r->comm.name, others[row].text);
		ck_assert_int_eq(r->comm.exec, others[row].misc == PERF_RECORD_MISC_COMM_EXEC);
		break;
	case PERF_RECORD_MMAP:
	case PERF_RECORD_MMAP2:
		assert_mmap(row, r);
		break;
	case PERF_RECORD_FORK:
	case PERF_RECORD_EXIT:
		ck_assert_int_eq(r->fork.ppid, 21);
		ck_assert_int_eq(r->fork.ptid, 22);
		ck_assert_int_eq(r->fork.exec, others[row].misc == PERF_RECORD_MISC_FORK_EXEC);
		break;
	case PERF_RECORD_LOST:
	case PERF_RECORD_LOST_SAMPLES:
		ck_assert_uint_eq(r->lost.records, 99);
		ck_assert_int_eq(r->lost.wanted, others[row].type == PERF_RECORD_LOST_SAMPLES &&
							 others[row].misc == MISC_LOST_SAMPLES_BPF);
		return; /* not about a task */
	default:
		return;
	}
	ck_assert_int_eq(r->pid, 11);
	ck_assert_int_eq(r->tid, 12);
}

/* The strings of a truncated record stay inside it: read them to their ends. */
static void touch(const struct record *r, const char *end)
{
	if (r->type == PERF_RECORD_COMM)
		ck_assert(r->comm.name + strlen(r->comm.name) < end);
	if (r->type == PERF_RECORD_MMAP || r->type == PERF_RECORD_MMAP2)
		ck_assert(r->mmap.path + strlen(r->mmap.path) < end);
}

START_TEST(test_other)
{
	unsigned int n;

	for (n = 0; n < 2 * SAMPLE_ID_SETS; n++) {
		struct perf_event_attr attr = { .sample_type = bit_set(n / 2) | PERF_SAMPLE_IP | PERF_SAMPLE_CALLCHAIN,
						.sample_id_all = n & 1,
						.build_id = 1 };
		struct writer w = make_other(_i, &attr), id = { 0 };
		struct record r;
		size_t size;
		void *bytes;
		int rc;

		put_sample_id(&id, &attr);
		ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), others[_i].rc);
		assert_other(_i, &attr, &r);
		free(bytes);
		for (size = 0; size < 8 * w.nr; size += 8) {
			rc = decode_copy(&attr, &w, size, true, &r, &bytes);
			if (size < 8 * (1 + id.nr + others[_i].least) && others[_i].least)
				ck_assert_int_eq(rc, -EBADMSG);
			if (size < 8 * (1 + id.nr))
				ck_assert_int_eq(rc, -EBADMSG);
			if (rc == 1)
				touch(&r, (const char *)bytes + size);
			free(bytes);
		}
	}
}
END_TEST

/* The first byte of the words at the place of the device: a build id's size, if the header has the flag. */
static const struct {
	uint32_t type;
	uint16_t misc;
	uint8_t size;
	int rc;
	bool there;
	bool unasked; /* the event that wrote the record did not request it */
} build_ids[] = {
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 20, 1, true },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID | PERF_RECORD_MISC_USER, 16, 1, true },
	{ PERF_RECORD_MMAP2, 0xffff, 1, 1, true },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 0, 1, true },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 21, -EBADMSG, false },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 24, -EBADMSG, false },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 255, -EBADMSG, false },
	{ PERF_RECORD_MMAP2, 0, 20, 1, false },
	{ PERF_RECORD_MMAP2, 0, 255, 1, false },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_USER | PERF_RECORD_MISC_MMAP_DATA, 20, 1, false },
	/* another event requested it, and its flag stayed in the header: these words are a device */
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 20, 1, false, true },
	{ PERF_RECORD_MMAP2, PERF_RECORD_MISC_MMAP_BUILD_ID, 255, 1, false, true },
	{ PERF_RECORD_MMAP2, 0xffff, 1, 1, false, true },
	/* Never has one, whatever the header says */
	{ PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_BUILD_ID, 20, 1, false },
	{ PERF_RECORD_MMAP, PERF_RECORD_MISC_MMAP_BUILD_ID, 255, 1, false },
};

START_TEST(test_build_id)
{
	const struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID, .build_id = !build_ids[_i].unasked };
	static const unsigned char id[20] = "0123456789abcdef0123";
	struct writer w = { .nr = 5 };
	struct record r;
	unsigned char *at = (unsigned char *)&w.words[5];
	void *bytes;

	memset(at, 0xee, 32);
	*at = build_ids[_i].size;
	memcpy(at + 4, id, sizeof(id));
	w.nr += 4;
	put_text(&w, "/bin/cat");
	finish(&w, build_ids[_i].type, build_ids[_i].misc);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), build_ids[_i].rc);
	if (build_ids[_i].there) {
		ck_assert_uint_eq(r.mmap.build_id_size, build_ids[_i].size);
		ck_assert_ptr_eq(r.mmap.build_id, (unsigned char *)bytes + 44);
		ck_assert_mem_eq(r.mmap.build_id, id, build_ids[_i].size);
		ck_assert_uint_eq(r.mmap.maj | r.mmap.min | r.mmap.ino, 0);
		ck_assert_str_eq(r.mmap.path, "/bin/cat");
	} else if (build_ids[_i].rc == 1) {
		ck_assert_ptr_null(r.mmap.build_id);
		ck_assert_uint_eq(r.mmap.build_id_size, 0);
		ck_assert_int_eq(r.mmap.maj != 0, build_ids[_i].type == PERF_RECORD_MMAP2);
	}
	free(bytes);
}
END_TEST

/* A name may use all words up to the sample_id, but must end before it. */
START_TEST(test_not_terminated)
{
	static const uint32_t types[] = { PERF_RECORD_COMM, PERF_RECORD_MMAP, PERF_RECORD_MMAP2 };
	static const size_t before[] = { 1, 4, 8 };
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TIME, .sample_id_all = 1 };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;
	size_t i;

	for (i = 0; i < before[_i]; i++)
		put(&w, 0);
	put(&w, 0x4141414141414141);
	put(&w, 0x4141414141414141);
	put(&w, 0); /* the time: not the name's zero */
	finish(&w, types[_i], 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), -EBADMSG);
	free(bytes);
	attr.sample_id_all = 0;
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
	free(bytes);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * (w.nr - 1), true, &r, &bytes), -EBADMSG);
	free(bytes);
	w.words[w.nr - 2] = 0x0041414141414141;
	attr.sample_id_all = 1;
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
	ck_assert_str_eq(_i ? r.mmap.path : r.comm.name, "AAAAAAAAAAAAAAA");
	free(bytes);
}
END_TEST

/* @size bytes with a header whose size is @says. */
static const struct {
	size_t size;
	uint16_t says;
} sizes[] = {
	{ 0, 0 },   { 1, 1 },  { 4, 4 },   { 7, 7 },   { 8, 0 },   { 8, 7 },      { 8, 16 },    { 12, 12 },
	{ 15, 15 }, { 16, 8 }, { 16, 12 }, { 16, 24 }, { 24, 16 }, { 24, 65528 }, { 65536, 0 }, { 65544, 8 },
};

START_TEST(test_size)
{
	static const struct perf_event_attr attr = { .sample_type = 0 };
	unsigned char *bytes = calloc(1, sizes[_i].size + 1), *exact;
	struct perf_event_header h = { .type = PERF_RECORD_THROTTLE, .size = sizes[_i].says };
	struct record r;

	ck_assert_ptr_nonnull(bytes);
	memcpy(bytes, &h, sizes[_i].size < sizeof(h) ? sizes[_i].size : sizeof(h));
	exact = malloc(sizes[_i].size ? sizes[_i].size : 1);
	ck_assert_ptr_nonnull(exact);
	memcpy(exact, bytes, sizes[_i].size);
	ck_assert_int_eq(decode_record(&attr, exact, sizes[_i].size, &r), -EBADMSG);
	free(exact);
	free(bytes);
}
END_TEST

/* Each entry is a device and an inode number; the sixth is the mount namespace. */
static const struct {
	uint64_t nr;
	size_t words; /* words that follow */
	int rc;
	uint64_t mntns;
} namespaces[] = {
	{ 7, 14, 1, 111 },
	{ 6, 12, 1, 111 },
	{ 6, 14, 1, 111 }, /* something newer is behind them */
	{ 5, 10, 1, 0 },
	{ 0, 0, 1, 0 },
	{ 7, 13, -EBADMSG, 0 },
	{ 1, 0, -EBADMSG, 0 },
	{ UINT64_MAX, 14, -EBADMSG, 0 },
	{ UINT64_MAX / 2 + 1, 14, -EBADMSG, 0 }, /* twice that is 0 */
};

/* Only the fields after the record have the task, so they must be there. */
static const struct {
	uint32_t type;
	uint16_t misc;
	uint64_t sample_type;
	bool id_all, out, preempted;
	int rc;
} switched[] = {
	{ PERF_RECORD_SWITCH, 0, PERF_SAMPLE_TID, true, false, false, 1 },
	{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT, PERF_SAMPLE_TID, true, true, false, 1 },
	{ PERF_RECORD_SWITCH, PERF_RECORD_MISC_SWITCH_OUT | PERF_RECORD_MISC_SWITCH_OUT_PREEMPT, PERF_SAMPLE_TID, true,
	  true, true, 1 },
	{ PERF_RECORD_SWITCH_CPU_WIDE, PERF_RECORD_MISC_SWITCH_OUT, PERF_SAMPLE_TID | PERF_SAMPLE_TIME, true, true,
	  false, 1 },
	{ PERF_RECORD_SWITCH_CPU_WIDE, 0, PERF_SAMPLE_TID | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER, true, false,
	  false, 1 },
	{ PERF_RECORD_SWITCH, 0, PERF_SAMPLE_TIME, true, false, false, 0 },
	{ PERF_RECORD_SWITCH, 0, PERF_SAMPLE_TID, false, false, false, 0 },
};

START_TEST(test_switch)
{
	const struct perf_event_attr attr = { .sample_type = switched[_i].sample_type,
					      .sample_id_all = switched[_i].id_all };
	struct writer w = { .nr = 1 };
	struct record r;

	if (switched[_i].type == PERF_RECORD_SWITCH_CPU_WIDE)
		put(&w, 31 | 32ULL << 32); /* the other thread */
	put_sample_id(&w, &attr);
	finish(&w, switched[_i].type, switched[_i].misc);
	ck_assert_int_eq(decode_record(&attr, w.words, w.nr * 8, &r), switched[_i].rc);
	if (switched[_i].rc != 1)
		return;
	ck_assert_uint_eq(r.type, PERF_RECORD_SWITCH);
	ck_assert_int_eq(r.pid, 901);
	ck_assert_int_eq(r.tid, 902);
	ck_assert_int_eq(r.switched.out, switched[_i].out);
	ck_assert_int_eq(r.switched.preempted, switched[_i].preempted);

	/* Without the task. */
	w.nr = 1;
	finish(&w, switched[_i].type, switched[_i].misc);
	ck_assert_int_eq(decode_record(&attr, w.words, w.nr * 8, &r), -EBADMSG);
}
END_TEST

/* A deferred callchain of @words words with @nr in its header. The sample_id after it has the thread. */
static const struct {
	uint64_t nr;
	size_t words; /* SIZE_MAX: not even @nr */
	uint64_t sample_type;
	bool id_all;
	int rc;
} deferred[] = {
	{ 3, 3, PERF_SAMPLE_TID, true, 1 },
	{ 3, 3, PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_CPU | PERF_SAMPLE_IDENTIFIER, true, 1 },
	{ 2, 3, PERF_SAMPLE_TID, true, 1 }, /* something newer is behind them */
	{ 0, 0, PERF_SAMPLE_TID, true, 1 },
	{ 3, 3, PERF_SAMPLE_TID, false, 0 },
	{ 3, 3, PERF_SAMPLE_TIME, true, 0 },
	{ UINT64_MAX, 3, PERF_SAMPLE_TIME, true, 0 },
	{ 4, 3, PERF_SAMPLE_TID, true, -EBADMSG }, /* the last word would be the sample_id */
	{ 5, 3, PERF_SAMPLE_TID, true, -EBADMSG },
	{ 1, 0, PERF_SAMPLE_TID, true, -EBADMSG },
	{ 0, SIZE_MAX, PERF_SAMPLE_TID, true, -EBADMSG },
	{ 1ULL << 32, 3, PERF_SAMPLE_TID, true, -EBADMSG },
	{ (1ULL << 32) + 3, 3, PERF_SAMPLE_TID, true, -EBADMSG },
	{ 1ULL << 61, 3, PERF_SAMPLE_TID, true, -EBADMSG },
	{ (1ULL << 61) + 3, 3, PERF_SAMPLE_TID, true, -EBADMSG },
	{ INT64_MAX, 3, PERF_SAMPLE_TID, true, -EBADMSG },
	{ UINT64_MAX, 3, PERF_SAMPLE_TID, true, -EBADMSG },
};

static void assert_deferred(const struct record *r, const uint64_t *bytes, uint64_t nr)
{
	ck_assert_int_eq(r->pid, 901);
	ck_assert_int_eq(r->tid, 902);
	ck_assert_uint_eq(r->deferred.cookie, 0x700000001);
	ck_assert_uint_eq(r->deferred.nr, nr);
	ck_assert_ptr_eq(r->deferred.ips, bytes + 3);
	ck_assert(!nr || r->deferred.ips[0] == 0x401000);
}

START_TEST(test_deferred)
{
	const struct perf_event_attr attr = { .sample_type = deferred[_i].sample_type,
					      .sample_id_all = deferred[_i].id_all };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;
	size_t i;

	put(&w, 0x700000001);
	if (deferred[_i].words != SIZE_MAX)
		put(&w, deferred[_i].nr);
	for (i = 0; deferred[_i].words != SIZE_MAX && i < deferred[_i].words; i++)
		put(&w, 0x401000 + i);
	put_sample_id(&w, &attr);
	finish(&w, RECORD_CALLCHAIN_DEFERRED, PERF_RECORD_MISC_USER);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), deferred[_i].rc);
	if (deferred[_i].rc == 1)
		assert_deferred(&r, bytes, deferred[_i].nr);
	free(bytes);
}
END_TEST

START_TEST(test_namespaces)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;
	size_t i;

	put(&w, two(10, 11));
	put(&w, namespaces[_i].nr);
	for (i = 0; i < namespaces[_i].words; i++)
		put(&w, 100 + i);
	finish(&w, PERF_RECORD_NAMESPACES, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), namespaces[_i].rc);
	free(bytes);
	if (namespaces[_i].rc != 1)
		return;
	ck_assert_int_eq(r.pid, 10);
	ck_assert_int_eq(r.tid, 11);
	ck_assert_uint_eq(r.mntns, namespaces[_i].mntns);
}
END_TEST

/* The kernel's padding is within the name's last word. */
static const struct {
	uint16_t type, flags;
	const char *name;
	bool bpf, removed;
} ksymbols[] = {
	{ PERF_RECORD_KSYMBOL_TYPE_BPF, 0, "bpf_prog_79062400a33872b7_first", true, false },
	{ PERF_RECORD_KSYMBOL_TYPE_BPF, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "seven_7", true, true },
	{ PERF_RECORD_KSYMBOL_TYPE_BPF, 0x8000, "", true, false },
	{ PERF_RECORD_KSYMBOL_TYPE_OOL, 0, "ftrace_trampoline", false, false },
	{ PERF_RECORD_KSYMBOL_TYPE_UNKNOWN, PERF_RECORD_KSYMBOL_FLAGS_UNREGISTER, "eight__8", false, true },
};

START_TEST(test_ksymbol)
{
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME, .sample_id_all = 1 };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;
	size_t size;

	put(&w, 0xffffffffc0001000);
	put(&w, two(0x345, (uint32_t)ksymbols[_i].flags << 16 | ksymbols[_i].type));
	put_text(&w, ksymbols[_i].name);
	put_sample_id(&w, &attr);
	finish(&w, PERF_RECORD_KSYMBOL, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
	ck_assert_uint_eq(r.ksymbol.start, 0xffffffffc0001000);
	ck_assert_uint_eq(r.ksymbol.len, 0x345);
	ck_assert_str_eq(r.ksymbol.name, ksymbols[_i].name);
	ck_assert_int_eq(r.ksymbol.bpf, ksymbols[_i].bpf);
	ck_assert_int_eq(r.ksymbol.removed, ksymbols[_i].removed);
	ck_assert_uint_eq(r.time, 77000);
	free(bytes);
	/* The events of two other profilers have got the record before. */
	put(&w, 1);
	put(&w, two(2, 3));
	finish(&w, PERF_RECORD_KSYMBOL, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
	ck_assert_str_eq(r.ksymbol.name, ksymbols[_i].name);
	ck_assert_uint_eq(r.time, 77000);
	ck_assert_int_eq(r.writer, 902);
	ck_assert_uint_eq(decode_size(&attr, bytes, 8 * w.nr), 8 * (w.nr - 2));
	free(bytes);
	attr.sample_id_all = 0; /* then the name is the rest, which must not be missing */
	for (size = 8; size <= 24; size += 8) {
		ck_assert_int_eq(decode_copy(&attr, &w, size, true, &r, &bytes), -EBADMSG);
		free(bytes);
	}
	memset(&w.words[3], 'x', 8 * (w.nr - 3));
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), -EBADMSG);
	free(bytes);
}
END_TEST

/* Types whose records have a size beyond their last word, if others get the record before. */
START_TEST(test_size_written)
{
	static const struct {
		uint32_t type;
		uint64_t third; /* after the header and another word */
		size_t words;   /* without the sample_id */
	} rows[] = {
		{ PERF_RECORD_KSYMBOL, 0x345, 4 },         { PERF_RECORD_BPF_EVENT, 0xffffffff, 3 },
		{ PERF_RECORD_TEXT_POKE, 0, 3 },           { PERF_RECORD_TEXT_POKE, 1 << 16 | 3, 3 },
		{ PERF_RECORD_TEXT_POKE, 1 << 16 | 4, 4 }, { PERF_RECORD_TEXT_POKE, 6 << 16 | 6, 4 },
		{ PERF_RECORD_TEXT_POKE, 0xffffffff, 16 }, { PERF_RECORD_CGROUP, 0, 16 },
		{ PERF_RECORD_NAMESPACES, 0, 16 },
	};
	const struct perf_event_attr with = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_TIME | PERF_SAMPLE_PERIOD,
					      .sample_id_all = 1 };
	const struct perf_event_attr without = { .sample_type = PERF_SAMPLE_TID };
	struct perf_event_header *h;
	struct writer w;
	size_t i, size;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		w = (struct writer){ .words = { [2] = rows[i].third, [3] = 'x' }, .nr = 16 };
		finish(&w, rows[i].type, 0);
		for (size = 8; size <= 128; size += 8) {
			h = malloc(size);
			ck_assert_ptr_nonnull(h);
			memcpy(h, w.words, size);
			ck_assert_uint_eq(decode_size(&without, h, size),
					  size < 24 || size < 8 * rows[i].words ? size : 8 * rows[i].words);
			ck_assert_uint_eq(decode_size(&with, h, size),
					  size < 24 || size < 8 * (rows[i].words + 2) ? size : 8 * (rows[i].words + 2));
			free(h);
		}
	}
}
END_TEST

/*
 * profile requests no field between the stack copy and the cgroup. In a recording with such a field, the cgroup is not
 * decoded.
 */
START_TEST(test_cgroup)
{
	const uint64_t before[] = { 0, PERF_SAMPLE_CALLCHAIN, PERF_SAMPLE_STACK_USER };
	struct perf_event_attr attr = { .sample_type = PERF_SAMPLE_TID | PERF_SAMPLE_CGROUP | before[_i] };
	struct writer w = { .nr = 1 };
	struct record r;
	void *bytes;

	put(&w, two(10, 11));
	if (before[_i]) /* a callchain or a stack copy of size 0 */
		put(&w, 0);
	put(&w, 0x123456789abcdef0);
	finish(&w, PERF_RECORD_SAMPLE, 0);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
	ck_assert_uint_eq(r.sample.cgroup, 0x123456789abcdef0);
	free(bytes);
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * (w.nr - 1), true, &r, &bytes), -EBADMSG);
	free(bytes);
	attr.sample_type |= PERF_SAMPLE_WEIGHT;
	ck_assert_int_eq(decode_copy(&attr, &w, 8 * w.nr, false, &r, &bytes), 1);
	ck_assert_uint_eq(r.sample.cgroup, 0);
	free(bytes);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("decode");
	TCase *tc = tcase_create("decode");

	tcase_add_loop_test(tc, test_sample, 0, 2);
	tcase_add_loop_test(tc, test_tails, 0, ALL_TAILS);
	tcase_add_loop_test(tc, test_copy, 0, ARRAY_SIZE(copies));
	tcase_add_loop_test(tc, test_pack, 0, 2 * ARRAY_SIZE(copies));
	tcase_add_test(tc, test_pack_other);
	tcase_add_loop_test(tc, test_branches, 0, ARRAY_SIZE(branches));
	tcase_add_loop_test(tc, test_branches_missing, 0, 2);
	tcase_add_loop_test(tc, test_read, 0, READ_FORMATS);
	tcase_add_loop_test(tc, test_read_group, 0, ARRAY_SIZE(groups));
	tcase_add_loop_test(tc, test_mode, 0, ARRAY_SIZE(modes));
	tcase_add_loop_test(tc, test_raw, 0, ARRAY_SIZE(raws));
	tcase_add_test(tc, test_raw_missing);
	tcase_add_test(tc, test_identifier);
	tcase_add_loop_test(tc, test_callchain_size, 0, ARRAY_SIZE(chains));
	tcase_add_test(tc, test_dying_task);
	tcase_add_loop_test(tc, test_other, 0, ARRAY_SIZE(others));
	tcase_add_loop_test(tc, test_build_id, 0, ARRAY_SIZE(build_ids));
	tcase_add_loop_test(tc, test_not_terminated, 0, 3);
	tcase_add_loop_test(tc, test_size, 0, ARRAY_SIZE(sizes));
	tcase_add_loop_test(tc, test_cgroup, 0, 3);
	tcase_add_loop_test(tc, test_deferred, 0, ARRAY_SIZE(deferred));
	tcase_add_loop_test(tc, test_switch, 0, ARRAY_SIZE(switched));
	tcase_add_loop_test(tc, test_namespaces, 0, ARRAY_SIZE(namespaces));
	tcase_add_loop_test(tc, test_ksymbol, 0, ARRAY_SIZE(ksymbols));
	tcase_add_test(tc, test_size_written);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
