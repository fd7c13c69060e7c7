// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/known_files.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t hash_file(const void *key)
{
	return mapped_file_hash(*(const struct mapped_file *const *)key);
}

static bool same_file(const void *have, const void *key)
{
	return mapped_file_equal(*(const struct mapped_file *const *)have, *(const struct mapped_file *const *)key);
}

/* Each entry is a pointer to a struct known_file, and so to its struct mapped_file. */
static const struct intern_kind file_kind = { sizeof(struct known_file *), 0, 0, hash_file, same_file };

/*
 * The kernel adds " (deleted)" to the path of a deleted file in MMAP2 records and in /proc. Drop that, so that it stays
 * the same file. But without an inode or a build id, nothing else distinguishes it from a new file with that name.
 */
static size_t path_len(const struct mapped_file *file)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(file->path), tail = sizeof(deleted) - 1;
	bool identified = file->ino || file->build_id_size;

	if (identified && len > tail && !strcmp(file->path + len - tail, deleted))
		len -= tail;
	return len;
}

/* The last component of @path, below a directory that does not exist. The name of memory stays whole. */
static char *short_path(const char *path, size_t len)
{
	const char *slash = memrchr(path, '/', len);
	char *copy = NULL;

	if (path[0] != '/' || path[1] == '/')
		return strndup(path, len);
	return asprintf(&copy, "/...%.*s", (int)(len - (size_t)(slash - path)), slash) < 0 ? NULL : copy;
}

static size_t file_bytes(const struct known_file *f)
{
	return sizeof(*f) + strlen(f->file.path) + 1;
}

static bool is_long(const struct known_file *f)
{
	return strlen(f->file.path) > NAME_MAX + strlen("/.../");
}

static void free_file(struct known_file *f)
{
	free((char *)f->file.path);
	free(f);
}

static void drop_file(struct known_files *files, struct known_file *f)
{
	files->bytes -= file_bytes(f);
	files->long_bytes -= is_long(f) ? file_bytes(f) : 0;
	free_file(f);
}

/* @whole: with its whole path. NULL: no memory. */
static struct known_file *copy_file(const struct mapped_file *file, bool whole)
{
	struct known_file *f = calloc(1, sizeof(*f));
	size_t len = path_len(file);

	if (!f)
		return NULL;
	f->file = *file;
	f->file.path = whole ? strndup(file->path, len) : short_path(file->path, len);
	if (f->file.path)
		return f;
	free(f);
	return NULL;
}

/* Set *@out to the file that equals @f, which may be @f itself. Takes over @f. */
static int add_file(struct known_files *files, struct known_file *f, const struct mapped_file **out)
{
	bool is_new = false;
	struct known_file **place = intern(&files->table, &file_kind, &f, &is_new);

	if (is_new && place) {
		*place = f;
		files->bytes += file_bytes(f);
		files->long_bytes += is_long(f) ? file_bytes(f) : 0;
	} else {
		free_file(f);
	}
	if (!place)
		return -ENOMEM;
	*out = &(*place)->file;
	return 0;
}

static bool is_known(const struct known_files *files, const struct known_file *f)
{
	return intern_find(&files->table, &file_kind, &f);
}

int known_files_add(struct known_files *files, const struct mapped_file *file, const struct mapped_file **out)
{
	struct known_file *f = copy_file(file, true);

	if (f && is_long(f) && files->long_bytes >= KNOWN_FILES_LONG && !is_known(files, f)) {
		free_file(f);
		f = copy_file(file, false);
	}
	if (!f)
		return -ENOMEM;
	if (files->bytes < KNOWN_FILES_MAX || is_known(files, f))
		return add_file(files, f, out);
	free_file(f);
	return -E2BIG;
}

/* Images share their maps after a fork: visit each struct maps once. */
void known_files_mark(struct known_files *files, struct maps *maps)
{
	uint64_t sweep = files->sweeps + 1;
	size_t i;

	if (maps->marked == sweep)
		return;
	for (i = 0; i < maps->nr; i++)
		((struct known_file *)maps->v[i].file)->used = true;
	if (maps->jitdump)
		((struct known_file *)maps->jitdump)->used = true;
	maps->marked = sweep;
}

void known_files_sweep(struct known_files *files)
{
	struct known_file **v = files->table.v, *f;
	size_t i;

	files->sweeps++;
	/* Backwards: the file that moves to the place of a dropped one has been visited. */
	for (i = files->table.nr; i-- > 0;) {
		f = v[i];
		if (!f->used) {
			intern_delete(&files->table, &file_kind, &v[i]);
			drop_file(files, f);
			files->forgotten++;
		} else {
			f->used = false;
		}
	}
}

void known_files_release(struct known_files *files)
{
	struct known_file **v = files->table.v;
	size_t i;

	for (i = 0; i < files->table.nr; i++)
		drop_file(files, v[i]);
	intern_release(&files->table);
}
