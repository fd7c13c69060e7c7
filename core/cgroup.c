// SPDX-License-Identifier: Apache-2.0
#include "core/cgroup.h"

#include "core/grow.h"
#include "core/hash.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_DEPTH 64 /* a descriptor each while they are walked */

struct known {
	uint64_t id;
	bool inside;
};

struct cgroup {
	int fd;
	struct hash_index index;
	struct known *v;
	size_t nr, cap;
};

static bool same_id(const void *table, uint32_t pos, const void *key)
{
	return ((const struct cgroup *)table)->v[pos].id == *(const uint64_t *)key;
}

static uint64_t hash_id(uint64_t id)
{
	return hash_bytes(&id, sizeof(id), 0);
}

static struct known *find(const struct cgroup *c, uint64_t id)
{
	uint32_t pos = hash_find(&c->index, hash_id(id), same_id, c, &id);

	return pos == HASH_NONE ? NULL : &c->v[pos];
}

/* Without memory it is looked for again the next time. */
static void learn(struct cgroup *c, uint64_t id, bool inside)
{
	struct known *v;

	if (find(c, id))
		return;
	v = grow(c->v, &c->cap, c->nr, 1, sizeof(*v));
	if (!v)
		return;
	c->v = v;
	if (hash_add(&c->index, hash_id(id), (uint32_t)c->nr))
		return;
	v[c->nr++] = (struct known){ id, inside };
}

/* The id of a cgroup is what its folder has as a file handle, since 4.14; its inode number only since 5.5. */
static uint64_t folder_id(int fd)
{
	union {
		struct file_handle head;
		char room[sizeof(struct file_handle) + sizeof(uint64_t)];
	} h = { .head = { .handle_bytes = sizeof(uint64_t) } };
	uint64_t id;
	int mount;

	if (name_to_handle_at(fd, "", &h.head, &mount, AT_EMPTY_PATH) || h.head.handle_bytes != sizeof(id))
		return 0;
	memcpy(&id, h.room + sizeof(h.head), sizeof(id));
	return id;
}

static void walk(struct cgroup *c, int fd, int depth);

/* Those that go meanwhile, and files, are passed over. */
static void walk_entry(struct cgroup *c, int folder, const struct dirent *e, int depth)
{
	int fd;

	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
		return;
	fd = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	if (cgroup_is_folder(fd)) /* else something is mounted there */
		walk(c, fd, depth);
	else
		close(fd);
}

/* @fd is closed. */
static void walk(struct cgroup *c, int fd, int depth)
{
	uint64_t id = folder_id(fd);
	DIR *d = fdopendir(fd);
	struct dirent *e;

	if (id)
		learn(c, id, true);
	if (!d) {
		close(fd);
		return;
	}
	while (depth < MAX_DEPTH && (e = readdir(d)))
		walk_entry(c, dirfd(d), e, depth + 1);
	closedir(d);
}

static void look_around(struct cgroup *c)
{
	int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd >= 0)
		walk(c, fd, 0);
}

bool cgroup_is_folder(int fd)
{
	struct statfs fs;
	struct stat st;

	return !fstatfs(fd, &fs) && fs.f_type == CGROUP2_SUPER_MAGIC && !fstat(fd, &st) && S_ISDIR(st.st_mode);
}

int cgroup_open(struct cgroup **out, const char *path, struct err *err)
{
	struct cgroup *c = calloc(1, sizeof(*c));

	*out = NULL;
	if (!c)
		return err_sys(err, -ENOMEM, "cannot open cgroup '%s'", path);
	c->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (c->fd < 0) {
		err_sys(err, -errno, "cannot open cgroup '%s'", path);
		free(c);
		return err->code;
	}
	if (!cgroup_is_folder(c->fd)) {
		cgroup_close(c);
		return err_set(err, -EINVAL, "'%s' is not a cgroup of version 2", path);
	}
	look_around(c);
	*out = c;
	return 0;
}

void cgroup_close(struct cgroup *c)
{
	if (!c)
		return;
	close(c->fd);
	hash_release(&c->index);
	free(c->v);
	free(c);
}

int cgroup_fd(const struct cgroup *c)
{
	return c->fd;
}

bool cgroup_has(struct cgroup *c, uint64_t id)
{
	const struct known *k;

	if (!id)
		return false;
	k = find(c, id);
	if (!k) {
		look_around(c);
		learn(c, id, false);
		k = find(c, id);
	}
	return k && k->inside;
}

/* "9:perf_event:/a": one hierarchy with its controllers; of version 2 "0::/a". */
static bool has_controller(const char *line, const char *name)
{
	const char *s = strchr(line, ':'), *end = s ? strchr(s + 1, ':') : NULL;
	size_t len = strlen(name);

	for (; end && s < end; s += 1 + strcspn(s + 1, ",:"))
		if (!strncmp(s + 1, name, len) && (s[1 + len] == ',' || s[1 + len] == ':'))
			return true;
	return false;
}

/*
 * Where there is version 2 alone, and no controller was ever enabled below its root, perf_event was not, either, though
 * it needs not be asked for: all samples have the id of the root (seen with 5.10). Only the root has no cgroup.type.
 */
static bool is_untouched(const struct host *h)
{
	char path[512], c;
	bool empty;
	FILE *f;

	snprintf(path, sizeof(path), "%s/fs/cgroup/cgroup.type", h->sys);
	if (!access(path, F_OK))
		return false;
	snprintf(path, sizeof(path), "%s/fs/cgroup/cgroup.subtree_control", h->sys);
	f = fopen(path, "re");
	if (!f)
		return false;
	empty = fread(&c, 1, 1, f) != 1 || c == '\n';
	fclose(f);
	return empty;
}

bool cgroup_sampled(const struct host *h)
{
	char path[512], *line = NULL;
	bool sampled = true;
	size_t cap = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/self/cgroup", h->proc);
	f = fopen(path, "re");
	if (!f)
		return true;
	while (sampled && getline(&line, &cap, f) > 0)
		sampled = !has_controller(line, "perf_event");
	free(line);
	fclose(f);
	return sampled && !is_untouched(h);
}
