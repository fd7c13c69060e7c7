// SPDX-License-Identifier: Apache-2.0
#include "core/formats/frame_table.h"

#include "core/base/grow.h"

#include <stdlib.h>
#include <string.h>

static uint64_t hash_label(const void *key)
{
	const struct text_ref *label = key;

	return hash_bytes(label->bytes, label->len, 0);
}

static bool same_label(const void *have, const void *key)
{
	const struct table_frame *frame = have;
	const struct text_ref *label = key;

	return frame->len == label->len && !memcmp(frame->bytes, label->bytes, label->len);
}

static const struct intern_kind table_frame_kind = INTERN_CUSTOM(struct table_frame, bytes, hash_label, same_label);

void frame_table_begin(struct frame_table *t)
{
	t->nr_known = 0;
}

int frame_table_find(struct frame_table *t, const struct text_ref *label, uint32_t *nr, bool *is_new)
{
	char *copy = malloc(label->len);
	struct table_frame *frame = copy ? intern(&t->frames, &table_frame_kind, label, is_new) : NULL;

	if (!frame || !*is_new)
		free(copy);
	else
		*frame = (struct table_frame){ memcpy(copy, label->bytes, label->len), label->len };
	if (frame)
		*nr = (uint32_t)(frame - (struct table_frame *)t->frames.v);
	return frame ? 0 : -ENOMEM;
}

static int reserve_label(struct frame_table *t, uint32_t label)
{
	size_t more = label < t->nr_known ? 0 : label + 1 - t->nr_known;
	uint32_t *known = grow(t->known, &t->known_cap, t->nr_known, more, sizeof(*known));

	if (!known)
		return -ENOMEM;
	t->known = known;
	memset(known + t->nr_known, 0, more * sizeof(*known));
	t->nr_known += more;
	return 0;
}

int frame_table_add(struct frame_table *t, const struct report_row *row, size_t i, uint32_t *nr, bool *is_new)
{
	uint32_t label = row->labels[i];
	int rc;

	*is_new = false;
	if (label < t->nr_known && t->known[label]) {
		*nr = t->known[label] - 1;
		return 0;
	}
	rc = reserve_label(t, label);
	if (!rc)
		rc = frame_table_find(t, &row->texts[i], nr, is_new);
	if (!rc)
		t->known[label] = *nr + 1;
	return rc;
}

void frame_table_release(struct frame_table *t)
{
	const struct table_frame *frames = t->frames.v;
	size_t i;

	for (i = 0; i < t->frames.nr; i++)
		free(frames[i].bytes);
	intern_release(&t->frames);
	free(t->known);
}
