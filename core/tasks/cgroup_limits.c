// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/cgroup_limits.h"

#include "core/base/number.h"
#include "core/tasks/cgroup.h"

#include <stdio.h>
#include <string.h>

#define USEC_PER_SEC 1000000

/* A file with a limit, in the directory of a cgroup. @top: the mount point of the hierarchy, as a path below /sys. */
struct limit_file {
	const char *top, *name;
	const char *period; /* the file with the period of the limit; NULL: it is not a limit on time */
};

/* A limit in both versions; no @top: that version has none. */
struct limit {
	const char *controller; /* its name in version 1 */
	struct limit_file v1, v2;
};

static const struct limit memory = {
	"memory",
	{ "fs/cgroup/memory", "memory.limit_in_bytes", NULL },
	{ "fs/cgroup", "memory.max", NULL },
};

/* Version 2 has no such limit (Documentation/admin-guide/cgroup-v2.rst). */
static const struct limit realtime = {
	"cpu",
	{ "fs/cgroup/cpu", "cpu.rt_runtime_us", "cpu.rt_period_us" },
	{ NULL, NULL, NULL },
};

/* "max" and "-1" mean no limit, and the root of version 2 has no file. Return: 0: none */
static uint64_t number_in(const struct host *h, const char *top, const char *path, const char *file)
{
	char name[4096 + 64], text[64];
	const char *s = text;
	uint64_t number;

	if ((size_t)snprintf(name, sizeof(name), "%s%s/%s", top, path, file) >= sizeof(name) ||
	    host_read(h->sys, name, text, sizeof(text)) <= 0)
		return 0;
	return parse_digits(&s, 10, UINT64_MAX, &number) || *s != '\n' ? 0 : number;
}

static uint64_t limit_of(const struct host *h, const struct limit_file *of, const char *path)
{
	uint64_t limit = number_in(h, of->top, path, of->name);
	uint64_t period = of->period ? number_in(h, of->top, path, of->period) : 0;

	return period && limit <= UINT64_MAX / USEC_PER_SEC ? limit * USEC_PER_SEC / period : limit;
}

static void take_smaller(uint64_t *least, uint64_t limit)
{
	if (limit && (!*least || limit < *least))
		*least = limit;
}

/*
 * @path: of our cgroup; becomes shorter. In a container without a cgroup namespace this path does not exist, but the
 * root does, which is the container's own cgroup.
 */
static void look_upwards(const struct host *h, const struct limit_file *of, char *path, uint64_t *least)
{
	char *end = path + strlen(path);

	/* Our cgroup is not below the root of our cgroup namespace (cgroup_namespaces(7)). */
	if (strstr(path, "/.."))
		return;
	while (end) {
		*end = 0;
		take_smaller(least, limit_of(h, of, path));
		end = strrchr(path, '/');
	}
}

static void look_at(const struct host *h, const struct limit *of, char *line, uint64_t *least)
{
	char *path = cgroup_line_path(line);

	if (!path)
		return;
	if (cgroup_line_is_v2(line)) {
		if (of->v2.top)
			look_upwards(h, &of->v2, path, least);
	} else if (cgroup_line_has(line, of->controller)) {
		look_upwards(h, &of->v1, path, least);
	}
}

/* @least: the limit so far; 0: none */
static uint64_t smallest(const struct host *h, const struct limit *of, uint64_t least)
{
	char text[8192], *line, *rest = text;

	if (host_read(h->proc, "self/cgroup", text, sizeof(text)) < 0)
		return least;
	while ((line = strsep(&rest, "\n")))
		look_at(h, of, line, &least);
	return least;
}

uint64_t memory_limit(const struct host *h)
{
	return smallest(h, &memory, host_memory_bytes(h));
}

uint64_t realtime_limit_us(const struct host *h)
{
	return smallest(h, &realtime, 0);
}
