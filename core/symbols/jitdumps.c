// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/jitdumps.h"

#include "core/base/clock.h"
#include "core/files/file_cache.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/host/signals.h"
#include "core/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>

#define FILES_MAX     1024                 /* remembered, also those that could not be opened */
#define OPEN_MAX      128                  /* of them: with a descriptor */
#define ALL_BYTES_MAX (256u << 20)         /* memory of all */
#define READ_ONCE     (4u << 20)           /* bytes read at once: samples wait meanwhile */
#define READ_MAX      (256u << 20)         /* bytes of all files, read for one report */
#define LOOK_NS       (NSEC_PER_SEC / 200) /* most samples wait longer in memory, so their code is known in time */
#define LOOK_SHARE    50                   /* one part in so many of the time may be spent on a jitdump */

/* A mapped file that has the name of a jitdump. Made at the first lookup of an address in its process. */
struct dump_file {
	struct cached_file in;
	struct jitdump *dump; /* NULL: not open */
	uint64_t round;       /* the last report for which it was read; 0: none */
	uint64_t look_ns;     /* when to read new records next */
	size_t memory;
};

struct jitdumps {
	struct file_cache cache; /* of struct dump_file */
	const struct tasks *tasks;
	size_t nr_open, memory;
	size_t left;              /* bytes that may be read for this report */
	uint64_t round, asked_at; /* this report, and the clock of the cache when it began */
};

struct jitdumps *jitdumps_new(const struct mapped_files_cfg *where, const struct tasks *tasks)
{
	struct jitdumps *j = calloc(1, sizeof(*j));

	if (!j)
		return NULL;
	file_cache_init(&j->cache, where, tasks, sizeof(struct dump_file), NSEC_PER_SEC);
	j->tasks = tasks;
	j->round = 1;
	j->left = READ_MAX;
	return j;
}

static struct dump_file *file_at(const struct jitdumps *j, size_t i)
{
	return (struct dump_file *)j->cache.files.v + i;
}

static void close_dump(struct jitdumps *j, struct dump_file *f)
{
	j->nr_open -= !!f->dump;
	j->memory -= f->memory;
	f->memory = 0;
	jitdump_close(f->dump);
	f->dump = NULL;
}

void jitdumps_free(struct jitdumps *j)
{
	size_t i;

	if (!j)
		return;
	for (i = 0; i < j->cache.files.nr; i++)
		close_dump(j, file_at(j, i));
	file_cache_clear(&j->cache);
	free(j);
}

static void drop_file(struct jitdumps *j, struct dump_file *f)
{
	close_dump(j, f);
	file_cache_delete(&j->cache, &f->in);
}

void jitdumps_renew(struct jitdumps *j)
{
	size_t i;

	/* Backwards: the file that moves to the place of a dropped one has been visited. */
	for (i = j->cache.files.nr; i-- > 0;)
		if (file_at(j, i)->in.used <= j->asked_at)
			drop_file(j, file_at(j, i));
	j->asked_at = j->cache.clock;
	j->left = READ_MAX;
	j->round++;
}

/* A report uses names of the dumps that it has read, so these must stay open while it is made. */
static bool may_close(const struct jitdumps *j, const struct dump_file *f, bool reports)
{
	return !reports || f->round != j->round;
}

/* The least recently used dump; with @open, the least recently used open one. NULL: none may be closed. */
static struct dump_file *oldest(const struct jitdumps *j, bool open, bool reports)
{
	struct dump_file *f = file_at(j, 0), *end = f + j->cache.files.nr, *found = NULL;

	for (; f < end; f++)
		if ((!open || f->dump) && may_close(j, f, reports) && (!found || f->in.used < found->in.used))
			found = f;
	return found;
}

/* A jitdump has no build id: for a recording, open it only if it is of this boot and has the inode of the mapping. */
static int open_mapped(const struct jitdumps *j, pid_t pid, const struct mapped_file *file)
{
	const struct recorded *recorded = j->cache.cfg->recorded;

	if (recorded && (recorded->boot != BOOT_SAME || !file->ino))
		return -ENOENT;
	return mapped_file_open(j->cache.cfg, pid, file);
}

