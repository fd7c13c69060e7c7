// SPDX-License-Identifier: Apache-2.0
/*
 * A reply is a list of frames: the line (4 bytes), then the name and the file, each terminated by a zero. NULL is sent
 * as "".
 */
#include "core/symbols/lines_message.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

static size_t text_len(const char *s)
{
	return s ? strnlen(s, LINES_NAME - 1) : 0;
}

static void put_bytes(struct worker_message *m, const void *bytes, size_t len)
{
	if (len)
		memcpy((char *)m->data + m->len, bytes, len);
	m->len += len;
}

int lines_reply_add(struct worker_message *reply, const struct lines_frame *f)
{
	size_t name = text_len(f->name), file = text_len(f->file);
	uint32_t line = f->line;

	if (sizeof(line) + name + file + 2 > WORKER_MESSAGE_MAX - reply->len)
		return -E2BIG;
	put_bytes(reply, &line, sizeof(line));
	put_bytes(reply, f->name, name);
	put_bytes(reply, "", 1);
	put_bytes(reply, f->file, file);
	put_bytes(reply, "", 1);
	return 0;
}

/* Set *@text to the text at *@at (NULL: it is empty), and move *@at behind it. False: it has no end, or is too long. */
static bool take_text(const char **at, const char *end, const char **text)
{
	size_t left = (size_t)(end - *at), len = strnlen(*at, left < LINES_NAME ? left : LINES_NAME);

	if (len == left || len == LINES_NAME)
		return false;
	*text = len ? *at : NULL;
	*at += len + 1;
	return true;
}

int lines_reply_parse(const void *bytes, size_t len, struct lines_frame out[LINES_FRAMES])
{
	const char *at = bytes, *end = at + len;
	uint32_t line;
	int nr = 0;

	for (; at < end; nr++) {
		if (nr == LINES_FRAMES || (size_t)(end - at) < sizeof(line) || (nr && !out[nr - 1].name))
			return -EBADMSG;
		memcpy(&line, at, sizeof(line));
		at += sizeof(line);
		out[nr].line = line;
		if (!take_text(&at, end, &out[nr].name) || !take_text(&at, end, &out[nr].file))
			return -EBADMSG;
		if (out[nr].file && strchr(out[nr].file, '/'))
			return -EBADMSG;
	}
	return nr && out[nr - 1].name ? -EBADMSG : nr;
}
