/* SPDX-License-Identifier: Apache-2.0 */
/* Strings with numbers, for code that stores or writes each string once and refers to it by number. */
#ifndef CORE_BASE_STRINGS_H
#define CORE_BASE_STRINGS_H

#include "core/base/intern.h"

/** struct strings - all zeros is valid and empty. Numbers are from 0, in the order in which strings were added. */
struct strings {
	struct intern_table table;
};

/**
 * strings_add() - add @text, which is copied, or find it; @nr: out: its number.
 * @is_new: out: it was not there before
 * Return: 0 or -ENOMEM.
 */
int strings_add(struct strings *s, const char *text, uint32_t *nr, bool *is_new);

/** strings_find() - true if @text is there. @nr: out: its number. */
bool strings_find(const struct strings *s, const char *text, uint32_t *nr);

size_t strings_nr(const struct strings *s);

/** strings_get() - the text with number @nr. Borrowed until strings_release(). */
char *strings_get(const struct strings *s, uint32_t nr);
void strings_release(struct strings *s);

#endif
