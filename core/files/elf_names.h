/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of symbols, in the string tables of ELF files. Each is known by a number and read only when it is needed,
 * because few are. Strings that do not end within their table do not exist.
 */
#ifndef CORE_FILES_ELF_NAMES_H
#define CORE_FILES_ELF_NAMES_H

#include "core/base/intern.h"
#include "core/files/elf_file.h"

#define ELF_STRINGS_MAX 4 /* .symtab's, .dynsym's, a debug file's, and those of .gopclntab */

/* A flag in the number of a name: "@plt" is appended, for an entry of a procedure linkage table. */
#define ELF_NAME_PLT (1u << 31)

/* A string table. A name has the number @base plus its offset. @held: a copy of the table for a while, or NULL. */
struct elf_strings {
	const struct file_bytes *b;
	char *held;
	uint64_t offset;
	uint32_t base, size; /* up to the end of the last terminated string */
};

/** struct elf_names - all zero is empty; its owner calls elf_names_release(). */
struct elf_names {
	struct elf_strings strings[ELF_STRINGS_MAX];
	unsigned int nr_strings;
	struct intern_table known; /* names that were found */
	size_t known_bytes;        /* of these */
};

void elf_names_release(struct elf_names *n);

/**
 * elf_names_add() - add the names of section @sh of @f, which is borrowed until elf_names_release().
 * Return: 0 and *@out, valid as long as @n; -ENOEXEC: not a string table, without a terminated string, too large, or
 * one too many; others of file_bytes_read().
 */
int elf_names_add(struct elf_names *n, const struct elf_file *f, const Elf64_Shdr *sh, struct elf_strings **out);

/**
 * elf_names_read() - the name of number @name, without "@plt": at most @cap - 1 bytes, terminated; "" if it cannot be
 * read.
 */
void elf_names_read(const struct elf_names *n, uint32_t name, char *buf, size_t cap);

/**
 * elf_names_hold() - prepare for @nr calls of elf_names_read(): read whole tables, if these have fewer bytes than @nr
 * single reads would fetch. This uses at most 64 MiB, until elf_names_drop(). It cannot fail: a table that has no room
 * is read piece by piece.
 */
void elf_names_hold(struct elf_names *n, size_t nr);
void elf_names_drop(struct elf_names *n);

/**
 * elf_names_find() - the name of number @name, borrowed until elf_names_release(): at most 64 KiB of it, and once 16
 * MiB of names were found, at most 255 bytes. NULL: empty, unreadable, or no memory.
 */
const char *elf_names_find(struct elf_names *n, uint32_t name);

#endif
