/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Tables of entries (threads, files, names) that are found by a key, and added if missing.
 *
 * An array that grows, with an index (hash.h). Adding or deleting an entry may move others: keep no pointer to an entry
 * or to its members. A position stays valid until intern_delete(). Not thread safe.
 */
#ifndef CORE_BASE_INTERN_H
#define CORE_BASE_INTERN_H

#include "core/base/hash.h"
#include "core/base/text_ref.h"

/**
 * struct intern_kind - the type of a table's entries; the same for all calls.
 * @size:     bytes of an entry
 * @key_at:   offset of the key
 * @key_size: bytes of a key that is compared byte by byte; not used with the functions below
 * @hash:     hash of a key; NULL: hash its bytes
 * @equal:    true if the key inside an entry, @have, equals @key; NULL: compare bytes. Set both functions or none.
 * @copy:     copy @key to the member @to of an entry. The member begins with a pointer to memory of its own, which is
 * freed with the entry. false: no memory. If this function is NULL, keys have no such memory.
 */
struct intern_kind {
	size_t size, key_at, key_size;
	uint64_t (*hash)(const void *key);
	bool (*equal)(const void *have, const void *key);
	bool (*copy)(void *to, const void *key);
};

/* Entries of @type, whose member @key is compared byte by byte: it must have no padding. */
#define INTERN_BYTES(type, key)                                                                                        \
	{                                                                                                              \
		sizeof(type), offsetof(type, key), sizeof(((type *)0)->key), NULL, NULL, NULL                          \
	}

/* Entries of @type, found by functions. If entries are deleted, @hash must also accept their member @key. */
#define INTERN_CUSTOM(type, key, hash, equal) INTERN_COPIED(type, key, hash, equal, NULL)

/* The same, with a copy of the key: the table is freed with intern_release_copies(). */
#define INTERN_COPIED(type, key, hash, equal, copy)                                                                    \
	{                                                                                                              \
		sizeof(type), offsetof(type, key), 0, hash, equal, copy                                                \
	}

/* The functions for keys that are strings: @key and @have point to a const char *, not to the string itself. */
uint64_t intern_hash_string(const void *key);
bool intern_same_string(const void *have, const void *key);
bool intern_copy_string(void *to, const void *key);

/* Entries of @type, found by a string; the member @key is a copy of it. */
#define INTERN_STRING(type, key) INTERN_COPIED(type, key, intern_hash_string, intern_same_string, intern_copy_string)

/* The functions for keys of type struct text_ref. */
uint64_t intern_hash_text(const void *key);
bool intern_same_text(const void *have, const void *key);
bool intern_copy_text(void *to, const void *key);

/* Entries of @type, found by a struct text_ref; the member @key is a copy, and here it is also zero-terminated. */
#define INTERN_TEXT(type, key) INTERN_COPIED(type, key, intern_hash_text, intern_same_text, intern_copy_text)

/** struct intern_table - all zeros is a valid empty table. @v has @nr entries, and is for the caller to read. */
struct intern_table {
	void *v;
	size_t nr, cap;
	struct hash_index index;
};

/** intern_find() - find the entry with @key; valid until another one is added or deleted. NULL: there is none. */
void *intern_find(const struct intern_table *t, const struct intern_kind *kind, const void *key);

/**
 * intern() - find the entry with @key, or add one.
 * @is_new: out: it was just added. Then it is all zeros but the key. If keys are neither compared byte by byte nor
 * copied, the caller sets it before the next call for the table.
 * Return: the entry, valid until another one is added or deleted; NULL: no memory, or no position is left, and the
 * table is unchanged.
 */
void *intern(struct intern_table *t, const struct intern_kind *kind, const void *key, bool *is_new);

/** intern_delete() - delete @entry of the table; the last entry takes its position. */
void intern_delete(struct intern_table *t, const struct intern_kind *kind, void *entry);

/** intern_release() - free the table, but not memory that its entries own; it is empty and usable afterwards. */
void intern_release(struct intern_table *t);

/** intern_release_copies() - the same, and free the copies of keys. */
void intern_release_copies(struct intern_table *t, const struct intern_kind *kind);

#endif
