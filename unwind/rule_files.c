// SPDX-License-Identifier: Apache-2.0
#include "unwind/rule_files.h"

#include "core/base/err.h"
#include "core/base/faults.h"
#include "core/files/file_cache.h"
#include "unwind/rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILES_MAX  1024         /* remembered, also files without rules */
#define OPEN_MAX   128          /* rules that are open, each with one or two descriptors */
#define MEMORY_MAX (64UL << 20) /* of the rules of all files */
#define LARGE      (8UL << 20)  /* rules of one file that take long to read again, see is_settled() and close_file() */

/* The rules of a file, whatever its names are. */
struct open_rules {
	struct rules *rules;
	int fd;                  /* theirs; -1: it is the vDSO */
	struct timespec changed; /* st_mtim when it was opened */
	uint64_t used;           /* the newest cached_file.used of its names */
	size_t memory;           /* of the rules, at the last rule_files_settle() */
};

/* A mapped file, from the first frame in it on. */
struct rule_file {
	struct cached_file in;
	struct open_rules *open; /* of all names of the file; NULL: not opened yet, or impossible to open */
	pid_t pid;               /* which used it when @looked was set */
	uint64_t looked;         /* the round in which @open->changed was last compared */
};

struct rule_files {
	struct file_cache cache; /* of struct rule_file */
	size_t nr_open, memory;
	uint64_t round;
	size_t last;    /* index of the last result of rule_files_find(): its rules may have grown since */
	bool steady;    /* rule_files_renew() was called: files used after @begun must give the same answers */
	uint64_t begun; /* a time of @cache.clock */
};

struct rule_files *rule_files_new(const struct mapped_files_cfg *files_cfg, const struct tasks *tasks,
				  uint64_t again_ns)
{
	struct rule_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->round = 1;
	file_cache_init(&f->cache, files_cfg, tasks, sizeof(struct rule_file), again_ns);
	return f;
}

static struct rule_file *file_at(const struct rule_files *f, size_t i)
{
	return (struct rule_file *)f->cache.files.v + i;
}

static void free_rules(struct rule_files *f, struct open_rules *open)
{
	f->nr_open--;
	f->memory -= open->memory;
	rules_close(open->rules);
	free(open);
}

/* @given_up: the rules are not opened again as long as their names are remembered */
static void close_rules(struct rule_files *f, struct open_rules *open, bool given_up)
{
	size_t i;

	for (i = 0; i < f->cache.files.nr; i++) {
		struct rule_file *rf = file_at(f, i);

		if (rf->open != open)
			continue;
		rf->open = NULL;
		cached_file_renew(&rf->in);
		rf->in.given_up = given_up;
	}
	free_rules(f, open);
}

void rule_files_clear(struct rule_files *f)
{
	size_t i;

	for (i = 0; i < f->cache.files.nr; i++)
		if (file_at(f, i)->open)
			close_rules(f, file_at(f, i)->open, false);
	file_cache_clear(&f->cache);
	f->last = 0;
}

void rule_files_free(struct rule_files *f)
{
	if (!f)
		return;
	rule_files_clear(f);
	free(f);
}

/* ---- opening */

/*
 * Open the debug file of build @id, if there is one. Return: 0; -EMFILE or -ENFILE: it is unknown if there is one. Then
 * the file must not be used alone: the same address would have other rules than with more descriptors.
 */
static int open_debug(const struct rule_files *f, const struct build_id *id, struct elf_file *debug)
{
	int fd = mapped_file_open_debug(f->cache.cfg, id);
	int rc = fd;

	if (fd >= 0) {
		rc = elf_file_open(debug, fd);
		close(fd);
	}
	return descriptors_ran_out(rc) ? rc : 0;
}

/* Takes over @file. */
static int open_rules(struct rule_files *f, struct rule_file *rf, struct elf_file *file)
{
	struct open_rules open = { .fd = file->bytes.fd };
	struct elf_file debug = ELF_FILE_NONE;
	struct stat st = { 0 };
	int rc = 0;

	if (open.fd >= 0 && !fstat(open.fd, &st))
		rc = open_debug(f, &file->build_id, &debug);
	if (rc) {
		elf_file_release(file);
		return rc;
	}
	open.changed = st.st_mtim;
	rc = rules_open(file, &debug, &open.rules);
	if (rc)
		return rc;
	rf->open = malloc(sizeof(open));
	if (!rf->open) {
		rules_close(open.rules);
		return fault(-ENOMEM);
	}
	*rf->open = open;
	f->nr_open++;
	return 0;
}

static int open_file(struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	struct cached_file *twin;
	struct elf_file file;
	int rc = file_cache_open(&f->cache, &rf->in, pid, &file, &twin);

	if (rc)
		return rc;
	if (twin)
		rf->open = ((struct rule_file *)twin)->open;
	else
		rc = open_rules(f, rf, &file);
	rf->in.shares = !rc;
	return rc;
}

