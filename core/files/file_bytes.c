// SPDX-License-Identifier: Apache-2.0
#include "core/files/file_bytes.h"

#include "core/base/faults.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NO_PAGE UINT64_MAX

struct file_page {
	uint64_t nr; /* in the file; NO_PAGE: none */
	size_t len;  /* less than FILE_PAGE_BYTES only at the end of the file */
	char bytes[FILE_PAGE_BYTES];
};

int file_bytes_open(struct file_bytes *b, int fd)
{
	struct stat st;

	*b = FILE_BYTES_NONE;
	if (fstat(fd, &st))
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	b->size = (uint64_t)st.st_size;
	b->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	return b->fd < 0 ? -errno : 0;
}

void file_bytes_release(struct file_bytes *b)
{
	file_bytes_drop_pages(b);
	if (b->fd >= 0)
		close(b->fd);
	free(b->memory);
	*b = FILE_BYTES_NONE;
}

void file_bytes_drop_pages(struct file_bytes *b)
{
	size_t i;

	for (i = 0; b->pages && i < FILE_PAGES_NR; i++)
		free(b->pages[i]);
	free(b->pages);
	b->pages = NULL;
	b->nr_pages = 0;
}

size_t file_bytes_memory(const struct file_bytes *b)
{
	return (b->memory ? b->size : 0) + (b->pages ? FILE_PAGES_NR * sizeof(*b->pages) : 0) +
	       b->nr_pages * sizeof(**b->pages);
}

static bool in_file(const struct file_bytes *b, uint64_t offset, size_t len)
{
	return offset <= b->size && len <= b->size - offset;
}

/* Return: the number of bytes there, at most @len, or -errno. */
static ssize_t read_there(const struct file_bytes *b, uint64_t offset, char *to, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		do
			n = pread(b->fd, to + got, len - got, (off_t)(offset + got));
		while (n < 0 && errno == EINTR);
		if (n < 0)
			return fault(-errno);
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

int file_bytes_read(const struct file_bytes *b, uint64_t offset, void *to, size_t len)
{
	ssize_t n;

	if (!in_file(b, offset, len))
		return -ENOEXEC;
	if (b->memory) {
		memcpy(to, b->memory + offset, len);
		return 0;
	}
	n = read_there(b, offset, to, len);
	if (n < 0)
		return (int)n;
	return (size_t)n < len ? -ENOEXEC : 0; /* the file shrank */
}

static int fill(const struct file_bytes *b, struct file_page *page, uint64_t nr)
{
	uint64_t offset = nr * FILE_PAGE_BYTES, left = b->size - offset;
	ssize_t n;

	page->nr = NO_PAGE; /* its bytes are overwritten, also on failure */
	n = read_there(b, offset, page->bytes, left < FILE_PAGE_BYTES ? (size_t)left : FILE_PAGE_BYTES);
	if (n < 0)
		return (int)n;
	page->nr = nr;
	page->len = (size_t)n;
	return 0;
}

/* Page @nr begins within the file. */
static int get_page(struct file_bytes *b, uint64_t nr, const struct file_page **out)
{
	struct file_page **slot;

	if (!b->pages)
		b->pages = calloc(FILE_PAGES_NR, sizeof(*b->pages));
	if (!b->pages)
		return fault(-ENOMEM);
	slot = &b->pages[nr % FILE_PAGES_NR];
	if (!*slot) {
		*slot = malloc(sizeof(**slot));
		if (!*slot)
			return fault(-ENOMEM);
		(*slot)->nr = NO_PAGE;
		b->nr_pages++;
	}
	*out = *slot;
	return (*slot)->nr == nr ? 0 : fill(b, *slot, nr);
}

int file_bytes_read_kept(struct file_bytes *b, uint64_t offset, void *to, size_t len)
{
	const struct file_page *page;
	char *out = to;
	size_t in, n;
	int rc;

	if (b->memory || !in_file(b, offset, len))
		return file_bytes_read(b, offset, to, len);
	for (; len; out += n, offset += n, len -= n) {
		rc = get_page(b, offset / FILE_PAGE_BYTES, &page);
		if (rc)
			return rc;
		in = offset % FILE_PAGE_BYTES;
		if (in >= page->len) /* the file shrank */
			return -ENOEXEC;
		n = len < page->len - in ? len : page->len - in;
		memcpy(out, page->bytes + in, n);
	}
	return 0;
}
