/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The function symbols of one ELF file: .symtab and .dynsym together, 32 and 64 bits, little endian; without .symtab,
 * the one of its debug file (see debug_files.h) or of its .gnu_debugdata in its place; and where these have no name, or
 * one without size, the one of the debug file beside them, if it is added. Without section headers, .dynsym is found as
 * the dynamic linker finds it.
 *
 * Taken are functions, indirect functions and untyped labels (hand-written assembly) that lie in an executable section,
 * or segment where sections are not known. An address belongs to the symbol with size that covers it and begins closest
 * below; of those that begin at the same address, to the one alias.h prefers. A symbol without size ends where the next
 * one begins, at latest with its section, and gives way to every symbol with size that covers it or begins where it
 * does. Where there is no symbol, the entries of the procedure linkage tables are called "name@plt", and the functions
 * of Go programs have the names of .gopclntab.
 *
 * Memory: 24 bytes a symbol, and the names that were asked for; of .gnu_debugdata, all names. The files stay open for
 * the others.
 *
 * The files may be hostile and may change while they are read: bytes are read by pread(2) into memory of our own, and
 * each offset, count and link is checked there. A name that changed is another name, no more. Not thread safe.
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
	bool sized;     /* else it may end before the address that was looked for: see rules_begun() */
};

/**
 * elf_symbols_open() - read the symbols of @fd, which must be a regular file; its position is not used.
 * Return: 0 and the owned *@out, which may be without symbols; -ENOEXEC: not an ELF file with sections or segments that
 * we can read; -EINVAL: not a regular file; -ENOMEM; -EIO and others of pread(2). @fd stays the caller's.
 */
int elf_symbols_open(int fd, struct elf_symbols **out);

/** elf_symbols_of() - the same of @f, which is taken over, also on failure. */
int elf_symbols_of(struct elf_file *f, struct elf_symbols **out);

/**
 * elf_symbols_of_debug() - the same of the separate debug file of a program, where the program itself is not to be had.
 * Return: also -ENOENT: it has no .symtab.
 */
int elf_symbols_of_debug(struct elf_file *f, struct elf_symbols **out);

/** elf_symbols_share() - they have one owner more. Return: @es. */
struct elf_symbols *elf_symbols_share(struct elf_symbols *es);
/** elf_symbols_shared() - have they another owner? */
bool elf_symbols_shared(const struct elf_symbols *es);
/** elf_symbols_free() - by each owner; the last one frees them. NULL is fine. */
void elf_symbols_free(struct elf_symbols *es);

/** elf_symbols_want_lines() - the debug information is wanted, too (see lines.h). Before debug files are added. */
void elf_symbols_want_lines(struct elf_symbols *es);

/**
 * elf_symbols_lines_fd() - the file that has the debug information, the file itself or its debug file. Borrowed until
 * elf_symbols_free(). -1: neither, or it is in memory.
 */
int elf_symbols_lines_fd(const struct elf_symbols *es);

/**
 * elf_symbols_want_names() - an address has no name though the file has a .symtab, which may have been stripped of most
 * symbols: those of the debug file are wanted beside them. After the first elf_symbols_find().
 * Return: false: they are there already, or the .symtab is that of a debug file.
 */
bool elf_symbols_want_names(struct elf_symbols *es);
/** elf_symbols_may_want_names() - may that be so, now or later? */
bool elf_symbols_may_want_names(const struct elf_symbols *es);

/** elf_symbols_wants_debug() - has no .symtab been read, of the file or of another one, or something else wanted? */
bool elf_symbols_wants_debug(const struct elf_symbols *es);

/** elf_symbols_stripped() - has no .symtab been read, of the file or of another one? */
bool elf_symbols_stripped(const struct elf_symbols *es);

/**
 * elf_symbols_add_debug() - add the .symtab of @fd, the separate debug file. One of another build or machine is
 * refused; that it is the right one when nothing tells builds apart is for the caller to know. Before the first
 * elf_symbols_find(), and once; after elf_symbols_want_names(), once more. Return: 0; -ENOENT: it has nothing that is
 * wanted; -ESTALE: of another build or machine; -EALREADY; others as of elf_symbols_open(), and @es is as it was. @fd
 * stays the caller's.
 */
int elf_symbols_add_debug(struct elf_symbols *es, int fd);

/**
 * elf_symbols_add_inside() - the same of the debug file inside the file: .gnu_debugdata.
 * Return: also -ENOENT: there is none; -EBADMSG: it is not compressed as it should be; -E2BIG: it is too large.
 */
int elf_symbols_add_inside(struct elf_symbols *es);

/**
 * elf_symbols_debuglink() - what .gnu_debuglink tells of the debug file.
 * @name: its name, without folder, until elf_symbols_free(); not empty, "." or ".."
 * @crc: CRC-32 of all of its bytes, as of zlib
 * Return: false: the file does not tell, or tells nonsense; both are untouched.
 */
bool elf_symbols_debuglink(const struct elf_symbols *es, const char **name, uint32_t *crc);

/**
 * elf_symbols_read() - symbols that were read, also those that are no functions, and others' worth of bytes: what time
 * and memory grow with.
 */
uint64_t elf_symbols_read(const struct elf_symbols *es);

/**
 * elf_symbols_vaddr() - the file's own address of address @at of @m, which shows it. False: it is not loaded
 * executable, or that is not known (see elf_file_address_mapped()).
 */
bool elf_symbols_vaddr(const struct elf_symbols *es, const struct mapping *m, uint64_t at, uint64_t *vaddr);

/** elf_symbols_find() - the symbol @vaddr is in. Return: true and *@out, which is untouched otherwise. */
bool elf_symbols_find(struct elf_symbols *es, uint64_t vaddr, struct elf_symbol *out);

/** elf_symbols_is_plt() - is @vaddr in a procedure linkage table? */
bool elf_symbols_is_plt(const struct elf_symbols *es, uint64_t vaddr);

/**
 * elf_symbols_address() - the address of the first symbol called @name, code or not, that is defined in the file, not
 * in its debug file. A longer name than 1022 bytes is not found. Reads all names up to it: not for many lookups.
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
