// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_names.h"

#include "core/base/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define STRINGS_BYTES_MAX (512u << 20) /* of one string table, so that all numbers are below ELF_NAME_PLT */
#define NAME_BYTES_MAX    (64u << 10)  /* of a name; the rest is cut off */
#define HELD_BYTES_MAX    (64u << 20)  /* of all tables together */
#define KNOWN_BYTES_MAX   (16u << 20)  /* of the names of a file; beyond it only the first bytes of a name are kept */
#define FIRST_BYTES       256
#define PLT_SUFFIX        "@plt"

struct known {
	uint32_t name;
	char *text;
};

static const struct intern_kind known_kind = INTERN_BYTES(struct known, name);

void elf_names_release(struct elf_names *n)
{
	struct known *known = n->known.v;
	size_t i;

	for (i = 0; i < n->known.nr; i++)
		free(known[i].text);
	intern_release(&n->known);
	n->known_bytes = 0;
	elf_names_drop(n);
}

int elf_names_add(struct elf_names *n, const struct elf_file *f, const Elf64_Shdr *sh, struct elf_strings **out)
{
	const struct elf_strings *last = n->nr_strings ? &n->strings[n->nr_strings - 1] : NULL;
	uint64_t end = sh->sh_size;
	const char *zero = NULL;
	char tail[512];
	int rc;

	if (n->nr_strings == ELF_STRINGS_MAX || sh->sh_type != SHT_STRTAB || !elf_section_readable(f, sh) ||
	    sh->sh_size > STRINGS_BYTES_MAX - 1)
		return -ENOEXEC;
	while (end && !zero) {
		size_t len = end < sizeof(tail) ? end : sizeof(tail);

		rc = file_bytes_read(&f->bytes, sh->sh_offset + end - len, tail, len);
		if (rc)
			return rc;
		end -= len;
		zero = memrchr(tail, 0, len);
	}
	if (!zero)
		return -ENOEXEC;
	*out = &n->strings[n->nr_strings++];
	**out = (struct elf_strings){
		.b = &f->bytes,
		.offset = sh->sh_offset,
		.base = last ? last->base + last->size : 0,
		.size = (uint32_t)(end + (size_t)(zero - tail) + 1),
	};
	return 0;
}

void elf_names_hold(struct elf_names *n, size_t nr)
{
	uint64_t sum = 0;
	unsigned int i;

	/* Tables in memory need no copy. */
	for (i = 0; i < n->nr_strings; i++)
		sum += n->strings[i].b->memory ? 0 : n->strings[i].size;
	if (!nr || sum > HELD_BYTES_MAX || sum / FIRST_BYTES > nr)
		return;
	for (i = 0; i < n->nr_strings; i++) {
		struct elf_strings *st = &n->strings[i];

		st->held = st->b->memory || st->held ? st->held : malloc(st->size);
		if (st->held && file_bytes_read(st->b, st->offset, st->held, st->size)) {
			free(st->held);
			st->held = NULL;
		}
	}
}

void elf_names_drop(struct elf_names *n)
{
	unsigned int i;

	for (i = 0; i < n->nr_strings; i++) {
		free(n->strings[i].held);
		n->strings[i].held = NULL;
	}
}

/* Read @len bytes from @at on, which are within the table. */
static int read_strings(const struct elf_strings *st, size_t at, char *buf, size_t len)
{
	if (!st->held)
		return file_bytes_read(st->b, st->offset + at, buf, len);
	memcpy(buf, st->held + at, len);
	return 0;
}

/* Read in two steps: nearly all names end within the first. */
void elf_names_read(const struct elf_names *n, uint32_t name, char *buf, size_t cap)
{
	const struct elf_strings *st = &n->strings[n->nr_strings - 1];
	size_t at, left, len, first;

	name &= ~ELF_NAME_PLT;
	while (name < st->base)
		st--;
	at = name - st->base;
	left = st->size - at;
	len = left < cap - 1 ? left : cap - 1;
	first = len < FIRST_BYTES ? len : FIRST_BYTES;
	if (read_strings(st, at, buf, first))
		len = 0;
	else if (memchr(buf, 0, first))
		len = first;
	else if (read_strings(st, at + first, buf + first, len - first))
		len = 0;
	buf[len] = 0;
}

/*
 * A name, or its first bytes (see elf_names_find()), in its own memory. NULL: no memory, or no name. The limits are
 * needed because names may overlap, so a small file can have many long ones.
 */
static char *whole_name(struct elf_names *n, uint32_t name)
{
	size_t most = n->known_bytes < KNOWN_BYTES_MAX ? NAME_BYTES_MAX : FIRST_BYTES, cap;
	char *text = NULL, *longer;

	for (cap = FIRST_BYTES; cap <= most; cap *= 4) {
		longer = realloc(text, cap + strlen(PLT_SUFFIX));
		if (!longer) {
			fault(-ENOMEM);
			break;
		}
		text = longer;
		elf_names_read(n, name, text, cap);
		if (strlen(text) < cap - 1)
			break;
	}
	if (text && !*text) {
		free(text);
		text = NULL;
	}
	if (text && name & ELF_NAME_PLT)
		memcpy(text + strlen(text), PLT_SUFFIX, sizeof(PLT_SUFFIX));
	longer = text ? realloc(text, strlen(text) + 1) : NULL; /* shorter */
	text = longer ? longer : text;
	n->known_bytes += text ? strlen(text) : 0;
	return text;
}

const char *elf_names_find(struct elf_names *n, uint32_t name)
{
	bool is_new;
	struct known *k = intern(&n->known, &known_kind, &name, &is_new);
	char *text;

	if (!k)
		return NULL;
	text = is_new ? whole_name(n, name) : k->text;
	if (text)
		k->text = text;
	else
		intern_delete(&n->known, &known_kind, k);
	return text;
}
