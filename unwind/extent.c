// SPDX-License-Identifier: Apache-2.0
#include "unwind/extent.h"

#include "core/files/elf_inflate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

uint64_t extent_left(const struct extent *e, uint64_t addr)
{
	return addr >= e->addr && addr - e->addr < e->size ? e->size - (addr - e->addr) : 0;
}

bool extent_from(const struct extent *e, uint64_t addr, struct extent *out)
{
	uint64_t left = extent_left(e, addr);

	*out = (struct extent){ addr, left, e->file, e->offset + (addr - e->addr), NULL };
	return left != 0;
}

int extent_read(const struct extent *e, uint64_t addr, void *to, size_t len)
{
	uint64_t left = extent_left(e, addr);

	if (!left || left < len) /* also for no bytes: an empty extent has no file */
		return -EFAULT;
	if (!e->memory)
		return file_bytes_read_kept(e->file, e->offset + (addr - e->addr), to, len);
	memcpy(to, e->memory + (addr - e->addr), len);
	return 0;
}

int extent_inflate(struct extent *e, bool gnu)
{
	size_t size;
	int rc = gnu ? elf_inflate_gnu(e->file, e->offset, e->size, &e->memory, &size)
		     : elf_inflate_section(e->file, e->offset, e->size, &e->memory, &size);

	if (!rc)
		e->size = size;
	return rc;
}

void extent_release(struct extent *e)
{
	free(e->memory);
	*e = (struct extent){ 0 };
}
