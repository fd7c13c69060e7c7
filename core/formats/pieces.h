/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A profile of pprof on its way to a file: pieces of the message, compressed as gzip(1) does. Each string is one of
 * them, written when it is used first.
 */
#ifndef CORE_FORMATS_PIECES_H
#define CORE_FORMATS_PIECES_H

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/formats/gzip.h"
#include "core/formats/profile.pb-c.h"

#include <stdio.h>

/**
 * struct pieces
 * @strings: that were written
 * @text:    scratch, for pieces_add_text()
 */
struct pieces {
	struct gzip_writer gzip;
	FILE *out;
	int failed; /* the -errno of a write */
	struct strings strings;
	struct textbuf text;
	uint8_t *packed;
	size_t packed_cap;
};

/** pieces_begin() - the first piece is the empty string. Return, as for all: 0; -ENOMEM; the -errno of a write. */
int pieces_begin(struct pieces *p, FILE *out);
/** pieces_end() - write what is left, and the end. */
int pieces_end(struct pieces *p);
void pieces_release(struct pieces *p);

/** pieces_add() - write @piece. */
int pieces_add(struct pieces *p, const Pprof__Profile *piece);

/** pieces_add_string() - the number of @text. */
int pieces_add_string(struct pieces *p, const char *text, uint32_t *nr);

/** pieces_add_text() - the number of what is in @text of @p. */
int pieces_add_text(struct pieces *p, uint32_t *nr);

#endif
