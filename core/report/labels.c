// SPDX-License-Identifier: Apache-2.0
#include "core/report/labels.h"

#include "core/base/err.h"
#include "core/base/grow.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void labels_release(struct labels *l)
{
	size_t i;

	for (i = 0; i < l->nr_frames; i++)
		free(l->frames[i]);
	free(l->frames);
	intern_release(&l->texts);
	intern_release(&l->seqs);
	free(l->bytes);
	free(l->ids);
	*l = (struct labels){ 0 };
}

int labels_cmp(const struct labels *l, uint32_t a, uint32_t b)
{
	const struct label *x = labels_get(l, a), *y = labels_get(l, b);
	int c = memcmp(l->bytes + x->at, l->bytes + y->at, x->len < y->len ? x->len : y->len);

	return c ? c : (x->len > y->len) - (x->len < y->len);
}

struct text_key {
	const struct labels *l;
	const struct textbuf *text;
};

static uint64_t hash_text(const void *key)
{
	const struct textbuf *text = ((const struct text_key *)key)->text;

	return hash_bytes(text->bytes, text->len, 0);
}

static bool same_text(const void *have, const void *key)
{
	const struct label *label = have;
	const struct text_key *k = key;

	return label->len == k->text->len &&
	       (!label->len || !memcmp(k->l->bytes + label->at, k->text->bytes, label->len));
}

static const struct intern_kind label_kind = INTERN_CUSTOM(struct label, at, hash_text, same_text);

int labels_add_text(struct labels *l, const struct textbuf *text, uint32_t *id)
{
	const struct text_key key = { l, text };
	char *bytes = text->failed ? NULL : grow(l->bytes, &l->bytes_cap, l->bytes_used, text->len, 1);
	struct label *label;
	bool is_new;

	if (!bytes)
		return -ENOMEM;
	l->bytes = bytes;
	label = intern(&l->texts, &label_kind, &key, &is_new);
	if (!label)
		return -ENOMEM;
	if (is_new) {
		*label = (struct label){ l->bytes_used, (uint32_t)text->len, HASH_NONE };
		if (text->len)
			memcpy(bytes + l->bytes_used, text->bytes, text->len);
		l->bytes_used += text->len;
	}
	*id = (uint32_t)(label - labels_get(l, 0));
	return 0;
}

/*
 * Copy the texts and the build id: the resolver overwrites names when it names the next frame, and may be freed before
 * the report.
 */
static struct report_frame *copy_frame(const struct report_frame *frame)
{
	const char *texts[] = { frame->name, frame->module, frame->file };
	size_t sizes[ARRAY_SIZE(texts)], size = sizeof(*frame) + frame->build_id_size, i;
	struct report_frame *copy;
	char *at;

	for (i = 0; i < ARRAY_SIZE(texts); i++) {
		sizes[i] = texts[i] ? strlen(texts[i]) + 1 : 0;
		size += sizes[i];
	}
	copy = malloc(size);
	if (!copy)
		return NULL;
	*copy = *frame;
	at = (char *)(copy + 1);
	for (i = 0; i < ARRAY_SIZE(texts); at += sizes[i++])
		texts[i] = texts[i] ? memcpy(at, texts[i], sizes[i]) : NULL;
	copy->name = texts[0];
	copy->module = texts[1];
	copy->file = texts[2];
	if (frame->build_id_size)
		copy->build_id = memcpy(at, frame->build_id, frame->build_id_size);
	return copy;
}

int labels_keep_frame(struct labels *l, uint32_t id, const struct report_frame *frame)
{
	struct report_frame **frames =
		grow(l->frames, &l->frames_cap, l->nr_frames, l->texts.nr - l->nr_frames, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	l->frames = frames;
	while (l->nr_frames < l->texts.nr)
		frames[l->nr_frames++] = NULL;
	if (!frames[id])
		frames[id] = copy_frame(frame);
	return frames[id] ? 0 : -ENOMEM;
}

int labels_add(struct labels *l, const struct textbuf *text, const struct textbuf *folded, uint32_t *id)
{
	struct label *label;
	uint32_t key;
	int rc = labels_add_text(l, text, id);

	if (!rc)
		rc = labels_add_text(l, folded, &key);
	if (rc)
		return rc;
	label = (struct label *)l->texts.v + *id;
	if (label->folded == HASH_NONE || labels_cmp(l, key, label->folded) < 0)
		label->folded = key;
	return 0;
}

struct seq_key {
	const struct labels *l;
	const uint32_t *ids;
	uint32_t nr;
};

static uint64_t hash_seq(const void *key)
{
	const struct seq_key *k = key;

	return hash_bytes(k->ids, k->nr * sizeof(*k->ids), 0);
}

static bool same_seq(const void *have, const void *key)
{
	const struct label_seq *seq = have;
	const struct seq_key *k = key;

	return seq->nr == k->nr && (!k->nr || !memcmp(&k->l->ids[seq->at], k->ids, k->nr * sizeof(*k->ids)));
}

static const struct intern_kind seq_kind = INTERN_CUSTOM(struct label_seq, at, hash_seq, same_seq);

int labels_add_seq(struct labels *l, const uint32_t *ids, uint32_t nr, uint32_t *seq)
{
	const struct seq_key key = { l, ids, nr };
	uint32_t *all = grow(l->ids, &l->ids_cap, l->ids_used, nr, sizeof(*all));
	struct label_seq *new;
	bool is_new;

	if (!all)
		return -ENOMEM;
	l->ids = all;
	new = intern(&l->seqs, &seq_kind, &key, &is_new);
	if (!new)
		return -ENOMEM;
	if (is_new) {
		*new = (struct label_seq){ l->ids_used, nr };
		if (nr)
			memcpy(&all[l->ids_used], ids, nr * sizeof(*ids));
		l->ids_used += nr;
	}
	*seq = (uint32_t)(new - labels_seq(l, 0));
	return 0;
}
