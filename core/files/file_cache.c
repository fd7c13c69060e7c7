// SPDX-License-Identifier: Apache-2.0
#include "core/files/file_cache.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/files/mapped_files.h"
#include "core/files/vdso.h"
#include "core/host/signals.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TRIES_MAX 4 /* processes that are tried before a pause */

void file_cache_init(struct file_cache *c, const struct mapped_files_cfg *cfg, const struct tasks *tasks,
		     size_t entry_size, uint64_t again_ns)
{
	*c = (struct file_cache){
		.cfg = cfg,
		.tasks = tasks,
		.kind = { entry_size, offsetof(struct cached_file, file), 0, mapped_file_hash, mapped_file_equal },
		.again_ns = again_ns,
	};
}

static struct cached_file *entry_at(const struct file_cache *c, size_t i)
{
	return (struct cached_file *)((char *)c->files.v + i * c->kind.size);
}

static void drop_hints(struct file_cache *c)
{
	memset(c->hints, 0, sizeof(c->hints));
}

void file_cache_clear(struct file_cache *c)
{
	size_t i;

	for (i = 0; i < c->files.nr; i++)
		free((char *)entry_at(c, i)->file.path);
	intern_release(&c->files);
	drop_hints(c);
}

static int fill(struct cached_file *cf, const struct mapped_file *file)
{
	char *path = strdup(file->path);

	if (!path)
		return fault(-ENOMEM);
	cf->file = *file;
	cf->file.path = path;
	cached_file_renew(cf);
	cf->given_up = mapped_file_is_memory(file) && !mapped_file_is_vdso(file);
	return 0;
}

static struct cached_file *find_entry(struct file_cache *c, const struct mapped_file *file)
{
	bool is_new;
	struct cached_file *cf = intern(&c->files, &c->kind, file, &is_new);

	if (!cf || !is_new || !fill(cf, file))
		return cf;
	cf->file = *file;
	intern_delete(&c->files, &c->kind, cf);
	return NULL;
}

void *file_cache_get(struct file_cache *c, const struct mapped_file *file)
{
	size_t hint = ((uintptr_t)file >> 4 ^ (uintptr_t)file >> 12) % FILE_CACHE_HINTS;
	struct cached_file *cf;

	if (c->forgotten != tasks_forgotten(c->tasks)) {
		drop_hints(c);
		c->forgotten = tasks_forgotten(c->tasks);
	}
	cf = c->hints[hint].file == file ? entry_at(c, c->hints[hint].at) : find_entry(c, file);
	if (!cf)
		return NULL;
	c->hints[hint].file = file;
	c->hints[hint].at = (size_t)((char *)cf - (char *)c->files.v) / c->kind.size;
	cf->used = ++c->clock;
	return cf;
}

void file_cache_delete(struct file_cache *c, struct cached_file *cf)
{
	const char *path = cf->file.path;

	intern_delete(&c->files, &c->kind, cf);
	free((char *)path);
	drop_hints(c);
}

bool file_cache_wants(struct file_cache *c, struct cached_file *cf, pid_t pid)
{
	if (cf->given_up || cf->tried_pid == pid)
		return false;
	if (!cf->tries_left && now_ns() - cf->tried_ns > c->again_ns)
		cf->tries_left = TRIES_MAX;
	if (!cf->tries_left)
		return false;
	cf->tries_left--;
	cf->tried_pid = pid;
	cf->tried_ns = now_ns();
	return true;
}

/* Open the copy of a recorded vDSO that perf keeps. */
static int open_recorded_vdso(const struct file_cache *c, const struct cached_file *cf, struct elf_file *f)
{
	struct build_id id;
	int fd = mapped_file_build(c->cfg, &cf->file, &id) ? mapped_file_open_vdso(c->cfg, &id) : -ENOENT, rc;

	if (fd < 0)
		return descriptors_ran_out(fd) ? fd : -ENOEXEC;
	rc = elf_file_open(f, fd);
	close(fd);
	return rc;
}

static int open_vdso(const struct file_cache *c, struct cached_file *cf, struct elf_file *f)
{
	int rc = vdso_is_ours(c->cfg, &cf->file) ? vdso_open_mapped(&cf->file, f) : open_recorded_vdso(c, cf, f);

	if (!rc)
		cf->vdso_size = f->bytes.size;
	return rc;
}

static void identify(struct cached_file *cf, int fd)
{
	struct stat st;

	if (fstat(fd, &st))
		return;
	cf->id = (struct file_id){ st.st_dev, st.st_ino, st.st_size, st.st_mtim };
	cf->foreign = !st.st_nlink || (st.st_uid && st.st_uid != geteuid());
}

static bool same_id(const struct file_id *a, const struct file_id *b)
{
	return a->dev == b->dev && a->ino == b->ino && a->size == b->size && a->written.tv_sec == b->written.tv_sec &&
	       a->written.tv_nsec == b->written.tv_nsec;
}

/* An entry that shares keeps its file open, so its inode cannot belong to another file by now. */
static struct cached_file *find_twin(const struct file_cache *c, const struct cached_file *cf)
{
	size_t i;

	for (i = 0; cf->id.ino && i < c->files.nr; i++) {
		struct cached_file *other = entry_at(c, i);

		if (other->shares && other != cf && same_id(&other->id, &cf->id))
			return other;
	}
	return NULL;
}

int file_cache_open(struct file_cache *c, struct cached_file *cf, pid_t pid, struct elf_file *f,
		    struct cached_file **twin)
{
	int fd, rc = 0;

	cf->id = (struct file_id){ 0 };
	cf->foreign = false;
	if (twin)
		*twin = NULL;
	if (mapped_file_is_vdso(&cf->file))
		return open_vdso(c, cf, f);
	if (signals_overdue())
		return -ECANCELED;
	fd = mapped_file_open(c->cfg, pid, &cf->file);
	if (fd < 0)
		return fd;
	identify(cf, fd);
	if (twin)
		*twin = find_twin(c, cf);
	if (!twin || !*twin)
		rc = elf_file_open(f, fd);
	close(fd);
	return rc;
}

/* Return true if another process may have the file, or if it may be there later. */
static bool may_pass(int rc)
{
	return rc == -ENOENT || rc == -ESTALE || rc == -EIO || rc == -ENOMEM || rc == -EAGAIN;
}

void file_cache_tried(struct file_cache *c, struct cached_file *cf, int rc)
{
	c->nr_mismatched -= cf->mismatched;
	cf->mismatched = rc == -ESTALE;
	cf->missing = rc == -ENOENT;
	c->nr_mismatched += cf->mismatched;
	if (descriptors_ran_out(rc))
		cached_file_renew(cf);
	else
		cf->given_up = rc && (c->cfg->recorded || !may_pass(rc));
}

void cached_file_renew(struct cached_file *cf)
{
	cf->tries_left = TRIES_MAX;
	cf->tried_pid = 0;
	cf->given_up = cf->shares = false;
}

bool cached_file_serves(const struct cached_file *cf, const struct mapping *m)
{
	return !cf->vdso_size || m->end - m->start == cf->vdso_size;
}
