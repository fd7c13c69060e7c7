/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One ELF file, 32 or 64 bits, little endian: its header, segments, sections and build id. core/files/elf.h reads names
 * from it, and unwind/rules.h reads rules for unwinding.
 *
 * The file may be hostile and may change while it is read: each offset, count and link is checked in our own copy.
 * Not thread safe.
 */
#ifndef CORE_FILES_ELF_FILE_H
#define CORE_FILES_ELF_FILE_H

#include "core/files/build_ids.h"
#include "core/files/file_bytes.h"

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mapping;

#define ELF_SEGMENTS_MAX 64 /* PT_LOADs kept; linkers make about four, hugepage tools some more */

/**
 * struct elf_segment - a program header. In elf_file.segments, neither @offset + @size nor @vaddr plus a size
 * overflows; elf_file.eh_frame_hdr and elf_file.dynamic are unchecked.
 * @size:   bytes in the file
 * @memory: bytes in memory
 */
struct elf_segment {
	uint64_t offset, size, vaddr, memory;
	uint32_t flags; /* PF_X, PF_W, PF_R */
};

/**
 * struct elf_file - begins as ELF_FILE_NONE. Do not write to it.
 * @class:    ELFCLASS32 or ELFCLASS64; 0: it is not open
 * @sections: @nr_sections headers, widened to 64 bits and otherwise unchecked: use elf_section_readable(); NULL after
 *            elf_file_drop_sections()
 * @nr_sections: 0: it has none, or they cannot be read
 * @segments: in the order of the file; without program headers, the sections that would be loaded
 * @eh_frame_hdr: PT_GNU_EH_FRAME; size 0: none
 * @dynamic: PT_DYNAMIC; size 0: none
 */
struct elf_file {
	struct file_bytes bytes;
	unsigned char class;
	uint16_t type, machine, nr_sections, names;
	Elf64_Shdr *sections;
	struct build_id build_id;
	struct elf_segment segments[ELF_SEGMENTS_MAX];
	unsigned int nr_segments;
	struct elf_segment eh_frame_hdr, dynamic;
};

#define ELF_FILE_NONE ((struct elf_file){ .bytes = FILE_BYTES_NONE })

/**
 * elf_file_open() - read the head of @fd, which must be a regular file; its position is not used. @fd stays the
 * caller's. Return: 0 and @f, owned: elf_file_release(); -ENOEXEC: not an ELF file that we can read; -EINVAL: not a
 * regular file; -ENOMEM; -EIO and others of fcntl(2) and pread(2). There is nothing to release after a failure.
 */
int elf_file_open(struct elf_file *f, int fd);

/**
 * elf_file_adopt() - the same for @len bytes at @memory, from malloc(3). @f owns them then; they are freed on failure.
 */
int elf_file_adopt(struct elf_file *f, char *memory, size_t len);

/** elf_file_drop_sections() - free the headers of sections, and the pages that were read for their names. */
void elf_file_drop_sections(struct elf_file *f);
void elf_file_release(struct elf_file *f);

/** elf_file_address() - the file's own address of its byte @offset, if it is loaded executable. False: it is not. */
bool elf_file_address(const struct elf_file *f, uint64_t offset, uint64_t *addr);

/**
 * elf_file_loaded() - the offset in the file of the byte whose address by the program headers is @addr.
 * @left: out: bytes from there to the end of its segment, or of the file
 * Return: false: no segment has it.
 */
bool elf_file_loaded(const struct elf_file *f, uint64_t addr, uint64_t *offset, uint64_t *left);

/**
 * elf_file_address_mapped() - as elf_file_address(), if @f is the separate debug file of a program, for address @at in
 * the mapping @m of that program.
 *
 * objcopy(1) leaves the bytes of segments out of a debug file, and changes their offsets, so these do not tell where
 * the segments are in the program's file. But if there is only one executable segment, we know where that is in two
 * cases: @m maps exactly that segment, or @m begins with it and is as long as the whole program (because ld.so maps a
 * library as a whole first).
 */
bool elf_file_address_mapped(const struct elf_file *f, const struct mapping *m, uint64_t at, uint64_t *addr);

/** elf_section_readable() - true if its offset and size are within the file, and it is not compressed. */
bool elf_section_readable(const struct elf_file *f, const Elf64_Shdr *sh);

/** elf_section_name() - the first @cap - 1 bytes of its name, terminated; "" if it cannot be read. */
void elf_section_name(struct elf_file *f, const Elf64_Shdr *sh, char *buf, size_t cap);

/**
 * elf_section_find() - the first section called @name whose bytes are in the file, also compressed ones. Looks only at
 * the first 1,024 sections.
 * Return: 0 and *@out; -ENOENT: there is none; -EIO and others of file_bytes_read_kept(): a name could not be read.
 */
int elf_section_find(struct elf_file *f, const char *name, Elf64_Shdr *out);

/**
 * struct elf_table - @nr entries of @b, read piece by piece.
 * @rc: of the last read: as file_bytes_read()
 */
struct elf_table {
	const struct file_bytes *b;
	size_t item;
	uint64_t offset, nr, next;
	uint64_t per; /* entries that are read at once */
	uint64_t loaded, nr_loaded;
	int rc;
	union {
		char bytes[16384];
		Elf64_Xword align;
	} buf;
};

/** elf_table_init() - @item: bytes of an entry. */
void elf_table_init(struct elf_table *t, const struct file_bytes *b, size_t item, uint64_t offset, uint64_t nr);

/** elf_table_at() - entry @i, valid until the next call. NULL: there is none, or a failure (@t->rc). */
const void *elf_table_at(struct elf_table *t, uint64_t i);

/** elf_table_next() - the entries one by one. NULL: the end, or a failure (@t->rc). */
const void *elf_table_next(struct elf_table *t);

/** elf_symbol_size() - bytes of a symbol in @f. */
size_t elf_symbol_size(const struct elf_file *f);

/** elf_symbol_of() - @item of a symbol table, widened to 64 bits. */
Elf64_Sym elf_symbol_of(const struct elf_file *f, const void *item);

#endif
