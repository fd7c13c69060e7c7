// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/rule_files.h"

#include "core/base/clock.h"
#include "core/base/intern.h"
#include "core/files/elf_file.h"
#include "core/files/mapped_files.h"
#include "core/files/vdso.h"
#include "core/tasks/tasks.h"
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
#define TRIES_MAX  4            /* processes a second whose root is searched for a file: the first may have exited */
#define HINTS      256          /* a power of two */

/* A mapped file, from the first frame in it on. It outlives the struct mapped_file that it is a copy of. */
struct rule_file {
	struct mapped_file file; /* with a path of its own */
	struct rules *rules;     /* NULL: none yet, or none to be had */
	int fd;                  /* theirs; -1: there is none, or it is the vDSO */
	struct timespec changed; /* st_mtim when it was opened */
	pid_t pid;               /* asked for it last */
	uint64_t used;           /* rule_files.clock when it was asked for last */
	size_t memory;           /* of its rules, when it was looked at last */
	bool useless;            /* do not open it any more */
	pid_t tried_pid;
	uint64_t tried_ns;
	unsigned int tries_left; /* 0: do not try to open it until a second after the last time */
};

struct rule_files {
	const struct mapped_files_cfg *files_cfg;
	const struct tasks *tasks;
	struct intern_table files;
	uint64_t clock;
	size_t nr_open, memory;
	size_t last; /* place of the one whose rules may have grown since it was asked for */
	/* Where the one of a struct mapped_file is, while tasks keeps that where it is. */
	struct {
		const struct mapped_file *file;
		size_t at;
	} hints[HINTS];
	uint64_t forgotten; /* tasks_forgotten() when the first of them was taken */
};

struct rule_files *rule_files_new(const struct mapped_files_cfg *files_cfg, const struct tasks *tasks)
{
	struct rule_files *f = calloc(1, sizeof(*f));

	if (!f)
		return NULL;
	f->files_cfg = files_cfg;
	f->tasks = tasks;
	return f;
}

static struct rule_file *file_at(const struct rule_files *f, size_t i)
{
	return (struct rule_file *)f->files.v + i;
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
	for (i = 0; i < f->files.nr; i++) {
		close_rules(f, file_at(f, i));
		free((char *)file_at(f, i)->file.path);
	}
	intern_release(&f->files);
	free(f);
}

/* ---- opening */

static int open_vdso(struct rules **out)
{
	struct elf_file vdso;
	int rc = vdso_open(&vdso);

	return rc ? rc : rules_open(&vdso, &ELF_FILE_NONE, out);
}

/* The debug file of build @id, if it is there. */
static struct elf_file open_debug(const struct rule_files *f, const struct build_id *id)
{
	int fd = mapped_file_open_debug(f->files_cfg, id);
	struct elf_file debug = ELF_FILE_NONE;

	if (fd >= 0) {
		elf_file_open(&debug, fd);
		close(fd);
	}
	return debug;
}

static int open_file(const struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	int fd = mapped_file_open(f->files_cfg, pid, &rf->file), rc;
	struct elf_file file, debug;
	struct stat st;

	if (fd < 0)
		return fd;
	rc = fstat(fd, &st) ? -errno : elf_file_open(&file, fd);
	close(fd);
	if (rc)
		return rc;
	rf->fd = file.bytes.fd;
	rf->changed = st.st_mtim;
	debug = open_debug(f, &file.build_id);
	return rules_open(&file, &debug, &rf->rules);
}

/* ---- which files are kept */

static uint64_t hash_file(const void *key)
{
	return mapped_file_hash(key);
}

static bool same_file(const void *have, const void *key)
{
	return mapped_file_equal(have, key);
}

static const struct intern_kind file_kind = INTERN_CUSTOM(struct rule_file, file, hash_file, same_file);

/* The one that was not asked for longest; @open: of those that are. */
static struct rule_file *oldest(const struct rule_files *f, bool open)
{
	struct rule_file *rf = f->files.v, *end = rf + f->files.nr, *found = NULL;

	for (; rf < end; rf++)
		if ((!open || rf->rules) && (!found || rf->used < found->used))
			found = rf;
	return found;
}

static void forget_tries(struct rule_file *rf)
{
	rf->tries_left = TRIES_MAX;
	rf->tried_pid = 0;
}

