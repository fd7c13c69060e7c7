/* SPDX-License-Identifier: Apache-2.0 */
/* A range of addresses of an ELF file, and its bytes. Not thread safe. */
#ifndef UNWIND_EXTENT_H
#define UNWIND_EXTENT_H

#include "core/files/file_bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/** struct extent - the bytes at addresses [@addr, @addr + @size): in a file, or in memory if they were compressed. */
struct extent {
	uint64_t addr, size;
	struct file_bytes *file;
	uint64_t offset; /* of the first one in @file */
	char *memory;    /* owned; NULL: they are in @file */
};

/** extent_left() - bytes from @addr to the end; 0: @addr is not in it. */
uint64_t extent_left(const struct extent *e, uint64_t addr);

/** extent_from() - @out: the rest of @e, which is in a file, from @addr on. False: @addr is not in it. */
bool extent_from(const struct extent *e, uint64_t addr, struct extent *out);

/** extent_read() - copy @len bytes. Return: 0; -EFAULT: not all are in it; as file_bytes_read_kept(). */
int extent_read(const struct extent *e, uint64_t addr, void *to, size_t len);

/**
 * extent_inflate() - replace the compressed contents of a section (SHF_COMPRESSED) by the plain ones, in memory.
 * @gnu: the section has the name .zdebug_..., see elf_inflate_gnu()
 * Return: 0; -errno as elf_inflate_section(), and @e is as it was.
 */
int extent_inflate(struct extent *e, bool gnu);

/** extent_release() - free @memory, and make @e empty. */
void extent_release(struct extent *e);

#endif
