// SPDX-License-Identifier: Apache-2.0
#include "core/base/hash.h"

#include "core/base/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#define HASH_REMOVED (HASH_NONE - 1)

/* Multiply and fold (the mixing step of wyhash, public domain). */
static uint64_t mix(uint64_t a, uint64_t b)
{
	__uint128_t r = (__uint128_t)a * b;

	return (uint64_t)r ^ (uint64_t)(r >> 64);
}

/*
 * A profiled process chooses its return addresses and names, but must not be able to choose colliding ones. So both
 * factors of a product are secret. The kernel gives each process 16 random bytes (getauxval(3), AT_RANDOM).
 */
static const uint64_t *secrets(void)
{
	static uint64_t values[2];
	uint64_t random[2] = { 0 };
	const void *given;

	/* Threads that race here store the same values. */
	if (!__atomic_load_n(&values[0], __ATOMIC_ACQUIRE)) {
		given = (const void *)getauxval(AT_RANDOM);
		if (given)
			memcpy(random, given, sizeof(random));
		__atomic_store_n(&values[1], random[1], __ATOMIC_RELAXED);
		__atomic_store_n(&values[0], random[0] | 1, __ATOMIC_RELEASE);
	}
	return values;
}

/* 16 bytes at a time; usually a rest of 8 is left. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t seed)
{
	const uint64_t *secret = secrets();
	uint64_t h = seed ^ secret[1] ^ len, w[2] = { 0 };
	const unsigned char *p = data;

	for (; len >= 16; p += 16, len -= 16) {
		memcpy(w, p, 16);
		h = mix(w[0] ^ secret[0], w[1] ^ h);
	}
	w[0] = w[1] = 0;
	if (len >= 8) {
		memcpy(&w[0], p, 8);
		p += 8;
		len -= 8;
	}
	if (len) /* @data may be NULL if @len is 0 */
		memcpy(&w[1], p, len);
	return mix(mix(w[0] ^ secret[0], w[1] ^ h), 0x8ebc6af09c88c6e3ULL);
}

static uint32_t fold(uint64_t hash)
{
	return (uint32_t)(hash ^ (hash >> 32));
}

uint32_t hash_find(const struct hash_index *h, uint64_t hash, hash_eq eq, const void *table, const void *key)
{
	uint32_t want = fold(hash);
	size_t i;

	if (!h->cap)
		return HASH_NONE;
	for (i = want & (h->cap - 1);; i = (i + 1) & (h->cap - 1)) {
		const struct hash_slot *s = &h->slots[i];

		if (s->pos == HASH_NONE)
			return HASH_NONE;
		if (s->pos != HASH_REMOVED && s->hash == want && eq(table, s->pos, key))
			return s->pos;
	}
}

static void place(struct hash_slot *slots, size_t cap, struct hash_slot entry)
{
	size_t i = entry.hash & (cap - 1);

	while (slots[i].pos != HASH_NONE)
		i = (i + 1) & (cap - 1);
	slots[i] = entry;
}

/* Make room for one more entry at a load of at most 5/8. Keep the size if removed slots fill it. */
static int make_room(struct hash_index *h)
{
	size_t cap = h->cap ? h->cap : 16, i;
	struct hash_slot *slots;

	if (h->cap && (h->used + 1) * 8 <= h->cap * 5)
		return 0;
	if (h->cap && (h->nr + 1) * 2 > h->cap)
		cap *= 2;
	slots = malloc(cap * sizeof(*slots));
	if (!slots)
		return fault(-ENOMEM);
	memset(slots, 0xff, cap * sizeof(*slots)); /* every pos becomes HASH_NONE */
	for (i = 0; i < h->cap; i++)
		if (h->slots[i].pos < HASH_REMOVED)
			place(slots, cap, h->slots[i]);
	free(h->slots);
	h->slots = slots;
	h->cap = cap;
	h->used = h->nr;
	return 0;
}

int hash_add(struct hash_index *h, uint64_t hash, uint32_t pos)
{
	int rc = make_room(h);

	if (rc)
		return rc;
	place(h->slots, h->cap, (struct hash_slot){ fold(hash), pos });
	h->used++;
	h->nr++;
	return 0;
}

static struct hash_slot *slot_of(const struct hash_index *h, uint64_t hash, uint32_t pos)
{
	size_t i;

	if (!h->cap)
		return NULL;
	for (i = fold(hash) & (h->cap - 1); h->slots[i].pos != HASH_NONE; i = (i + 1) & (h->cap - 1))
		if (h->slots[i].pos == pos)
			return &h->slots[i];
	return NULL;
}

void hash_del(struct hash_index *h, uint64_t hash, uint32_t pos)
{
	struct hash_slot *s = slot_of(h, hash, pos);

	if (!s)
		return;
	s->pos = HASH_REMOVED;
	h->nr--;
}

void hash_move(struct hash_index *h, uint64_t hash, uint32_t from, uint32_t to)
{
	struct hash_slot *s = slot_of(h, hash, from);

	if (s)
		s->pos = to;
}

void hash_release(struct hash_index *h)
{
	free(h->slots);
	*h = (struct hash_index){ 0 };
}
