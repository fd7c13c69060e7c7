// SPDX-License-Identifier: Apache-2.0
#include "core/formats/gzip.h"

#include <errno.h>
#include <string.h>

int gzip_begin(struct gzip_writer *g, void (*put)(void *ctx, const void *bytes, size_t len), void *ctx)
{
	*g = (struct gzip_writer){ .put = put, .ctx = ctx };
	/* Higher levels take many times as long to save a tenth. 16: write a gzip header (zlib.h). */
	if (deflateInit2(&g->z, Z_BEST_SPEED, Z_DEFLATED, 16 + MAX_WBITS, 9, Z_DEFAULT_STRATEGY) != Z_OK)
		return -ENOMEM;
	g->begun = true;
	return 0;
}

/* deflate() cannot fail if it has room for its output, and a state from deflateInit2() (zlib.h). */
static void compress_left(struct gzip_writer *g, int flush)
{
	unsigned char out[GZIP_CHUNK];

	g->z.next_in = g->left;
	g->z.avail_in = (uInt)g->nr;
	g->nr = 0;
	do {
		g->z.next_out = out;
		g->z.avail_out = GZIP_CHUNK;
		deflate(&g->z, flush);
		g->put(g->ctx, out, GZIP_CHUNK - g->z.avail_out);
	} while (!g->z.avail_out);
}

void gzip_put(struct gzip_writer *g, const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	size_t part;

	for (; len; at += part, len -= part) {
		part = len < GZIP_CHUNK - g->nr ? len : GZIP_CHUNK - g->nr;
		memcpy(g->left + g->nr, at, part);
		g->nr += part;
		if (g->nr == GZIP_CHUNK)
			compress_left(g, Z_NO_FLUSH);
	}
}

void gzip_end(struct gzip_writer *g)
{
	compress_left(g, Z_FINISH);
	gzip_release(g);
}

void gzip_release(struct gzip_writer *g)
{
	if (g->begun)
		deflateEnd(&g->z);
	g->begun = false;
}
