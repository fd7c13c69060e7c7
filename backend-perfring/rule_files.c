// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/rule_files.h"

#include "core/base/clock.h"
#include "core/base/hash.h"
#include "core/files/elf.h"
#include "core/files/recorded.h"
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
	uint64_t hash;
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
	struct rule_file *v; /* FILES_MAX */
	uint32_t nr;
	struct hash_index index;
	uint64_t clock;
	size_t nr_open, memory;
	uint32_t last; /* its rules may have grown since it was asked for */
	/* What was found for a struct mapped_file, while tasks keeps it where it is. */
	struct {
		const struct mapped_file *file;
		uint32_t pos;
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
	f->v = calloc(FILES_MAX, sizeof(*f->v));
	if (f->v)
		return f;
	free(f);
	return NULL;
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
	uint32_t i;

	if (!f)
		return;
	for (i = 0; i < f->nr; i++) {
		close_rules(f, &f->v[i]);
		free((char *)f->v[i].file.path);
	}
	hash_release(&f->index);
	free(f->v);
	free(f);
}

/* ---- bytes of a file */

struct fd_bytes {
	int fd;
};

static ssize_t read_fd(void *ctx, uint64_t offset, void *to, size_t len)
{
	const struct fd_bytes *b = ctx;
	ssize_t n;

	do
		n = pread(b->fd, to, len, (off_t)offset);
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : n;
}

static void close_fd(void *ctx)
{
	struct fd_bytes *b = ctx;

	close(b->fd);
	free(b);
}

/* @fd is taken over, also on failure. */
static int fd_bytes(int fd, struct unwind_bytes *out, struct timespec *changed)
{
	struct fd_bytes *b = malloc(sizeof(*b));
	struct stat st = { 0 };

	if (!b || fstat(fd, &st)) {
		free(b);
		close(fd);
		return -ENOMEM;
	}
	b->fd = fd;
	*out = (struct unwind_bytes){ b, (uint64_t)st.st_size, read_fd, close_fd };
	*changed = st.st_mtim;
	return 0;
}

/* The image that the kernel maps into all processes, ours too. */
struct memory_bytes {
	const char *start;
	size_t len;
};

static ssize_t read_image(void *ctx, uint64_t offset, void *to, size_t len)
{
	const struct memory_bytes *b = ctx;

	if (offset >= b->len)
		return 0;
	if (len > b->len - offset)
		len = b->len - offset;
	memcpy(to, b->start + offset, len);
	return (ssize_t)len;
}

/* That of a recording is ours when the same kernel runs. */
static bool is_our_vdso(const struct rule_files *f)
{
	return !f->files_cfg->recorded || f->files_cfg->recorded->boot == BOOT_SAME;
}

static int open_vdso(struct rules **out)
{
	struct memory_bytes *b = malloc(sizeof(*b));
	const void *start;
	int rc;

	if (!b)
		return -ENOMEM;
	rc = vdso_image(&start, &b->len);
	if (rc) {
		free(b);
		return rc;
	}
	b->start = start;
	return rules_open(&(struct unwind_bytes){ b, b->len, read_image, free }, &(struct unwind_bytes){ 0 }, out);
}

static int open_file(const struct rule_files *f, struct rule_file *rf, pid_t pid)
{
	struct unwind_bytes bytes, debug = { 0 };
	int fd = mapped_file_open(f->files_cfg, pid, &rf->file), rc;
	struct timespec unused;
	struct build_id id;

	if (fd < 0)
		return fd;
	if (!elf_build_id(fd, &id) && id.size) {
		int debug_fd = mapped_file_open_debug(f->files_cfg, &id);

		if (debug_fd >= 0 && fd_bytes(debug_fd, &debug, &unused))
			debug = (struct unwind_bytes){ 0 };
	}
	rc = fd_bytes(fd, &bytes, &rf->changed);
	if (!rc) {
		rf->fd = fd;
		return rules_open(&bytes, &debug, &rf->rules);
	}
	if (debug.ctx)
		debug.close(debug.ctx);
	return rc;
}

/* ---- which files are kept */

static bool same_file(const void *table, uint32_t pos, const void *key)
{
	const struct rule_file *v = table;

	return mapped_file_equal(&v[pos].file, key);
}

/* The one that was not asked for longest; @open: of those that are. */
static uint32_t oldest(const struct rule_files *f, bool open)
{
	uint32_t i, found = HASH_NONE;

	for (i = 0; i < f->nr; i++)
		if ((!open || f->v[i].rules) && (found == HASH_NONE || f->v[i].used < f->v[found].used))
			found = i;
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
	struct rule_file *rf = &f->v[oldest(f, true)];

	rf->useless = rf->memory > LARGE;
	close_rules(f, rf);
	forget_tries(rf);
}

/* Rules grow when they are used: by indexes, bytes and rows that are kept. */
static void limit_memory(struct rule_files *f)
{
	struct rule_file *rf = &f->v[f->last];

	if (rf->rules) {
		f->memory -= rf->memory;
		rf->memory = rules_memory(rf->rules);
		f->memory += rf->memory;
	}
	while (f->memory > MEMORY_MAX)
		close_oldest(f);
}

/* A place for a new file: HASH_NONE: no memory. */
static uint32_t take_place(struct rule_files *f)
{
	uint32_t pos;

	if (f->nr < FILES_MAX)
		return f->nr++;
	pos = oldest(f, false);
	close_rules(f, &f->v[pos]);
	free((char *)f->v[pos].file.path);
	hash_del(&f->index, f->v[pos].hash, pos);
	memset(f->hints, 0, sizeof(f->hints));
	return pos;
}

static uint32_t add_file(struct rule_files *f, const struct mapped_file *file, uint64_t hash)
{
	char *path = strdup(file->path);
	uint32_t pos;

	if (!path)
		return HASH_NONE;
	pos = take_place(f);
	f->v[pos] = (struct rule_file){ .file = *file, .hash = hash, .fd = -1, .tries_left = TRIES_MAX };
	f->v[pos].file.path = path;
	/* Without memory it is not found again, and waits to become the oldest. */
	hash_add(&f->index, hash, pos);
	return pos;
}

static uint32_t find_file(struct rule_files *f, const struct mapped_file *file)
{
	uint64_t hash;
	uint32_t pos, hint = (uint32_t)((uintptr_t)file >> 4 ^ (uintptr_t)file >> 12) % HINTS;

	if (f->forgotten != tasks_forgotten(f->tasks)) {
		memset(f->hints, 0, sizeof(f->hints));
		f->forgotten = tasks_forgotten(f->tasks);
	}
	if (f->hints[hint].file == file)
		return f->hints[hint].pos;
	hash = mapped_file_hash(file);
	pos = hash_find(&f->index, hash, same_file, f->v, file);
	if (pos == HASH_NONE)
		pos = add_file(f, file, hash);
	if (pos == HASH_NONE)
		return pos;
	f->hints[hint].file = file;
	f->hints[hint].pos = pos;
	return pos;
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
		rc = is_our_vdso(f) ? open_vdso(&rf->rules) : -ENOENT;
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
	uint32_t pos = find_file(f, m->file);
	struct rule_file *rf;

	if (pos == HASH_NONE)
		return NULL;
	limit_memory(f);
	f->last = pos;
	rf = &f->v[pos];
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
