/* SPDX-License-Identifier: Apache-2.0 */
/* Build texts, and make names in them safe to print: a profiled process may have chosen the names. */
#ifndef CORE_BASE_PRINTABLE_H
#define CORE_BASE_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>

#define NAME_MAX_BYTES (64 * 1024) /* longer names are cut: a demangled C++ name can have megabytes */

/** struct textbuf - a text that is being built; all zeros is valid. @failed: an allocation has failed; it stays set. */
struct textbuf {
	char *bytes;
	size_t len, cap;
	bool failed;
};

void textbuf_put(struct textbuf *b, const char *s, size_t len);
/**
 * textbuf_name() - append a name that a profiled process may have chosen, made safe to print: each character that
 * controls the terminal, ends a line, changes the direction of text or is an invisible space, joiner or operator, and
 * each byte that is not well-formed UTF-8, becomes '?'.
 * @s:         terminated by a zero; bytes beyond NAME_MAX_BYTES are cut
 * @semicolon: replacement for ';'
 */
void textbuf_name(struct textbuf *b, const char *s, char semicolon);

#define NAME_SHOWN 200 /* bytes of a name in a line of text */

/** name_shown() - put the start of @s, made safe to print, into @out. Return: @out. */
const char *name_shown(const char *s, char out[NAME_SHOWN + 1]);

#endif
