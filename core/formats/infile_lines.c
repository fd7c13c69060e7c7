// SPDX-License-Identifier: Apache-2.0
#include "core/formats/infile.h"

#include "core/base/grow.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK   (1 << 16)  /* bytes */
#define LONGEST (8u << 20) /* bytes of a line */

void infile_lines_release(struct infile_lines *lines)
{
	free(lines->bytes);
}

/* Drop the bytes of lines that were returned, and read more behind the rest. */
static int read_more(struct infile_lines *l, struct err *err)
{
	char *bytes;
	ssize_t n;

	if (l->at) {
		memmove(l->bytes, l->bytes + l->at, l->end - l->at);
		l->end -= l->at;
		l->at = 0;
	}
	if (l->end > LONGEST)
		return err_set(err, -E2BIG, "cannot read '%s': line %" PRIu64 " is longer than 8 MiB",
			       infile_name(l->in), l->number + 1);
	bytes = grow(l->bytes, &l->cap, l->end, CHUNK + 1, 1);
	if (!bytes)
		return err_sys(err, -ENOMEM, "cannot read '%s'", infile_name(l->in));
	l->bytes = bytes;
	n = infile_read(l->in, bytes + l->end, CHUNK, err);
	if (n < 0)
		return (int)n;
	l->end += (size_t)n;
	l->ended = n < CHUNK;
	return 0;
}

/* Return the bytes before @end as a line, and continue at @next. */
static void give_out(struct infile_lines *l, size_t end, size_t next)
{
	l->bytes[end] = 0;
	l->line = l->bytes + l->at;
	l->len = end - l->at;
	l->at = next;
	l->number++;
}

int infile_line(struct infile_lines *l, struct err *err)
{
	size_t seen = 0;
	char *end;
	int rc;

	for (;;) {
		end = l->end - l->at > seen ? memchr(l->bytes + l->at + seen, '\n', l->end - l->at - seen) : NULL;
		if (end) {
			give_out(l, (size_t)(end - l->bytes), (size_t)(end - l->bytes) + 1);
			return 1;
		}
		if (l->ended)
			break;
		seen = l->end - l->at;
		rc = read_more(l, err);
		if (rc)
			return rc;
	}
	if (l->at == l->end)
		return 0;
	give_out(l, l->end, l->end);
	return 1;
}
