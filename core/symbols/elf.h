/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function symbols of one ELF file: .symtab and .dynsym together, 32 and 64 bits, either byte order.
 *
 * Taken are functions, indirect functions and untyped labels (hand-written assembly) that lie in an
 * executable section. An address belongs to the symbol with size that covers it and begins closest below; of
 * those that begin at the same address, to the one alias.h prefers. A symbol without size ends where the next
 * one begins, at latest with its section, and gives way to every symbol with size that covers it or begins
 * where it does.
 *
 * Memory: 24 bytes a symbol, and the names that were asked for; the file stays open for the others.
 *
 * The file may be hostile and may change while it is read: bytes are read by pread(2) into memory of our own, and each
 * offset, count and link is checked there. A name that changed is another name, no more. Not thread safe.
 */
#ifndef CORE_SYMBOLS_ELF_H
#define CORE_SYMBOLS_ELF_H

#include "core/symbols/build_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_symbols;

/** struct elf_symbol - @name is borrowed until elf_symbols_free(). */
struct elf_symbol {
	const char *name;
	uint64_t start; /* as the addresses of the file, not of a process */
};

/**
 * elf_symbols_open() - read the symbols of @fd, which must be a regular file; its position is not used.
 * Return: 0 and the owned *@out, which may be without symbols; -ENOEXEC: not an ELF file with sections that
 * we can read; -EINVAL: not a regular file; -ENOMEM; -EIO and others of pread(2). @fd stays the caller's.
 */
int elf_symbols_open(int fd, struct elf_symbols **out);

/** elf_symbols_parse() - the same for a file of @len bytes in memory, which is not needed afterwards. */
int elf_symbols_parse(const void *image, size_t len, struct elf_symbols **out);

void elf_symbols_free(struct elf_symbols *es);

/** elf_symbols_read() - symbols that were read: what time and memory grow with. */
uint64_t elf_symbols_read(const struct elf_symbols *es);

/** elf_symbols_vaddr() - where byte @offset of the file is loaded executable. False: nowhere. */
bool elf_symbols_vaddr(const struct elf_symbols *es, uint64_t offset, uint64_t *vaddr);

/** elf_symbols_find() - the symbol @vaddr is in. Return: true and *@out, which is untouched otherwise. */
bool elf_symbols_find(struct elf_symbols *es, uint64_t vaddr, struct elf_symbol *out);

/**
 * elf_symbols_address() - the address of the first symbol called @name, code or not, that is defined in the file.
 * Reads all names up to it: not for many lookups. Return: true and *@addr, which is untouched otherwise.
 */
bool elf_symbols_address(const struct elf_symbols *es, const char *name, uint64_t *addr);

/** elf_symbols_build_id() - that of the file, borrowed until elf_symbols_free(); unknown when it has none. */
const struct build_id *elf_symbols_build_id(const struct elf_symbols *es);

/**
 * elf_build_id() - the build id of @fd without reading its symbols.
 * Return: 0 and *@id, unknown when it has none; -errno as of elf_symbols_open(). @fd stays the caller's.
 */
int elf_build_id(int fd, struct build_id *id);

#endif
