/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The layout of an ELF file as far as unwind rules need it: segments, and sections by name. Nothing is trusted: what it
 * says is bounded, and where it makes no sense the part it speaks of is not there. Not thread safe.
 */
#ifndef UNWIND_RULES_ELF_H
#define UNWIND_RULES_ELF_H

#include "unwind/pages.h"

/** struct extent - the bytes at addresses [@addr, @addr + @size): in a file, or in memory if they were compressed. */
struct extent {
	uint64_t addr, size;
	struct pages *pages;
	uint64_t offset; /* of the first one in @pages */
	uint8_t *memory; /* owned; NULL: they are in @pages */
};

/** extent_left() - bytes from @addr to the end; 0: @addr is not in it. */
uint64_t extent_left(const struct extent *e, uint64_t addr);

/** extent_from() - @out is what is left of @e, whose bytes are in a file, from @addr on. False: nothing. */
bool extent_from(const struct extent *e, uint64_t addr, struct extent *out);

/** extent_read() - copy @len bytes. Return: 0; -EFAULT: not all are in it; as pages_read(). */
int extent_read(const struct extent *e, uint64_t addr, void *to, size_t len);

/**
 * extent_inflate() - replace the contents of a section with SHF_COMPRESSED by what they stand for, in memory.
 * Return: 0; -ENOTSUP: not zlib, or too large; -EBADMSG: damaged; -ENOMEM; as pages_read().
 */
int extent_inflate(struct extent *e);

/** extent_release() - free what extent_inflate() made. */
void extent_release(struct extent *e);

/** struct rules_segment - a PT_LOAD, as far as it has bytes in the file. */
struct rules_segment {
	struct extent bytes;
	bool writable, executable;
};

/**
 * struct rules_elf - a file.
 * @segments: in the file's order; owned
 * @hdr: what PT_GNU_EH_FRAME shows; empty: nothing
 */
struct rules_elf {
	struct pages pages;
	struct rules_segment *segments;
	unsigned int nr_segments;
	struct extent hdr;
	uint64_t sections; /* offset of their headers */
	uint16_t nr_sections, names;
};

/**
 * rules_elf_open() - read the headers.
 * @file: taken over, also on failure
 * Return: 0 and the owned *@out; -ENOEXEC: not an ELF64 program or library of ARCH_ELF_MACHINE; -ENOMEM; as
 * pages_read().
 */
int rules_elf_open(const struct unwind_bytes *file, struct rules_elf **out);
void rules_elf_close(struct rules_elf *elf);

/** rules_elf_memory() - bytes of memory it holds. */
size_t rules_elf_memory(const struct rules_elf *elf);

/** rules_elf_segment() - the first segment with the byte at @addr; NULL: none. */
const struct rules_segment *rules_elf_segment(const struct rules_elf *elf, uint64_t addr);

/**
 * rules_elf_section() - the first section called @name that has bytes.
 * @name: at most 15 characters
 * @compressed: out: they are to be given to extent_inflate()
 * Return: 0; -ENOENT: there is none to be found; -EIO and the like: the reader failed.
 */
int rules_elf_section(struct rules_elf *elf, const char *name, struct extent *out, bool *compressed);

#endif
