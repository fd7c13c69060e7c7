// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_inflate.h"

#include "core/base/faults.h"

#include <errno.h>
#include <lzma.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#ifdef HAVE_ZSTD
#include <zstd.h>
#include <zstd_errors.h>
#endif

#define CHUNK 16384

#define SECTION_MAX (16u << 20) /* bytes of contents; the largest .debug_frame of distributions has some 10 MiB */

/* Limits on the ratio of inflated to deflated bytes: zlib reaches 1032; a zstd block of 4 bytes may hold 128 KiB. */
#define ZLIB_RATIO_MAX 1100
#define ZSTD_RATIO_MAX (32u << 10)

#define XZ_MAX          (16u << 20)
#define XZ_INFLATED_MAX (64u << 20)
#define XZ_WORK_MAX     (80u << 20) /* xz -6, which distributions use, needs 9 MiB, -9 needs 65 */

/* The bytes to inflate, piece by piece. */
struct input {
	const struct file_bytes *b;
	uint64_t offset, left;
	unsigned char piece[CHUNK];
};

/* The next @len bytes in @in->piece. */
static int next_piece(struct input *in, size_t *len)
{
	int rc;

	*len = in->left < CHUNK ? (size_t)in->left : CHUNK;
	rc = file_bytes_read(in->b, in->offset, in->piece, *len);
	in->offset += *len;
	in->left -= *len;
	return rc;
}

/* ---- zlib */

static int zlib_all(struct input *in, z_stream *z)
{
	int rc, status = Z_OK;
	size_t len;

	while (status == Z_OK && in->left) {
		rc = next_piece(in, &len);
		if (rc)
			return rc;
		z->next_in = in->piece;
		z->avail_in = (unsigned int)len;
		status = inflate(z, Z_NO_FLUSH);
	}
	if (status == Z_MEM_ERROR)
		return fault(-ENOMEM);
	return status == Z_STREAM_END && !z->avail_out ? 0 : -EBADMSG;
}

static int zlib_to(struct input *in, void *to, size_t size)
{
	z_stream z = { .next_out = to, .avail_out = (unsigned int)size };
	int rc;

	if (inflateInit(&z) != Z_OK)
		return fault(-ENOMEM);
	rc = zlib_all(in, &z);
	inflateEnd(&z);
	return rc;
}

/* ---- zstd */

#ifdef HAVE_ZSTD

static int zstd_status(size_t status)
{
	if (!ZSTD_isError(status))
		return 0;
	return ZSTD_getErrorCode(status) == ZSTD_error_memory_allocation ? fault(-ENOMEM) : -EBADMSG;
}

/* Feed @piece. @status: in and out: of ZSTD_decompressStream(); 0: a frame is complete, and another one may follow */
static int zstd_piece(ZSTD_DStream *z, ZSTD_inBuffer *piece, ZSTD_outBuffer *out, size_t *status)
{
	size_t before;
	int rc = 0;

	while (!rc && piece->pos < piece->size && (*status || out->pos < out->size)) {
		before = piece->pos + out->pos;
		*status = ZSTD_decompressStream(z, out, piece);
		rc = zstd_status(*status);
		if (!rc && piece->pos + out->pos == before)
			rc = -EBADMSG; /* the contents do not fit into @out */
	}
	return rc;
}

static int zstd_to(struct input *in, void *to, size_t size)
{
	ZSTD_DStream *z = ZSTD_createDStream();
	ZSTD_outBuffer out = { to, size, 0 };
	size_t status = 1;
	int rc = z ? 0 : fault(-ENOMEM);

	while (!rc && in->left && (status || out.pos < size)) {
		ZSTD_inBuffer piece = { in->piece, 0, 0 };

		rc = next_piece(in, &piece.size);
		if (!rc)
			rc = zstd_piece(z, &piece, &out, &status);
	}
	ZSTD_freeDStream(z);
	return !rc && (status || out.pos < size) ? -EBADMSG : rc;
}

int elf_inflate_zstd(const void *from, size_t len, uint64_t size, char **out)
{
	size_t got;
	int rc;

	if (!size || size / ZSTD_RATIO_MAX > len)
		return -EBADMSG;
	*out = malloc(size);
	if (!*out)
		return fault(-ENOMEM);
	got = ZSTD_decompress(*out, size, from, len);
	rc = zstd_status(got);
	if (!rc && got != size)
		rc = -EBADMSG;
	if (rc)
		free(*out);
	return rc;
}

#else

