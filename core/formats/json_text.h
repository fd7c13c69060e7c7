/* SPDX-License-Identifier: Apache-2.0 */
/* Helpers for forms that write JSON. */
#ifndef CORE_FORMATS_JSON_TEXT_H
#define CORE_FORMATS_JSON_TEXT_H

#include "core/report/writer.h"

#include <jansson.h>

/**
 * json_of_text() - a JSON string of text that is already safe to print. Return, for this and the next function: NULL:
 * no memory.
 */
json_t *json_of_text(const struct text_ref *text);

/** json_of_name() - the same for @name, made safe to print. Semicolons in it stay. NULL for NULL. */
json_t *json_of_name(const char *name);

/** json_add_name() - add the member @key to @object if @name is not NULL. Return: 0 or -ENOMEM. */
int json_add_name(json_t *object, const char *key, const char *name);

/** json_add_number() - add the member @key. A @number above INT64_MAX becomes INT64_MAX. Return: 0 or -ENOMEM. */
int json_add_number(json_t *object, const char *key, uint64_t number);

/** json_put() - append @value to @b and free it. @value NULL: no memory: mark @b as failed. */
void json_put(struct textbuf *b, json_t *value);

#endif
