// SPDX-License-Identifier: Apache-2.0
#include "core/rows/frame.h"

#include <errno.h>

struct frame_name {
	char *text;
};

static const struct intern_kind name_kind = INTERN_STRING(struct frame_name, text);

void frame_names_release(struct frame_names *n)
{
	intern_release_copies(&n->table, &name_kind);
}

int frame_names_add(struct frame_names *n, enum frame_kind kind, const char *name, frame_t *out)
{
	bool is_new;
	const struct frame_name *own = intern(&n->table, &name_kind, &name, &is_new);

	if (!own)
		return n->table.nr >= HASH_NONE - 1 ? -E2BIG : -ENOMEM;
	*out = FRAME_NAME | (uint64_t)kind << 32 | (uint64_t)(own - (const struct frame_name *)n->table.v);
	return 0;
}

const char *frame_names_text(const struct frame_names *n, frame_t f)
{
	const struct frame_name *names = n ? n->table.v : NULL;

	return names && frame_is_name(f) && frame_name_id(f) < n->table.nr ? names[frame_name_id(f)].text : NULL;
}
