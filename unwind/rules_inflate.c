// SPDX-License-Identifier: Apache-2.0
#include "unwind/rules_elf.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <zlib.h>

#define INFLATED_MAX (16u << 20) /* bytes; the largest .debug_frame of distributions has some 10 MiB */
#define RATIO_MAX    1100        /* of inflated to deflated bytes; the format reaches 1032 */
#define CHUNK        16384

/* Feed the rest of the extent, from @at on, piece by piece. */
static int feed(const struct extent *e, uint64_t at, z_stream *z)
{
	unsigned char in[CHUNK];
	size_t len;
	int rc, status = Z_OK;

	for (; status == Z_OK && at < e->size; at += len) {
		len = e->size - at < sizeof(in) ? (size_t)(e->size - at) : sizeof(in);
		rc = pages_read_once(e->pages, e->offset + at, in, len);
		if (rc)
			return rc;
		z->next_in = in;
		z->avail_in = (unsigned int)len;
		status = inflate(z, Z_NO_FLUSH);
	}
	if (status == Z_MEM_ERROR)
		return -ENOMEM;
	return status == Z_STREAM_END && !z->avail_out ? 0 : -EBADMSG;
}

static int inflate_to(const struct extent *e, uint8_t *to, uint64_t size)
{
	z_stream z = { 0 };
	int rc = inflateInit(&z);

	if (rc != Z_OK)
		return -ENOMEM;
	z.next_out = to;
	z.avail_out = (unsigned int)size;
	rc = feed(e, sizeof(Elf64_Chdr), &z);
	inflateEnd(&z);
	return rc;
}

int extent_inflate(struct extent *e)
{
	uint8_t *memory;
	Elf64_Chdr ch;
	int rc;

	rc = e->size < sizeof(ch) ? -EBADMSG : pages_read_once(e->pages, e->offset, &ch, sizeof(ch));
	if (rc)
		return rc;
	if (ch.ch_type != ELFCOMPRESS_ZLIB || ch.ch_size > INFLATED_MAX)
		return -ENOTSUP;
	if (!ch.ch_size || ch.ch_size / RATIO_MAX > e->size || ch.ch_size > UINT64_MAX - e->addr)
		return -EBADMSG;
	memory = malloc(ch.ch_size);
	if (!memory)
		return -ENOMEM;
	rc = inflate_to(e, memory, ch.ch_size);
	if (rc) {
		free(memory);
		return rc;
	}
	e->memory = memory;
	e->size = ch.ch_size;
	return 0;
}
