/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function symbols of one ELF file, 32 or 64 bits, little endian. They come from .symtab and .dynsym together. If
 * the file has no .symtab, the one of its debug file (see debug_files.h) or of its .gnu_debugdata replaces it. If these
 * tables have no name for an address, or only a symbol without size, the debug file is used, too, if the caller adds
 * it. Without section headers, .dynsym is found as the dynamic linker finds it.
 *
 * We use functions, indirect functions and untyped labels (hand-written assembly) that lie in an executable section, or
 * in an executable segment if sections are not known. An address belongs to the symbol with size that covers it and
 * begins closest below; if several begin at the same address, to the alias that alias.h prefers. A symbol without size
 * ends where the next one begins, at the latest with its section, and gives way to every symbol with size that covers
 * its beginning. If there is no symbol, the entries of the procedure linkage tables are named
 * "name@plt". If there is no symbol, or only one without size, the functions of Go programs have the names of
 * .gopclntab.
 *
 * Memory: 24 bytes a symbol, and each name that was looked up; for .gnu_debugdata, all names. The files stay open to
 * read the other names.
 *
 * The files may be hostile and may change while they are read: bytes are read by pread(2) into our own memory, and each
 * offset, count and link is checked there. A name that changes becomes a wrong name, and does no other harm. Not thread
 * safe.
 */
#ifndef CORE_FILES_ELF_H
#define CORE_FILES_ELF_H

#include "core/files/build_ids.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file;
struct elf_symbols;
struct mapping;

/** struct elf_symbol - @name is borrowed until elf_symbols_free(). */
struct elf_symbol {
	const char *name;
	uint64_t start; /* as the addresses of the file, not of a process */
	bool sized;     /* false: it may have ended before the address: see rules_begun() of unwind/rules.h */
};

/**
 * elf_symbols_open() - read the symbols of @fd, which must be a regular file; its position is not used.
 * Return: 0 and the owned *@out, which may be without symbols; -ENOEXEC: not an ELF file with sections or segments that
 * we can read; -EINVAL: not a regular file; -ENOMEM; -EIO and others of pread(2). @fd stays the caller's.
 */
int elf_symbols_open(int fd, struct elf_symbols **out);

/** elf_symbols_of() - the same for @f, which this function takes over, also on failure. */
int elf_symbols_of(struct elf_file *f, struct elf_symbols **out);

/**
 * elf_symbols_of_debug() - the same for the separate debug file of a program, if the program itself cannot be read.
 * Return: also -ENOENT: it has no .symtab.
 */
int elf_symbols_of_debug(struct elf_file *f, struct elf_symbols **out);

/** elf_symbols_share() - add one owner. Return: @es. */
struct elf_symbols *elf_symbols_share(struct elf_symbols *es);
/** elf_symbols_shared() - true if there is more than one owner. */
bool elf_symbols_shared(const struct elf_symbols *es);
/** elf_symbols_free() - call it once for each owner; the last call frees @es. NULL is fine. */
void elf_symbols_free(struct elf_symbols *es);

/** elf_symbols_want_lines() - the debug information is wanted, too (see lines.h). Call it before adding debug files. */
void elf_symbols_want_lines(struct elf_symbols *es);

/**
 * elf_symbols_lines_fd() - descriptor of the file that has the debug information: the file itself or its debug file.
 * Borrowed until elf_symbols_free(). -1: neither has it, or the debug file is in memory.
 */
int elf_symbols_lines_fd(const struct elf_symbols *es);

/**
 * elf_symbols_want_names() - an address has no name though the file has a .symtab, which may have been stripped of most
 * symbols: use those of the debug file, too. Call it after the first elf_symbols_find().
 * Return: true: a debug file can be added now; false: it was added already, or the file has no .symtab of its own.
 */
bool elf_symbols_want_names(struct elf_symbols *es);
/** elf_symbols_may_want_names() - true if elf_symbols_want_names() may return true, now or later. */
bool elf_symbols_may_want_names(const struct elf_symbols *es);

/**
 * elf_symbols_wants_debug() - true if no .symtab has been read yet, or if lines or names of a debug file are wanted and
 * missing.
 */
bool elf_symbols_wants_debug(const struct elf_symbols *es);

/** elf_symbols_stripped() - true if no .symtab has been read, neither of the file nor of a debug file. */
bool elf_symbols_stripped(const struct elf_symbols *es);

/**
 * elf_symbols_add_debug() - add the .symtab of @fd, the separate debug file. One of another build or machine is
 * refused; if a build id is missing, the caller has to know that it is the right file. Call this before the first
 * elf_symbols_find(), and once; after elf_symbols_want_names(), once more. Return: 0; -ENOENT: it has nothing that is
 * wanted; -ESTALE: of another build or machine; -EALREADY: no debug file can be added now; others as of
 * elf_symbols_open(). After a failure, @es is as it was. The caller still owns @fd.
 */
int elf_symbols_add_debug(struct elf_symbols *es, int fd);

/**
 * elf_symbols_add_inside() - the same of the debug file inside the file: .gnu_debugdata.
 * Return: also -ENOENT: there is none; -EBADMSG: it is not compressed as it should be; -E2BIG: it is too large.
 */
int elf_symbols_add_inside(struct elf_symbols *es);

/**
 * elf_symbols_debuglink() - the contents of .gnu_debuglink.
 * @name: of the debug file, without directory, borrowed until elf_symbols_free(); not empty, "." or ".."
 * @crc: CRC-32 of all of its bytes, as of zlib
 * Return: false: there is no such section, or it is malformed; *@name and *@crc are untouched.
 */
bool elf_symbols_debuglink(const struct elf_symbols *es, const char **name, uint32_t *crc);

/**
 * elf_symbols_read() - a measure of time and memory: the number of symbols that were read, functions or not. The
 * contents of .gnu_debugdata count, too, as one symbol for each 24 bytes, and .gopclntab as one for each function.
 */
uint64_t elf_symbols_read(const struct elf_symbols *es);

/**
 * elf_symbols_vaddr() - the file's own address of the byte at @at, an address in the process, in @m, a mapping of the
 * file. False: the byte is not loaded executable, or that is not known (see elf_file_address_mapped()).
 */
bool elf_symbols_vaddr(const struct elf_symbols *es, const struct mapping *m, uint64_t at, uint64_t *vaddr);

/** elf_symbols_find() - the symbol @vaddr is in. Return: true and *@out, which is untouched otherwise. */
bool elf_symbols_find(struct elf_symbols *es, uint64_t vaddr, struct elf_symbol *out);

/** elf_symbols_is_plt() - true if @vaddr is in a procedure linkage table. */
bool elf_symbols_is_plt(const struct elf_symbols *es, uint64_t vaddr);

/**
 * elf_symbols_address() - the address of the first symbol named @name, code or not, that is defined in the file, not
 * in its debug file. A longer name than 1022 bytes is not found. Reads all names up to it, so it is slow.
 * Return: true and *@addr, which is untouched otherwise.
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
