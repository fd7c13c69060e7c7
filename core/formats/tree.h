/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as a tree: stacks that begin alike share their first nodes. Each node has values, one for each column
 * (interval, or report) in which a stack ends there.
 */
#ifndef CORE_FORMATS_TREE_H
#define CORE_FORMATS_TREE_H

#include "core/base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT UINT32_MAX /* parent of the first nodes: it is none itself */

/** struct tree_value - of stacks that end at @node. */
struct tree_value {
	uint32_t node, column;
	uint64_t value;
};

/** struct tree - all zeros is valid and empty. */
struct tree {
	struct intern_table nodes;
	struct tree_value *values;
	size_t nr_values, cap_values;
};

/** tree_add() - a stack of @nr frames, numbers that are the caller's, root first. Return: 0 or -ENOMEM. */
int tree_add(struct tree *t, const uint32_t *frames, size_t nr, uint32_t column, uint64_t value);
void tree_release(struct tree *t);

/**
 * struct tree_step - a node on the way through the tree, parents before their children.
 * @up:     how many levels higher than below the step before: 0: it is a child of that node; also for the first
 * @values: @nr_values of them, by columns ascending, each once
 */
struct tree_step {
	uint32_t up, frame;
	const struct tree_value *values;
	size_t nr_values;
};

/**
 * tree_walk() - call @fn for each node. Nothing can be added any more.
 * @cmp: the order of siblings, by their frames: as of qsort_r(3), but of frames
 * Return: 0; -ENOMEM; else what @fn returned first that is not 0.
 */
int tree_walk(struct tree *t, int (*cmp)(uint32_t a, uint32_t b, void *ctx),
	      int (*fn)(const struct tree_step *step, void *ctx), void *ctx);

#endif
