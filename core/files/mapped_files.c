// SPDX-License-Identifier: Apache-2.0
#include "core/files/mapped_files.h"

#include "core/files/build_ids.h"
#include "core/files/file_search.h"
#include "core/files/open_files.h"
#include "core/files/recorded.h"
#include "core/host/host.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/sysmacros.h>

const char *mapped_files_root(const struct mapped_files_cfg *cfg)
{
	return cfg->root ? cfg->root : "/";
}

static int search_files(const struct mapped_files_cfg *cfg, const struct file_search *what, struct stat *st)
{
	const struct search_places places = { cfg->host ? host_tasks(cfg->host) : "/proc", mapped_files_root(cfg) };
	struct found_file found;
	int rc;

	if (cfg->open_files)
		return open_files_search(cfg->open_files, what, st);
	rc = file_search(&places, what, &found);
	if (!rc && st)
		*st = found.st;
	return rc ? rc : found.fd;
}

int process_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st)
{
	const struct file_search what = { .pids = { pid }, .host = !pid, .path = path };

	return search_files(cfg, &what, st);
}

int linked_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st)
{
	const struct file_search what = { .pids = { pid }, .host = !pid, .path = path, .as_caller = true };

	return search_files(cfg, &what, st);
}

static int open_live(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file)
{
	struct file_search what = { .pids = { pid > 0 ? pid : 0 },
				    .host = true,
				    .path = file->path,
				    .ino = file->ino,
				    .dev = makedev(file->maj, file->min) };

	/* Where no inode proves it, the same path in the root of another process is another file. */
	if (cfg->tasks && file->ino)
		tasks_lineage(cfg->tasks, pid, what.pids, SEARCH_PIDS_MAX);
	return search_files(cfg, &what, NULL);
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
	struct file_search what = { .host = true, .path = file->path, .ino = file->ino };

	what.by_build = mapped_file_build(cfg, file, &what.id);
	/* Of another boot, the path alone says too little. */
	if (!what.by_build && !file->ino && cfg->recorded->boot == BOOT_OTHER)
		return -ENOENT;
	return search_files(cfg, &what, NULL);
}

int mapped_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file)
{
	int fd = cfg->open_files ? open_files_get(cfg->open_files, file) : -ENOENT;

	if (fd != -ENOENT || !mapped_file_has_path(file))
		return fd;
	return cfg->recorded ? open_recorded(cfg, file) : open_live(cfg, pid, file);
}

/* Where a debug file may be. */
struct debug_place {
	struct open_files *open_files;
	const char *root, *folder;
};

/* Open the debug file called after the first @size bytes of @id. */
static int open_debug(const struct debug_place *at, const struct build_id *id, size_t size)
{
	char path[PATH_MAX], hex[2 * BUILD_ID_MAX + 1];
	struct found_file found;
	size_t i;
	int rc;

	for (i = 0; i < size; i++)
		snprintf(hex + 2 * i, 3, "%02x", id->bytes[i]);
	rc = snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s.debug", at->root, at->folder, hex, hex + 2);
	if (rc >= (int)sizeof(path))
		return -ENOENT;
	if (at->open_files) {
		rc = open_files_build(at->open_files, path, id);
	} else {
		rc = file_open_build(path, id, &found);
		rc = rc ? rc : found.fd;
	}
	return rc == -ESTALE ? -ENOENT : rc;
}

static int find_debug(const struct debug_place *at, const struct build_id *id)
{
	int rc = -ENOENT;
	size_t size;

	/* The name has the zeros at the end of the id that struct build_id is without: how many, it does not know. */
	for (size = id->size; size && rc == -ENOENT && size <= BUILD_ID_MAX; size++)
		rc = open_debug(at, id, size);
	return rc;
}

int mapped_file_open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id)
{
	const struct debug_place places[] = {
		{ cfg->open_files, cfg->debug_dir, "" },
		{ cfg->open_files, mapped_files_root(cfg), "/usr/lib/debug" },
	};
	int rc = cfg->debug_dir ? find_debug(&places[0], id) : -ENOENT;

	return rc == -ENOENT ? find_debug(&places[1], id) : rc;
}
