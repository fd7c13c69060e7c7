/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of symbols, in the string tables of ELF files: each known by a number, and read when it is asked for, since
 * few are. Strings that their table does not terminate are not there.
 */
#ifndef CORE_FILES_ELF_NAMES_H
#define CORE_FILES_ELF_NAMES_H

#include "core/base/intern.h"
#include "core/files/elf_file.h"

#define ELF_STRINGS_MAX 4 /* .symtab's, .dynsym's, a debug file's, and those of .gopclntab */

/* The same name with "@plt" behind it: in procedure linkage tables. */
#define ELF_NAME_PLT (1u << 31)

/* A string table. Names in it are numbered from @base on by their offset. @held: all of it, for a while; or NULL. */
struct elf_strings {
	const struct file_bytes *b;
	char *held;
	uint64_t offset;
	uint32_t base, size; /* without the bytes that begin no terminated string */
};

/** struct elf_names - all zero is empty; owned: elf_names_release(). */
struct elf_names {
	struct elf_strings strings[ELF_STRINGS_MAX];
	unsigned int nr_strings;
	struct intern_table known; /* that were asked for */
	size_t known_bytes;        /* of these */
};

void elf_names_release(struct elf_names *n);

/**
 * elf_names_add() - have the names of section @sh of @f, which is borrowed until elf_names_release().
 * Return: 0 and *@out, as long as @n; -ENOEXEC: not a string table, without a terminated string, or too large; others
 * of file_bytes_read().
 */
int elf_names_add(struct elf_names *n, const struct elf_file *f, const Elf64_Shdr *sh, struct elf_strings **out);

/** elf_names_read() - the name at @name, without "@plt": at most @cap - 1 bytes, terminated; "" if it cannot be read.
 */
void elf_names_read(const struct elf_names *n, uint32_t name, char *buf, size_t cap);

/**
 * elf_names_hold() - @nr calls of elf_names_read() follow: if that reads less, read the tables as a whole. This takes
 * at most 64 MiB, until elf_names_drop(). No failure: what cannot be held is read piece by piece.
 */
void elf_names_hold(struct elf_names *n, size_t nr);
void elf_names_drop(struct elf_names *n);

/**
 * elf_names_find() - the name at @name, its first 64 KiB, until elf_names_release(); once 16 MiB of names were found,
 * its first 255 bytes. NULL: unreadable, or no memory.
 */
const char *elf_names_find(struct elf_names *n, uint32_t name);

#endif
