// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/rule_files.h"

#include "core/base/clock.h"
#include "core/files/file_cache.h"
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX  1024         /* remembered, also without rules */
#define OPEN_MAX   128          /* of them: with a descriptor or two */
#define MEMORY_MAX (64UL << 20) /* of the rules of all */
#define LARGE      (8UL << 20)  /* of one file: it is not read again */

/* A mapped file, from the first frame in it on. */
struct rule_file {
	struct cached_file in;
	struct rules *rules;     /* NULL: none yet, or none to be had */
	int fd;                  /* theirs; -1: it is the vDSO */
	struct timespec changed; /* st_mtim when it was opened */
	pid_t pid;               /* asked for it last */
	size_t memory;           /* of its rules, when it was looked at last */
};

struct rule_files {
	struct file_cache cache; /* of struct rule_file */
	size_t nr_open, memory;
	size_t last; /* place of the one whose rules may have grown since it was asked for */
};

struct rule_files *rule_files_new(const struct mapped_files_cfg *files_cfg, const struct tasks *tasks)
{
	struct rule_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	file_cache_init(&f->cache, files_cfg, tasks, sizeof(struct rule_file), NSEC_PER_SEC);
	return f;
}

static struct rule_file *file_at(const struct rule_files *f, size_t i)
{
	return (struct rule_file *)f->cache.files.v + i;
}

static void close_rules(struct rule_files *f, struct rule_file *rf)
{
	f->nr_open -= !!rf->rules;
	f->memory -= rf->memory;
	rf->memory = 0;
	rules_close(rf->rules);
	rf->rules = NULL;
	rf->fd = -1;
}

void rule_files_free(struct rule_files *f)
{
	size_t i;

	if (!f)
		return;
	for (i = 0; i < f->cache.files.nr; i++)
		close_rules(f, file_at(f, i));
	file_cache_clear(&f->cache);
	free(f);
}

/* ---- opening */

/* The debug file of build @id, if it is there. */
static struct elf_file open_debug(const struct rule_files *f, const struct build_id *id)
{
	int fd = mapped_file_open_debug(f->cache.cfg, id);
	struct elf_file debug = ELF_FILE_NONE;

	if (fd >= 0) {
		elf_file_open(&debug, fd);
		close(fd);
	}
	return debug;
}

static int open_file(struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	struct elf_file file, debug = ELF_FILE_NONE;
	struct stat st = { 0 };
	int rc = file_cache_open(&f->cache, &rf->in, pid, &file);

	if (rc)
		return rc;
	rf->fd = file.bytes.fd;
	if (rf->fd >= 0 && !fstat(rf->fd, &st))
		debug = open_debug(f, &file.build_id);
	rf->changed = st.st_mtim;
	return rules_open(&file, &debug, &rf->rules);
}

/* ---- which files are kept */

/* The one that was not asked for longest; @open: of those that are. */
static struct rule_file *oldest(const struct rule_files *f, bool open)
{
	struct rule_file *rf = file_at(f, 0), *end = rf + f->cache.files.nr, *found = NULL;

	for (; rf < end; rf++)
		if ((!open || rf->rules) && (!found || rf->in.used < found->in.used))
			found = rf;
	return found;
}

/* It may be opened again. */
static void close_oldest(struct rule_files *f)
{
	struct rule_file *rf = oldest(f, true);

	cached_file_renew(&rf->in);
	rf->in.given_up = rf->memory > LARGE;
	close_rules(f, rf);
}

/* Rules grow when they are used: by indexes, bytes and rows that are kept. */
static void limit_memory(struct rule_files *f)
{
	struct rule_file *rf = f->last < f->cache.files.nr ? file_at(f, f->last) : NULL;

	if (rf && rf->rules) {
		f->memory -= rf->memory;
		rf->memory = rules_memory(rf->rules);
		f->memory += rf->memory;
	}
	while (f->memory > MEMORY_MAX)
		close_oldest(f);
}

static void drop_oldest(struct rule_files *f)
{
	struct rule_file *rf = oldest(f, false);

	close_rules(f, rf);
	file_cache_delete(&f->cache, &rf->in);
}

static void try_open(struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	int rc;

	if (f->nr_open >= OPEN_MAX)
		close_oldest(f);
	rc = open_file(f, rf, pid);
	file_cache_tried(&f->cache, &rf->in, rc);
	if ((rc == -EMFILE || rc == -ENFILE) && f->nr_open)
		close_oldest(f);
	f->nr_open += !!rf->rules;
}

/* A file is written to again only when nobody runs it. What it was then is of no use for those who run it now. */
static bool was_written(const struct rule_file *rf)
{
	struct stat st;

	return rf->rules && rf->fd >= 0 && !fstat(rf->fd, &st) &&
	       (st.st_mtim.tv_sec != rf->changed.tv_sec || st.st_mtim.tv_nsec != rf->changed.tv_nsec);
}

struct rules *rule_files_find(struct rule_files *f, pid_t pid, const struct mapping *m)
{
	struct rule_file *rf;

	limit_memory(f); /* before the places change */
	if (f->cache.files.nr > FILES_MAX)
		drop_oldest(f);
	rf = file_cache_get(&f->cache, m->file);
	if (!rf)
		return NULL;
	f->last = (size_t)(rf - file_at(f, 0));
	if (rf->pid != pid && was_written(rf)) {
		close_rules(f, rf);
		cached_file_renew(&rf->in);
	}
	rf->pid = pid;
	if (!rf->rules && file_cache_wants(&f->cache, &rf->in, pid))
		try_open(f, rf, pid);
	return cached_file_serves(&rf->in, m) ? rf->rules : NULL;
}
