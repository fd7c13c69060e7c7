/* SPDX-License-Identifier: Apache-2.0 */
/* Strings with numbers, for what keeps or writes each string once, and has its number wherever it is used. */
#ifndef CORE_BASE_STRINGS_H
#define CORE_BASE_STRINGS_H

#include "core/base/intern.h"

/** struct strings - all zeros is valid and empty. Numbers are from 0, in the order in which strings were added. */
struct strings {
	struct intern_table table;
};

/**
 * strings_add() - the number of @text, which is copied.
 * @is_new: out: it was not there before
 * Return: 0 or -ENOMEM.
 */
int strings_add(struct strings *s, const char *text, uint32_t *nr, bool *is_new);

/** strings_find() - is @text there? @nr: out: its number. */
bool strings_find(const struct strings *s, const char *text, uint32_t *nr);

size_t strings_nr(const struct strings *s);

/** strings_get() - the text that has number @nr. Borrowed until strings_release(). */
char *strings_get(const struct strings *s, uint32_t nr);
void strings_release(struct strings *s);

#endif
