// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_go.h"

#include "core/base/faults.h"
#include "core/files/alias.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define FUNCTIONS_MAX (1u << 20) /* Kubernetes' largest programs have 200,000 */
#define WORDS         8          /* of the header, behind its first 8 bytes */

#define MAGIC_2  0xfffffffbu /* Go 1.2 */
#define MAGIC_16 0xfffffffau
#define MAGIC_18 0xfffffff0u
#define MAGIC_20 0xfffffff1u

/*
 * @functions, @names, @names_end: offsets in the section: of the list of functions, of the names, and of their end
 * @start: to be added to the addresses in the list
 * @word: bytes of a number in the list, which has two for each function: address, and offset of its record
 * @records: what that offset counts from, in the section
 * @name_at: position, in a record, of the offset of the function's name, which counts from @names
 */
struct layout {
	uint64_t nr, functions, names, names_end, start, records;
	size_t word, name_at;
};

static uint64_t word_at(const unsigned char *bytes, size_t size)
{
	uint64_t wide = 0;

	memcpy(&wide, bytes, size); /* little endian, as elf_file.h has it */
	return wide;
}

/* @w: words of the header; @ptr: bytes of each word */
static void lay_out(uint32_t magic, const uint64_t *w, size_t ptr, const struct elf_go_table *go, struct layout *l)
{
	bool offsets = magic == MAGIC_18 || magic == MAGIC_20; /* the list has 32-bit offsets into the code */
	size_t i = offsets ? 3 : 2;

	*l = (struct layout){ .nr = w[0], .names_end = go->size, .word = ptr, .name_at = ptr };
	if (magic == MAGIC_2) {
		l->functions = 8 + ptr;
		return;
	}
	l->names = w[i];
	l->names_end = w[i + 1];
	l->functions = l->records = w[i + 4];
	if (offsets) {
		/* w[2] is 0 if the dynamic linker fills it in (position-independent programs), and since Go 1.26. */
		l->start = w[2] ? w[2] : go->text;
		l->word = l->name_at = 4;
	}
}

static int read_layout(const struct elf_file *f, const struct elf_go_table *go, struct layout *l)
{
	unsigned char header[8 + WORDS * 8];
	size_t len = go->size < sizeof(header) ? (size_t)go->size : sizeof(header), ptr, i;
	uint64_t w[WORDS] = { 0 };
	uint32_t magic;
	int rc = len < 16 ? -ENOEXEC : file_bytes_read(&f->bytes, go->offset, header, len);

	if (rc)
		return rc;
	memcpy(&magic, header, sizeof(magic));
	ptr = header[7];
	if ((magic != MAGIC_2 && magic != MAGIC_16 && magic != MAGIC_18 && magic != MAGIC_20) || header[4] ||
	    header[5] || (ptr != 4 && ptr != 8))
		return -ENOEXEC;
	for (i = 0; i < WORDS && 8 + (i + 1) * ptr <= len; i++)
		w[i] = word_at(header + 8 + i * ptr, ptr);
	lay_out(magic, w, ptr, go, l);
	if (!l->nr || l->nr > FUNCTIONS_MAX || l->names >= l->names_end || l->names_end > go->size ||
	    l->functions >= go->size || (go->size - l->functions) / (2 * l->word) < l->nr)
		return -ENOEXEC;
	return 0;
}

/* Read the list, and the records in the order in which they lie, so that each part of the section is read once. */
struct reader {
	const struct elf_go_table *go;
	struct layout l;
	struct elf_table list, records; /* pairs of words; numbers of 32 bits */
	uint64_t last;                  /* the last record that was read */
};

/* The offset of the name, from layout.names on, in the record at @at from layout.records on. False: there is none. */
static bool read_name(struct reader *r, uint64_t at, uint32_t *name)
{
	const void *p;

	if (at > r->go->size || r->l.records + at < r->last || at % 4)
		return false;
	r->last = r->l.records + at;
	p = elf_table_at(&r->records, (at + r->l.name_at) / 4);
	if (p)
		memcpy(name, p, sizeof(*name));
	return p;
}

/* A function ends where the next one begins; the list has the end of the last one. */
static size_t read_functions(struct reader *r, const struct elf_strings *st, struct elf_entry *v)
{
	struct elf_entry *e = NULL;
	const unsigned char *pair;
	uint64_t i, addr;
	size_t nr = 0;
	uint32_t name;

	for (i = 0; i <= r->l.nr && (pair = elf_table_at(&r->list, i)); i++) {
		addr = word_at(pair, r->l.word) + r->l.start;
		if (e && addr > e->addr && addr - e->addr <= UINT32_MAX)
			e->len = (uint32_t)(addr - e->addr);
		else if (e)
			nr--;
		e = NULL;
		if (i < r->l.nr && read_name(r, word_at(pair + r->l.word, r->l.word), &name) && name < st->size) {
			e = &v[nr++];
			*e = (struct elf_entry){ addr, 0, st->base + name, SYMBOL_GLOBAL, true };
		}
	}
	return e ? nr - 1 : nr;
}

static void open_reader(struct reader *r, const struct elf_file *f)
{
	const struct elf_go_table *go = r->go;
	const struct layout *l = &r->l;
	uint64_t room = (go->size - l->functions) / (2 * l->word);

	/* The list ends with half a pair, the end of the last function. Records follow, so a whole pair can be read. */
	elf_table_init(&r->list, &f->bytes, 2 * l->word, go->offset + l->functions, room);
	elf_table_init(&r->records, &f->bytes, 4, go->offset + l->records, (go->size - l->records) / 4);
}

int elf_go_read(const struct elf_file *f, const struct elf_go_table *go, struct elf_names *names,
		struct elf_entry **out, size_t *nr)
{
	struct reader *r = malloc(sizeof(*r));
	Elf64_Shdr sh = { .sh_type = SHT_STRTAB };
	struct elf_strings *st;
	int rc = r ? 0 : fault(-ENOMEM);

	*out = NULL;
	*nr = 0;
	if (r) {
		*r = (struct reader){ .go = go };
		rc = read_layout(f, go, &r->l);
	}
	if (!rc) {
		sh.sh_offset = go->offset + r->l.names;
		sh.sh_size = r->l.names_end - r->l.names;
		rc = elf_names_add(names, f, &sh, &st);
	}
	if (!rc) {
		*out = calloc(r->l.nr, sizeof(**out));
		rc = *out ? 0 : fault(-ENOMEM);
	}
	if (!rc) {
		open_reader(r, f);
		*nr = read_functions(r, st, *out);
	}
	free(r);
	return rc;
}
