/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BASE_BEGINS_H
#define CORE_BASE_BEGINS_H

#include <stdbool.h>
#include <string.h>

/** begins() - true if @text begins with @with. */
static inline bool begins(const char *text, const char *with)
{
	return !strncmp(text, with, strlen(with));
}

#endif
