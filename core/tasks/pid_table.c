// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/pid_table.h"

#include <stdlib.h>

struct slot {
	pid_t id;
	struct pid_entry *entry;
};

static const struct intern_kind slot_kind = INTERN_BYTES(struct slot, id);

void *pid_table_find(const struct pid_table *t, pid_t id)
{
	const struct slot *s = intern_find(&t->slots, &slot_kind, &id);

	return s ? s->entry : NULL;
}

void *pid_table_get(struct pid_table *t, pid_t id, size_t size)
{
	bool is_new;
	struct slot *s = intern(&t->slots, &slot_kind, &id, &is_new);

	if (!s || !is_new)
		return s ? s->entry : NULL;
	s->entry = calloc(1, size);
	if (!s->entry) {
		intern_delete(&t->slots, &slot_kind, s);
		return NULL;
	}
	s->entry->id = id;
	return s->entry;
}

size_t pid_table_nr(const struct pid_table *t)
{
	return t->slots.nr;
}

void *pid_table_at(const struct pid_table *t, size_t i)
{
	return ((const struct slot *)t->slots.v)[i].entry;
}

void pid_table_delete(struct pid_table *t, struct pid_entry *entry)
{
	intern_delete(&t->slots, &slot_kind, intern_find(&t->slots, &slot_kind, &entry->id));
	free(entry);
}

void pid_table_release(struct pid_table *t)
{
	size_t i;

	for (i = 0; i < t->slots.nr; i++)
		free(pid_table_at(t, i));
	intern_release(&t->slots);
}