/* ---- which files are kept */

/* True if this report needs the same answers again, and reading the large file again would take long. */
static bool is_settled(const struct rule_files *f, const struct rule_file *rf)
{
	return f->steady && rf->open->used > f->begun && rf->open->memory > LARGE;
}

/* The least recently used name; there is at least one. */
static struct rule_file *oldest_name(const struct rule_files *f)
{
	struct rule_file *rf = file_at(f, 0), *end = rf + f->cache.files.nr, *found = rf;

	for (; rf < end; rf++)
		if (rf->in.used < found->in.used)
			found = rf;
	return found;
}

/* Return: a name of the least recently used rules that may be closed; NULL: there are none */
static struct rule_file *oldest_open(const struct rule_files *f)
{
	struct rule_file *rf = file_at(f, 0), *end = rf + f->cache.files.nr, *found = NULL;

	for (; rf < end; rf++)
		if (rf->open && !is_settled(f, rf) && (!found || rf->open->used < found->open->used))
			found = rf;
	return found;
}

static void close_file(struct rule_files *f, struct rule_file *rf)
{
	close_rules(f, rf->open, !f->steady && rf->open->memory > LARGE);
}

static bool close_oldest(struct rule_files *f)
{
	struct rule_file *rf = oldest_open(f);

	if (rf)
		close_file(f, rf);
	return rf;
}

void rule_files_round(struct rule_files *f)
{
	f->round++;
}

void rule_files_renew(struct rule_files *f)
{
	f->steady = true;
	f->begun = f->cache.clock;
	rule_files_round(f);
}

bool rule_files_close(struct rule_files *f)
{
	bool any = false;

	while (close_oldest(f))
		any = true;
	return any;
}

/* Rules grow when they are used, by indexes, bytes and rows that they keep. */
bool rule_files_settle(struct rule_files *f)
{
	struct rule_file *rf = f->last < f->cache.files.nr ? file_at(f, f->last) : NULL;

	if (!rf || !rf->open)
		return true;
	f->memory -= rf->open->memory;
	rf->open->memory = rules_memory(rf->open->rules);
	f->memory += rf->open->memory;
	while (f->memory > MEMORY_MAX && rf->open)
		if (!close_oldest(f))
			close_file(f, rf);
	return rf->open;
}

static bool has_other_name(const struct rule_files *f, const struct rule_file *rf)
{
	const struct rule_file *other = file_at(f, 0), *end = other + f->cache.files.nr;

	for (; other < end; other++)
		if (other != rf && other->open == rf->open)
			return true;
	return false;
}

static void drop_oldest(struct rule_files *f)
{
	struct rule_file *rf = oldest_name(f);

	if (rf->open && !has_other_name(f, rf))
		close_rules(f, rf->open, false);
	file_cache_delete(&f->cache, &rf->in);
}

/* Return: 0, also if it has no rules; -EMFILE, -ENFILE or -ECANCELED. */
static int try_open(struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	int rc;

	if (f->nr_open >= OPEN_MAX)
		close_oldest(f);
	do
		rc = open_file(f, rf, pid);
	while (descriptors_ran_out(rc) && close_oldest(f));
	file_cache_tried(&f->cache, &rf->in, rc);
	return descriptors_ran_out(rc) || rc == -ECANCELED ? rc : 0;
}

/* A file is written to only while no process runs it. So the rules of its old contents are of no use any more. */
static bool was_written(const struct rule_file *rf)
{
	struct stat st;

	return rf->open && rf->open->fd >= 0 && !fstat(rf->open->fd, &st) &&
	       (st.st_mtim.tv_sec != rf->open->changed.tv_sec || st.st_mtim.tv_nsec != rf->open->changed.tv_nsec);
}

struct rules *rule_files_find(struct rule_files *f, pid_t pid, const struct mapping *m, int *rc)
{
	struct rule_file *rf;
	int ignored;

	rc = rc ? rc : &ignored;
	*rc = 0;
	/* Only 64-bit code is unwound. */
	if (!strcmp(m->file->path, VDSO32))
		return NULL;
	rule_files_settle(f); /* before the indexes change */
	if (f->cache.files.nr > FILES_MAX)
		drop_oldest(f);
	rf = file_cache_get(&f->cache, m->file);
	if (!rf)
		return NULL;
	f->last = (size_t)(rf - file_at(f, 0));
	if (rf->pid != pid && rf->looked != f->round) {
		rf->looked = f->round;
		rf->pid = pid;
		if (was_written(rf))
			close_rules(f, rf->open, false);
	}
	if (!rf->open && file_cache_wants(&f->cache, &rf->in, pid))
		*rc = try_open(f, rf, pid);
	if (!rf->open)
		return NULL;
	rf->open->used = rf->in.used;
	return cached_file_serves(&rf->in, m) ? rf->open->rules : NULL;
}
