// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/perf_maps.h"

#include "core/base/faults.h"
#include "core/base/intern.h"
#include "core/base/number.h"
#include "core/files/mapped_files.h"
#include "core/files/recorded.h"
#include "core/host/host.h"
#include "core/host/signals.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX      (64 << 20)   /* bytes; a large server's have 10 MB */
#define ALL_BYTES_MAX (256u << 20) /* memory of all files together */
#define ALL_READ_MAX                                                                                                   \
	(256u << 20)     /* bytes read between two calls of perf_maps_renew(); they take some 2 s of CPU time */
#define CLOCK_SLACK 2    /* seconds that the times of a file and of a process may be apart */
#define OPEN_MAX    256  /* files kept open */
#define NOTED_MAX   4096 /* processes with code made at run time; fewer have files */

#define OLDER_MEANS                                                                                                    \
	": names of generated code are of an earlier process, unless the clock was set or the process was restored"

/*
 * Read no more than @size bytes of @fd. That is the size of a file on a disk; files of /proc, where a read may block or
 * consume data, have size 0. If the file is larger than FILE_MAX, read its end, with the newest code, from the first
 * whole line on.
 */
static int read_map(int fd, off_t size, struct perf_map **out)
{
	struct perf_map *m = perf_map_new();
	off_t at = size > FILE_MAX ? size - FILE_MAX : 0, left;
	bool whole = !at; /* the beginning of a line has been found */
	char piece[65536], *text;
	ssize_t n = 1;
	int rc = m ? 0 : -ENOMEM;

	while (!rc && n > 0 && at < size) {
		left = size - at;
		n = pread(fd, piece, left < (off_t)sizeof(piece) ? (size_t)left : sizeof(piece), at);
		if (n < 0)
			fault(-errno); /* keep the lines read so far */
		text = piece;
		if (n > 0 && !whole) {
			text = memchr(piece, '\n', (size_t)n);
			whole = text;
		}
		if (n > 0 && whole)
			rc = perf_map_feed(m, text, (size_t)(piece + n - text));
		at += n;
	}
	if (!rc)
		rc = perf_map_finish(m);
	if (rc)
		perf_map_free(m);
	else
		*out = m;
	return rc;
}

/* A process that was looked up, or noted. */
struct process {
	pid_t pid;
	uint64_t started; /* in clock ticks since boot; 0: not known */
	uint64_t round;   /* perf_maps.round when the file was last looked at */
	uint64_t noted;   /* perf_maps.round when it was noted last */
	uint32_t notes;   /* calls of perf_maps_note() */
	int fd;           /* kept open while the process lived; -1: not kept */
	struct perf_map *map;
	struct stat file; /* the file that @map was read from */
	bool older;       /* @map was written before the process began */
	bool reported;    /* it is in perf_maps.nr_older */
};

static const struct intern_kind process_kind = INTERN_BYTES(struct process, pid);

struct perf_maps {
	const struct mapped_files_cfg *where;
	struct intern_table processes;
	size_t bytes;  /* of all maps */
	uint64_t read; /* bytes of files, see ALL_READ_MAX */
	size_t nr_open;
	uint64_t round;  /* 1 + the calls of perf_maps_renew() */
	size_t nr_older; /* processes with names from a map that is older than the process */
	pid_t first_older;
};

struct perf_maps *perf_maps_new(const struct mapped_files_cfg *where)
{
	struct perf_maps *pm = calloc(1, sizeof(*pm));

	if (pm) {
		pm->where = where;
		pm->round = 1;
	}
	return pm;
}

static void set_map(struct perf_maps *pm, struct process *p, struct perf_map *map)
{
	pm->bytes -= perf_map_memory(p->map);
	perf_map_free(p->map);
	p->map = map;
	pm->bytes += perf_map_memory(map);
}

static void close_file(struct perf_maps *pm, struct process *p)
{
	if (p->fd < 0)
		return;
	close(p->fd);
	p->fd = -1;
	pm->nr_open--;
}

/* Forget all about @p. */
static void clear(struct perf_maps *pm, struct process *p)
{
	set_map(pm, p, NULL);
	close_file(pm, p);
	p->older = p->reported = false;
}

void perf_maps_free(struct perf_maps *pm)
{
	struct process *v;
	size_t i;

	if (!pm)
		return;
	v = pm->processes.v;
	for (i = 0; i < pm->processes.nr; i++)
		clear(pm, &v[i]);
	intern_release(&pm->processes);
	free(pm);
}

void perf_maps_renew(struct perf_maps *pm)
{
	struct process *v = pm->processes.v;
	size_t i;

	/* Backwards: the process that moves to the place of a deleted one has been visited. */
	for (i = pm->processes.nr; i-- > 0;) {
		if (v[i].round == pm->round || v[i].noted == pm->round)
			continue;
		clear(pm, &v[i]);
		intern_delete(&pm->processes, &process_kind, &v[i]);
	}
	pm->read = 0;
	pm->round++;
}

