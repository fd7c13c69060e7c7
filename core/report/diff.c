// SPDX-License-Identifier: Apache-2.0
/* Rows that the other side has, too, are found by hash. Then both sides are read in parallel, as in a merge. */
#include "core/report/diff.h"

#include "core/base/grow.h"
#include "core/base/hash.h"
#include "core/report/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* @at: offset of the first byte; a row ends where the next one begins. @common: the other side has the same row. */
struct diff_row {
	size_t at;
	bool common;
};

/* @rows has one more than @nr entries; the last one marks the end. */
struct side {
	const char *bytes;
	size_t len;
	struct diff_row *rows;
	size_t nr, cap;
};

struct diff {
	FILE *out;
	struct side old, new;
	size_t nr, max; /* @nr: rows that differ so far; @max: at most so many of them are written */
};

static size_t line_end(const struct side *s, size_t at)
{
	const char *newline = memchr(s->bytes + at, '\n', s->len - at);

	return newline ? (size_t)(newline - s->bytes) + 1 : s->len;
}

static size_t row_end(const struct side *s, const struct report_writer *form, size_t at)
{
	size_t start;

	do {
		start = at;
		at = line_end(s, at);
	} while (form->paragraphs && at < s->len && at - start > 1);
	return at;
}

static int split(struct side *s, const struct report_writer *form)
{
	struct diff_row *rows;
	size_t at = 0;

	for (;;) {
		if (s->nr >= HASH_NONE - 1)
			return -ENOMEM;
		rows = grow(s->rows, &s->cap, s->nr, 1, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		s->rows = rows;
		rows[s->nr] = (struct diff_row){ at, false };
		if (at == s->len)
			return 0;
		s->nr++;
		at = row_end(s, form, at);
	}
}

/* The text of a row with its newline, which the last row may lack. */
static struct text_ref row_text(const struct side *s, size_t i)
{
	return (struct text_ref){ s->bytes + s->rows[i].at, s->rows[i + 1].at - s->rows[i].at };
}

static bool same_row(const void *table, uint32_t pos, const void *key)
{
	struct text_ref have = row_text(table, pos);
	const struct text_ref *k = key;

	return have.len == k->len && !memcmp(have.bytes, k->bytes, k->len);
}

static int find_common(struct side *old, struct side *new)
{
	struct hash_index index = { 0 };
	struct text_ref text;
	uint64_t hash;
	uint32_t i, pos;
	int rc = 0;

	for (i = 0; !rc && i < new->nr; i++) {
		text = row_text(new, i);
		hash = hash_bytes(text.bytes, text.len, 0);
		if (hash_find(&index, hash, same_row, new, &text) == HASH_NONE)
			rc = hash_add(&index, hash, i);
	}
	for (i = 0; !rc && i < old->nr; i++) {
		text = row_text(old, i);
		pos = hash_find(&index, hash_bytes(text.bytes, text.len, 0), same_row, new, &text);
		if (pos != HASH_NONE)
			old->rows[i].common = new->rows[pos].common = true;
	}
	hash_release(&index);
	return rc;
}

static int put_row(struct diff *d, char sign, const struct side *s, size_t row)
{
	size_t at, end;

	if (d->nr++ >= d->max)
		return 0;
	errno = 0;
	for (at = s->rows[row].at; at < s->rows[row + 1].at; at = end) {
		end = line_end(s, at);
		putc_unlocked(sign, d->out);
		fwrite_unlocked(s->bytes + at, 1, end - at, d->out);
		if (s->bytes[end - 1] != '\n')
			putc_unlocked('\n', d->out);
	}
	return report_failed(d->out);
}

static bool is_alone(const struct side *s, size_t row)
{
	return row < s->nr && !s->rows[row].common;
}

static int put_rows(struct diff *d)
{
	size_t old = 0, new = 0;
	bool removed, added;
	int rc = 0;

	while (!rc && (old < d->old.nr || new < d->new.nr)) {
		removed = is_alone(&d->old, old);
		added = is_alone(&d->new, new);
		if (removed)
			rc = put_row(d, '-', &d->old, old);
		if (!rc && added)
			rc = put_row(d, '+', &d->new, new);
		old += removed || !added;
		new += added || !removed;
	}
	return rc;
}

static int put_diff(struct diff *d, const char *old, const char *new)
{
	int rc;

	flockfile(d->out);
	errno = 0;
	fprintf(d->out, "--- %s\n+++ %s\n", old, new);
	rc = put_rows(d);
	errno = 0;
	if (!rc && d->nr > d->max)
		fprintf(d->out, "... and %zu more row%s\n", d->nr - d->max,
			d->nr - d->max == 1 ? " differs" : "s differ");
	if (!rc && !d->nr) {
		fprintf(d->out, "... the same rows in another order, or repeated\n");
		d->nr = 1;
	}
	if (!rc)
		rc = report_failed(d->out);
	if (!rc)
		rc = report_flush(d->out);
	funlockfile(d->out);
	return rc;
}

int64_t report_diff(FILE *out, const struct report_side *old, const struct report_side *new,
		    const struct report_writer *form, size_t max_rows, struct err *err)
{
	struct diff d = {
		.out = out, .old = { old->bytes, old->len }, .new = { new->bytes, new->len }, .max = max_rows
	};
	int64_t rc;

	if (old->len == new->len && (!old->len || !memcmp(old->bytes, new->bytes, old->len)))
		return 0;
	rc = split(&d.old, form);
	if (!rc)
		rc = split(&d.new, form);
	if (!rc)
		rc = find_common(&d.old, &d.new);
	if (rc) {
		err_sys(err, (int)rc, "cannot compare the reports");
	} else {
		rc = put_diff(&d, old->name, new->name);
		if (rc)
			err_sys(err, (int)rc, "cannot write how the reports differ");
	}
	free(d.old.rows);
	free(d.new.rows);
	return rc ? rc : (int64_t)d.nr;
}
