/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a report: each distinct text is kept once and has a number, its label. The same for sequences of labels.
 * Rows are merged by these numbers, and sorted by the texts of the labels, so that the text of a row is never built
 * before it is printed. Private to core/report/.
 */
#ifndef CORE_REPORT_LABELS_H
#define CORE_REPORT_LABELS_H

#include "core/base/intern.h"
#include "core/base/printable.h"
#include "core/report/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct label
 * @at, @len: its bytes, in labels.bytes
 * @folded:   the label by which it sorts: its text in the folded form; HASH_NONE: it does not sort
 */
struct label {
	size_t at;
	uint32_t len, folded;
};

/** struct label_seq - @nr labels from labels.ids[@at] on, root first. */
struct label_seq {
	size_t at;
	uint32_t nr;
};

/**
 * struct labels - all zeros is valid and empty. Numbers are positions in @texts and @seqs.
 * @frames: for each label, the first frame that was kept for it; NULL: none was. Not in @texts, because sorting reads
 *          @texts and is faster if it is small. May be shorter than @texts
 * @ids:    the labels of all sequences. Once labeller_settle() has replaced provisional ones, labels_add_seq() may add
 *          the same sequence again
 */
struct labels {
	char *bytes;
	size_t bytes_used, bytes_cap;
	struct intern_table texts; /* struct label */
	struct report_frame **frames;
	size_t nr_frames, frames_cap;
	uint32_t *ids;
	size_t ids_used, ids_cap;
	struct intern_table seqs; /* struct label_seq */
};

void labels_release(struct labels *l);

static inline const struct label *labels_get(const struct labels *l, uint32_t id)
{
	return (const struct label *)l->texts.v + id;
}

static inline const struct label_seq *labels_seq(const struct labels *l, uint32_t seq)
{
	return (const struct label_seq *)l->seqs.v + seq;
}

/**
 * labels_add_text() - the label of @text, which does not sort. Return, for this and the next functions: 0; -ENOMEM,
 * also if a buffer has failed.
 */
int labels_add_text(struct labels *l, const struct textbuf *text, uint32_t *id);

/**
 * labels_add() - the label of @text, which sorts as @folded. If a text comes with several @folded texts, the least is
 * kept, so the order of calls does not matter.
 */
int labels_add(struct labels *l, const struct textbuf *text, const struct textbuf *folded, uint32_t *id);

/**
 * labels_keep_frame() - keep @frame for its label, with copies of its texts and build id, unless a frame is kept
 * already.
 */
int labels_keep_frame(struct labels *l, uint32_t id, const struct report_frame *frame);

/** labels_add_seq() - the number of the sequence of these labels. */
int labels_add_seq(struct labels *l, const uint32_t *ids, uint32_t nr, uint32_t *seq);

/** labels_cmp() - compare the texts, as strcmp(). */
int labels_cmp(const struct labels *l, uint32_t a, uint32_t b);

#endif
