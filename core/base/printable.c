// SPDX-License-Identifier: Apache-2.0
#include "core/base/printable.h"

#include "core/base/err.h"
#include "core/base/grow.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool reserve(struct textbuf *b, size_t more)
{
	char *bytes;

	if (b->failed)
		return false;
	bytes = grow(b->bytes, &b->cap, b->len, more, 1);
	if (!bytes) {
		b->failed = true;
		return false;
	}
	b->bytes = bytes;
	return true;
}

void textbuf_put(struct textbuf *b, const char *s, size_t len)
{
	if (!reserve(b, len))
		return;
	memcpy(b->bytes + b->len, s, len);
	b->len += len;
}

/* Bytes of the character at @p, 0 if it is not well formed (table 3-7 of the Unicode standard). */
static size_t utf8_len(const unsigned char *p, size_t n)
{
	unsigned char lo, hi;
	size_t len, i;

	if (p[0] < 0x80)
		return 1;
	if (p[0] < 0xc2 || p[0] > 0xf4)
		return 0;
	len = p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3 : 4;
	if (n < len)
		return 0;
	lo = p[0] == 0xe0 ? 0xa0 : p[0] == 0xf0 ? 0x90 : 0x80; /* no overlong forms */
	hi = p[0] == 0xed ? 0x9f : p[0] == 0xf4 ? 0x8f : 0xbf; /* no surrogates, nothing above U+10FFFF */
	if (p[1] < lo || p[1] > hi)
		return 0;
	for (i = 2; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	return len;
}

/* Decode the character of @len bytes at @p, which is well formed. */
static uint32_t utf8_decode(const unsigned char *p, size_t len)
{
	uint32_t c = len == 1 ? p[0] : p[0] & (0x7fu >> len);
	size_t i;

	for (i = 1; i < len; i++)
		c = c << 6 | (p[i] & 0x3f);
	return c;
}

/*
 * Characters that control a terminal, break a line, reorder the text around them, or are invisible: with them a name
 * could look like another one, or like another line of the report.
 */
static bool is_deceptive(uint32_t c)
{
	static const struct {
		uint32_t first, last;
	} ranges[] = {
		{ 0x00, 0x1f },     /* C0 controls */
		{ 0x7f, 0x9f },     /* DEL and C1 controls, with NEXT LINE */
		{ 0x61c, 0x61c },   /* ARABIC LETTER MARK */
		{ 0x200b, 0x200f }, /* zero-width space and joiners, direction marks */
		{ 0x2028, 0x202e }, /* line and paragraph separators, direction embeddings and overrides */
		{ 0x2060, 0x206f }, /* word joiner, invisible operators, direction isolates */
		{ 0xfeff, 0xfeff }, /* ZERO WIDTH NO-BREAK SPACE */
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		if (c >= ranges[i].first && c <= ranges[i].last)
			return true;
	return false;
}

/* How many bytes can be printed unchanged for sure: nearly always all. */
static size_t plain_len(const unsigned char *p, size_t n)
{
	size_t i = 0;

	while (i < n && p[i] >= 0x20 && p[i] < 0x7f && p[i] != ';')
		i++;
	return i;
}

void textbuf_name(struct textbuf *b, const char *s, char semicolon)
{
	size_t n = strnlen(s, NAME_MAX_BYTES), i = 0, len;
	const unsigned char *p = (const unsigned char *)s;

	if (!reserve(b, n))
		return;
	while (i < n) {
		len = plain_len(p + i, n - i);
		textbuf_put(b, s + i, len);
		i += len;
		if (i == n)
			return;
		len = utf8_len(p + i, n - i);
		if (!len || is_deceptive(utf8_decode(p + i, len))) {
			b->bytes[b->len++] = '?';
		} else if (p[i] == ';') {
			b->bytes[b->len++] = semicolon;
		} else {
			memcpy(b->bytes + b->len, s + i, len);
			b->len += len;
		}
		i += len ? len : 1;
	}
}

/* The safe text is never longer than the original, so it has room. */
const char *name_shown(const char *s, char out[NAME_SHOWN + 1])
{
	char start[NAME_SHOWN + 1];
	struct textbuf text = { .bytes = out, .cap = NAME_SHOWN + 1 };

	snprintf(start, sizeof(start), "%s", s);
	textbuf_name(&text, start, ';');
	out[text.len] = '\0';
	return out;
}
