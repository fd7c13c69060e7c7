// SPDX-License-Identifier: Apache-2.0
#include "core/report/printed.h"

#include "core/base/grow.h"
#include "core/base/saturate.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

void printed_release(struct printed_rows *p)
{
	intern_release(&p->table);
}

static uint32_t row_nr(const struct printed_rows *p, const struct printed_row *row)
{
	return (row->root != HASH_NONE) + labels_seq(p->labels, row->user)->nr + row->delimited +
	       labels_seq(p->labels, row->kernel)->nr;
}

/* The label of frame @i of a row, root first. */
static uint32_t row_label(const struct printed_rows *p, const struct printed_row *row, uint32_t i)
{
	const struct label_seq *user = labels_seq(p->labels, row->user);

	if (row->root != HASH_NONE && i-- == 0)
		return row->root;
	if (i < user->nr)
		return p->labels->ids[user->at + i];
	i -= user->nr;
	if (row->delimited && i-- == 0)
		return p->delimiter;
	return p->labels->ids[labels_seq(p->labels, row->kernel)->at + i];
}

/* How many frames at the root need no comparison, because both rows have the same sequence. They may share more. */
static uint32_t common_frames(const struct printed_rows *p, const struct printed_row *a, const struct printed_row *b)
{
	if (a->root != b->root || a->user != b->user)
		return 0;
	return (a->root != HASH_NONE) + labels_seq(p->labels, a->user)->nr;
}

struct merge_key {
	const struct printed_rows *p;
	const struct printed_row *row;
};

/*
 * Compare frame by frame, not sequence by sequence: without a delimiter, a line does not show where the user stack
 * ends.
 */
static bool same_row(const void *have, const void *key)
{
	const struct printed_rows *p = ((const struct merge_key *)key)->p;
	const struct printed_row *a = have, *b = ((const struct merge_key *)key)->row;
	uint32_t nr = row_nr(p, a), i;

	if (a->comm != b->comm || a->pid != b->pid || a->tid != b->tid || a->cgroup != b->cgroup ||
	    a->input != b->input || nr != row_nr(p, b))
		return false;
	for (i = common_frames(p, a, b); i < nr; i++)
		if (row_label(p, a, i) != row_label(p, b, i))
			return false;
	return true;
}

static uint64_t hash_row(const void *key)
{
	const struct printed_rows *p = ((const struct merge_key *)key)->p;
	const struct printed_row *row = ((const struct merge_key *)key)->row;
	uint64_t hash = ((uint64_t)row->comm << 32 | (uint32_t)(row->pid ^ row->tid)) ^
			((uint64_t)row->cgroup << 48 | (uint64_t)row->input << 16);
	uint32_t nr = row_nr(p, row), i;

	for (i = 0; i < nr; i++)
		hash = (hash ^ row_label(p, row, i)) * 0x9e3779b97f4a7c15ULL;
	return hash_bytes(&hash, sizeof(hash), nr);
}

static const struct intern_kind row_kind = INTERN_CUSTOM(struct printed_row, value, hash_row, same_row);

int printed_add(struct printed_rows *p, const struct printed_row *row)
{
	const struct merge_key key = { p, row };
	bool is_new;
	struct printed_row *have = intern(&p->table, &row_kind, &key, &is_new);

	if (!have)
		return -ENOMEM;
	if (is_new) {
		*have = *row;
		return 0;
	}
	have->value = add_or_max(have->value, row->value);
	have->before = add_or_max(have->before, row->before);
	have->times = add_or_max(have->times, row->times);
	have->times_before = add_or_max(have->times_before, row->times_before);
	return 0;
}

void printed_divide(struct printed_rows *p, uint64_t unit)
{
	struct printed_row *rows = p->table.v;
	size_t i;

	for (i = 0; unit > 1 && i < p->table.nr; i++) {
		rows[i].value /= unit;
		rows[i].before /= unit;
	}
}

/*
 * Compare two different labels as parts of a folded line: each is followed by ';' unless it is the last. A folded text
 * has no ';' of its own, so the first different byte decides, as if the whole lines were compared.
 */
static int cmp_folded(const struct labels *l, uint32_t a, bool a_last, uint32_t b, bool b_last)
{
	const struct label *x = labels_get(l, a), *y = labels_get(l, b);
	uint32_t len = x->len < y->len ? x->len : y->len;
	int c = memcmp(l->bytes + x->at, l->bytes + y->at, len);

	if (c)
		return c;
	if (x->len == len)
		return a_last || ';' < (unsigned char)l->bytes[y->at + len] ? -1 : 1;
	return b_last || ';' < (unsigned char)l->bytes[x->at + len] ? 1 : -1;
}

static int cmp_stacks(const struct printed_rows *p, const struct printed_row *a, const struct printed_row *b)
{
	uint32_t nr_a = row_nr(p, a), nr_b = row_nr(p, b), i, x, y;

	for (i = common_frames(p, a, b); i < nr_a && i < nr_b; i++) {
		x = labels_get(p->labels, row_label(p, a, i))->folded;
		y = labels_get(p->labels, row_label(p, b, i))->folded;
		if (x != y)
			return cmp_folded(p->labels, x, i + 1 == nr_a, y, i + 1 == nr_b);
	}
	return (nr_a > nr_b) - (nr_a < nr_b);
}

