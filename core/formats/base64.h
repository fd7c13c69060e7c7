/* SPDX-License-Identifier: Apache-2.0 */
/* Encode bytes as text, RFC 4648, section 4. */
#ifndef CORE_FORMATS_BASE64_H
#define CORE_FORMATS_BASE64_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/** struct base64_writer - valid if all except @out is zero. @left: @nr bytes that are too few for 4 characters */
struct base64_writer {
	FILE *out;
	uint8_t left[3];
	size_t nr;
};

void base64_put(struct base64_writer *w, const void *bytes, size_t len);
/** base64_end() - put the rest, and padding. */
void base64_end(struct base64_writer *w);

/** base64_value() - the value of a character, 0 to 63; -1: it has none. */
int base64_value(char c);

#endif
