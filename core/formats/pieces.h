/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Write a pprof profile in pieces, compressed as gzip(1) does. Each piece is a message of profile.proto, and readers
 * merge them into one. Each string is a piece, written when it is first used.
 */
#ifndef CORE_FORMATS_PIECES_H
#define CORE_FORMATS_PIECES_H

#include "core/base/printable.h"
#include "core/base/strings.h"
#include "core/formats/gzip.h"
#include "core/formats/profile.pb-c.h"

#include <stdio.h>

/**
 * struct pieces - all zeros before pieces_begin().
 * @strings: those written so far
 * @text:    scratch, for pieces_add_text(); @packed: scratch, for pieces_add()
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
/** pieces_end() - write the bytes that are not compressed yet, and the end of the gzip format. */
int pieces_end(struct pieces *p);
void pieces_release(struct pieces *p);

/** pieces_add() - write @piece. */
int pieces_add(struct pieces *p, const Pprof__Profile *piece);

/** pieces_add_string() - find or write the string @text; @nr: out: its number. */
int pieces_add_string(struct pieces *p, const char *text, uint32_t *nr);

/** pieces_add_text() - the same for p->text, to which a 0 is appended; the caller empties it for the next text. */
int pieces_add_text(struct pieces *p, uint32_t *nr);

#endif
