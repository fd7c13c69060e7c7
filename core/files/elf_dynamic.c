// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_dynamic.h"

#include "core/base/faults.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define ENTRIES_MAX 4096       /* of the dynamic section; libraries have about 30 */
#define WORDS_MAX   (8u << 20) /* of a hash table: the limit for its buckets, and for the links of the last chain */

/* Values of the dynamic section: addresses of the file, and sizes; 0: it has none. */
struct dynamic {
	uint64_t symbols, strings, strings_size, symbol_size, hash, gnu_hash;
};

static void note_entry(struct dynamic *d, int64_t tag, uint64_t value)
{
	switch (tag) {
	case DT_SYMTAB:
		d->symbols = value;
		break;
	case DT_STRTAB:
		d->strings = value;
		break;
	case DT_STRSZ:
		d->strings_size = value;
		break;
	case DT_SYMENT:
		d->symbol_size = value;
		break;
	case DT_HASH:
		d->hash = value;
		break;
	case DT_GNU_HASH:
		d->gnu_hash = value;
		break;
	}
}

/* If a tag has several entries, the last one counts, as for the dynamic linker. */
static int read_entries(const struct elf_file *f, struct elf_table *t, struct dynamic *d)
{
	bool wide = f->class == ELFCLASS64;
	uint64_t offset, left, nr;
	Elf64_Dyn entry;
	Elf32_Dyn narrow;
	const void *p;

	if (!f->dynamic.size || !elf_file_loaded(f, f->dynamic.vaddr, &offset, &left))
		return -ENOENT;
	left = left < f->dynamic.size ? left : f->dynamic.size;
	nr = left / (wide ? sizeof(entry) : sizeof(narrow));
	elf_table_init(t, &f->bytes, wide ? sizeof(entry) : sizeof(narrow), offset,
		       nr < ENTRIES_MAX ? nr : ENTRIES_MAX);
	while ((p = elf_table_next(t))) {
		if (wide) {
			memcpy(&entry, p, sizeof(entry));
		} else {
			memcpy(&narrow, p, sizeof(narrow));
			entry = (Elf64_Dyn){ narrow.d_tag, { narrow.d_un.d_val } };
		}
		if (entry.d_tag == DT_NULL)
			break;
		note_entry(d, entry.d_tag, entry.d_un.d_val);
	}
	return t->rc;
}

/* Read @nr words of 32 bits of a hash table from @addr on, or as many of them as there are. */
static bool words_at(const struct elf_file *f, uint64_t addr, uint64_t nr, struct elf_table *t)
{
	uint64_t offset, left;

	if (!elf_file_loaded(f, addr, &offset, &left))
		return false;
	elf_table_init(t, &f->bytes, 4, offset, nr < left / 4 ? nr : left / 4);
	return true;
}

static bool next_word(struct elf_table *t, uint32_t *word)
{
	const void *p = elf_table_next(t);

	if (p)
		memcpy(word, p, sizeof(*word));
	return p;
}

/* DT_HASH has as many links as there are symbols: the number is its second word. */
static uint64_t count_hash(const struct elf_file *f, uint64_t addr, struct elf_table *t)
{
	uint32_t nr_buckets, nr;

	return words_at(f, addr, 2, t) && next_word(t, &nr_buckets) && next_word(t, &nr) ? nr : 0;
}

/*
 * DT_GNU_HASH sorts the symbols by bucket; symbols that are not in it come first. The chain that begins last has the
 * last symbol: the lowest bit of a word marks the end of a chain.
 */
static uint64_t count_gnu_hash(const struct elf_file *f, uint64_t addr, struct elf_table *t)
{
	uint32_t nr_buckets, first, bloom, shift, word, last = 0;
	uint64_t buckets, i, nr;

	if (!words_at(f, addr, 4, t) || !next_word(t, &nr_buckets) || !next_word(t, &first) || !next_word(t, &bloom) ||
	    !next_word(t, &shift) || nr_buckets > WORDS_MAX)
		return 0;
	buckets = addr + 16 + (uint64_t)bloom * (f->class == ELFCLASS64 ? 8 : 4);
	if (!words_at(f, buckets, nr_buckets, t))
		return 0;
	while (next_word(t, &word))
		last = word > last ? word : last;
	if (last < first)
		return first;
	nr = (uint64_t)last - first;
	if (!words_at(f, buckets + ((uint64_t)nr_buckets + nr) * 4, WORDS_MAX, t))
		return 0;
	for (i = 0; next_word(t, &word) && !(word & 1); i++)
		;
	return last + i + 1;
}

/* Without a hash table: every linker puts the names behind the symbols. */
static uint64_t count_symbols(const struct elf_file *f, const struct dynamic *d, struct elf_table *t)
{
	uint64_t nr = d->hash ? count_hash(f, d->hash, t) : 0;

	if (!nr && d->gnu_hash)
		nr = count_gnu_hash(f, d->gnu_hash, t);
	if (!nr && d->strings > d->symbols)
		nr = (d->strings - d->symbols) / d->symbol_size;
	return nr;
}

static int find_tables(const struct elf_file *f, const struct dynamic *d, struct elf_table *t, Elf64_Shdr *symbols,
		       Elf64_Shdr *strings)
{
	uint64_t left, nr;

	if (!d->symbols || !d->strings)
		return -ENOENT;
	if (d->symbol_size != elf_symbol_size(f))
		return -ENOEXEC;
	nr = count_symbols(f, d, t);
	if (!elf_file_loaded(f, d->symbols, &symbols->sh_offset, &left))
		return -ENOEXEC;
	symbols->sh_entsize = d->symbol_size;
	symbols->sh_size = (nr < left / d->symbol_size ? nr : left / d->symbol_size) * d->symbol_size;
	if (!elf_file_loaded(f, d->strings, &strings->sh_offset, &left))
		return -ENOEXEC;
	strings->sh_size = d->strings_size && d->strings_size < left ? d->strings_size : left;
	return 0;
}

int elf_dynamic_symbols(const struct elf_file *f, Elf64_Shdr *symbols, Elf64_Shdr *strings)
{
	struct elf_table *t = malloc(sizeof(*t));
	struct dynamic d = { .symbol_size = elf_symbol_size(f) };
	int rc = t ? read_entries(f, t, &d) : fault(-ENOMEM);

	*symbols = (Elf64_Shdr){ .sh_type = SHT_DYNSYM };
	*strings = (Elf64_Shdr){ .sh_type = SHT_STRTAB };
	if (!rc)
		rc = find_tables(f, &d, t, symbols, strings);
	free(t);
	return rc;
}