static void open_dump(struct jitdumps *j, struct dump_file *f, pid_t pid, bool reports)
{
	struct dump_file *old = j->nr_open == OPEN_MAX ? oldest(j, true, reports) : NULL;
	int rc;

	if (j->nr_open == OPEN_MAX && !old) {
		cached_file_renew(&f->in); /* the next report may have room */
		return;
	}
	if (old) {
		close_dump(j, old);
		cached_file_renew(&old->in);
	}
	rc = open_mapped(j, pid, &f->in.file);
	if (rc >= 0)
		rc = jitdump_open(rc, &f->dump);
	file_cache_tried(&j->cache, &f->in, rc);
	f->round = 0;
	j->nr_open += !!f->dump;
}

/* @pid has mapped @file. NULL: it cannot be opened. */
static struct dump_file *find_dump(struct jitdumps *j, pid_t pid, const struct mapped_file *file, bool reports)
{
	struct dump_file *f, *old;

	if (!file)
		return NULL;
	old = j->cache.files.nr > FILES_MAX ? oldest(j, false, reports) : NULL;
	if (old)
		drop_file(j, old);
	f = file_cache_get(&j->cache, file);
	if (f && !f->dump && file_cache_wants(&j->cache, &f->in, pid))
		open_dump(j, f, pid, reports);
	return f && f->dump ? f : NULL;
}

/* Read at most *@max bytes, and subtract them. Return: as jitdump_read(); -E2BIG: no dump may be read further. */
static int read_some(struct jitdumps *j, struct dump_file *f, size_t *max)
{
	size_t left = *max < READ_ONCE ? *max : READ_ONCE, before = left;
	int rc = left && j->memory < ALL_BYTES_MAX ? jitdump_read(f->dump, &left) : -E2BIG;

	*max -= before - left;
	j->memory -= f->memory;
	f->memory = jitdump_memory(f->dump);
	j->memory += f->memory;
	return rc;
}

/* Read all records for the current report. */
static int read_whole(struct jitdumps *j, struct dump_file *f)
{
	int rc;

	do {
		rc = signals_overdue() ? -ECANCELED : read_some(j, f, &j->left);
	} while (rc > 0);
	return rc;
}

int jitdumps_find(struct jitdumps *j, pid_t pid, const char *comm, uint32_t image, uint64_t addr,
		  struct jitdump_code *out, struct jitdump_line *line)
{
	struct dump_file *f = find_dump(j, pid, tasks_find_jitdump(j->tasks, pid, comm, image, addr), true);
	int rc = 0;

	if (!f)
		return 0;
	if (f->round != j->round) {
		f->round = j->round;
		rc = read_whole(j, f);
	}
	if (!jitdump_find(f->dump, addr, out))
		return rc;
	if (line && !jitdump_find_line(f->dump, addr, line))
		line->line = 0;
	return 1;
}

/* Close other dumps: all of them were used less recently than @f. */
static void make_room(struct jitdumps *j, struct dump_file *f)
{
	struct dump_file *old;

	while (j->memory >= ALL_BYTES_MAX && (old = oldest(j, true, false)) && old != f) {
		close_dump(j, old);
		cached_file_renew(&old->in);
	}
}

bool jitdumps_have(const struct jitdumps *j, pid_t pid)
{
	return tasks_jitdump(j->tasks, pid);
}

struct jitdump *jitdumps_of(struct jitdumps *j, pid_t pid)
{
	struct dump_file *f = find_dump(j, pid, tasks_jitdump(j->tasks, pid), false);
	size_t max = READ_ONCE;
	uint64_t began, used, cost;

	if (!f)
		return NULL;
	began = now_ns();
	if (began >= f->look_ns) {
		used = own_cpu_ns(); /* measures CPU time, so that waiting for the CPU counts as nothing */
		make_room(j, f);
		read_some(j, f, &max);
		cost = (own_cpu_ns() - used) * LOOK_SHARE;
		f->look_ns = began + (cost > LOOK_NS ? cost : LOOK_NS);
	}
	return f->dump;
}
