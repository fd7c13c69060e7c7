// SPDX-License-Identifier: Apache-2.0
#include "core/files/mapped_files.h"

#include "core/base/err.h"
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

	/* Without an inode to prove it, the same path in the root of another process may be another file. */
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
	/* Two builds were at this path: then an inode is better evidence. */
	if (!found || (!found->size && file->ino))
		return false;
	*id = *found;
	return true;
}

/* A directory tree with files named by build id; @root NULL: none. */
struct build_place {
	const char *root, *folder;
};

/* A file to look for in a struct build_place: @suffix follows the id in its name. */
struct build_file {
	struct open_files *open_files;
	const struct build_id *id;
	const char *suffix;
	bool any; /* the file does not contain its build id, so do not compare it */
};

/* Open the file that is named by the first @size bytes of its id. */
static int open_build(const struct build_place *at, const struct build_file *file, size_t size)
{
	char path[PATH_MAX], hex[2 * BUILD_ID_MAX + 1];
	struct build_id named = *file->id;
	struct found_file found;
	int rc;

	named.size = (uint8_t)size;
	build_id_hex(&named, hex);
	rc = snprintf(path, sizeof(path), "%s%s/.build-id/%.2s/%s%s", at->root, at->folder, hex, hex + 2, file->suffix);
	if (rc >= (int)sizeof(path))
		return -ENOENT;
	if (file->open_files) {
		rc = open_files_build(file->open_files, path, file->id);
	} else {
		rc = file_open_build(path, file->any ? NULL : file->id, &found);
		rc = rc ? rc : found.fd;
	}
	return rc == -ESTALE ? -ENOENT : rc;
}

static int find_build(const struct build_place *at, const struct build_file *file)
{
	size_t size = file->id->size;
	int rc = -ENOENT;

	/* Without a second byte, the path would be the directory of all ids that begin with the first byte. */
	if (size == 1)
		size++;
	/* The name has the zero bytes at the end of the id, which struct build_id drops: try each possible number. */
	for (; size && rc == -ENOENT && size <= BUILD_ID_MAX; size++)
		rc = open_build(at, file, size);
	return rc;
}

enum {
	KEPT = 1, /* only perf keeps such a file: no directory of debug files has it */
	ANY = 2,  /* see struct build_file */
};

/* Try the places in this order. @suffix: as of struct build_file */
static int search_build(const struct mapped_files_cfg *cfg, const struct build_id *id, const char *suffix, int what)
{
	const struct build_place places[] = {
		{ cfg->debug_dir, "" }, /* it may be a copy of perf's cache */
		{ cfg->symfs, "/usr/lib/debug" },
		{ cfg->perf_cache, "" },
		{ mapped_files_root(cfg), "/usr/lib/debug" },
	};
	const struct build_file file = { cfg->open_files, id, suffix, what & ANY };
	int rc = -ENOENT;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(places) && rc == -ENOENT; i++)
		if (places[i].root && !(what & KEPT && *places[i].folder))
			rc = find_build(&places[i], &file);
	return rc;
}

/* Try the name that some distributions' debug packages use, then the one that perf uses in ~/.debug. */
static int open_recorded_build(const struct mapped_files_cfg *cfg, const struct build_id *id)
{
	int rc = search_build(cfg, id, "", 0);

	return rc == -ENOENT ? search_build(cfg, id, "/elf", 0) : rc;
}

/* Return true if another place may have the file. */
static bool is_elsewhere(int rc)
{
	return rc == -ENOENT || rc == -ESTALE;
}

/* Below --symfs, the file at the path need not have the inode that was mapped. */
static int search_symfs(const struct mapped_files_cfg *cfg, const struct file_search *what)
{
	const struct search_places places = { "/proc", cfg->symfs };
	struct file_search below = *what;
	struct found_file found;
	int rc;

	below.ino = 0;
	below.as_caller = true;
	rc = file_search(&places, &below, &found);
	return rc ? rc : found.fd;
}

static int open_recorded(const struct mapped_files_cfg *cfg, const struct mapped_file *file)
{
	struct file_search what = { .host = true, .path = file->path, .ino = file->ino };
	int rc = -ENOENT, below = -ENOENT;

	what.by_build = mapped_file_build(cfg, file, &what.id);
	if (cfg->symfs)
		below = search_symfs(cfg, &what);
	if (!is_elsewhere(below))
		return below;
	/* If the recording is of another host or boot, the path alone is not enough evidence. */
	if (what.by_build || file->ino || (cfg->recorded->boot != BOOT_OTHER && !cfg->symfs))
		rc = search_files(cfg, &what, NULL);
	if (!is_elsewhere(rc))
		return rc;
	rc = below == -ESTALE ? below : rc;
	below = what.by_build ? open_recorded_build(cfg, &what.id) : -ENOENT;
	return below == -ENOENT ? rc : below;
}

int mapped_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file)
{
	int fd = cfg->open_files ? open_files_get(cfg->open_files, file) : -ENOENT;

	if (fd != -ENOENT || !mapped_file_has_path(file))
		return fd;
	return cfg->recorded ? open_recorded(cfg, file) : open_live(cfg, pid, file);
}

int mapped_file_open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id)
{
	int rc = search_build(cfg, id, ".debug", 0);

	return rc == -ENOENT && cfg->recorded ? search_build(cfg, id, "/debug", KEPT) : rc;
}

int mapped_file_open_vdso(const struct mapped_files_cfg *cfg, const struct build_id *id)
{
	return search_build(cfg, id, "/vdso", KEPT);
}

int mapped_file_open_kallsyms(const struct mapped_files_cfg *cfg, const struct build_id *id)
{
	return search_build(cfg, id, "/kallsyms", KEPT | ANY);
}
