// SPDX-License-Identifier: Apache-2.0
#include "core/base/memstream.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/types.h>

/* Return: 0 is an error, see fopencookie(3). */
static ssize_t append(void *text, const char *bytes, size_t len)
{
	struct textbuf *t = text;

	textbuf_put(t, bytes, len);
	return t->failed ? 0 : (ssize_t)len;
}

FILE *memstream_begin(struct textbuf *text)
{
	*text = (struct textbuf){ 0 };
	return fopencookie(text, "w", (cookie_io_functions_t){ .write = append });
}

int memstream_end(FILE *f, struct textbuf *text)
{
	if (!f || fclose(f))
		text->failed = true;
	textbuf_put(text, "", 1);
	if (text->failed) {
		free(text->bytes);
		*text = (struct textbuf){ 0 };
		return -ENOMEM;
	}
	text->len--;
	return 0;
}
