/* SPDX-License-Identifier: Apache-2.0 */
/* Encode the stacks of a page, parts 5 and 6 of page_data.h. */
#ifndef CORE_FORMATS_PAGE_STACKS_H
#define CORE_FORMATS_PAGE_STACKS_H

#include "core/base/intern.h"
#include "core/base/printable.h"
#include "core/formats/gzip.h"
#include "core/formats/page_data.h"
#include "core/formats/tree.h"

/**
 * struct page_stacks - valid if all members except the first two are zero.
 * @nr_frames:    frames have numbers below it
 * @path:         frames of the current node
 * @followers:    pairs of a frame and its caller
 * @nr_followers: for each frame, the number of different followers that were written so far; at @nr_frames, the number
 *                of different first frames of stacks
 * @dropped:      frames that were removed from @path since the last written stack; @added: put on it
 * @nr_stacks and all members after it are of the current block: its numbers of stacks, of values, of nodes (@nr_places)
 * and of nodes marked 0 (@nr_fresh), then its columns.
 */
struct page_stacks {
	struct gzip_writer *gzip;
	size_t nr_frames;
	uint32_t *path;
	size_t depth, path_cap;
	struct intern_table followers;
	uint32_t *nr_followers;
	uint32_t dropped, added;
	size_t nr_stacks, nr_values, nr_places, nr_fresh;
	struct textbuf drops, adds, sizes, columns, values, places, planes[PAGE_PLANES];
};

/**
 * page_stacks_put() - write parts 5 and 6, from @tree. @cmp: the order of siblings, as for tree_walk().
 * Return: 0 or -ENOMEM.
 */
int page_stacks_put(struct page_stacks *s, struct tree *tree, int (*cmp)(uint32_t a, uint32_t b, void *ctx), void *ctx);
void page_stacks_release(struct page_stacks *s);

#endif