/* Compare rows whose folded lines are equal, but whose printed rows are not; they have the same number of frames. */
static int cmp_texts(const struct printed_rows *p, const struct printed_row *a, const struct printed_row *b)
{
	uint32_t nr = row_nr(p, a), i;
	int c = labels_cmp(p->labels, a->comm, b->comm);

	for (i = common_frames(p, a, b); !c && i < nr; i++)
		c = labels_cmp(p->labels, row_label(p, a, i), row_label(p, b, i));
	return c;
}

/* Unknown origins come first. */
static int cmp_origin(const struct labels *l, uint32_t a, uint32_t b)
{
	if (a == b)
		return 0;
	if (a == HASH_NONE || b == HASH_NONE)
		return a == HASH_NONE ? -1 : 1;
	return labels_cmp(l, a, b);
}

static int cmp_rows(const void *pa, const void *pb, void *ctx)
{
	const struct printed_rows *p = ctx;
	const struct printed_row *a = pa, *b = pb;
	int c = 0;

	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	if (a->before != b->before)
		return a->before < b->before ? -1 : 1;
	if (a->comm != b->comm)
		c = labels_cmp(p->labels, labels_get(p->labels, a->comm)->folded,
			       labels_get(p->labels, b->comm)->folded);
	if (!c)
		c = (a->pid > b->pid) - (a->pid < b->pid);
	if (!c)
		c = (a->tid > b->tid) - (a->tid < b->tid);
	if (!c)
		c = cmp_stacks(p, a, b);
	if (!c)
		c = cmp_texts(p, a, b);
	if (!c)
		c = cmp_origin(p->labels, a->cgroup, b->cgroup);
	return c ? c : cmp_origin(p->labels, a->input, b->input);
}

void printed_sort(struct printed_rows *p)
{
	if (p->table.nr)
		qsort_r(p->table.v, p->table.nr, sizeof(struct printed_row), cmp_rows, p);
}

/* State of handing out rows, with room for the frames of one row. */
struct writing {
	const struct printed_rows *p;
	struct text_ref *texts;
	uint32_t *labels;
	const struct report_frame **frames;
	size_t texts_cap, labels_cap, frames_cap;
};

static struct text_ref text_of(const struct labels *l, uint32_t id)
{
	const struct label *label = labels_get(l, id);

	return (struct text_ref){ l->bytes + label->at, label->len };
}

static int set_texts(struct writing *w, const struct printed_row *row, struct report_row *line)
{
	struct text_ref *texts = grow(w->texts, &w->texts_cap, 0, line->nr, sizeof(*texts));
	uint32_t *labels = grow(w->labels, &w->labels_cap, 0, line->nr, sizeof(*labels)), i;

	if (texts)
		w->texts = texts;
	if (labels)
		w->labels = labels;
	if (!texts || !labels)
		return -ENOMEM;
	for (i = 0; i < line->nr; i++) {
		labels[i] = row_label(w->p, row, i);
		texts[i] = text_of(w->p->labels, labels[i]);
	}
	line->texts = texts;
	line->labels = labels;
	return 0;
}

static int set_frames(struct writing *w, struct report_row *line)
{
	const struct report_frame **frames = grow(w->frames, &w->frames_cap, 0, line->nr, sizeof(*frames));
	uint32_t i;

	if (!frames)
		return -ENOMEM;
	w->frames = frames;
	for (i = 0; i < line->nr; i++)
		frames[i] = w->p->labels->frames[line->labels[i]];
	line->frames = frames;
	return 0;
}

static int give_row(struct writing *w, const struct printed_row *row,
		    int (*fn)(void *ctx, const struct report_row *row), void *ctx)
{
	struct report_row line = {
		.pid = row->pid,
		.tid = row->tid,
		.nr = row_nr(w->p, row),
		.value = row->value,
		.before = row->before,
		.times = row->times,
		.times_before = row->times_before,
	};
	int rc = set_texts(w, row, &line);

	line.comm = text_of(w->p->labels, row->comm);
	if (row->cgroup != HASH_NONE)
		line.cgroup = text_of(w->p->labels, row->cgroup);
	if (row->input != HASH_NONE)
		line.input = text_of(w->p->labels, row->input);
	if (!rc && w->p->labels->nr_frames)
		rc = set_frames(w, &line);
	return rc ? rc : fn(ctx, &line);
}

int printed_each(const struct printed_rows *p, int (*fn)(void *ctx, const struct report_row *row), void *ctx)
{
	const struct printed_row *rows = p->table.v;
	struct writing w = { .p = p };
	size_t i;
	int rc = 0;

	for (i = 0; !rc && i < p->table.nr; i++)
		rc = give_row(&w, &rows[i], fn, ctx);
	free(w.texts);
	free(w.labels);
	free(w.frames);
	return rc;
}
