// SPDX-License-Identifier: Apache-2.0
#include "core/files/file_search.h"

#include "compat/files.h"
#include "core/base/err.h"
#include "core/files/elf.h"
#include "core/host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/vfs.h>
#include <unistd.h>

/* File systems on a disk or in the memory of this host (statfs(2), linux/magic.h; some have no header). */
static const uint32_t local_types[] = {
	0xef53 /* ext2 to ext4 */, 0x58465342 /* xfs */,       0x9123683e /* btrfs */, 0x01021994 /* tmpfs */,
	0x858458f6 /* ramfs */,    0x958458f6 /* hugetlbfs */, 0x9660 /* iso9660 */,   0x73717368 /* squashfs */,
	0xe0f5e1e2 /* erofs */,    0xf2f52010 /* f2fs */,      0x3153464a /* jfs */,   0x52654973 /* reiserfs */,
	0x2fc12fc1 /* zfs */,      0xca451a4e /* bcachefs */,  0x4d44 /* vfat */,      0x15013346 /* udf */,
	0x28cd3d45 /* cramfs */,
};

#define OVERLAY_TYPE 0x794c7630

/* -ENOENT for all errors except running out of descriptors: the file is not there, or we may not see it. */
static int missing(int rc)
{
	return descriptors_ran_out(rc) ? rc : -ENOENT;
}

/*
 * Find @path below directory @root without following any symlink: one on the way may be there to lead us out of the
 * process's root. Works on kernels before openat2(2), too.
 * Return: an O_PATH descriptor, so that finding a device or a FIFO has no effect on it; -errno.
 */
static int find_below(int root, const char *path)
{
	char name[NAME_MAX + 1];
	int dir = root, fd;
	size_t len;

	for (;;) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		fd = -ENOENT;
		if (len && len <= NAME_MAX) {
			memcpy(name, path, len);
			name[len] = 0;
			if (strcmp(name, "..")) {
				fd = openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
				fd = fd < 0 ? missing(-errno) : fd;
			}
		}
		if (dir != root)
			close(dir);
		path += len;
		if (fd < 0 || !*path)
			return fd;
		dir = fd;
	}
}

/*
 * Check that the file at @fd, open for reading, is of build @id. A file without a build id is not.
 * Return: 0; -ESTALE: it is not; others of elf_build_id(): it could not be read.
 */
static int compare_build(int fd, const struct build_id *id)
{
	struct build_id found;
	int rc = elf_build_id(fd, &found);

	if (rc == -ENOEXEC || (!rc && !build_id_equal(&found, id)))
		return -ESTALE;
	return rc;
}

/* @st: of a regular file */
static bool is_wanted(const struct file_search *what, const struct stat *st)
{
	if (what->by_build)
		return true;
	if (what->ino && what->ino != st->st_ino)
		return false;
	return !what->dev || what->dev == st->st_dev || st->st_mode & S_IROTH;
}

/* Open the file at @handle, an O_PATH descriptor, if it is the wanted one. */
static int open_handle(int handle, const struct file_search *what, struct found_file *out)
{
	char self[64];
	int rc;

	if (fstat(handle, &out->st) || !S_ISREG(out->st.st_mode) || !is_wanted(what, &out->st))
		return -ESTALE;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", handle);
	out->fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (out->fd < 0)
		return missing(-errno);
	rc = what->by_build ? compare_build(out->fd, &what->id) : 0;
	if (rc) {
		close(out->fd);
		out->fd = -1;
	}
	return rc;
}

static int open_folder(const char *path)
{
	int dir = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return dir < 0 ? missing(-errno) : dir;
}

/* As find_below(), with the path of the root. */
static int find_in(const char *root, const char *path)
{
	int dir = open_folder(root), handle;

	if (dir < 0)
		return dir;
	handle = find_below(dir, path);
	close(dir);
	return handle;
}

static int open_at(int dir, const struct file_search *what, struct found_file *out)
{
	int handle = find_below(dir, what->path), rc;

	if (handle < 0)
		return handle;
	rc = open_handle(handle, what, out);
	close(handle);
	return rc;
}

static int open_at_as_caller(int dir, const struct file_search *what, struct found_file *out)
{
	uint64_t effective = privileges_as_caller();
	int rc = open_at(dir, what, out);

	privileges_back(effective);
	return rc;
}

/* True if another device than that of the mapping has the file: we opened it because every user may read it. */
static bool is_elsewhere(const struct file_search *what, const struct stat *st)
{
	return !what->by_build && what->dev && what->dev != st->st_dev;
}

static int open_below(const char *root, const struct file_search *what, struct found_file *out)
{
	int dir = open_folder(root), rc;

	if (dir < 0)
		return dir;
	rc = what->as_caller ? open_at_as_caller(dir, what, out) : open_at(dir, what, out);
	if (!rc && privileges_lent() && is_elsewhere(what, &out->st)) {
		close(out->fd);
		rc = open_at_as_caller(dir, what, out);
	}
	close(dir);
	return rc;
}

/*
 * The caller may not have access to the roots of processes, so open_below() enters them with our rights, even with
 * @as_caller. With @as_caller, the root of the host is opened with the caller's own rights, too: the caller may have
 * named it with an option.
 */
static int open_on_host(const char *root, const struct file_search *what, struct found_file *out)
{
	uint64_t effective;
	int rc;

	if (!what->as_caller)
		return open_below(root, what, out);
	effective = privileges_as_caller();
	rc = open_below(root, what, out);
	privileges_back(effective);
	return rc;
}

