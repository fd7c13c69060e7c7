/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Stacks as a tree: stacks that begin alike share their first nodes. A node has a value for each column (interval, or
 * report) in which a stack ends there.
 */
#ifndef CORE_FORMATS_TREE_H
#define CORE_FORMATS_TREE_H

#include "core/base/intern.h"

#include <stddef.h>
#include <stdint.h>

#define TREE_ROOT UINT32_MAX /* parent of the first nodes; not a node itself */

/** struct tree_value - value in @column of the stacks that end at node number @node. */
struct tree_value {
	uint32_t node, column;
	uint64_t value;
};

/** struct tree_node - @parent: number of the parent node, or TREE_ROOT; @frame: as passed to tree_add() */
struct tree_node {
	uint32_t parent, frame;
};

/** struct tree - all zeros is valid and empty. @nodes: struct tree_node, which @parent and @frame identify */
struct tree {
	struct intern_table nodes;
	struct tree_value *values;
	size_t nr_values, cap_values;
};

/**
 * tree_add() - add a stack of @nr frames, root first. The caller numbers the frames as it likes. A stack without frames
 * or with the value 0 makes no nodes. Return: 0 or -ENOMEM.
 */
int tree_add(struct tree *t, const uint32_t *frames, size_t nr, uint32_t column, uint64_t value);
void tree_release(struct tree *t);

/**
 * struct tree_step - a node of the tree, parents before their children.
 * @up:     how many levels to go up from the previous node to the parent of this one; 0: the previous node is the
 *          parent, or there is none
 * @values: its @nr_values values, in ascending order of columns, each column once
 */
struct tree_step {
	uint32_t up, frame;
	const struct tree_value *values;
	size_t nr_values;
};

/**
 * tree_walk() - call @fn for each node. Add nothing after that.
 * @cmp: the order of siblings by frame, like that of qsort_r(3)
 * Return: 0; -ENOMEM; otherwise the first nonzero value that @fn returned.
 */
int tree_walk(struct tree *t, int (*cmp)(uint32_t a, uint32_t b, void *ctx),
	      int (*fn)(const struct tree_step *step, void *ctx), void *ctx);

#endif
