/* SPDX-License-Identifier: Apache-2.0 */
/* Text with a length. */
#ifndef CORE_BASE_TEXT_REF_H
#define CORE_BASE_TEXT_REF_H

#include <stddef.h>

/** struct text_ref - text that is not zero-terminated. */
struct text_ref {
	const char *bytes;
	size_t len;
};

#endif
