// SPDX-License-Identifier: Apache-2.0
#include "core/files/build_ids.h"

#include "core/base/intern.h"
#include "core/base/number.h"

#include <elf.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

/* Limits of one table. A system-wide recording of a large host names a few thousand files. */
#define ENTRIES_MAX (256u << 10)
#define BYTES_MAX   (64u << 20) /* of paths */

struct entry {
	char *path;
	struct build_id id;
};

struct build_ids {
	struct intern_table entries;
	size_t bytes;
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

void build_id_hex(const struct build_id *id, char hex[2 * BUILD_ID_MAX + 1])
{
	size_t i;

	hex[0] = 0;
	for (i = 0; i < id->size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
}

bool build_id_parse(struct build_id *id, const char *hex)
{
	unsigned char bytes[BUILD_ID_MAX];
	char byte[3] = "";
	const char *digits;
	uint64_t value;
	size_t nr;

	for (nr = 0; hex[0] && hex[1] && nr < BUILD_ID_MAX; hex += 2) {
		memcpy(byte, hex, 2);
		digits = byte;
		if (parse_digits(&digits, 16, UINT8_MAX, &value) || *digits)
			break;
		bytes[nr++] = (unsigned char)value;
	}
	return build_id_set(id, bytes, *hex ? 0 : nr);
}

bool build_id_equal(const struct build_id *a, const struct build_id *b)
{
	return a->size && a->size == b->size && !memcmp(a->bytes, b->bytes, a->size);
}

bool build_id_of_notes(const void *notes, size_t len, uint64_t align, struct build_id *id)
{
	const unsigned char *p = notes;
	uint64_t pad = align == 8 ? 7 : 3, at = 0;
	Elf64_Nhdr note;

	*id = (struct build_id){ 0 };
	while (len - at >= sizeof(note)) {
		uint64_t name = at + sizeof(note), desc, desc_len;

		memcpy(&note, p + at, sizeof(note));
		desc = (name + note.n_namesz + pad) & ~pad;
		desc_len = note.n_descsz;
		if (desc > len || desc_len > len - desc)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == sizeof(ELF_NOTE_GNU) &&
		    !memcmp(p + name, ELF_NOTE_GNU, sizeof(ELF_NOTE_GNU)) && build_id_set(id, p + desc, desc_len))
			return true;
		at = (desc + desc_len + pad) & ~pad;
		if (at > len)
			return false;
	}
	return false;
}

static const struct intern_kind entry_kind = INTERN_STRING(struct entry, path);

struct build_ids *build_ids_new(void)
{
	return calloc(1, sizeof(struct build_ids));
}

void build_ids_free(struct build_ids *b)
{
	if (!b)
		return;
	intern_release_copies(&b->entries, &entry_kind);
	free(b);
}

static int add_entry(struct build_ids *b, const char *path, size_t len, const struct build_id *id)
{
	struct entry *e;
	bool is_new;

	if (b->entries.nr == ENTRIES_MAX || len + 1 > BYTES_MAX - b->bytes)
		return -E2BIG;
	e = intern(&b->entries, &entry_kind, &path, &is_new);
	if (!e)
		return -ENOMEM;
	e->id = *id;
	b->bytes += len + 1;
	return 0;
}

int build_ids_add(struct build_ids *b, const char *path, const void *id, size_t size)
{
	size_t len = strnlen(path, PATH_MAX);
	struct build_id told;
	struct entry *e;

	if (!len || len == PATH_MAX || !build_id_set(&told, id, size))
		return -EINVAL;
	e = intern_find(&b->entries, &entry_kind, &path);
	if (!e)
		return add_entry(b, path, len, &told);
	if (!build_id_equal(&e->id, &told))
		e->id = (struct build_id){ 0 };
	return 0;
}

const struct build_id *build_ids_find(const struct build_ids *b, const char *path)
{
	const struct entry *e = b ? intern_find(&b->entries, &entry_kind, &path) : NULL;

	return e ? &e->id : NULL;
}
