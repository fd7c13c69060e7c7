// SPDX-License-Identifier: Apache-2.0
#include "core/report/labels.h"

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
	hash_release(&l->index);
	hash_release(&l->seq_index);
	free(l->bytes);
	free(l->v);
	free(l->ids);
	free(l->seqs);
	*l = (struct labels){ 0 };
}

int labels_cmp(const struct labels *l, uint32_t a, uint32_t b)
{
	const struct label *x = &l->v[a], *y = &l->v[b];
	int c = memcmp(l->bytes + x->at, l->bytes + y->at, x->len < y->len ? x->len : y->len);

	return c ? c : (x->len > y->len) - (x->len < y->len);
}

static bool same_text(const void *table, uint32_t pos, const void *key)
{
	const struct labels *l = table;
	const struct label *have = &l->v[pos];
	const struct textbuf *text = key;

	return have->len == text->len && (!have->len || !memcmp(l->bytes + have->at, text->bytes, have->len));
}

static int intern(struct labels *l, const struct textbuf *text, uint32_t *id)
{
	uint64_t hash = hash_bytes(text->bytes, text->len, 0);
	struct label *v;
	char *bytes;
	int rc;

	if (text->failed)
		return -ENOMEM;
	*id = hash_find(&l->index, hash, same_text, l, text);
	if (*id != HASH_NONE)
		return 0;
	if (l->nr >= HASH_NONE - 1)
		return -ENOMEM;
	bytes = grow(l->bytes, &l->bytes_cap, l->bytes_used, text->len, 1);
	if (!bytes)
		return -ENOMEM;
	l->bytes = bytes;
	v = grow(l->v, &l->cap, l->nr, 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	rc = hash_add(&l->index, hash, (uint32_t)l->nr);
	if (rc)
		return rc;
	if (text->len)
		memcpy(bytes + l->bytes_used, text->bytes, text->len);
	v[l->nr] = (struct label){ l->bytes_used, (uint32_t)text->len, HASH_NONE };
	l->bytes_used += text->len;
	*id = (uint32_t)l->nr++;
	return 0;
}

/* The resolver overwrites names and files when it names the next frame, so copies of them follow the frame. */
static struct report_frame *copy_frame(const struct report_frame *frame)
{
	size_t name = frame->name ? strlen(frame->name) + 1 : 0, file = frame->file ? strlen(frame->file) + 1 : 0;
	struct report_frame *copy = malloc(sizeof(*copy) + name + file);

	if (!copy)
		return NULL;
	*copy = *frame;
	if (name)
		copy->name = memcpy(copy + 1, frame->name, name);
	if (file)
		copy->file = memcpy((char *)(copy + 1) + name, frame->file, file);
	return copy;
}

static int add_frame(struct labels *l, uint32_t id, const struct report_frame *frame)
{
	struct report_frame **frames =
		grow(l->frames, &l->frames_cap, l->nr_frames, l->nr - l->nr_frames, sizeof(*frames));

	if (!frames)
		return -ENOMEM;
	l->frames = frames;
	while (l->nr_frames < l->nr)
		frames[l->nr_frames++] = NULL;
	if (!frames[id])
		frames[id] = copy_frame(frame);
	return frames[id] ? 0 : -ENOMEM;
}

int labels_add(struct labels *l, const struct textbuf *text, const struct textbuf *folded,
	       const struct report_frame *frame, uint32_t *id)
{
	uint32_t key;
	int rc = intern(l, text, id);

	if (rc)
		return rc;
	rc = intern(l, folded, &key);
	if (rc)
		return rc;
	if (l->v[*id].folded == HASH_NONE || labels_cmp(l, key, l->v[*id].folded) < 0)
		l->v[*id].folded = key;
	return frame ? add_frame(l, *id, frame) : 0;
}

struct seq_key {
	const uint32_t *ids;
	uint32_t nr;
};

static bool same_seq(const void *table, uint32_t pos, const void *key)
{
	const struct labels *l = table;
	const struct label_seq *have = &l->seqs[pos];
	const struct seq_key *k = key;

	return have->nr == k->nr && (!k->nr || !memcmp(&l->ids[have->at], k->ids, k->nr * sizeof(*k->ids)));
}

int labels_add_seq(struct labels *l, const uint32_t *ids, uint32_t nr, uint32_t *seq)
{
	uint64_t hash = hash_bytes(ids, nr * sizeof(*ids), 0);
	struct seq_key key = { ids, nr };
	struct label_seq *seqs;
	uint32_t *all;
	int rc;

	*seq = hash_find(&l->seq_index, hash, same_seq, l, &key);
	if (*seq != HASH_NONE)
		return 0;
	if (l->nr_seqs >= HASH_NONE - 1)
		return -ENOMEM;
	all = grow(l->ids, &l->ids_cap, l->ids_used, nr, sizeof(*all));
	if (!all)
		return -ENOMEM;
	l->ids = all;
	seqs = grow(l->seqs, &l->seqs_cap, l->nr_seqs, 1, sizeof(*seqs));
	if (!seqs)
		return -ENOMEM;
	l->seqs = seqs;
	rc = hash_add(&l->seq_index, hash, (uint32_t)l->nr_seqs);
	if (rc)
		return rc;
	if (nr)
		memcpy(&all[l->ids_used], ids, nr * sizeof(*ids));
	seqs[l->nr_seqs] = (struct label_seq){ l->ids_used, nr };
	l->ids_used += nr;
	*seq = (uint32_t)l->nr_seqs++;
	return 0;
}
