/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Texts that are written with stdio and kept in memory. Unlike open_memstream(3) of glibc, which loses bytes without an
 * error, it is an error if memory runs out.
 */
#ifndef CORE_BASE_MEMSTREAM_H
#define CORE_BASE_MEMSTREAM_H

#include "core/base/printable.h"

#include <stdio.h>

/** memstream_begin() - a stream that appends to @text, which outlives it. NULL: no memory; memstream_end() takes it. */
FILE *memstream_begin(struct textbuf *text);

/**
 * memstream_end() - close @f. Return: 0: text->bytes are complete, with a zero behind text->len bytes; -ENOMEM: @text
 * is all zeros. The caller frees text->bytes.
 */
int memstream_end(FILE *f, struct textbuf *text);

#endif
