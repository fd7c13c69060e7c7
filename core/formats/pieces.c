// SPDX-License-Identifier: Apache-2.0
#include "core/formats/pieces.h"

#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void write_compressed(void *ctx, const void *bytes, size_t len)
{
	struct pieces *p = ctx;

	errno = 0;
	if (fwrite(bytes, 1, len, p->out) < len && !p->failed)
		p->failed = errno ? -errno : -EIO;
}

int pieces_begin(struct pieces *p, FILE *out)
{
	uint32_t empty;
	int rc;

	p->out = out;
	rc = gzip_begin(&p->gzip, write_compressed, p);
	return rc ? rc : pieces_add_string(p, "", &empty);
}

void pieces_release(struct pieces *p)
{
	strings_release(&p->strings);
	gzip_release(&p->gzip);
	free(p->text.bytes);
	free(p->packed);
}

int pieces_end(struct pieces *p)
{
	gzip_end(&p->gzip);
	return p->failed;
}

int pieces_add(struct pieces *p, const Pprof__Profile *piece)
{
	size_t len = pprof__profile__get_packed_size(piece);
	uint8_t *packed = grow(p->packed, &p->packed_cap, 0, len, 1);

	if (!packed)
		return -ENOMEM;
	p->packed = packed;
	pprof__profile__pack(piece, packed);
	gzip_put(&p->gzip, packed, len);
	return p->failed;
}

static int write_string(struct pieces *p, char *text)
{
	Pprof__Profile piece = PPROF__PROFILE__INIT;

	piece.string_table = &text;
	piece.n_string_table = 1;
	return pieces_add(p, &piece);
}

int pieces_add_string(struct pieces *p, const char *text, uint32_t *nr)
{
	bool is_new;
	int rc = strings_add(&p->strings, text, nr, &is_new);

	return rc || !is_new ? rc : write_string(p, strings_get(&p->strings, *nr));
}

int pieces_add_text(struct pieces *p, uint32_t *nr)
{
	textbuf_put(&p->text, "", 1);
	return p->text.failed ? -ENOMEM : pieces_add_string(p, p->text.bytes, nr);
}
