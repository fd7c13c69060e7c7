// SPDX-License-Identifier: Apache-2.0
#include "core/symbols/perf_map.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/host.h"
#include "core/mapped_files.h"
#include "core/number.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define FILE_MAX      (64 << 20) /* bytes; a large server's have 10 MB */
#define LINE_LEN_MAX  4096       /* some names are whole signatures */
#define ENTRIES_MAX   (1u << 20)
#define ALL_BYTES_MAX (256u << 20) /* memory of all files together */
#define NO_ENTRY      UINT32_MAX
#define CLOCK_SLACK   2 /* seconds that the times of a file and of a process may be apart */

/* Addresses [@start, @end). Names are stored in the file's order, so that a larger @name is a later line. */
struct entry {
	uint64_t start, end;
	uint32_t name; /* offset in names */
};

/* From @start to the next one, addresses belong to @entry. */
struct span {
	uint64_t start;
	uint32_t entry; /* NO_ENTRY: to none */
};

struct perf_map {
	struct entry *entries; /* sorted by start when finished */
	size_t nr, cap;
	char *names;
	size_t names_len, names_cap;
	struct span *spans;
	size_t nr_spans;

	/* The line whose end has not come yet; what does not fit is not kept. */
	char line[LINE_LEN_MAX];
	size_t line_len;
};

struct perf_map *perf_map_new(void)
{
	return calloc(1, sizeof(struct perf_map));
}

void perf_map_free(struct perf_map *m)
{
	if (!m)
		return;
	free(m->entries);
	free(m->names);
	free(m->spans);
	free(m);
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* A number and the blanks behind it; moves *@p behind these. Some compilers write it with "0x". */
static bool number(const char **p, const char *end, uint64_t *out)
{
	const char *s = *p, *first;
	int digit;

	if (end - s > 2 && s[0] == '0' && s[1] == 'x')
		s += 2;
	first = s;
	for (*out = 0; s < end && (digit = hex_digit(*s)) >= 0; s++) {
		if (*out >> 60)
			return false;
		*out = *out << 4 | (unsigned int)digit;
	}
	if (s == first || s == end || (*s != ' ' && *s != '\t'))
		return false;
	while (s < end && (*s == ' ' || *s == '\t'))
		s++;
	*p = s;
	return true;
}

static int add_entry(struct perf_map *m, uint64_t start, uint64_t size, const char *name, size_t len)
{
	struct entry *entries;
	char *names;

	if (m->nr == ENTRIES_MAX)
		return 0;
	entries = grow(m->entries, &m->cap, m->nr, 1, sizeof(*entries));
	if (!entries)
		return -ENOMEM;
	m->entries = entries;
	names = grow(m->names, &m->names_cap, m->names_len, len + 1, 1);
	if (!names)
		return -ENOMEM;
	m->names = names;
	m->entries[m->nr++] = (struct entry){ start, start + size, (uint32_t)m->names_len };
	memcpy(m->names + m->names_len, name, len);
	m->names[m->names_len + len] = 0;
	m->names_len += len + 1;
	return 0;
}

static int add_line(struct perf_map *m, const char *p, const char *end)
{
	uint64_t start, size, last;
	size_t len;

	if (!number(&p, end, &start) || !number(&p, end, &size))
		return 0;
	len = strnlen(p, (size_t)(end - p));
	if (len && p[len - 1] == '\r')
		len--;
	if (!len || !size || __builtin_add_overflow(start, size, &last))
		return 0;
	return add_entry(m, start, size, p, len);
}

int perf_map_feed(struct perf_map *m, const char *text, size_t len)
{
	const char *end = text + len, *newline;
	size_t piece, room;
	int rc;

	while (text < end) {
		newline = memchr(text, '\n', (size_t)(end - text));
		piece = (size_t)((newline ? newline : end) - text);
		room = sizeof(m->line) - m->line_len;
		room = piece < room ? piece : room;
		memcpy(m->line + m->line_len, text, room);
		m->line_len += room;
		text += piece;
		if (!newline)
			break;
		rc = add_line(m, m->line, m->line + m->line_len);
		if (rc)
			return rc;
		m->line_len = 0;
		text++;
	}
	return 0;
}

static int by_start(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->start > y->start) - (x->start < y->start);
}

