/* SPDX-License-Identifier: Apache-2.0 */
/* Compress bytes while they are written, as gzip(1) does. */
#ifndef CORE_FORMATS_GZIP_H
#define CORE_FORMATS_GZIP_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

#define GZIP_CHUNK (16 * 1024) /* bytes */

/**
 * struct gzip_writer - all zeros: not begun.
 * @put:  takes compressed bytes, and handles its own failures
 * @left: @nr bytes that were not compressed yet: a single byte is not worth a call of zlib
 */
struct gzip_writer {
	z_stream z;
	bool begun;
	void (*put)(void *ctx, const void *bytes, size_t len);
	void *ctx;
	unsigned char left[GZIP_CHUNK];
	size_t nr;
};

/** gzip_begin() - Return: 0 or -ENOMEM. */
int gzip_begin(struct gzip_writer *g, void (*put)(void *ctx, const void *bytes, size_t len), void *ctx);
void gzip_put(struct gzip_writer *g, const void *bytes, size_t len);
/** gzip_end() - compress the rest, and release @g. */
void gzip_end(struct gzip_writer *g);
/** gzip_release() - free it; it need not be ended or begun. */
void gzip_release(struct gzip_writer *g);

#endif
