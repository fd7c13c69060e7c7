/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BASE_BASE_NAME_H
#define CORE_BASE_BASE_NAME_H

#include <string.h>

/** base_name() - the part of @path after the last slash; @path itself if there is none, or nothing after it. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
