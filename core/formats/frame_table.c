// SPDX-License-Identifier: Apache-2.0
#include "core/formats/frame_table.h"

#include "core/base/grow.h"

#include <stdlib.h>
#include <string.h>

/* The label is the whole entry. */
static const struct intern_kind frame_kind = {
	.size = sizeof(struct text_ref), .hash = intern_hash_text, .equal = intern_same_text, .copy = intern_copy_text
};

void frame_table_begin(struct frame_table *t)
{
	t->nr_known = 0;
}

int frame_table_find(struct frame_table *t, const struct text_ref *label, uint32_t *nr, bool *is_new)
{
	const struct text_ref *frame = intern(&t->frames, &frame_kind, label, is_new);

	if (!frame)
		return -ENOMEM;
	*nr = (uint32_t)(frame - (const struct text_ref *)t->frames.v);
	return 0;
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
	intern_release_copies(&t->frames, &frame_kind);
	free(t->known);
}
