/* SPDX-License-Identifier: Apache-2.0 */
/* The bytes of a file, in pages that are kept: what is read often costs no system call. Not thread safe. */
#ifndef UNWIND_PAGES_H
#define UNWIND_PAGES_H

#include "unwind/bytes.h"

#define PAGES_NR    256 /* kept at most: 1 MiB of a file */
#define PAGES_BYTES 4096

struct page;

/** struct pages - @slots: of page number N modulo PAGES_NR, allocated when first wanted. */
struct pages {
	struct unwind_bytes file;
	struct page *slots[PAGES_NR];
	size_t nr;
};

/** pages_init() - @file is taken over. */
void pages_init(struct pages *p, const struct unwind_bytes *file);
void pages_release(struct pages *p);

/** pages_memory() - bytes of the kept pages. */
size_t pages_memory(const struct pages *p);

/**
 * pages_read() - copy @len bytes at @offset.
 * Return: 0; -ENOEXEC: not all of them are in the file (any longer), -ENOMEM, or what the reader returned.
 */
int pages_read(struct pages *p, uint64_t offset, void *to, size_t len);

/** pages_read_once() - the same for bytes that are not wanted again: no page is kept for them. */
int pages_read_once(const struct pages *p, uint64_t offset, void *to, size_t len);

#endif
