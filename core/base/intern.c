// SPDX-License-Identifier: Apache-2.0
#include "core/base/intern.h"

#include "core/base/grow.h"

#include <string.h>

/* The argument @table of has_key(). */
struct table_of_kind {
	const struct intern_table *t;
	const struct intern_kind *kind;
};

uint64_t intern_hash_string(const void *key)
{
	const char *const *s = key;

	return hash_bytes(*s, strlen(*s), 0);
}

bool intern_same_string(const void *have, const void *key)
{
	return !strcmp(*(const char *const *)have, *(const char *const *)key);
}

bool intern_copy_string(void *to, const void *key)
{
	char **copy = to;

	*copy = strdup(*(const char *const *)key);
	return *copy;
}

uint64_t intern_hash_text(const void *key)
{
	const struct text_ref *text = key;

	return hash_bytes(text->bytes, text->len, 0);
}

bool intern_same_text(const void *have, const void *key)
{
	const struct text_ref *a = have, *b = key;

	return a->len == b->len && (!a->len || !memcmp(a->bytes, b->bytes, a->len));
}

bool intern_copy_text(void *to, const void *key)
{
	const struct text_ref *text = key;
	char *bytes = malloc(text->len + 1);

	if (!bytes)
		return false;
	if (text->len)
		memcpy(bytes, text->bytes, text->len);
	bytes[text->len] = '\0';
	*(struct text_ref *)to = (struct text_ref){ bytes, text->len };
	return true;
}

static void *entry_at(const struct intern_table *t, const struct intern_kind *kind, size_t pos)
{
	return (char *)t->v + pos * kind->size;
}

static const void *key_of(const struct intern_kind *kind, const void *entry)
{
	return (const char *)entry + kind->key_at;
}

static uint64_t hash_key(const struct intern_kind *kind, const void *key)
{
	return kind->hash ? kind->hash(key) : hash_bytes(key, kind->key_size, 0);
}

/* Most keys are ids or pointers, and looked up for each frame: compare them without a call. */
static bool same_bytes(const void *a, const void *b, size_t size)
{
	if (size == 8)
		return !memcmp(a, b, 8);
	if (size == 4)
		return !memcmp(a, b, 4);
	return !memcmp(a, b, size);
}

static bool has_key(const void *table, uint32_t pos, const void *key)
{
	const struct table_of_kind *of = table;
	const struct intern_kind *kind = of->kind;
	const void *have = key_of(kind, entry_at(of->t, kind, pos));

	return kind->equal ? kind->equal(have, key) : same_bytes(have, key, kind->key_size);
}

static void *find_entry(const struct intern_table *t, const struct intern_kind *kind, const void *key, uint64_t hash)
{
	const struct table_of_kind of = { t, kind };
	uint32_t pos = hash_find(&t->index, hash, has_key, &of, key);

	return pos == HASH_NONE ? NULL : entry_at(t, kind, pos);
}

void *intern_find(const struct intern_table *t, const struct intern_kind *kind, const void *key)
{
	return t->nr ? find_entry(t, kind, key, hash_key(kind, key)) : NULL;
}

static bool copy_key(const struct intern_kind *kind, void *entry, const void *key)
{
	void *member = (char *)entry + kind->key_at;

	if (kind->copy)
		return kind->copy(member, key);
	memcpy(member, key, kind->key_size);
	return true;
}

static void free_copy(const struct intern_kind *kind, const void *entry)
{
	char *copy;

	memcpy(&copy, key_of(kind, entry), sizeof(copy));
	free(copy);
}

void *intern(struct intern_table *t, const struct intern_kind *kind, const void *key, bool *is_new)
{
	uint64_t hash = hash_key(kind, key);
	char *entry = find_entry(t, kind, key, hash);
	void *v;

	*is_new = !entry;
	if (entry)
		return entry;
	v = t->nr < HASH_NONE - 1 ? grow(t->v, &t->cap, t->nr, 1, kind->size) : NULL;
	if (!v)
		return NULL;
	t->v = v;
	if (hash_add(&t->index, hash, (uint32_t)t->nr))
		return NULL;
	entry = entry_at(t, kind, t->nr);
	memset(entry, 0, kind->size);
	if (!copy_key(kind, entry, key)) {
		hash_del(&t->index, hash, (uint32_t)t->nr);
		return NULL;
	}
	t->nr++;
	return entry;
}

void intern_delete(struct intern_table *t, const struct intern_kind *kind, void *entry)
{
	uint32_t pos = (uint32_t)((size_t)((char *)entry - (char *)t->v) / kind->size), last = (uint32_t)t->nr - 1;
	const void *moved = entry_at(t, kind, last);

	hash_del(&t->index, hash_key(kind, key_of(kind, entry)), pos);
	if (kind->copy)
		free_copy(kind, entry);
	if (pos != last) {
		hash_move(&t->index, hash_key(kind, key_of(kind, moved)), last, pos);
		memcpy(entry, moved, kind->size);
	}
	t->nr = last;
}

void intern_release(struct intern_table *t)
{
	hash_release(&t->index);
	free(t->v);
	*t = (struct intern_table){ 0 };
}

void intern_release_copies(struct intern_table *t, const struct intern_kind *kind)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		free_copy(kind, entry_at(t, kind, i));
	intern_release(t);
}
