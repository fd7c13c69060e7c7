// SPDX-License-Identifier: Apache-2.0
#include "core/files/elf_xz.h"

#include <errno.h>
#include <lzma.h>
#include <stdlib.h>

#define DEFLATED_MAX (16u << 20)
#define INFLATED_MAX (64u << 20)
#define WORK_MAX     (80u << 20) /* xz -6, which is what makes them, needs 9 MiB, -9 needs 65 */
#define CHUNK        16384

/* Twice as much room behind what there is. */
static int make_room(lzma_stream *z, char **out, size_t *cap)
{
	size_t used = *cap, more = *cap ? *cap : 4 * CHUNK;
	char *longer;

	if (used + more > INFLATED_MAX)
		return -E2BIG;
	longer = realloc(*out, used + more);
	if (!longer)
		return -ENOMEM;
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
		return -ENOMEM;
	case LZMA_MEMLIMIT_ERROR:
		return -E2BIG;
	default:
		return -EBADMSG;
	}
}

/* Room is made before it is needed, so that a step without progress is the input's fault. */
static int inflate_all(const struct elf_file *f, uint64_t offset, uint64_t size, lzma_stream *z, char **out)
{
	uint8_t in[CHUNK];
	lzma_ret ret = LZMA_OK;
	size_t cap = 0;
	int rc = 0;

	while (!rc && ret != LZMA_STREAM_END) {
		if (!z->avail_in && size) {
			size_t len = size < sizeof(in) ? (size_t)size : sizeof(in);

			rc = elf_file_read(f, offset, in, len);
			offset += len;
			size -= len;
			z->next_in = in;
			z->avail_in = len;
		}
		if (!rc && !z->avail_out)
			rc = make_room(z, out, &cap);
		if (rc)
			break;
		ret = lzma_code(z, size ? LZMA_RUN : LZMA_FINISH);
		rc = status_of(ret);
	}
	return rc;
}

int elf_xz_inflate(const struct elf_file *f, uint64_t offset, uint64_t size, char **out, size_t *len)
{
	lzma_stream z = LZMA_STREAM_INIT;
	char *memory = NULL;
	int rc;

	if (size > DEFLATED_MAX)
		return -E2BIG;
	rc = status_of(lzma_stream_decoder(&z, WORK_MAX, 0));
	if (!rc)
		rc = inflate_all(f, offset, size, &z, &memory);
	*len = (size_t)z.total_out;
	lzma_end(&z);
	if (rc)
		free(memory);
	else
		*out = memory;
	return rc;
}
