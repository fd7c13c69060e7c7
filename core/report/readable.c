// SPDX-License-Identifier: Apache-2.0
#include "core/report/readable.h"

#include <errno.h>

#define BATCH 1024

struct mangled_name {
	char *name;
	const char *readable; /* borrowed; NULL: none, or not demangled yet */
};

static const struct intern_kind name_kind = INTERN_STRING(struct mangled_name, name);

void readable_release(struct readable_names *r)
{
	intern_release_copies(&r->table, &name_kind);
	r->nr_read = 0;
}

int readable_add(struct readable_names *r, const char *name, uint32_t *id)
{
	bool is_new;
	const struct mangled_name *n = intern(&r->table, &name_kind, &name, &is_new);

	if (!n)
		return -ENOMEM;
	*id = (uint32_t)(n - (struct mangled_name *)r->table.v);
	return 0;
}

static int read_batch(struct mangled_name *names, size_t nr, const struct report_names *from)
{
	const char *in[BATCH], *out[BATCH];
	size_t i;
	int rc;

	for (i = 0; i < nr; i++)
		in[i] = names[i].name;
	rc = from->demangle(from->ctx, in, nr, out);
	for (i = 0; i < nr && !rc; i++)
		names[i].readable = out[i];
	return rc;
}

int readable_read(struct readable_names *r, const struct report_names *names)
{
	size_t nr;
	int rc = 0;

	for (; r->nr_read < r->table.nr && !rc; r->nr_read += nr) {
		nr = r->table.nr - r->nr_read;
		if (nr > BATCH)
			nr = BATCH;
		rc = read_batch((struct mangled_name *)r->table.v + r->nr_read, nr, names);
	}
	return rc;
}

const char *readable_text(const struct readable_names *r, uint32_t id)
{
	const struct mangled_name *n = (const struct mangled_name *)r->table.v + id;

	return n->readable ? n->readable : n->name;
}
