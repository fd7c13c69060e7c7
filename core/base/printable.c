// SPDX-License-Identifier: Apache-2.0
#include "core/base/printable.h"

#include "core/base/grow.h"

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

/* Bytes of the character at @p, 0 when it is not well formed (table 3-7 of the Unicode standard). */
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

static bool is_control(const unsigned char *p)
{
	return p[0] < 0x20 || p[0] == 0x7f || (p[0] == 0xc2 && p[1] < 0xa0);
}

/* How much of it is printed as it is, for sure: nearly always all. */
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
		if (!len || is_control(p + i)) {
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

/* What is made safe is not longer than it was. */
const char *name_shown(const char *s, char out[NAME_SHOWN + 1])
{
	struct textbuf text = { 0 };

	snprintf(out, NAME_SHOWN + 1, "%s", s);
	textbuf_name(&text, out, ';');
	snprintf(out, NAME_SHOWN + 1, "%.*s", (int)text.len, text.len ? text.bytes : "");
	free(text.bytes);
	return out;
}