/* Facts in /proc about a process: where its file may be, and which user must own it. */
struct owner {
	bool lives;
	uint64_t uid, pid; /* effective user; PID in the innermost namespace */
	uint64_t started;  /* as of struct process */
};

/* Read the last number of "NSpid:", or the second one of "Uid:". */
static void read_status(const char *line, struct owner *o)
{
	bool uid = !strncmp(line, "Uid:\t", 5), nspid = !strncmp(line, "NSpid:\t", 7);
	uint64_t n;
	int i;

	line = uid || nspid ? strchr(line, '\t') : NULL;
	for (i = 1; line && *line == '\t'; i++) {
		line++;
		if (parse_digits(&line, 10, nspid ? INT_MAX : UINT32_MAX, &n))
			return;
		if (uid && i == 2) {
			o->uid = n;
			o->lives = true;
		}
		if (nspid)
			o->pid = n;
	}
}

static void read_owner(const struct host *h, pid_t pid, struct owner *o)
{
	char path[PATH_MAX], *line = NULL;
	size_t cap = 0;
	FILE *f;

	*o = (struct owner){ .uid = geteuid(), .pid = (uint64_t)pid };
	if (snprintf(path, sizeof(path), "%s/%d/status", host_tasks(h), pid) >= (int)sizeof(path) ||
	    !(f = fopen(path, "re")))
		return;
	/* The kernel limits the length of these lines: the longest has 65536 groups. "NSpid" comes after it. */
	while (getline(&line, &cap, f) > 0)
		read_status(line, o);
	free(line);
	fclose(f);
	if (o->lives)
		o->started = proc_started(h, pid);
}

/* When @o began, in seconds of the wall clock; 0: not known. The clock may have been set since. */
static time_t began_at(const struct owner *o)
{
	struct timespec now, up;

	if (!o->started || clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &up))
		return 0;
	return now.tv_sec - up.tv_sec + (time_t)(o->started / (uint64_t)sysconf(_SC_CLK_TCK));
}

/*
 * Return true if the file was last written before the process began: an earlier process with its PID may have left it.
 * But the clock may also have been set forward since, or CRIU may have restored the process, which sets its start time.
 */
static bool is_older(const struct stat *st, const struct owner *o)
{
	time_t began = began_at(o);

	return began && st->st_mtime + CLOCK_SLACK < began;
}

/*
 * For a recording that ended at @ended: @o is the process that has the number @pid now. If it lives and began before
 * @ended, it is the recorded process; else nothing is known of the recorded one. We read recordings without the right
 * to look into the roots of processes, so its innermost PID is not used.
 */
static void judge_recorded(struct owner *o, pid_t pid, int64_t ended)
{
	time_t began = o->lives ? began_at(o) : 0;

	o->pid = (uint64_t)pid;
	if (!began || began > ended)
		*o = (struct owner){ .uid = geteuid(), .pid = (uint64_t)pid };
}

/*
 * Root may write the file for a process. But a file of root that not all users may read is refused: in its own mount
 * namespace, a user can mount such a file at the path that we open.
 */
static bool is_theirs(const struct stat *st, const struct owner *o)
{
	return st->st_uid == o->uid || (!st->st_uid && st->st_mode & S_IROTH);
}

/*
 * @older: out: is_older(); NULL: do not open such a file
 * Return: a descriptor and @st; -ENOENT: there is none, or none that can be believed; others of process_file_open().
 */
static int open_map(const struct perf_maps *pm, pid_t pid, const struct owner *o, struct stat *st, bool *older)
{
	const struct recorded *recorded = pm->where->recorded;
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "tmp/perf-%d.map", (int)o->pid);
	fd = process_file_open(pm->where, o->lives && !recorded ? pid : 0, name, st);
	if (fd < 0)
		return fd == -ESTALE || fd == -ETIME ? -ENOENT : fd;
	if (st->st_nlink == 1 && is_theirs(st, o) && (older || !is_older(st, o)) &&
	    (!recorded || o->lives || st->st_mtime <= recorded->ended_s + CLOCK_SLACK)) {
		if (older)
			*older = is_older(st, o);
		return fd;
	}
	close(fd);
	return -ENOENT;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* If @o began at another time than @p, it is another process with the same number: forget the old one. */
static void renumber(struct perf_maps *pm, struct process *p, const struct owner *o)
{
	if (o->started != p->started)
		clear(pm, p);
	p->started = o->started;
}

