/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CORE_BASE_BASE_NAME_H
#define CORE_BASE_BASE_NAME_H

#include <string.h>

/** base_name() - what is behind the last slash of @path; @path itself if there is none, or nothing behind it. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

#endif
