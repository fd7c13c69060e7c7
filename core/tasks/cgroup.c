// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/cgroup.h"

#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/intern.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#define MAX_KNOWN  (64u << 10) /* ids that are remembered; before another is added, all are dropped */
#define MAX_DEPTH  64          /* of directories in a walk: each level takes a descriptor */
#define WALK_SHARE 20          /* at most one part in so many of the time is spent on walks */

struct known {
	uint64_t id;
	bool inside;
};

static const struct intern_kind known_kind = INTERN_BYTES(struct known, id);

struct cgroup {
	int fd;
	uint64_t id;
	struct intern_table known;

	uint64_t *path; /* scratch space of climb() */
	size_t path_cap;

	uint64_t walk_at; /* earliest time of the next walk, CLOCK_MONOTONIC */
	bool cut;         /* the last walk was incomplete */
	uint64_t missed;  /* see cgroup_missed() */
	int refused;      /* -errno: why a directory could not be opened by its id, or its way up not be found */
};

/* The file handle of a cgroup's directory, see name_to_handle_at(2). */
union handle {
	struct file_handle head;
	char room[sizeof(struct file_handle) + sizeof(uint64_t)];
};

static struct known *find_known(const struct cgroup *c, uint64_t id)
{
	return intern_find(&c->known, &known_kind, &id);
}

/* If there is no memory, the id is looked up again the next time. */
static void learn(struct cgroup *c, uint64_t id, bool inside)
{
	struct known *k;
	bool is_new;

	if (c->known.nr == MAX_KNOWN && !find_known(c, id))
		intern_release(&c->known);
	k = intern(&c->known, &known_kind, &id, &is_new);
	if (k && is_new)
		k->inside = inside;
}

static bool handle_of(int fd, union handle *h)
{
	int mount;

	*h = (union handle){ .head = { .handle_bytes = sizeof(uint64_t) } };
	return !name_to_handle_at(fd, "", &h->head, &mount, AT_EMPTY_PATH) && h->head.handle_bytes == sizeof(uint64_t);
}

/* The id of a cgroup is in the file handle of its directory, since 4.14; it is the inode number only since 5.5. */
static uint64_t folder_id(int fd)
{
	union handle h;
	uint64_t id;

	if (!handle_of(fd, &h))
		return 0;
	memcpy(&id, h.room + sizeof(h.head), sizeof(id));
	return id;
}