/* Take over the file that was kept open. Return: a descriptor and @st, or -ENOENT. */
static int take_kept(struct perf_maps *pm, struct process *p, struct stat *st)
{
	int fd = p->fd;

	if (fd < 0)
		return -ENOENT;
	p->fd = -1;
	pm->nr_open--;
	if (!fstat(fd, st))
		return fd;
	close(fd);
	return -ENOENT;
}

/*
 * Open the file of @p, or else the one that was kept. Return: a descriptor, @st and @older, or -errno as of open_map().
 */
static int open_latest(struct perf_maps *pm, struct process *p, struct stat *st, bool *older)
{
	int fd = -ENOENT;
	const struct recorded *recorded = pm->where->recorded;
	struct owner o;

	*older = false;
	if (recorded && !recorded->ended_s)
		return -ENOENT;
	read_owner(pm->where->host, p->pid, &o);
	if (recorded)
		judge_recorded(&o, p->pid, recorded->ended_s);
	if (o.lives || (!p->map && p->fd < 0)) {
		renumber(pm, p, &o);
		fd = open_map(pm, p->pid, &o, st, older);
	}
	return fd == -ENOENT ? take_kept(pm, p, st) : fd;
}

/* As read_map(), within the limits on memory and bytes read. A file may be large and have no names at all. */
static int read_bounded(struct perf_maps *pm, int fd, off_t size, struct perf_map **out)
{
	uint64_t bytes = (uint64_t)(size < FILE_MAX ? size : FILE_MAX);

	if (pm->bytes >= ALL_BYTES_MAX || bytes > ALL_READ_MAX - pm->read)
		return -E2BIG;
	pm->read += bytes;
	return read_map(fd, size, out);
}

/* Read the file of @p if it is new or has changed. If it is gone or cannot be read, keep the names from before. */
static int look(struct perf_maps *pm, struct process *p)
{
	struct perf_map *map = NULL;
	struct stat st;
	bool older;
	int fd = open_latest(pm, p, &st, &older), rc = 0;

	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!p->map || !same_file(&st, &p->file))
		rc = signals_overdue() ? -ECANCELED : read_bounded(pm, fd, st.st_size, &map);
	close(fd);
	if (!rc && map) {
		set_map(pm, p, map);
		p->file = st;
		p->older = older;
	}
	return rc;
}

static struct process *known_process(struct perf_maps *pm, pid_t pid)
{
	return intern_find(&pm->processes, &process_kind, &pid);
}

/* The entry of @pid, made when there is none. NULL: no memory. */
static struct process *find_process(struct perf_maps *pm, pid_t pid)
{
	bool is_new;
	struct process *p = intern(&pm->processes, &process_kind, &pid, &is_new);

	if (p && is_new)
		p->fd = -1;
	return p;
}

int perf_maps_find(struct perf_maps *pm, pid_t pid, uint64_t addr, struct perf_map_symbol *out)
{
	struct process *p = find_process(pm, pid);
	int rc = 0;

	if (!p)
		return -ENOMEM;
	if (p->round != pm->round) {
		p->round = pm->round;
		rc = look(pm, p);
	}
	if (!p->map || !perf_map_find(p->map, addr, out))
		return rc;
	if (p->older && !p->reported) {
		p->reported = true;
		pm->first_older = pm->nr_older++ && pm->first_older < pid ? pm->first_older : pid;
	}
	return 1;
}

bool perf_maps_older(const struct perf_maps *pm, struct err *why)
{
	if (pm->nr_older == 1)
		err_set(why, -ESTALE, "the perf map of process %d is older than the process" OLDER_MEANS,
			(int)pm->first_older);
	else if (pm->nr_older)
		err_set(why, -ESTALE,
			"the perf maps of %zu processes are older than these, first of PID %d" OLDER_MEANS,
			pm->nr_older, (int)pm->first_older);
	return pm->nr_older;
}

bool perf_maps_have(const struct perf_maps *pm, pid_t pid)
{
	const struct process *p = intern_find(&pm->processes, &process_kind, &pid);

	return p && p->map;
}

/* The file comes some time after the first code: look the first time, the second, the fourth, the eighth... */
static bool is_due(uint32_t notes)
{
	return !(notes & (notes - 1));
}

void perf_maps_note(struct perf_maps *pm, pid_t pid)
{
	struct process *p = pm->processes.nr < NOTED_MAX ? find_process(pm, pid) : known_process(pm, pid);
	struct owner o;
	struct stat st;
	int fd;

	if (!p)
		return;
	p->noted = pm->round;
	if (!is_due(++p->notes))
		return;
	read_owner(pm->where->host, pid, &o);
	if (!o.lives)
		return;
	renumber(pm, p, &o);
	if (p->fd >= 0 || pm->nr_open == OPEN_MAX)
		return;
	fd = open_map(pm, pid, &o, &st, NULL); /* not an older file: the process may still write its own */
	if (fd < 0)
		return;
	p->fd = fd;
	pm->nr_open++;
}
