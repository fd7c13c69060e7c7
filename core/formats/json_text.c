// SPDX-License-Identifier: Apache-2.0
#include "core/formats/json_text.h"

#include <errno.h>
#include <stdlib.h>

json_t *json_of_text(const struct text_ref *text)
{
	return json_stringn_nocheck(text->len ? text->bytes : "", text->len);
}

json_t *json_of_name(const char *name)
{
	struct textbuf safe = { 0 };
	json_t *value;

	if (!name)
		return NULL;
	textbuf_name(&safe, name, ';');
	value = safe.failed ? NULL : json_of_text(&(struct text_ref){ safe.bytes, safe.len });
	free(safe.bytes);
	return value;
}

int json_add_name(json_t *object, const char *key, const char *name)
{
	return name && json_object_set_new(object, key, json_of_name(name)) ? -ENOMEM : 0;
}

int json_add_number(json_t *object, const char *key, uint64_t number)
{
	return json_object_set_new(object, key, json_integer(number > INT64_MAX ? INT64_MAX : (json_int_t)number))
		       ? -ENOMEM
		       : 0;
}

static int append(const char *bytes, size_t len, void *b)
{
	textbuf_put(b, bytes, len);
	return 0;
}

void json_put(struct textbuf *b, json_t *value)
{
	if (!value || json_dump_callback(value, append, b, JSON_COMPACT | JSON_ENCODE_ANY))
		b->failed = true;
	json_decref(value);
}
