// SPDX-License-Identifier: Apache-2.0
#include "core/files/build_ids.h"

#include "core/base/grow.h"
#include "core/base/hash.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* Of one table. A system-wide recording of a large host names a few thousand files. */
#define ENTRIES_MAX (256u << 10)
#define BYTES_MAX   (64u << 20) /* of paths */

struct entry {
	char *path;
	struct build_id id;
};

struct build_ids {
	struct entry *entries;
	size_t nr, cap;
	size_t bytes;
	struct hash_index by_path;
};

bool build_id_set(struct build_id *id, const void *bytes, size_t size)
{
	const unsigned char *p = bytes;

	*id = (struct build_id){ 0 };
	if (size > BUILD_ID_MAX)
		return false;
	while (size && !p[size - 1])
		size--;
	if (size)
		memcpy(id->bytes, p, size);
	id->size = (uint8_t)size;
	return size != 0;
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

static uint32_t word(const unsigned char *p, bool big_endian)
{
	if (big_endian)
		return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
	return (uint32_t)p[3] << 24 | (uint32_t)p[2] << 16 | (uint32_t)p[1] << 8 | p[0];
}

bool build_id_of_notes(const void *notes, size_t len, bool big_endian, uint64_t align, struct build_id *id)
{
	const unsigned char *p = notes;
	uint64_t pad = align == 8 ? 7 : 3, at = 0;

	*id = (struct build_id){ 0 };
	while (len - at >= sizeof(Elf64_Nhdr)) {
		uint64_t name_len = word(p + at, big_endian), desc_len = word(p + at + 4, big_endian);
		uint64_t name = at + sizeof(Elf64_Nhdr), desc = (name + name_len + pad) & ~pad;

		if (desc > len || desc_len > len - desc)
			return false;
		if (word(p + at + 8, big_endian) == NT_GNU_BUILD_ID && name_len == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(p + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && build_id_set(id, p + desc, desc_len))
			return true;
		at = (desc + desc_len + pad) & ~pad;
		if (at > len)
			return false;
	}
	return false;
}

struct build_ids *build_ids_new(void)
{
	return calloc(1, sizeof(struct build_ids));
}

void build_ids_free(struct build_ids *b)
{
	size_t i;

	if (!b)
		return;
	for (i = 0; i < b->nr; i++)
		free(b->entries[i].path);
	free(b->entries);
	hash_release(&b->by_path);
	free(b);
}

static bool same_path(const void *table, uint32_t pos, const void *key)
{
	const struct entry *entries = table;

	return !strcmp(entries[pos].path, key);
}

static int add_entry(struct build_ids *b, uint64_t hash, const char *path, size_t len, const struct build_id *id)
{
	struct entry *entries;
	char *copy;

	if (b->nr == ENTRIES_MAX || len + 1 > BYTES_MAX - b->bytes)
		return -E2BIG;
	entries = grow(b->entries, &b->cap, b->nr, 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	b->entries = entries;
	copy = strdup(path);
	if (!copy || hash_add(&b->by_path, hash, (uint32_t)b->nr)) {
		free(copy);
		return -ENOMEM;
	}
	b->entries[b->nr++] = (struct entry){ copy, *id };
	b->bytes += len + 1;
	return 0;
}

int build_ids_add(struct build_ids *b, const char *path, const void *id, size_t size)
{
	size_t len = strnlen(path, PATH_MAX);
	struct build_id told;
	uint64_t hash;
	uint32_t pos;

	if (!len || len == PATH_MAX || !build_id_set(&told, id, size))
		return -EINVAL;
	hash = hash_bytes(path, len, 0);
	pos = hash_find(&b->by_path, hash, same_path, b->entries, path);
	if (pos == HASH_NONE)
		return add_entry(b, hash, path, len, &told);
	if (!build_id_equal(&b->entries[pos].id, &told))
		b->entries[pos].id = (struct build_id){ 0 };
	return 0;
}

const struct build_id *build_ids_find(const struct build_ids *b, const char *path)
{
	uint32_t pos = HASH_NONE;

	if (b)
		pos = hash_find(&b->by_path, hash_bytes(path, strlen(path), 0), same_path, b->entries, path);
	return pos == HASH_NONE ? NULL : &b->entries[pos].id;
}
