// SPDX-License-Identifier: Apache-2.0
#include "unwind/pages.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NO_PAGE UINT64_MAX

struct page {
	uint64_t nr; /* in the file; NO_PAGE: none */
	size_t len;  /* less than PAGES_BYTES only where the file ends */
	uint8_t bytes[PAGES_BYTES];
};

void pages_init(struct pages *p, const struct unwind_bytes *file)
{
	*p = (struct pages){ .file = *file };
}

void pages_release(struct pages *p)
{
	size_t i;

	for (i = 0; i < PAGES_NR; i++)
		free(p->slots[i]);
	if (p->file.ctx)
		p->file.close(p->file.ctx);
}

size_t pages_memory(const struct pages *p)
{
	return p->nr * sizeof(struct page);
}

static bool in_file(const struct pages *p, uint64_t offset, size_t len)
{
	return offset <= p->file.size && len <= p->file.size - offset;
}

/* Return: bytes that are there, at most @len, or -errno. */
static ssize_t read_there(const struct pages *p, uint64_t offset, uint8_t *to, size_t len)
{
	size_t got = 0;
	ssize_t n;

	while (got < len) {
		n = p->file.read(p->file.ctx, offset + got, to + got, len - got);
		if (n < 0)
			return n;
		if (!n)
			break;
		got += (size_t)n;
	}
	return (ssize_t)got;
}

static int fill(const struct pages *p, struct page *page, uint64_t nr)
{
	uint64_t offset = nr * PAGES_BYTES, left = p->file.size - offset;
	ssize_t n;

	page->nr = NO_PAGE; /* its bytes are lost, also on failure */
	n = read_there(p, offset, page->bytes, left < PAGES_BYTES ? (size_t)left : PAGES_BYTES);
	if (n < 0)
		return (int)n;
	page->nr = nr;
	page->len = (size_t)n;
	return 0;
}

/* @nr begins within the file. */
static int get_page(struct pages *p, uint64_t nr, const struct page **out)
{
	struct page **slot = &p->slots[nr % PAGES_NR];

	if (!*slot) {
		*slot = malloc(sizeof(**slot));
		if (!*slot)
			return -ENOMEM;
		(*slot)->nr = NO_PAGE;
		p->nr++;
	}
	*out = *slot;
	return (*slot)->nr == nr ? 0 : fill(p, *slot, nr);
}

int pages_read(struct pages *p, uint64_t offset, void *to, size_t len)
{
	const struct page *page;
	uint8_t *out = to;
	size_t in, n;
	int rc;

	if (!in_file(p, offset, len))
		return -ENOEXEC;
	for (; len; out += n, offset += n, len -= n) {
		rc = get_page(p, offset / PAGES_BYTES, &page);
		if (rc)
			return rc;
		in = offset % PAGES_BYTES;
		if (in >= page->len) /* it shrank */
			return -ENOEXEC;
		n = len < page->len - in ? len : page->len - in;
		memcpy(out, page->bytes + in, n);
	}
	return 0;
}

int pages_read_once(const struct pages *p, uint64_t offset, void *to, size_t len)
{
	ssize_t n;

	if (!in_file(p, offset, len))
		return -ENOEXEC;
	n = read_there(p, offset, to, len);
	if (n < 0)
		return (int)n;
	return (size_t)n < len ? -ENOEXEC : 0;
}