/* It may be opened again. */
static void close_oldest(struct rule_files *f)
{
	struct rule_file *rf = oldest(f, true);

	rf->useless = rf->memory > LARGE;
	close_rules(f, rf);
	forget_tries(rf);
}

/* Rules grow when they are used: by indexes, bytes and rows that are kept. */
static void limit_memory(struct rule_files *f)
{
	struct rule_file *rf = f->last < f->files.nr ? file_at(f, f->last) : NULL;

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
	const char *path = rf->file.path;

	close_rules(f, rf);
	intern_delete(&f->files, &file_kind, rf);
	free((char *)path);
	memset(f->hints, 0, sizeof(f->hints));
}

static struct rule_file *add_file(struct rule_files *f, const struct mapped_file *file)
{
	char *path = strdup(file->path);
	struct rule_file *rf;
	bool is_new;

	if (!path)
		return NULL;
	if (f->files.nr == FILES_MAX)
		drop_oldest(f);
	rf = intern(&f->files, &file_kind, file, &is_new);
	if (!rf) {
		free(path);
		return NULL;
	}
	*rf = (struct rule_file){ .file = *file, .fd = -1, .tries_left = TRIES_MAX };
	rf->file.path = path;
	return rf;
}

/* NULL: no memory. */
static struct rule_file *find_file(struct rule_files *f, const struct mapped_file *file)
{
	size_t hint = ((uintptr_t)file >> 4 ^ (uintptr_t)file >> 12) % HINTS;
	struct rule_file *rf;

	if (f->forgotten != tasks_forgotten(f->tasks)) {
		memset(f->hints, 0, sizeof(f->hints));
		f->forgotten = tasks_forgotten(f->tasks);
	}
	if (f->hints[hint].file == file)
		return file_at(f, f->hints[hint].at);
	rf = intern_find(&f->files, &file_kind, file);
	if (!rf)
		rf = add_file(f, file);
	if (!rf)
		return NULL;
	f->hints[hint].file = file;
	f->hints[hint].at = (size_t)(rf - file_at(f, 0));
	return rf;
}

/* No descriptor was left, which is not the fault of @rf. */
static void make_room(struct rule_files *f, struct rule_file *rf)
{
	forget_tries(rf);
	if (f->nr_open)
		close_oldest(f);
}

/* Try once for each process, until it is found or there were enough tries. A file that is no good stays so. */
static void try_open(struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	int rc;

	if (f->nr_open >= OPEN_MAX)
		close_oldest(f);
	rf->tried_pid = pid;
	rf->tried_ns = now_ns();
	rf->tries_left--;
	if (!strcmp(rf->file.path, "[vdso]"))
		rc = vdso_is_ours(f->files_cfg, &rf->file) ? open_vdso(&rf->rules) : -ENOENT;
	else
		rc = mapped_file_is_memory(&rf->file) ? -ENOEXEC : open_file(f, rf, pid);
	rf->useless = rc == -ENOEXEC;
	if (rc == -EMFILE || rc == -ENFILE)
		make_room(f, rf);
	f->nr_open += !!rf->rules;
}

/* A file is written to again only when nobody runs it. What it was then is of no use for those who run it now. */
static bool was_written(const struct rule_file *rf)
{
	struct stat st;

	return rf->rules && rf->fd >= 0 && !fstat(rf->fd, &st) &&
	       (st.st_mtim.tv_sec != rf->changed.tv_sec || st.st_mtim.tv_nsec != rf->changed.tv_nsec);
}

static bool may_try(struct rule_file *rf, pid_t pid)
{
	if (rf->useless || rf->tried_pid == pid)
		return false;
	if (!rf->tries_left && now_ns() - rf->tried_ns > NSEC_PER_SEC)
		rf->tries_left = TRIES_MAX;
	return rf->tries_left;
}

struct rules *rule_files_find(struct rule_files *f, pid_t pid, const struct mapping *m)
{
	struct rule_file *rf;

	limit_memory(f); /* before the places change */
	rf = find_file(f, m->file);
	if (!rf)
		return NULL;
	f->last = (size_t)(rf - file_at(f, 0));
	rf->used = ++f->clock;
	if (rf->pid != pid && was_written(rf)) {
		close_rules(f, rf);
		forget_tries(rf);
	}
	rf->pid = pid;
	if (!rf->rules && may_try(rf, pid))
		try_open(f, rf, pid);
	return rf->rules;
}