/* The entries that cover an address, as a heap: the latest line is the first. Some may have ended before. */
struct covering {
	const struct entry *entries;
	uint32_t *heap;
	size_t nr;
};

static bool is_later(const struct covering *c, size_t a, size_t b)
{
	return c->entries[c->heap[a]].name > c->entries[c->heap[b]].name;
}

static void swap(struct covering *c, size_t a, size_t b)
{
	uint32_t entry = c->heap[a];

	c->heap[a] = c->heap[b];
	c->heap[b] = entry;
}

static void push(struct covering *c, size_t entry)
{
	size_t i = c->nr++;

	c->heap[i] = (uint32_t)entry;
	for (; i && is_later(c, i, (i - 1) / 2); i = (i - 1) / 2)
		swap(c, i, (i - 1) / 2);
}

static void pop(struct covering *c)
{
	size_t i = 0, child;

	c->heap[0] = c->heap[--c->nr];
	while ((child = 2 * i + 1) < c->nr) {
		if (child + 1 < c->nr && is_later(c, child + 1, child))
			child++;
		if (!is_later(c, child, i))
			return;
		swap(c, i, child);
		i = child;
	}
}

static void put_span(struct perf_map *m, uint64_t start, uint32_t entry)
{
	if (!m->nr_spans || m->spans[m->nr_spans - 1].entry != entry)
		m->spans[m->nr_spans++] = (struct span){ start, entry };
}

/* Go through the addresses at which something begins or ends. Two for each entry: so many spans there may be. */
static void sweep(struct perf_map *m, struct covering *c)
{
	const struct entry *e = m->entries;
	uint64_t addr = 0;
	size_t i = 0;

	while (i < m->nr || c->nr) {
		if (!c->nr)
			addr = e[i].start;
		while (i < m->nr && e[i].start <= addr)
			push(c, i++);
		while (c->nr && e[c->heap[0]].end <= addr)
			pop(c);
		put_span(m, addr, c->nr ? c->heap[0] : NO_ENTRY);
		if (c->nr)
			addr = e[c->heap[0]].end;
		if (c->nr && i < m->nr && e[i].start < addr)
			addr = e[i].start;
	}
}

/* Give back what @array has beyond @bytes, which are not 0. */
static void *trim(void *array, size_t bytes)
{
	void *fits = realloc(array, bytes);

	return fits ? fits : array;
}

int perf_map_finish(struct perf_map *m)
{
	struct covering c = { 0 };

	if (!m->nr)
		return 0;
	m->entries = trim(m->entries, m->nr * sizeof(*m->entries));
	m->names = trim(m->names, m->names_len);
	qsort(m->entries, m->nr, sizeof(*m->entries), by_start);
	c.entries = m->entries;
	c.heap = calloc(m->nr, sizeof(*c.heap));
	m->spans = calloc(2 * m->nr, sizeof(*m->spans));
	if (!c.heap || !m->spans) {
		free(c.heap);
		return -ENOMEM;
	}
	sweep(m, &c);
	free(c.heap);
	m->spans = trim(m->spans, m->nr_spans * sizeof(*m->spans));
	return 0;
}

bool perf_map_find(const struct perf_map *m, uint64_t addr, struct perf_map_symbol *out)
{
	size_t lo = 0, hi = m->nr_spans;
	const struct entry *e;

	/* The first one that begins above. */
	while (lo < hi) {
		size_t mid = lo + (hi - lo) / 2;

		if (m->spans[mid].start > addr)
			hi = mid;
		else
			lo = mid + 1;
	}
	if (!lo || m->spans[lo - 1].entry == NO_ENTRY)
		return false;
	e = &m->entries[m->spans[lo - 1].entry];
	*out = (struct perf_map_symbol){ m->names + e->name, e->start };
	return true;
}

