// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/cgroup_limits.h"

#include "core/base/number.h"
#include "core/tasks/cgroup.h"

#include <stdio.h>
#include <string.h>

/* Where a hierarchy is mounted below /sys, and its file with the limit. */
struct hierarchy {
	const char *top, *file;
};

static const struct hierarchy version_2 = { "fs/cgroup", "memory.max" };
static const struct hierarchy version_1 = { "fs/cgroup/memory", "memory.limit_in_bytes" };

/* "max" is no limit, and the root of version 2 has no file. */
static uint64_t limit_of(const struct host *h, const struct hierarchy *of, const char *path)
{
	char name[4096 + 64], text[64];
	const char *s = text;
	uint64_t limit;

	if ((size_t)snprintf(name, sizeof(name), "%s%s/%s", of->top, path, of->file) >= sizeof(name) ||
	    host_read(h->sys, name, text, sizeof(text)) <= 0)
		return 0;
	return parse_digits(&s, 10, UINT64_MAX, &limit) || *s != '\n' ? 0 : limit;
}

static void take_smaller(uint64_t *least, uint64_t limit)
{
	if (limit && (!*least || limit < *least))
		*least = limit;
}

/*
 * @path: of our cgroup; cut. In a container that has no cgroup namespace it does not exist there, but the root, which
 * is the container's own cgroup, does.
 */
static void look_upwards(const struct host *h, const struct hierarchy *of, char *path, uint64_t *least)
{
	char *end = path + strlen(path);

	/* A process outside of its cgroup namespace has such a path (cgroup_namespaces(7)). */
	if (strstr(path, "/.."))
		return;
	while (end) {
		*end = 0;
		take_smaller(least, limit_of(h, of, path));
		end = strrchr(path, '/');
	}
}

static void look_at(const struct host *h, char *line, uint64_t *least)
{
	char *path = cgroup_line_path(line);

	if (!path)
		return;
	if (cgroup_line_is_v2(line))
		look_upwards(h, &version_2, path, least);
	else if (cgroup_line_has(line, "memory"))
		look_upwards(h, &version_1, path, least);
}

uint64_t memory_limit(const struct host *h)
{
	uint64_t least = host_memory_bytes(h);
	char text[8192], *line, *rest = text;

	if (host_read(h->proc, "self/cgroup", text, sizeof(text)) < 0)
		return least;
	while ((line = strsep(&rest, "\n")))
		look_at(h, line, &least);
	return least;
}
