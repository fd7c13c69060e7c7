/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ELF file, 32 or 64 bits, either byte order: its header, segments, sections and build id, and reading from it.
 * What elf.h does is made of this.
 *
 * The file may be hostile and may change while it is read: bytes are read by pread(2) into memory of our own, and each
 * offset, count and link is checked there.
 */
#ifndef CORE_FILES_ELF_FILE_H
#define CORE_FILES_ELF_FILE_H

#include "core/files/build_ids.h"

#include <libelf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_SEGMENTS_MAX 64 /* executable PT_LOADs kept; linkers make one, hugepage tools a few */

struct elf_segment {
	uint64_t offset, size, vaddr;
};

/**
 * struct elf_file - begins as ELF_FILE_NONE. Read it, change nothing.
 * @fd:       owned; -1: the bytes are in @memory
 * @memory:   owned, @size bytes; NULL: a file
 * @sections: @nr_sections of them, as they are in the file but for width and byte order: to be checked with
 *            elf_section_readable(); NULL after elf_file_drop_sections()
 * @segments: those that are loaded executable
 */
struct elf_file {
	int fd;
	char *memory;
	uint64_t size;
	unsigned char class, encoding;
	uint16_t machine, nr_sections, names;
	Elf64_Shdr *sections;
	struct build_id build_id;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	unsigned int nr_segments;
};

#define ELF_FILE_NONE ((struct elf_file){ .fd = -1 })

/**
 * elf_file_open() - read the head of @fd, which must be a regular file; its position is not used. @fd stays the
 * caller's. Return: 0 and @f, owned: elf_file_release(); -ENOEXEC: not an ELF file with sections that we can read;
 * -EINVAL: not a regular file; -ENOMEM; -EIO and others of fcntl(2) and pread(2). There is nothing to release after a
 * failure.
 */
int elf_file_open(struct elf_file *f, int fd);

/** elf_file_adopt() - the same of @len bytes at @memory, from malloc(3), which are @f's from now on, or freed. */
int elf_file_adopt(struct elf_file *f, char *memory, size_t len);

void elf_file_drop_sections(struct elf_file *f);
void elf_file_release(struct elf_file *f);

/** elf_file_read() - @len bytes from @offset on. Return: 0; -ENOEXEC: they are not all there; others of pread(2). */
int elf_file_read(const struct elf_file *f, uint64_t offset, void *buf, size_t len);

/** elf_file_word() - the same of four bytes, a number. */
int elf_file_word(const struct elf_file *f, uint64_t offset, uint32_t *word);

/** elf_section_readable() - its bytes, if it has any, are in the file as they are. */
bool elf_section_readable(const struct elf_file *f, const Elf64_Shdr *sh);

/** elf_section_name() - the first @cap - 1 bytes of its name, terminated; "" when it cannot be read. */
void elf_section_name(const struct elf_file *f, const Elf64_Shdr *sh, char *buf, size_t cap);

/**
 * struct elf_table - @nr entries of @f, translated piece by piece.
 * @rc: of the last read: as elf_file_read()
 */
struct elf_table {
	const struct elf_file *f;
	Elf_Type type;
	size_t item;
	uint64_t offset, nr, next, per; /* how many are read at once */
	uint64_t loaded, nr_loaded;
	int rc;
	union {
		char bytes[16384];
		Elf64_Xword align;
	} buf;
};

/** elf_table_init() - @item: bytes of an entry in the file, checked to be those of @type in the file's class. */
void elf_table_init(struct elf_table *t, const struct elf_file *f, Elf_Type type, size_t item, uint64_t offset,
		    uint64_t nr);

/** elf_table_at() - entry @i, until the next call. NULL: there is none, or a failure (@t->rc). */
const void *elf_table_at(struct elf_table *t, uint64_t i);

/** elf_table_next() - the entries one by one. NULL: the end, or a failure (@t->rc). */
const void *elf_table_next(struct elf_table *t);

/** elf_symbol_size() - bytes of a symbol in @f. */
size_t elf_symbol_size(const struct elf_file *f);

/** elf_symbol_of() - @item of a table of symbols, in the form of 64 bits. */
Elf64_Sym elf_symbol_of(const struct elf_file *f, const void *item);

#endif
