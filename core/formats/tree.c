// SPDX-License-Identifier: Apache-2.0
#include "core/formats/tree.h"

#include "core/base/grow.h"
#include "core/base/saturate.h"

#include <errno.h>
#include <stdlib.h>

static const struct intern_kind node_kind = { sizeof(struct tree_node), 0, sizeof(struct tree_node), NULL, NULL };

void tree_release(struct tree *t)
{
	intern_release(&t->nodes);
	free(t->values);
	*t = (struct tree){ 0 };
}

int tree_add(struct tree *t, const uint32_t *frames, size_t nr, uint32_t column, uint64_t value)
{
	struct tree_value *values;
	struct tree_node key = { .parent = TREE_ROOT };
	const struct tree_node *node;
	bool is_new;
	size_t i;

	if (!nr || !value)
		return 0;
	values = grow(t->values, &t->cap_values, t->nr_values, 1, sizeof(*values));
	if (!values)
		return -ENOMEM;
	t->values = values;
	for (i = 0; i < nr; i++) {
		key.frame = frames[i];
		node = intern(&t->nodes, &node_kind, &key, &is_new);
		if (!node)
			return -ENOMEM;
		key.parent = (uint32_t)(node - (const struct tree_node *)t->nodes.v);
	}
	values[t->nr_values++] = (struct tree_value){ key.parent, column, value };
	return 0;
}

/*
 * Nodes by their parents: the children of node i are @children from @first[i + 1] on, up to @first[i + 2]. The children
 * of the root, which has no number, begin at @first[0].
 */
struct walk {
	const struct tree *tree;
	uint32_t *first, *children;
	int (*cmp)(uint32_t a, uint32_t b, void *ctx);
	int (*fn)(const struct tree_step *step, void *ctx);
	void *ctx;
};

static const struct tree_node *node_of(const struct walk *w, uint32_t i)
{
	return (const struct tree_node *)w->tree->nodes.v + i;
}

static int cmp_values(const void *pa, const void *pb)
{
	const struct tree_value *a = pa, *b = pb;

	if (a->node != b->node)
		return a->node < b->node ? -1 : 1;
	return (a->column > b->column) - (a->column < b->column);
}

/* Merge the values of each node and column. */
static void merge_values(struct tree *t)
{
	size_t kept = 0, i;

	if (t->nr_values)
		qsort(t->values, t->nr_values, sizeof(*t->values), cmp_values);
	for (i = 0; i < t->nr_values; i++) {
		if (kept && !cmp_values(&t->values[kept - 1], &t->values[i]))
			t->values[kept - 1].value = add_or_max(t->values[kept - 1].value, t->values[i].value);
		else
			t->values[kept++] = t->values[i];
	}
	t->nr_values = kept;
}

static int cmp_siblings(const void *a, const void *b, void *ctx)
{
	const struct walk *w = ctx;

	return w->cmp(node_of(w, *(const uint32_t *)a)->frame, node_of(w, *(const uint32_t *)b)->frame, w->ctx);
}

static void sort_children(struct walk *w)
{
	size_t nr = w->tree->nodes.nr, i;
	uint32_t at;

	for (i = 0; i < nr; i++)
		w->first[node_of(w, (uint32_t)i)->parent + 2]++; /* for the root: 1 */
	for (i = 1; i <= nr + 1; i++)
		w->first[i] += w->first[i - 1];
	for (i = 0; i < nr; i++) {
		at = w->first[node_of(w, (uint32_t)i)->parent + 1]++; /* for the root: 0 */
		w->children[at] = (uint32_t)i;
	}
	/* Each entry has moved to the beginning of the next one: shift them back by one. */
	for (i = nr + 1; i > 0; i--)
		w->first[i] = w->first[i - 1];
	w->first[0] = 0;
	for (i = 0; i <= nr; i++)
		if (w->first[i + 1] - w->first[i] > 1)
			qsort_r(w->children + w->first[i], w->first[i + 1] - w->first[i], sizeof(*w->children),
				cmp_siblings, w);
}

static void find_values(const struct tree *t, uint32_t node, struct tree_step *step)
{
	size_t low = 0, high = t->nr_values, middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (t->values[middle].node < node)
			low = middle + 1;
		else
			high = middle;
	}
	step->values = t->values + low;
	for (step->nr_values = 0; low < t->nr_values && t->values[low].node == node; low++)
		step->nr_values++;
}

/* @pending: the next child of the node at each level. */
static int walk_nodes(struct walk *w, uint32_t *pending, uint32_t *nodes)
{
	size_t depth = 0;
	struct tree_step step = { 0 };
	uint32_t node;
	int rc = 0;

	pending[0] = w->first[0];
	nodes[0] = TREE_ROOT;
	for (;;) {
		while (depth && pending[depth] == w->first[nodes[depth] + 2]) {
			depth--;
			step.up++;
		}
		if (!depth && pending[0] == w->first[1])
			return 0;
		node = w->children[pending[depth]++];
		step.frame = node_of(w, node)->frame;
		find_values(w->tree, node, &step);
		rc = w->fn(&step, w->ctx);
		if (rc)
			return rc;
		step.up = 0;
		nodes[++depth] = node;
		pending[depth] = w->first[node + 1];
	}
}

/* Parents have lower numbers than their children. */
static size_t deepest(const struct walk *w, uint32_t *depths)
{
	size_t nr = w->tree->nodes.nr, most = 0, i;
	uint32_t parent;

	for (i = 0; i < nr; i++) {
		parent = node_of(w, (uint32_t)i)->parent;
		depths[i] = parent == TREE_ROOT ? 1 : depths[parent] + 1;
		if (depths[i] > most)
			most = depths[i];
	}
	return most;
}

static int walk_down(struct walk *w)
{
	size_t most = deepest(w, w->children);
	uint32_t *pending = calloc(2 * (most + 1), sizeof(*pending));
	int rc = pending ? 0 : -ENOMEM;

	if (!rc) {
		sort_children(w);
		rc = walk_nodes(w, pending, pending + most + 1);
	}
	free(pending);
	return rc;
}

int tree_walk(struct tree *t, int (*cmp)(uint32_t a, uint32_t b, void *ctx),
	      int (*fn)(const struct tree_step *step, void *ctx), void *ctx)
{
	struct walk w = { .tree = t, .cmp = cmp, .fn = fn, .ctx = ctx };
	int rc = -ENOMEM;

	merge_values(t);
	w.first = calloc(t->nodes.nr + 2, sizeof(*w.first));
	w.children = malloc((t->nodes.nr + 1) * sizeof(*w.children));
	if (w.first && w.children)
		rc = walk_down(&w);
	free(w.first);
	free(w.children);
	return rc;
}
