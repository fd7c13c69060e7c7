// SPDX-License-Identifier: Apache-2.0
#include "core/base/strings.h"

#include <errno.h>

struct string {
	char *text;
};

static const struct intern_kind string_kind = INTERN_STRING(struct string, text);

static uint32_t number_of(const struct strings *s, const struct string *found)
{
	return (uint32_t)(found - (const struct string *)s->table.v);
}

bool strings_find(const struct strings *s, const char *text, uint32_t *nr)
{
	const struct string *found = intern_find(&s->table, &string_kind, &text);

	if (found)
		*nr = number_of(s, found);
	return found;
}

int strings_add(struct strings *s, const char *text, uint32_t *nr, bool *is_new)
{
	const struct string *found = intern(&s->table, &string_kind, &text, is_new);

	if (!found)
		return -ENOMEM;
	*nr = number_of(s, found);
	return 0;
}

size_t strings_nr(const struct strings *s)
{
	return s->table.nr;
}

char *strings_get(const struct strings *s, uint32_t nr)
{
	return ((const struct string *)s->table.v)[nr].text;
}

void strings_release(struct strings *s)
{
	intern_release_copies(&s->table, &string_kind);
}
