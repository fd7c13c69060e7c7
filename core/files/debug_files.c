// SPDX-License-Identifier: Apache-2.0
#include "core/files/debug_files.h"

#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/files/mapped_files.h"
#include "core/host/signals.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define LINKED_MAX   (1ull << 30) /* bytes of a file that .gnu_debuglink names */
#define CRC_READ_MAX (8ull << 30) /* of all of them */

/* Return true if looking for another file is of no use. */
static bool is_final(int rc)
{
	return !rc || descriptors_ran_out(rc) || rc == -ECANCELED || rc == -ENOMEM;
}

/* Add the file at @fd, and close it; a negative @fd is the error of opening it. */
static int add_opened(struct elf_symbols *es, int fd)
{
	int rc = fd;

	if (fd >= 0) {
		rc = elf_symbols_add_debug(es, fd);
		close(fd);
	}
	return is_final(rc) ? rc : -ENOENT;
}

/* ---- by build id */

static int add_by_build(const struct debug_files *d, struct elf_symbols *es)
{
	const struct build_id *id = elf_symbols_build_id(es);
	int rc = add_opened(es, mapped_file_open_debug(d->mapped, id));
	struct mapped_files_cfg host = *d->mapped;

	if (is_final(rc) || !host.debug_dir)
		return rc;
	/* The file in the user's directory may have no symbols. */
	host.debug_dir = NULL;
	return add_opened(es, mapped_file_open_debug(&host, id));
}

/* ---- by name and CRC */

/* Compare the CRC of the regular file @fd. Reads no more than its present size: the file may grow meanwhile. */
static bool has_crc(struct debug_files *d, int fd, uint32_t crc)
{
	uLong sum = crc32(0, NULL, 0);
	uint64_t left, at = 0;
	char buf[65536];
	struct stat st;
	ssize_t n;

	if (fstat(fd, &st) || st.st_size <= 0 || (uint64_t)st.st_size > LINKED_MAX)
		return false;
	left = (uint64_t)st.st_size;
	if (left > CRC_READ_MAX - d->crc_read)
		return false;
	for (; left; left -= (uint64_t)n, at += (uint64_t)n) {
		n = pread(fd, buf, left < sizeof(buf) ? (size_t)left : sizeof(buf), (off_t)at);
		if (n < 0)
			fault(-errno);
		if (n <= 0 || signals_overdue())
			return false;
		sum = crc32(sum, (const Bytef *)buf, (uInt)n);
		d->crc_read += (uint64_t)n;
	}
	return sum == crc;
}

/* Open @path in the root of @pid, else below the root of @cfg. */
static int open_linked(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st)
{
	int fd = pid ? linked_file_open(cfg, pid, path, st) : -ENOENT;

	return fd == -ENOENT || fd == -ESTALE ? linked_file_open(cfg, 0, path, st) : fd;
}

/*
 * A program must not make us read a file that only root may read: a link or a mount may have put it there. So the file
 * must be readable by every user, or belong to the caller if the caller is not root.
 */
static bool may_show(const struct stat *st)
{
	return st->st_mode & S_IROTH || (getuid() && st->st_uid == getuid());
}

/*
 * Try the file @name in @folder. The inode of the mapping is of no help here: the CRC has to prove the file.
 * @users: it is in the user's directory
 */
static int add_linked(struct debug_files *d, const struct mapped_files_cfg *cfg, pid_t pid, const char *folder,
		      bool users, struct elf_symbols *es)
{
	struct build_id found = { 0 };
	char path[PATH_MAX];
	const char *name;
	struct stat st;
	uint32_t crc;
	int fd;

	if (!elf_symbols_debuglink(es, &name, &crc) ||
	    snprintf(path, sizeof(path), "%s/%s", folder, name) >= (int)sizeof(path))
		return -ENOENT;
	fd = open_linked(cfg, pid, path, &st);
	if (fd < 0)
		return is_final(fd) ? fd : -ENOENT;
	/* Compare the build ids first: the file of another build need not be read as a whole then. */
	if ((!users && !may_show(&st)) || elf_build_id(fd, &found) ||
	    (found.size && elf_symbols_build_id(es)->size && !build_id_equal(&found, elf_symbols_build_id(es))) ||
	    !has_crc(d, fd, crc)) {
		close(fd);
		return -ENOENT;
	}
	return add_opened(es, fd);
}

/* Try the @nr @folders below @root, which the user has named; NULL: nothing. */
static int add_linked_below(struct debug_files *d, const char *root, char folders[][PATH_MAX], size_t nr,
			    struct elf_symbols *es)
{
	struct mapped_files_cfg below = *d->mapped;
	int rc = -ENOENT;
	size_t i;

	below.root = root;
	below.recorded = NULL;
	below.open_files = NULL;
	for (i = 0; root && i < nr && !is_final(rc); i++)
		rc = add_linked(d, &below, 0, folders[i], true, es);
	return rc;
}

static int add_by_link(struct debug_files *d, pid_t pid, const struct mapped_file *file, struct elf_symbols *es)
{
	struct mapped_files_cfg live = *d->mapped;
	const char *slash = strrchr(file->path, '/');
	char folder[3][PATH_MAX];
	size_t i;
	int len, rc;

	if (!slash || slash - file->path > PATH_MAX / 2)
		return -ENOENT;
	len = (int)(slash - file->path);
	snprintf(folder[0], PATH_MAX, "/usr/lib/debug%.*s", len, file->path);
	snprintf(folder[1], PATH_MAX, "%.*s", len, file->path);
	snprintf(folder[2], PATH_MAX, "%.*s/.debug", len, file->path);
	/* In a recording, @pid is the number of another process now. */
	pid = live.recorded ? 0 : pid;
	live.recorded = NULL;
	rc = add_linked_below(d, live.debug_dir, &folder[1], 1, es);
	if (!is_final(rc))
		rc = add_linked_below(d, live.symfs, folder, 3, es);
	for (i = 0; i < 3 && !is_final(rc); i++)
		rc = add_linked(d, &live, pid, folder[i], false, es);
	return rc;
}

int debug_files_add(struct debug_files *d, pid_t pid, const struct mapped_file *file, struct elf_symbols *es,
		    bool *by_path)
{
	const char *name;
	uint32_t crc;
	bool linked = elf_symbols_debuglink(es, &name, &crc);
	int rc;

	*by_path = linked && elf_symbols_may_want_names(es);
	if (!elf_symbols_wants_debug(es))
		return 0;
	rc = add_by_build(d, es);
	if (!is_final(rc) && linked) {
		*by_path = true;
		rc = add_by_link(d, pid, file, es);
	}
	if (!is_final(rc))
		rc = elf_symbols_add_inside(es);
	return is_final(rc) ? rc : -ENOENT;
}