/* Open the directory of cgroup @id for climb(). Return: a descriptor or -errno. */
static int open_id(const struct cgroup *c, uint64_t id)
{
	union handle h;
	int fd;

	if (!handle_of(c->fd, &h))
		return -EOPNOTSUPP;
	memcpy(h.room + sizeof(h.head), &id, sizeof(id));
	fd = open_by_handle_at(c->fd, &h.head, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* Return true if @code means: no such cgroup, or none below our mounts. Other errors: it cannot be opened now. */
static bool is_nowhere(int code)
{
	return code == -ESTALE || code == -ENOENT || code == -ENOTDIR;
}

/* Replace @fd by its parent directory, or by -errno; -ENOENT: the parent is not the directory of a cgroup. */
static void go_up(int *fd)
{
	int up = openat(*fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC), rc = up < 0 ? -errno : up;

	close(*fd);
	*fd = rc;
	if (rc < 0 || cgroup_is_folder(rc))
		return;
	close(rc);
	*fd = -ENOENT;
}

/*
 * Go up from directory @fd to one that is known, or to that of @c; closes @fd. Afterwards all directories on the way
 * are known, so the total cost is bounded by the number of directories made. Return: 0 or -errno.
 */
static int climb(struct cgroup *c, int fd)
{
	const struct known *k = NULL;
	uint64_t id, *path;
	size_t nr = 0;
	bool inside = false;

	for (; fd >= 0 && !inside && !k; go_up(&fd)) {
		id = folder_id(fd);
		if (nr && id == c->path[nr - 1]) /* the root is above itself */
			break;
		path = grow(c->path, &c->path_cap, nr, 1, sizeof(*path));
		if (!path || !id) {
			close(fd);
			return -ENOMEM;
		}
		c->path = path;
		path[nr++] = id;
		k = find_known(c, id);
		inside = id == c->id || (k && k->inside);
	}
	if (fd >= 0)
		close(fd);
	else if (!inside && !k && !is_nowhere(fd))
		return fd;
	while (nr)
		learn(c, c->path[--nr], inside);
	return 0;
}

static void walk_below(struct cgroup *c, int fd, int depth);

/* Skip files, and directories that are removed meanwhile. */
static void walk_entry(struct cgroup *c, int folder, const struct dirent *e, int depth)
{
	int fd;

	if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || (e->d_type != DT_DIR && e->d_type != DT_UNKNOWN))
		return;
	fd = openat(folder, e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0) {
		c->cut |= errno != ENOENT && errno != ENOTDIR;
		return;
	}
	if (cgroup_is_folder(fd)) /* else something is mounted there */
		walk_below(c, fd, depth);
	else
		close(fd);
}

/* Closes @fd. */
static void walk_below(struct cgroup *c, int fd, int depth)
{
	uint64_t id = folder_id(fd);
	bool too_many = depth == MAX_DEPTH || c->known.nr == MAX_KNOWN;
	DIR *d = too_many ? NULL : fdopendir(fd);
	struct dirent *e;

	if (id && c->known.nr < MAX_KNOWN)
		learn(c, id, true);
	if (!d) {
		c->cut = true;
		close(fd);
		return;
	}
	while ((e = readdir(d)))
		walk_entry(c, dirfd(d), e, depth + 1);
	closedir(d);
}

/* Walk all directories of @c, and delay the next walk: other users may make any number of directories. */
static void look_around(struct cgroup *c)
{
	uint64_t began = now_ns();
	int fd = openat(c->fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	c->cut = fd < 0;
	if (c->known.nr == MAX_KNOWN)
		intern_release(&c->known);
	if (fd >= 0)
		walk_below(c, fd, 0);
	c->walk_at = began + (now_ns() - began) * WALK_SHARE;
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
	c->id = folder_id(c->fd);
	look_around(c);
	*out = c;
	return 0;
}

void cgroup_close(struct cgroup *c)
{
	if (!c)
		return;
	close(c->fd);
	intern_release(&c->known);
	free(c->path);
	free(c);
}

int cgroup_fd(const struct cgroup *c)
{
	return c->fd;
}

/* Look up an unknown id. Return: 0; -errno: it is still unknown. */
static int look_for(struct cgroup *c, uint64_t id)
{
	int fd = open_id(c, id), rc = fd < 0 ? fd : climb(c, fd);

	if (rc && !is_nowhere(rc)) {
		if (now_ns() < c->walk_at)
			return rc;
		look_around(c);
		if (!find_known(c, id) && c->cut)
			return rc;
	}
	learn(c, id, false);
	return 0;
}

bool cgroup_has(struct cgroup *c, uint64_t id)
{
	const struct known *k;
	int rc;

	if (!id)
		return false;
	k = find_known(c, id);
	rc = k ? 0 : look_for(c, id);
	if (rc) {
		c->missed++;
		/* The warning names one cause: prefer the one that has a remedy. */
		if (c->refused != -EPERM)
			c->refused = rc;
	}
	if (!k)
		k = find_known(c, id);
	return k && k->inside;
}

bool cgroup_missed(const struct cgroup *c, struct err *why)
{
	bool forbidden = c->refused == -EPERM;

	if (!c->missed)
		return false;
	err_set(why, c->refused,
		"%" PRIu64 " samples were filtered because their cgroups could not be looked up in time%s: %s%s%s",
		c->missed, c->cut ? " (there are too many, or too deep ones)" : "",
		forbidden ? "open_by_handle_at(2): " : "", strerror(-c->refused),
		forbidden ? " (give it CAP_DAC_READ_SEARCH)" : "");
	return true;
}

char *cgroup_line_path(char *line)
{
	char *controllers = strchr(line, ':'), *path = controllers ? strchr(controllers + 1, ':') : NULL;

	return path ? path + 1 : NULL;
}

bool cgroup_line_is_v2(const char *line)
{
	return !strncmp(line, "0::", 3);
}

bool cgroup_line_has(const char *line, const char *name)
{
	const char *s = strchr(line, ':'), *end = s ? strchr(s + 1, ':') : NULL;
	size_t len = strlen(name);

	for (; end && s < end; s += 1 + strcspn(s + 1, ",:"))
		if (!strncmp(s + 1, name, len) && (s[1 + len] == ',' || s[1 + len] == ':'))
			return true;
	return false;
}

/*
 * On a host with version 2 only, perf_event works below the root without being enabled, but only after some controller
 * was enabled there: until then all samples have the id of the root (seen with 5.10). Only the root has no cgroup.type.
 */
static bool is_untouched(const struct host *h)
{
	char first[2];
	ssize_t len;

	if (host_read(h->sys, "fs/cgroup/cgroup.type", first, sizeof(first)) != -ENOENT)
		return false;
	len = host_read(h->sys, "fs/cgroup/cgroup.subtree_control", first, sizeof(first));
	return len == 0 || (len > 0 && *first == '\n');
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
		sampled = !cgroup_line_has(line, "perf_event");
	free(line);
	fclose(f);
	return sampled && !is_untouched(h);
}
