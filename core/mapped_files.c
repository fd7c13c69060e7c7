// SPDX-License-Identifier: Apache-2.0
#include "core/mapped_files.h"

#include "core/host.h"
#include "core/proc.h"
#include "core/symbols/build_ids.h"
#include "core/symbols/elf.h"
#include "core/symbols/recorded.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

/* No descriptors left is another matter than a file that is not there or may not be seen. */
static int missing(int rc)
{
	return rc == -EMFILE || rc == -ENFILE ? rc : -ENOENT;
}

const char *mapped_files_root(const struct mapped_files_cfg *cfg)
{
	return cfg->root ? cfg->root : "/";
}

/*
 * Find @path below directory @root without following any symlink: one on the way may be there to lead us out of the
 * process's root. Works on kernels before openat2(2), too.
 * Return: an O_PATH descriptor, with which nothing happens to what is there, or -errno.
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
 * Is the file at @fd, open for reading, of the build @id? What cannot be told of is not.
 * Return: 0; -ESTALE: it is not; -EMFILE and the like: it was not read.
 */
static int compare_build(int fd, const struct build_id *id)
{
	struct build_id found;
	int rc = elf_build_id(fd, &found);

	if (rc == -ENOEXEC || (!rc && !build_id_equal(&found, id)))
		return -ESTALE;
	return rc;
}

/*
 * Open what is at @handle, an O_PATH descriptor: the regular file of build @id, or when that is NULL, of inode @ino, or
 * when that is 0, any. Devices are not compared: on btrfs and overlayfs stat(2) reports another one than the mapping
 * has.
 * Return: a descriptor; -ESTALE: another file; -errno.
 */
static int open_handle(int handle, uint64_t ino, const struct build_id *id)
{
	char self[64];
	struct stat st;
	int fd, rc;

	if (fstat(handle, &st) || !S_ISREG(st.st_mode) || (!id && ino && ino != st.st_ino))
		return -ESTALE;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", handle);
	fd = open(self, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return missing(-errno);
	rc = id ? compare_build(fd, id) : 0;
	if (rc)
		close(fd);
	return rc ? rc : fd;
}

/* Open @file, found below directory @root. Return: as open_handle(); -ENOENT: it is not there. */
static int open_below(const char *root, const struct mapped_file *file, const struct build_id *id)
{
	int dir = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC), handle, rc;

	if (dir < 0)
		return missing(-errno);
	handle = find_below(dir, file->path);
	close(dir);
	if (handle < 0)
		return handle;
	rc = open_handle(handle, file->ino, id);
	close(handle);
	return rc;
}

int regular_file_open(const char *root, const char *path)
{
	const struct mapped_file file = { .path = path };

	return open_below(root, &file, NULL);
}

static int open_live(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file)
{
	int rc = -ENOENT, outside;
	char root[PATH_MAX];

	if (snprintf(root, sizeof(root), "%s/%d/root", cfg->host->proc, pid) < (int)sizeof(root))
		rc = open_below(root, file, NULL);
	if (rc != -ENOENT && rc != -ESTALE)
		return rc;
	outside = open_below(mapped_files_root(cfg), file, NULL);
	return outside == -ENOENT ? rc : outside;
}

bool mapped_file_build(const struct mapped_files_cfg *cfg, const struct mapped_file *file, struct build_id *id)
{
	const struct build_id *found;

	if (!cfg->recorded)
		return false;
	if (build_id_set(id, file->build_id, file->build_id_size))
		return true;
	found = build_ids_find(cfg->recorded->build_ids, file->path);
	/* Two builds were at this path: then an inode says more. */
	if (!found || (!found->size && file->ino))
		return false;
	*id = *found;
	return true;
}

static int open_recorded(const struct mapped_files_cfg *cfg, const struct mapped_file *file)
{
	struct build_id id;

	if (mapped_file_build(cfg, file, &id))
		return open_below(mapped_files_root(cfg), file, &id);
	/* Of another boot, the path alone says too little. */
	if (!file->ino && cfg->recorded->boot == BOOT_OTHER)
		return -ENOENT;
	return open_below(mapped_files_root(cfg), file, NULL);
}

bool mapped_file_has_path(const struct mapped_file *file)
{
	const char *path = file->path;

	return path[0] == '/' && path[1] != '/' && strncmp(path, "/memfd:", 7) && strncmp(path, "/dev/", 5);
}

int mapped_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file)
{
	if (!mapped_file_has_path(file))
		return -ENOENT;
	return cfg->recorded ? open_recorded(cfg, file) : open_live(cfg, pid, file);
}

/* Open the debug file called after the first @size bytes of @id. */
static int open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id, size_t size)
{
	char path[PATH_MAX], hex[2 * BUILD_ID_MAX + 1];
	int handle, rc;
	size_t i;

	for (i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	rc = snprintf(path, sizeof(path), "%s/usr/lib/debug/.build-id/%.2s/%s.debug", mapped_files_root(cfg), hex,
		      hex + 2);
	if (rc >= (int)sizeof(path))
		return -ENOENT;
	handle = open(path, O_PATH | O_CLOEXEC);
	if (handle < 0)
		return missing(-errno);
	rc = open_handle(handle, 0, id);
	close(handle);
	return rc == -ESTALE ? -ENOENT : rc;
}

int mapped_file_open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id)
{
	int rc = -ENOENT;
	size_t size;

	/* The name has the zeros at the end of the id that struct build_id is without: how many, it does not know. */
	for (size = id->size; size && rc == -ENOENT && size <= BUILD_ID_MAX; size++)
		rc = open_debug(cfg, id, size);
	return rc;
}

struct image {
	const void *start;
	size_t len;
};

static int find_vdso(void *ctx, const struct proc_map *m)
{
	if (m->start != getauxval(AT_SYSINFO_EHDR))
		return 0;
	*(struct image *)ctx = (struct image){ (const void *)(uintptr_t)m->start, m->end - m->start };
	return 1;
}

int vdso_image(const void **start, size_t *len)
{
	struct image vdso = { 0 };
	int rc;

	rc = getauxval(AT_SYSINFO_EHDR) ? proc_maps(&host_here, getpid(), find_vdso, &vdso) : 0;
	if (rc <= 0)
		return rc ? rc : -ENOENT;
	*start = vdso.start;
	*len = vdso.len;
	return 0;
}