static size_t memory(const struct perf_map *m)
{
	return m ? m->nr * sizeof(*m->entries) + m->names_len + m->nr_spans * sizeof(*m->spans) : 0;
}

/*
 * No more than @size bytes of @fd, which is what a file of a disk has: those of /proc, which may wait for more or lose
 * what was read, have 0.
 */
static int read_map(int fd, off_t size, struct perf_map **out)
{
	struct perf_map *m = perf_map_new();
	char piece[65536];
	off_t at = 0, left;
	ssize_t n = 1;
	int rc = m ? 0 : -ENOMEM;

	size = size < FILE_MAX ? size : FILE_MAX;
	while (!rc && n > 0 && at < size) {
		left = size - at;
		n = pread(fd, piece, left < (off_t)sizeof(piece) ? (size_t)left : sizeof(piece), at);
		if (n > 0)
			rc = perf_map_feed(m, piece, (size_t)n);
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

/* A process that was looked up. */
struct process {
	pid_t pid;
	uint64_t started; /* in clock ticks since boot; 0: not known */
	uint64_t round;   /* when the file was last looked at */
	struct perf_map *map;
	struct stat file; /* that @map is of */
};

struct perf_maps {
	const struct mapped_files_cfg *where;
	struct process *v;
	size_t nr, cap;
	struct hash_index by_pid;
	size_t bytes; /* of all maps */
	uint64_t round;
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
	pm->bytes -= memory(p->map);
	perf_map_free(p->map);
	p->map = map;
	pm->bytes += memory(map);
}

void perf_maps_free(struct perf_maps *pm)
{
	size_t i;

	if (!pm)
		return;
	for (i = 0; i < pm->nr; i++)
		perf_map_free(pm->v[i].map);
	hash_release(&pm->by_pid);
	free(pm->v);
	free(pm);
}

static uint64_t hash_pid(pid_t pid)
{
	return hash_bytes(&pid, sizeof(pid), 0);
}

void perf_maps_renew(struct perf_maps *pm)
{
	size_t i = 0, last;

	while (i < pm->nr) {
		if (pm->v[i].round == pm->round) {
			i++;
			continue;
		}
		set_map(pm, &pm->v[i], NULL);
		hash_del(&pm->by_pid, hash_pid(pm->v[i].pid), (uint32_t)i);
		last = --pm->nr;
		if (i != last) {
			pm->v[i] = pm->v[last];
			hash_move(&pm->by_pid, hash_pid(pm->v[i].pid), (uint32_t)last, (uint32_t)i);
		}
	}
	pm->round++;
}

/* What /proc tells of a process, and where its file is looked for. */
struct owner {
	bool lives;
	uint64_t uid, pid; /* effective; innermost */
	uint64_t started;  /* as of struct process */
};

/* Field 22 of /proc/PID/stat, the 20th behind the name, which may hold anything. */
static uint64_t start_time(const struct host *h, pid_t pid)
{
	char path[PATH_MAX], line[1024];
	uint64_t ticks = 0;
	const char *p;
	size_t len;
	FILE *f;
	int i;

	if (snprintf(path, sizeof(path), "%s/%d/stat", h->proc, pid) >= (int)sizeof(path) || !(f = fopen(path, "re")))
		return 0;
	len = fread(line, 1, sizeof(line) - 1, f);
	fclose(f);
	line[len] = 0;
	p = strrchr(line, ')');
	for (i = 0; p && i < 20; i++)
		p = strchr(p + 1, ' ');
	if (!p || !*p++ || parse_digits(&p, 10, UINT64_MAX, &ticks))
		return 0;
	return ticks;
}

/* The last number of a line, or the second one of "Uid:", where it is a number at all. */
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
	if (snprintf(path, sizeof(path), "%s/%d/status", h->proc, pid) >= (int)sizeof(path) || !(f = fopen(path, "re")))
		return;
	/* The kernel writes these lines: the longest, with 65536 groups, is before the last we need. */
	while (getline(&line, &cap, f) > 0)
		read_status(line, o);
	free(line);
	fclose(f);
	if (o->lives)
		o->started = start_time(h, pid);
}

/* Was it last written before the process began? The clock may have been set since: then it is not told. */
static bool is_leftover(const struct stat *st, const struct owner *o)
{
	struct timespec now, up;

	if (!o->started || clock_gettime(CLOCK_REALTIME, &now) || clock_gettime(CLOCK_BOOTTIME, &up))
		return false;
	return st->st_mtime + CLOCK_SLACK <
	       now.tv_sec - up.tv_sec + (time_t)(o->started / (uint64_t)sysconf(_SC_CLK_TCK));
}

/* Return: a descriptor and @st; -ENOENT: there is none, or none to be believed; -EMFILE, -ENFILE. */
static int open_map(const struct perf_maps *pm, pid_t pid, const struct owner *o, struct stat *st)
{
	char name[64];
	int fd;

	snprintf(name, sizeof(name), "tmp/perf-%d.map", (int)o->pid);
	fd = process_file_open(pm->where, o->lives ? pid : 0, name, st);
	if (fd < 0)
		return fd == -ESTALE || fd == -ETIME ? -ENOENT : fd;
	if (st->st_nlink == 1 && (!st->st_uid || st->st_uid == o->uid) && !is_leftover(st, o))
		return fd;
	close(fd);
	return -ENOENT;
}

static bool same_file(const struct stat *a, const struct stat *b)
{
	return a->st_ino == b->st_ino && a->st_dev == b->st_dev && a->st_size == b->st_size &&
	       a->st_mtim.tv_sec == b->st_mtim.tv_sec && a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* Read the file of @p if it is new or has changed. What was read before stays when it is gone, or cannot be read. */
static int look(struct perf_maps *pm, struct process *p)
{
	struct perf_map *map;
	struct owner o;
	struct stat st;
	int fd, rc = 0;

	read_owner(pm->where->host, p->pid, &o);
	if (!o.lives && p->map)
		return 0;
	/* Another one has its number now. */
	if (o.started != p->started)
		set_map(pm, p, NULL);
	p->started = o.started;
	fd = open_map(pm, p->pid, &o, &st);
	if (fd < 0)
		return fd == -ENOENT ? 0 : fd;
	if (!p->map || !same_file(&st, &p->file))
		rc = pm->bytes < ALL_BYTES_MAX ? read_map(fd, st.st_size, &map) : -E2BIG;
	else
		map = NULL;
	close(fd);
	if (!rc && map) {
		set_map(pm, p, map);
		p->file = st;
	}
	return rc;
}

static bool same_pid(const void *table, uint32_t pos, const void *key)
{
	const struct process *v = table;

	return v[pos].pid == *(const pid_t *)key;
}

/* The entry of @pid, made when there is none. NULL: no memory. */
static struct process *find_process(struct perf_maps *pm, pid_t pid)
{
	uint64_t hash = hash_pid(pid);
	uint32_t pos = hash_find(&pm->by_pid, hash, same_pid, pm->v, &pid);
	struct process *v;

	if (pos != HASH_NONE)
		return &pm->v[pos];
	v = grow(pm->v, &pm->cap, pm->nr, 1, sizeof(*v));
	if (!v)
		return NULL;
	pm->v = v;
	if (hash_add(&pm->by_pid, hash, (uint32_t)pm->nr))
		return NULL;
	pm->v[pm->nr] = (struct process){ .pid = pid };
	return &pm->v[pm->nr++];
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
	if (p->map && perf_map_find(p->map, addr, out))
		return 1;
	return rc;
}
