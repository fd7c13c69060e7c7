/* SPDX-License-Identifier: Apache-2.0 */
/* JSON that forms write. */
#ifndef CORE_FORMATS_JSON_TEXT_H
#define CORE_FORMATS_JSON_TEXT_H

#include "core/report/writer.h"

#include <jansson.h>

/** json_of_text() - a string of what is safe to print already. Return, here and below: NULL: no memory. */
json_t *json_of_text(const struct text_ref *text);

/** json_of_name() - the same of @name, made safe to print, with its semicolons; of NULL: NULL. */
json_t *json_of_name(const char *name);

/** json_add_name() - the member @key of @object, if @name is not NULL. Return: 0 or -ENOMEM. */
int json_add_name(json_t *object, const char *key, const char *name);

/** json_add_number() - the same of a number, at most INT64_MAX. */
int json_add_number(json_t *object, const char *key, uint64_t number);

/** json_put() - append @value to @b and let it go. NULL: there was no memory for it, and @b has failed. */
void json_put(struct textbuf *b, json_t *value);

#endif
