/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a pprof profile in pieces of the message, compressed as gzip(1) does. Each string is a piece, written when it
 * is first used.
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
 * @strings: those written so far
 * @text:    scratch, for pieces_add_text()
 */
struct pieces {
	struct gzip_writer gzip;
	FILE *out;
	int failed; /* the -errno of a failed write */
	struct strings strings;
	struct textbuf text;
	uint8_t *packed;
	size_t packed_cap;
};

/** pieces_begin() - write the first piece, the empty string. Return, as for all: 0; -ENOMEM; the -errno of a write. */
int pieces_begin(struct pieces *p, FILE *out);
/** pieces_end() - write the rest, and the end. */
int pieces_end(struct pieces *p);
void pieces_release(struct pieces *p);

/** pieces_add() - write @piece. */
int pieces_add(struct pieces *p, const Pprof__Profile *piece);

/** pieces_add_string() - find or write the string @text; @nr: out: its number. */
int pieces_add_string(struct pieces *p, const char *text, uint32_t *nr);

/** pieces_add_text() - the same for the contents of p->text. */
int pieces_add_text(struct pieces *p, uint32_t *nr);

#endif