static int zstd_to(struct input *in, void *to, size_t size)
{
	(void)in, (void)to, (void)size;
	return -ENOTSUP;
}

int elf_inflate_zstd(const void *from, size_t len, uint64_t size, char **out)
{
	(void)from, (void)len, (void)size, (void)out;
	return -ENOTSUP;
}

#endif

/* ---- sections */

/* Inflate the section of @size bytes at @offset: a header, then data that @method inflates to @contents bytes. */
static int inflate_section(const struct file_bytes *b, uint64_t offset, uint64_t size, size_t header, uint32_t method,
			   uint64_t contents, char **out)
{
	struct input in = { .b = b, .offset = offset + header, .left = size - header };
	bool zlib = method == ELFCOMPRESS_ZLIB;
	char *memory;
	int rc;

	if ((!zlib && method != ELFCOMPRESS_ZSTD) || contents > SECTION_MAX)
		return -ENOTSUP;
	if (!contents || contents / (zlib ? ZLIB_RATIO_MAX : ZSTD_RATIO_MAX) > size)
		return -EBADMSG;
	memory = malloc(contents);
	if (!memory)
		return fault(-ENOMEM);
	rc = zlib ? zlib_to(&in, memory, contents) : zstd_to(&in, memory, contents);
	if (rc)
		free(memory);
	else
		*out = memory;
	return rc;
}

int elf_inflate_section(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len)
{
	Elf64_Chdr ch;
	int rc = size < sizeof(ch) ? -EBADMSG : file_bytes_read(b, offset, &ch, sizeof(ch));

	if (rc)
		return rc;
	*len = ch.ch_size;
	return inflate_section(b, offset, size, sizeof(ch), ch.ch_type, ch.ch_size, out);
}

int elf_inflate_gnu(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len)
{
	struct {
		char magic[4];
		unsigned char size[8]; /* big endian */
	} head;
	uint64_t contents = 0;
	size_t i;
	int rc = size < sizeof(head) ? -EBADMSG : file_bytes_read(b, offset, &head, sizeof(head));

	if (rc)
		return rc;
	if (memcmp(head.magic, "ZLIB", sizeof(head.magic)) != 0)
		return -EBADMSG;
	for (i = 0; i < sizeof(head.size); i++)
		contents = contents << 8 | head.size[i];
	*len = contents;
	return inflate_section(b, offset, size, sizeof(head), ELFCOMPRESS_ZLIB, contents, out);
}

/* ---- xz */

/* Double the room for output. */
static int make_room(lzma_stream *z, char **out, size_t *cap)
{
	size_t used = *cap, more = *cap ? *cap : 4 * CHUNK;
	char *longer;

	if (used + more > XZ_INFLATED_MAX)
		return -E2BIG;
	longer = realloc(*out, used + more);
	if (!longer)
		return fault(-ENOMEM);
	*out = longer;
	*cap = used + more;
	z->next_out = (uint8_t *)longer + used;
	z->avail_out = more;
	return 0;
}

static int status_of(lzma_ret ret)
{
	switch (ret) {
	case LZMA_OK:
	case LZMA_STREAM_END:
		return 0;
	case LZMA_MEM_ERROR:
		return fault(-ENOMEM);
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

/* Make room before it is needed, so that a step without progress means bad input. */
static int xz_all(struct input *in, lzma_stream *z, char **out)
{
	lzma_ret ret = LZMA_OK;
	size_t cap = 0;
	int rc = 0;

	while (!rc && ret != LZMA_STREAM_END) {
		if (!z->avail_in && in->left) {
			rc = next_piece(in, &z->avail_in);
			z->next_in = in->piece;
		}
		if (!rc && !z->avail_out)
			rc = make_room(z, out, &cap);
		if (rc)
			break;
		ret = lzma_code(z, in->left ? LZMA_RUN : LZMA_FINISH);
		rc = status_of(ret);
	}
	return rc;
}

int elf_inflate_xz(const struct file_bytes *b, uint64_t offset, uint64_t size, char **out, size_t *len)
{
	struct input in = { .b = b, .offset = offset, .left = size };
	lzma_stream z = LZMA_STREAM_INIT;
	char *memory = NULL;
	int rc;

	if (size > XZ_MAX)
		return -E2BIG;
	rc = status_of(lzma_stream_decoder(&z, XZ_WORK_MAX, 0));
	if (!rc)
		rc = xz_all(&in, &z, &memory);
	*len = (size_t)z.total_out;
	lzma_end(&z);
	if (rc)
		free(memory);
	else
		*out = memory;
	return rc;
}
