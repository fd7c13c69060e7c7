/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The bytes of a file, or of an image of one in memory. The file may be hostile and may change while it is read, so its
 * bytes are copied by pread(2), never mapped. Not thread safe.
 */
#ifndef CORE_FILES_FILE_BYTES_H
#define CORE_FILES_FILE_BYTES_H

#include <stddef.h>
#include <stdint.h>

#define FILE_PAGES_NR   256 /* kept at most: 1 MiB of a file */
#define FILE_PAGE_BYTES 4096

struct file_page;

/**
 * struct file_bytes - begins as FILE_BYTES_NONE. Do not write to it.
 * @fd:     owned; -1: the bytes are in @memory, or there are none
 * @memory: owned, @size bytes; NULL: the bytes are in @fd
 * @pages:  FILE_PAGES_NR pointers, @nr_pages of them not NULL; if page N of the file is kept, it is at N modulo
 *          FILE_PAGES_NR; NULL: none is kept
 */
struct file_bytes {
	int fd;
	char *memory;
	uint64_t size;
	struct file_page **pages;
	size_t nr_pages;
};

#define FILE_BYTES_NONE ((struct file_bytes){ .fd = -1 })

/**
 * file_bytes_open() - the bytes of @fd, which must be a regular file; its position is not used. The caller still owns
 * @fd.
 * Return: 0 and @b, owned: file_bytes_release(); -EINVAL: not a regular file; -errno of fstat(2) and fcntl(2).
 */
int file_bytes_open(struct file_bytes *b, int fd);
void file_bytes_release(struct file_bytes *b);

/** file_bytes_read() - @len bytes from @offset on. Return: 0; -ENOEXEC: they are not all there; others of pread(2). */
int file_bytes_read(const struct file_bytes *b, uint64_t offset, void *to, size_t len);

/**
 * file_bytes_read_kept() - the same through pages that are kept: bytes that are read often need no system call.
 * Return: also -ENOMEM.
 */
int file_bytes_read_kept(struct file_bytes *b, uint64_t offset, void *to, size_t len);
void file_bytes_drop_pages(struct file_bytes *b);

/** file_bytes_memory() - bytes of memory that @b uses: the image or the kept pages. */
size_t file_bytes_memory(const struct file_bytes *b);

#endif
