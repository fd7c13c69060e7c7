/* SPDX-License-Identifier: Apache-2.0 */
/* Turn the symbols of an ELF file, which may nest and overlap in any way, into disjoint address ranges: see elf.h. */
#ifndef CORE_FILES_ELF_SPANS_H
#define CORE_FILES_ELF_SPANS_H

#include "core/files/elf_names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A symbol. Functions are less than 4 GiB long. */
struct elf_entry {
	uint64_t addr;
	uint32_t len; /* within its section; without size: up to the section's end */
	uint32_t name;
	uint8_t bind; /* enum symbol_bind */
	bool sized;
};

/* Addresses [start, start + len), of the symbol that begins at start - back. */
struct elf_span {
	uint64_t start;
	uint32_t len;
	uint32_t back;
	uint32_t name;
	bool sized; /* false: the symbol table has no size, so the function may end before the span does */
};

/** struct elf_spans - sorted and disjoint; all zero is empty; @v is owned, from malloc(3). */
struct elf_spans {
	struct elf_span *v;
	size_t nr, cap;
};

/**
 * elf_spans_make() - make @out of the @nr @entries, which are overwritten. Their names are in @names.
 * Takes n log n time for any input; to compare symbols that begin at one address, it reads at most about a million
 * names.
 * Return: 0; -ENOMEM, and *@out is incomplete.
 */
int elf_spans_make(struct elf_entry *entries, size_t nr, struct elf_names *names, struct elf_spans *out);

/** elf_spans_find() - the one @addr is in; NULL: none. */
const struct elf_span *elf_spans_find(const struct elf_spans *s, uint64_t addr);

/** elf_spans_last() - the last one that begins at or before @addr, also if it ends before @addr; NULL: none. */
const struct elf_span *elf_spans_last(const struct elf_spans *s, uint64_t addr);

/** elf_span_has() - true if @addr, which is not before @s, is in it. */
static inline bool elf_span_has(const struct elf_span *s, uint64_t addr)
{
	return addr - s->start < s->len;
}

/** elf_span_symbol() - where the symbol of @s begins. */
static inline uint64_t elf_span_symbol(const struct elf_span *s)
{
	return s->start - s->back;
}

#endif
