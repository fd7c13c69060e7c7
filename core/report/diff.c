// SPDX-License-Identifier: Apache-2.0
/* Each row finds its equal (peer) on the other side by hash. Then both sides are read in parallel, as in a merge. */
#include "core/report/diff.h"

#include "core/base/grow.h"
#include "core/base/hash.h"
#include "core/report/writer.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/*
 * The beginning of a row: the offset of its first byte, and the number of lines before it. It ends where the next row
 * begins.
 */
struct diff_row {
	size_t at, line;
	uint32_t peer; /* the same row on the other side; HASH_NONE: it has none */
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
	size_t nr;   /* rows that differ so far */
	size_t left; /* rows that may still be written */
};

static size_t line_end(const struct side *s, size_t at)
{
	const char *newline = memchr(s->bytes + at, '\n', s->len - at);

	return newline ? (size_t)(newline - s->bytes) + 1 : s->len;
}

static size_t row_end(const struct side *s, const struct report_writer *form, size_t at, size_t *line)
{
	size_t start;

	do {
		start = at;
		at = line_end(s, at);
		++*line;
	} while (form->paragraphs && at < s->len && at - start > 1);
	return at;
}

static int split(struct side *s, const struct report_writer *form)
{
	size_t at = 0, line = 0;
	struct diff_row *rows;

	for (;;) {
		if (s->nr >= HASH_NONE - 1)
			return -ENOMEM;
		rows = grow(s->rows, &s->cap, s->nr, 1, sizeof(*rows));
		if (!rows)
			return -ENOMEM;
		s->rows = rows;
		rows[s->nr] = (struct diff_row){ at, line, HASH_NONE };
		if (at == s->len)
			return 0;
		s->nr++;
		at = row_end(s, form, at, &line);
	}
}

/* The text of a row with its newline, so that a row without newline differs, as for diff(1). */
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

/* If a row comes twice after all, its peer is still an equal row, but perhaps not the only one. */
static int find_peers(struct side *old, struct side *new)
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
		old->rows[i].peer = pos;
		if (pos != HASH_NONE)
			new->rows[pos].peer = i;
	}
	hash_release(&index);
	return rc;
}

static int put_rows(FILE *out, char sign, const struct side *s, size_t from, size_t nr)
{
	size_t i, at, end;
	int rc = 0;

	for (i = from; !rc && i < from + nr; i++) {
		errno = 0;
		for (at = s->rows[i].at; at < s->rows[i + 1].at; at = end) {
			end = line_end(s, at);
			putc_unlocked(sign, out);
			fwrite_unlocked(s->bytes + at, 1, end - at, out);
			if (s->bytes[end - 1] != '\n')
				fputs_unlocked("\n\\ No newline at end of file\n", out);
		}
		rc = report_failed(out);
	}
	return rc;
}

/* Write a range as diff(1) does: leave out a length of 1. The position of an empty range is the line before it. */
static void put_range(FILE *out, char sign, const struct side *s, size_t from, size_t nr)
{
	size_t before = s->rows[from].line, lines = s->rows[from + nr].line - before;

	if (lines == 1)
		fprintf(out, " %c%zu", sign, before + 1);
	else
		fprintf(out, " %c%zu,%zu", sign, lines ? before + 1 : before, lines);
}

static size_t lesser(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Write a hunk as far as @d->left permits: half from each side, or more if the other side has less. */
static int put_hunk(struct diff *d, size_t old, size_t nr_old, size_t new, size_t nr_new)
{
	int rc;

	d->nr += nr_old + nr_new;
	if (!d->left)
		return 0;
	nr_new = lesser(nr_new, d->left - lesser(nr_old, d->left - d->left / 2));
	nr_old = lesser(nr_old, d->left - nr_new);
	d->left -= nr_old + nr_new;
	fputs_unlocked("@@", d->out);
	put_range(d->out, '-', &d->old, old, nr_old);
	put_range(d->out, '+', &d->new, new, nr_new);
	fputs_unlocked(" @@\n", d->out);
	rc = put_rows(d->out, '-', &d->old, old, nr_old);
	return rc ? rc : put_rows(d->out, '+', &d->new, new, nr_new);
}

/* True if row @i equals no row on the other side from @next on. */
static bool differs(const struct side *s, size_t i, size_t next)
{
	return i < s->nr && (s->rows[i].peer == HASH_NONE || s->rows[i].peer < next);
}

static bool is_common(const struct diff *d, size_t old, size_t new)
{
	return old < d->old.nr && d->old.rows[old].peer == new;
}

/*
 * Find the end of the hunk at @old and @new. If two rows each have a peer ahead, their order contradicts: both differ.
 */
static void find_end(const struct diff *d, size_t *old, size_t *new)
{
	bool removed, added;

	while ((*old < d->old.nr || *new < d->new.nr) && !is_common(d, *old, *new)) {
		removed = differs(&d->old, *old, *new);
		added = differs(&d->new, *new, *old);
		*old += removed || !added;
		*new += added || !removed;
	}
}

static int put_hunks(struct diff *d)
{
	size_t old = 0, new = 0, from_old, from_new;
	int rc = 0;

	while (!rc && (old < d->old.nr || new < d->new.nr)) {
		if (is_common(d, old, new)) {
			old++;
			new ++;
			continue;
		}
		from_old = old;
		from_new = new;
		find_end(d, &old, &new);
		rc = put_hunk(d, from_old, old - from_old, from_new, new - from_new);
	}
	return rc;
}

static int put_diff(struct diff *d, const char *old, const char *new, size_t max_rows)
{
	size_t more;
	int rc;

	flockfile(d->out);
	fprintf(d->out, "--- %s\n+++ %s\n", old, new);
	d->left = max_rows;
	rc = put_hunks(d);
	more = d->nr - (max_rows - d->left);
	errno = 0;
	if (!rc && more)
		fprintf(d->out, "... and %zu more row%s\n", more, more == 1 ? " differs" : "s differ");
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
	struct diff d = { .out = out, .old = { old->bytes, old->len }, .new = { new->bytes, new->len } };
	int64_t rc;

	if (old->len == new->len && (!old->len || !memcmp(old->bytes, new->bytes, old->len)))
		return 0;
	rc = split(&d.old, form);
	if (!rc)
		rc = split(&d.new, form);
	if (!rc)
		rc = find_peers(&d.old, &d.new);
	if (rc) {
		err_sys(err, (int)rc, "cannot compare the reports");
	} else {
		rc = put_diff(&d, old->name, new->name, max_rows);
		if (rc)
			err_sys(err, (int)rc, "cannot write how the reports differ");
	}
	free(d.old.rows);
	free(d.new.rows);
	return rc ? rc : (int64_t)d.nr;
}
