// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/known_files.h"

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

/* Each is a pointer to a struct known_file, and so to its struct mapped_file. */
static const struct intern_kind file_kind = { sizeof(struct known_file *), 0, 0, hash_file, same_file };

/*
 * A file keeps its name when it is deleted: the kernel adds " (deleted)" to it in MMAP2 records and in /proc. Without
 * an inode or a build id, nothing else would tell it from a new file of that name.
 */
static char *copy_path(const char *path, bool identified)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	if (identified && len > tail && !strcmp(path + len - tail, deleted))
		len -= tail;
	return strndup(path, len);
}

static void free_file(struct known_file *f)
{
	free((char *)f->file.path);
	free(f);
}

const struct mapped_file *known_files_add(struct known_files *files, const struct mapped_file *file)
{
	struct known_file *f = calloc(1, sizeof(*f)), **place = NULL;
	bool is_new = false;

	if (!f)
		return NULL;
	f->file = *file;
	f->file.path = copy_path(file->path, file->ino || file->build_id_size);
	if (f->file.path)
		place = intern(&files->table, &file_kind, &f, &is_new);
	if (is_new && place)
		*place = f;
	else
		free_file(f);
	return place ? &(*place)->file : NULL;
}

/* Images share their maps after a fork: each of these is looked at once. */
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
	/* Backwards: the file that takes the place of a dropped one has been looked at. */
	for (i = files->table.nr; i-- > 0;) {
		f = v[i];
		if (!f->used) {
			intern_delete(&files->table, &file_kind, &v[i]);
			free_file(f);
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
		free_file(v[i]);
	intern_release(&files->table);
}
