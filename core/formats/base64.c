// SPDX-License-Identifier: Apache-2.0
#include "core/formats/base64.h"

#include <string.h>

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

static void put_three(FILE *out, const uint8_t *in)
{
	const char text[] = { digits[in[0] >> 2], digits[(in[0] & 3) << 4 | in[1] >> 4],
			      digits[(in[1] & 15) << 2 | in[2] >> 6], digits[in[2] & 63] };

	fwrite_unlocked(text, 1, sizeof(text), out);
}

void base64_put(struct base64_writer *w, const void *bytes, size_t len)
{
	const uint8_t *at = bytes, *end = at + len;

	while (at < end) {
		w->left[w->nr++] = *at++;
		if (w->nr < sizeof(w->left))
			continue;
		put_three(w->out, w->left);
		w->nr = 0;
	}
}

void base64_end(struct base64_writer *w)
{
	static const char missing[] = "==";
	size_t nr = w->nr;
	char text[4];

	if (!nr)
		return;
	memset(w->left + nr, 0, sizeof(w->left) - nr);
	text[0] = digits[w->left[0] >> 2];
	text[1] = digits[(w->left[0] & 3) << 4 | w->left[1] >> 4];
	text[2] = digits[(w->left[1] & 15) << 2];
	fwrite(text, 1, nr + 1, w->out);
	fwrite(missing, 1, 3 - nr, w->out);
	w->nr = 0;
}

int base64_value(char c)
{
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) : -1;
}
