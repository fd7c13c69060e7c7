// SPDX-License-Identifier: Apache-2.0
#include "core/formats/page_stacks.h"

#include "core/base/err.h"
#include "core/base/grow.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A block ends after so many stacks or frames, so that readers need little memory. */
#define BLOCK_STACKS (1 << 16)
#define BLOCK_FRAMES (1 << 20)

/* @place: its position among the followers of its caller, from 1; 0: not written yet. See page_data.h */
struct follower {
	struct {
		uint32_t caller, frame;
	} key;
	uint32_t place;
};

static const struct intern_kind follower_kind = INTERN_BYTES(struct follower, key);

static void put_number(struct textbuf *to, uint64_t n)
{
	char bytes[PAGE_NUMBER_MAX];

	textbuf_put(to, bytes, page_number(n, bytes));
}

static void put_out(struct page_stacks *s, uint64_t n)
{
	char bytes[PAGE_NUMBER_MAX];

	gzip_put(s->gzip, bytes, page_number(n, bytes));
}

static int end_column(struct page_stacks *s, struct textbuf *column)
{
	if (column->failed)
		return -ENOMEM;
	gzip_put(s->gzip, column->bytes, column->len);
	column->len = 0;
	return 0;
}

static int end_block(struct page_stacks *s)
{
	struct textbuf *const columns[] = { &s->drops, &s->adds, &s->sizes, &s->columns, &s->values, &s->places };
	size_t i;
	int rc = 0;

	put_out(s, s->nr_stacks);
	put_out(s, s->nr_values);
	put_out(s, s->nr_places);
	put_out(s, s->nr_fresh);
	s->nr_stacks = s->nr_values = s->nr_places = s->nr_fresh = 0;
	for (i = 0; i < ARRAY_SIZE(columns) && !rc; i++)
		rc = end_column(s, columns[i]);
	for (i = 0; i < PAGE_PLANES && !rc; i++)
		rc = end_column(s, &s->planes[i]);
	return rc;
}

static void put_new_frame(struct page_stacks *s, uint32_t frame)
{
	size_t i;
	char byte;

	for (i = 0; i < page_planes(s->nr_frames); i++) {
		byte = (char)(frame >> 8 * i);
		textbuf_put(&s->planes[i], &byte, 1);
	}
}

static int put_frame(struct page_stacks *s, uint32_t frame)
{
	struct follower *f, key = { .key.frame = frame };
	uint32_t *path = grow(s->path, &s->path_cap, s->depth, 1, sizeof(*path));

	if (!path)
		return -ENOMEM;
	s->path = path;
	key.key.caller = s->depth ? path[s->depth - 1] : (uint32_t)s->nr_frames;
	f = intern_find(&s->followers, &follower_kind, &key.key);
	put_number(&s->places, f->place);
	s->nr_places++;
	if (!f->place) {
		f->place = ++s->nr_followers[key.key.caller];
		put_new_frame(s, frame);
		s->nr_fresh++;
	}
	path[s->depth++] = frame;
	return 0;
}

static void put_values(struct page_stacks *s, const struct tree_step *step)
{
	uint32_t column = 0;
	size_t i;

	put_number(&s->sizes, step->nr_values);
	s->nr_values += step->nr_values;
	for (i = 0; i < step->nr_values; i++) {
		put_number(&s->columns, step->values[i].column - column);
		column = step->values[i].column;
		put_number(&s->values, step->values[i].value);
	}
}

/* A stack ends at each node that has values. Each node without children has some. */
static int put_node(const struct tree_step *step, void *ctx)
{
	struct page_stacks *s = ctx;
	int rc;

	s->depth -= step->up;
	s->dropped += step->up;
	s->added++;
	rc = put_frame(s, step->frame);
	if (rc || !step->nr_values)
		return rc;
	put_number(&s->drops, s->dropped);
	put_number(&s->adds, s->added);
	put_values(s, step);
	s->dropped = 0;
	s->added = 0;
	s->nr_stacks++;
	return s->nr_stacks == BLOCK_STACKS || s->nr_places >= BLOCK_FRAMES ? end_block(s) : 0;
}

/* tree_walk() passes one context to both functions. */
struct both {
	struct page_stacks *stacks;
	int (*cmp)(uint32_t a, uint32_t b, void *ctx);
	void *ctx;
};

static int cmp_frames(uint32_t a, uint32_t b, void *ctx)
{
	const struct both *both = ctx;

	return both->cmp(a, b, both->ctx);
}

static int put_step(const struct tree_step *step, void *ctx)
{
	return put_node(step, ((struct both *)ctx)->stacks);
}

/* Find all pairs of a frame and its caller in @tree, and write how many different frames follow each caller. */
static int put_followers(struct page_stacks *s, const struct tree *tree)
{
	const struct tree_node *nodes = tree->nodes.v;
	struct follower key;
	bool is_new;
	size_t i;

	s->nr_followers = calloc(s->nr_frames + 1, sizeof(*s->nr_followers));
	if (!s->nr_followers)
		return -ENOMEM;
	for (i = 0; i < tree->nodes.nr; i++) {
		key.key.caller = nodes[i].parent == TREE_ROOT ? (uint32_t)s->nr_frames : nodes[nodes[i].parent].frame;
		key.key.frame = nodes[i].frame;
		if (!intern(&s->followers, &follower_kind, &key.key, &is_new))
			return -ENOMEM;
		s->nr_followers[key.key.caller] += is_new;
	}
	for (i = 0; i <= s->nr_frames; i++)
		put_out(s, s->nr_followers[i]);
	memset(s->nr_followers, 0, (s->nr_frames + 1) * sizeof(*s->nr_followers));
	return 0;
}

int page_stacks_put(struct page_stacks *s, struct tree *tree, int (*cmp)(uint32_t a, uint32_t b, void *ctx), void *ctx)
{
	struct both both = { s, cmp, ctx };
	int rc = put_followers(s, tree);

	if (rc)
		return rc;
	put_out(s, tree->nodes.nr);
	rc = tree_walk(tree, cmp_frames, put_step, &both);
	if (!rc && s->nr_stacks)
		rc = end_block(s);
	if (!rc)
		put_out(s, 0);
	return rc;
}

void page_stacks_release(struct page_stacks *s)
{
	struct textbuf *const columns[] = { &s->drops, &s->adds, &s->sizes, &s->columns, &s->values, &s->places };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(columns); i++)
		free(columns[i]->bytes);
	for (i = 0; i < PAGE_PLANES; i++)
		free(s->planes[i].bytes);
	intern_release(&s->followers);
	free(s->nr_followers);
	free(s->path);
	*s = (struct page_stacks){ 0 };
}
