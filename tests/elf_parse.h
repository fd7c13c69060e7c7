/* SPDX-License-Identifier: Apache-2.0 */
/* The symbols of an ELF file in memory, for tests and fuzz targets. */
#ifndef TESTS_ELF_PARSE_H
#define TESTS_ELF_PARSE_H

#include "core/files/elf.h"
#include "core/files/elf_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/** elf_symbols_parse() - as elf_symbols_open(), for a file of @len bytes in memory, which may be freed afterwards. */
static inline int elf_symbols_parse(const void *image, size_t len, struct elf_symbols **out)
{
	char *memory = malloc(len ? len : 1);
	struct elf_file f;
	int rc;

	if (!memory)
		return -ENOMEM;
	memcpy(memory, image, len);
	rc = elf_file_adopt(&f, memory, len);
	return rc ? rc : elf_symbols_of(&f, out);
}

/** elf_symbol_at() - "name+0xoffset" of @addr, until the next call; "-": none. */
static inline const char *elf_symbol_at(struct elf_symbols *es, uint64_t addr)
{
	static char text[128];
	struct elf_symbol s;

	if (!elf_symbols_find(es, addr, &s))
		return "-";
	snprintf(text, sizeof(text), "%.60s+0x%llx", s.name, (unsigned long long)(addr - s.start));
	return text;
}

#endif
