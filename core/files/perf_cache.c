// SPDX-License-Identifier: Apache-2.0
#include "core/files/perf_cache.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

char *perf_cache_find(const char *home)
{
	char path[PATH_MAX];
	struct stat st;

	if (!home || *home != '/' || snprintf(path, sizeof(path), "%s/.debug", home) >= (int)sizeof(path))
		return NULL;
	if (stat(path, &st) || !S_ISDIR(st.st_mode) || st.st_uid != getuid() || st.st_mode & S_IWOTH)
		return NULL;
	return strdup(path);
}
