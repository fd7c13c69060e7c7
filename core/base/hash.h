/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An index from hashes to positions in an array that the caller owns.
 *
 * Every table of the core (stacks, rows, names, threads, files) is an array whose entries are found by their contents.
 * All of them use this hash table: open addressing, linear probing, growing by doubling; it stores only the
 * entry's hash and its position, never the entry. Not thread safe.
 */
#ifndef CORE_BASE_HASH_H
#define CORE_BASE_HASH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HASH_NONE UINT32_MAX /* no such entry; positions are below HASH_NONE - 1 */

struct hash_slot {
	uint32_t hash; /* both halves of the 64 bits folded together */
	uint32_t pos;  /* HASH_NONE: never used; HASH_NONE - 1: removed */
};

/** struct hash_index - all zeros is a valid empty index. */
struct hash_index {
	struct hash_slot *slots;
	size_t cap;  /* power of two, or 0 */
	size_t used; /* slots that are not free, removed ones included */
	size_t nr;   /* entries */
};

/** hash_eq - true if the entry at @pos of the caller's array equals @key. */
typedef bool (*hash_eq)(const void *table, uint32_t pos, const void *key);

/** hash_bytes() - 64-bit hash of @len bytes; differs from run to run, so no order may depend on it. */
uint64_t hash_bytes(const void *data, size_t len, uint64_t seed);

/** hash_find() - the position of the entry that equals @key, or HASH_NONE. */
uint32_t hash_find(const struct hash_index *h, uint64_t hash, hash_eq eq, const void *table, const void *key);

/**
 * hash_add() - store that an entry with @hash is at @pos; the caller has checked that it is not there yet.
 * Return: 0, or -ENOMEM with the index unchanged.
 */
int hash_add(struct hash_index *h, uint64_t hash, uint32_t pos);

/** hash_del() - remove the entry at @pos, which was added with @hash. Does nothing if it is not there. */
void hash_del(struct hash_index *h, uint64_t hash, uint32_t pos);

/** hash_move() - the entry at @from, which was added with @hash, is at @to now. */
void hash_move(struct hash_index *h, uint64_t hash, uint32_t from, uint32_t to);

/** hash_release() - free the index; it is empty and usable afterwards. */
void hash_release(struct hash_index *h);

#endif
