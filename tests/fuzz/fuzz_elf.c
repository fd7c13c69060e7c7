// SPDX-License-Identifier: Apache-2.0
/*
 * libFuzzer target for elf_symbols_parse() and lookups in its result. Input: an ELF file, which also serves as its own
 * debug file if there is none inside.
 *
 * Its own words are the addresses and offsets that are looked up, because a symbol's address is one of them.
 */
#include "tests/fuzz/fuzz.h"

#include "tests/elf_parse.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MAX_LOOKUPS 512

static void look_up(struct elf_symbols *es, uint64_t addr)
{
	static const struct mapped_file file = { .path = "/file" };
	struct elf_symbol sym = { 0 }, again = { 0 };
	uint64_t vaddr;

	if (elf_symbols_find(es, addr, &sym)) {
		check(sym.name && strlen(sym.name) > 0);
		check(sym.start <= addr);
		/* Names do not move, and a symbol does not begin after the address. */
		check(elf_symbols_find(es, addr, &again) && again.name == sym.name && again.start == sym.start);
	} else {
		check(!sym.name);
	}
	if (elf_symbols_vaddr(es, &(struct mapping){ 0, UINT64_MAX, 0, &file }, addr, &vaddr))
		elf_symbols_find(es, vaddr, &sym);
}

static void look_up_all(struct elf_symbols *es, const uint8_t *data, size_t size)
{
	size_t i, step = size / MAX_LOOKUPS / 4 * 4 + 4;
	uint64_t word;

	look_up(es, 0);
	look_up(es, UINT64_MAX);
	for (i = 0; i + sizeof(word) <= size; i += step) {
		memcpy(&word, data + i, sizeof(word));
		look_up(es, word);
		look_up(es, word - 1);
		look_up(es, word & UINT32_MAX);
	}
}

/* The name of the debug file is safe as a part of a path. */
static void check_debuglink(const struct elf_symbols *es)
{
	const char *name = NULL;
	uint32_t crc;

	if (elf_symbols_debuglink(es, &name, &crc))
		check(*name && strlen(name) < 256 && !strchr(name, '/') && strcmp(name, "..") != 0);
	else
		check(!name);
}

/* Return: true if debug symbols were added. */
static bool add_debug(struct elf_symbols *es, const uint8_t *data, size_t size)
{
	bool wanted = elf_symbols_wants_debug(es), added = !elf_symbols_add_inside(es);
	int fd = added ? -1 : memfd_create("debug", MFD_CLOEXEC);

	if (fd >= 0 && write(fd, data, size) == (ssize_t)size)
		added = !elf_symbols_add_debug(es, fd);
	if (fd >= 0)
		close(fd);
	check(elf_symbols_wants_debug(es) == (wanted && !added));
	return added;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct elf_symbols *es = NULL;
	int i;

	for (i = 0; i < 2; i++) {
		if (elf_symbols_parse(data, size, &es)) {
			check(!es);
			return 0;
		}
		check_debuglink(es);
		if (i)
			add_debug(es, data, size);
		look_up_all(es, data, size);
		if (i && elf_symbols_want_names(es) && add_debug(es, data, size))
			look_up_all(es, data, size);
		elf_symbols_free(es);
		es = NULL;
	}
	return 0;
}
