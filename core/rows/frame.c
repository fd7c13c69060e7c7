// SPDX-License-Identifier: Apache-2.0
#include "core/rows/frame.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct frame_name {
	char *text;
};

static const struct intern_kind name_kind = INTERN_STRING(struct frame_name, text);

void frame_names_release(struct frame_names *n)
{
	struct frame_name *names = n->table.v;
	size_t i;

	for (i = 0; i < n->table.nr; i++)
		free(names[i].text);
	intern_release(&n->table);
}

/* Return: 0; or -errno with nothing changed. */
static int add_name(struct frame_names *n, const char *text)
{
	char *own = strdup(text);
	bool is_new;
	struct frame_name *name = own ? intern(&n->table, &name_kind, &own, &is_new) : NULL;

	if (name) {
		name->text = own;
		return 0;
	}
	free(own);
	return n->table.nr >= HASH_NONE - 1 ? -E2BIG : -ENOMEM;
}

int frame_names_add(struct frame_names *n, enum frame_kind kind, const char *name, frame_t *out)
{
	const struct frame_name *have = intern_find(&n->table, &name_kind, &name);
	size_t id = have ? (size_t)(have - (const struct frame_name *)n->table.v) : n->table.nr;
	int rc = have ? 0 : add_name(n, name);

	*out = FRAME_NAME | (uint64_t)kind << 32 | id;
	return rc;
}

const char *frame_names_text(const struct frame_names *n, frame_t f)
{
	const struct frame_name *names = n ? n->table.v : NULL;

	return names && frame_is_name(f) && frame_name_id(f) < n->table.nr ? names[frame_name_id(f)].text : NULL;
}
