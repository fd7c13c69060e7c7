// SPDX-License-Identifier: Apache-2.0
#include "core/rows/frame.h"

#include "core/base/grow.h"

#include <errno.h>
#include <string.h>

void frame_names_release(struct frame_names *n)
{
	size_t i;

	for (i = 0; i < n->nr; i++)
		free(n->v[i]);
	free(n->v);
	hash_release(&n->index);
	*n = (struct frame_names){ 0 };
}

static bool same_name(const void *table, uint32_t pos, const void *key)
{
	return !strcmp(((const struct frame_names *)table)->v[pos], key);
}

/* Return: 0 and the number of the name, which is not there yet; or -errno with nothing changed. */
static int add_name(struct frame_names *n, uint64_t hash, const char *name, uint32_t *id)
{
	char **v, *own;
	int rc;

	if (n->nr >= HASH_NONE - 1)
		return -E2BIG;
	v = grow(n->v, &n->cap, n->nr, 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	n->v = v;
	own = strdup(name);
	rc = own ? hash_add(&n->index, hash, (uint32_t)n->nr) : -ENOMEM;
	if (rc) {
		free(own);
		return rc;
	}
	*id = (uint32_t)n->nr;
	v[n->nr++] = own;
	return 0;
}

int frame_names_add(struct frame_names *n, enum frame_kind kind, const char *name, frame_t *out)
{
	uint64_t hash = hash_bytes(name, strlen(name), 0);
	uint32_t id = hash_find(&n->index, hash, same_name, n, name);
	int rc = id == HASH_NONE ? add_name(n, hash, name, &id) : 0;

	*out = FRAME_NAME | (uint64_t)kind << 32 | id;
	return rc;
}

const char *frame_names_text(const struct frame_names *n, frame_t f)
{
	return n && frame_is_name(f) && frame_name_id(f) < n->nr ? n->v[frame_name_id(f)] : NULL;
}
