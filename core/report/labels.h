/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The texts of a report: each distinct one is kept once and has a number, its label; sequences of labels
 * likewise. Rows are merged and sorted by these numbers, so that no row's text is ever put together before it
 * is printed. Private to core/report/.
 */
#ifndef CORE_REPORT_LABELS_H
#define CORE_REPORT_LABELS_H

#include "core/base/hash.h"
#include "core/base/printable.h"
#include "core/report/frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct label
 * @at, @len: its bytes, in labels.bytes
 * @folded:   the label it sorts by: its text in the folded form; HASH_NONE in one that is only that
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
 * struct labels - all zeros is valid and empty. Numbers are indexes of @v and @seqs.
 * @frames: by label, the first frame that came with it; NULL: none did. They are not in @v, because sorting reads @v
 * and is faster when it is small. May be shorter than @v.
 */
struct labels {
	char *bytes;
	size_t bytes_used, bytes_cap;
	struct label *v;
	size_t nr, cap;
	struct report_frame **frames;
	size_t nr_frames, frames_cap;
	uint32_t *ids;
	size_t ids_used, ids_cap;
	struct label_seq *seqs;
	size_t nr_seqs, seqs_cap;
	struct hash_index index, seq_index;
};

void labels_release(struct labels *l);

/**
 * labels_add() - the label of @text, which sorts as @folded.
 * @frame: keep it for this label; its name and file are copied. NULL: keep nothing
 * When one text comes with several @folded ones the least is kept: the order of calls does not matter.
 * Return: 0; -ENOMEM, also when a buffer has failed.
 */
int labels_add(struct labels *l, const struct textbuf *text, const struct textbuf *folded,
	       const struct report_frame *frame, uint32_t *id);

/** labels_add_seq() - the number of the sequence of these labels. Return: 0 or -ENOMEM. */
int labels_add_seq(struct labels *l, const uint32_t *ids, uint32_t nr, uint32_t *seq);

/** labels_cmp() - as strcmp() on the texts. */
int labels_cmp(const struct labels *l, uint32_t a, uint32_t b);

#endif