/* The link leads to the mapped file, even if it has no path any more (proc(5), since 3.3; only for root). */
static int open_mapped(const char *proc, const struct file_search *what, struct found_file *out)
{
	struct file_search exact = *what;
	char path[PATH_MAX];
	int handle, rc;

	exact.dev = 0;
	if (snprintf(path, sizeof(path), "%s/%d/map_files/%" PRIx64 "-%" PRIx64, proc, what->pids[0], what->start,
		     what->end) >= (int)sizeof(path))
		return -ENOENT;
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return missing(-errno);
	rc = open_handle(handle, &exact, out);
	close(handle);
	return rc;
}

/* Return true if @pid has our user namespace. Any user may have mounted the file systems in another one. */
static bool is_of_our_users(const char *proc, pid_t pid)
{
	char path[PATH_MAX], ours[64] = "", theirs[64] = "";

	if (snprintf(path, sizeof(path), "%s/%d/ns/user", proc, pid) >= (int)sizeof(path) ||
	    readlink(path, theirs, sizeof(theirs) - 1) < 0 ||
	    readlink("/proc/self/ns/user", ours, sizeof(ours) - 1) < 0)
		return false;
	return !strcmp(ours, theirs);
}

/*
 * A process can map a file whose descriptor another process passed to it, from the file systems of that other process.
 * Return true if the file is from the file systems of @pid: then @path in the root of @pid is on the same device.
 */
static bool is_in_root(const char *proc, pid_t pid, const char *path, int fd)
{
	char root[PATH_MAX];
	struct stat here, there;
	int handle = -1;
	bool same;

	if (snprintf(root, sizeof(root), "%s/%d/root", proc, pid) < (int)sizeof(root))
		handle = find_in(root, path);
	if (handle < 0)
		return false;
	same = !fstat(fd, &here) && !fstat(handle, &there) && here.st_dev == there.st_dev;
	close(handle);
	return same;
}

/* @pid: whose root, or mapping, the file was found in; 0: the root of the host; @path: of a mapping, else NULL */
static bool is_local(const char *proc, pid_t pid, const char *path, int fd)
{
	struct statfs fs;
	size_t i;

	if (fstatfs(fd, &fs))
		return false;
	if ((uint32_t)fs.f_type == OVERLAY_TYPE)
		return !pid || (is_of_our_users(proc, pid) && (!path || is_in_root(proc, pid, path, fd)));
	for (i = 0; i < sizeof(local_types) / sizeof(*local_types); i++)
		if ((uint32_t)fs.f_type == local_types[i])
			return true;
	return false;
}

/* Return true if @rc ends the search. Else keep the better error in *@best: -ESTALE says more than -ENOENT. */
static bool is_over(int rc, int *best)
{
	if (rc != -ENOENT && rc != -ESTALE) {
		*best = rc;
		return true;
	}
	if (rc == -ESTALE)
		*best = rc;
	return false;
}

/* @pid: out: the process it was found in; @path: out: that of @what if it was found by the mapping, else NULL */
static int search(const struct search_places *places, const struct file_search *what, struct found_file *out,
		  pid_t *pid, const char **path)
{
	char root[PATH_MAX];
	int best = -ENOENT;
	size_t i;

	*pid = what->pids[0];
	*path = what->path;
	if (what->start < what->end && is_over(open_mapped(places->proc, what, out), &best))
		return best;
	*path = NULL;
	if (!*what->path)
		return best;
	for (i = 0; i < SEARCH_PIDS_MAX && what->pids[i]; i++) {
		*pid = what->pids[i];
		if (snprintf(root, sizeof(root), "%s/%d/root", places->proc, *pid) < (int)sizeof(root) &&
		    is_over(open_below(root, what, out), &best))
			return best;
	}
	*pid = 0;
	if (what->host)
		is_over(open_on_host(places->root, what, out), &best);
	return best;
}

int file_search(const struct search_places *places, const struct file_search *what, struct found_file *out)
{
	const char *path;
	pid_t pid;
	int rc = search(places, what, out, &pid, &path);

	if (rc)
		out->fd = -1;
	else
		out->local = is_local(places->proc, pid, path, out->fd);
	return rc;
}

int file_open_build(const char *path, const struct build_id *id, struct found_file *out)
{
	const struct file_search what = { .by_build = id, .id = id ? *id : (struct build_id){ 0 } };
	uint64_t effective = privileges_as_caller();
	int handle = open(path, O_PATH | O_CLOEXEC);
	int rc = handle < 0 ? missing(-errno) : open_handle(handle, &what, out);

	if (handle >= 0)
		close(handle);
	privileges_back(effective);
	if (rc)
		out->fd = -1;
	else
		out->local = is_local("/proc", 0, NULL, out->fd);
	return rc;
}

static int copy_bytes(int from, int to, uint64_t left)
{
	const size_t size = 256 << 10;
	char *buf = malloc(size);
	ssize_t n, rc = buf ? 0 : -ENOMEM;
	off_t at = 0;

	/* A hostile file system may return any error code, so report each one as -EIO. */
	while (!rc && (n = pread(from, buf, size, at))) {
		if (n < 0)
			rc = -EIO;
		else if ((uint64_t)n > left)
			rc = -EFBIG;
		else if (pwrite(to, buf, (size_t)n, at) != n)
			rc = -ENOSPC;
		left -= (uint64_t)n;
		at += n;
	}
	free(buf);
	return (int)rc;
}

int file_copy(int fd, uint64_t max)
{
	struct stat st;
	int copy, rc;

	if (fstat(fd, &st))
		return -errno;
	if (st.st_size > 0 && (uint64_t)st.st_size > max)
		return -EFBIG;
	copy = file_in_memory("copy");
	if (copy < 0)
		return copy;
	rc = copy_bytes(fd, copy, max);
	if (rc)
		close(copy);
	return rc ? rc : copy;
}
