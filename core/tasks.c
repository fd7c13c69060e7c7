// SPDX-License-Identifier: Apache-2.0
#include "core/tasks.h"

#include "core/filter.h"
#include "core/grow.h"
#include "core/hash.h"
#include "core/maps.h"
#include "core/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Images of one process: a chain of execs, or a pid used again. The newest are kept; fewer while there are many. */
#define MAX_IMAGES     4096
#define MAX_IMAGES_FEW 16
#define MANY_IMAGES    65536 /* of all processes */

#define MAX_MAPPINGS     (4u << 20) /* of all images, 32 bytes each; what is mapped beyond is not known */
#define FORGET_MAPPINGS  (256u << 10)
#define FORGET_FILES     16384
#define MAX_DEAD_THREADS 1024 /* whose names are kept: samples may still come after the EXIT record */

/* Things found by a pid; each begins with this. */
struct entry {
	pid_t id;
	uint32_t pos; /* in pid_table.v */
};

struct pid_table {
	struct hash_index index;
	struct entry **v;
	size_t nr, cap;
};

struct thread {
	struct entry entry;
	bool named, dead;
	bool from_proc; /* the name is that of a moment to which the events may not have come yet */
	size_t dead_at; /* its place in the queue, when it is dead */
	char comm[COMM_LEN];
};

/* A process from a fork or an exec to the next exec. */
struct image {
	char comm[COMM_LEN]; /* the name it began with */
	struct maps *maps;
};

struct process {
	struct entry entry;
	bool exited;
	bool learned; /* its mappings are known: from its beginning on, or from /proc */
	struct image *images;
	size_t nr_images, cap_images;
};

struct known_file {
	struct mapped_file file;
	bool used; /* set and cleared in sweep_files() */
};

struct tasks {
	const struct host *host;
	struct pid_table threads, processes;
	size_t nr_exited, nr_images;

	pid_t dead[MAX_DEAD_THREADS]; /* a queue: the oldest is forgotten when a new one comes */
	size_t next_dead;

	struct hash_index file_index;
	struct known_file **files;
	size_t nr_files, cap_files;

	struct maps_budget mappings;
	uint64_t refused;                                    /* mappings for which there was no room */
	size_t forget_exited, forget_files, forget_mappings; /* tasks_forget() is due at these numbers */
};

/* ---- tables */

static uint64_t hash_id(pid_t id)
{
	return hash_bytes(&id, sizeof(id), 0);
}

static bool same_id(const void *table, uint32_t pos, const void *key)
{
	const struct pid_table *t = table;

	return t->v[pos]->id == *(const pid_t *)key;
}

static void *find_id(const struct pid_table *t, pid_t id)
{
	uint32_t pos = hash_find(&t->index, hash_id(id), same_id, t, &id);

	return pos == HASH_NONE ? NULL : t->v[pos];
}

/* A new zeroed entry of @size bytes for @id, which is not in the table yet. */
static void *add_id(struct pid_table *t, pid_t id, size_t size)
{
	struct entry **v = grow(t->v, &t->cap, t->nr, 1, sizeof(*v)), *e;

	if (!v)
		return NULL;
	t->v = v;
	e = calloc(1, size);
	if (!e || hash_add(&t->index, hash_id(id), (uint32_t)t->nr)) {
		free(e);
		return NULL;
	}
	e->id = id;
	e->pos = (uint32_t)t->nr;
	t->v[t->nr++] = e;
	return e;
}

/* The last entry takes the place of the one that goes. */
static void del_id(struct pid_table *t, struct entry *e)
{
	struct entry *last = t->v[t->nr - 1];

	hash_del(&t->index, hash_id(e->id), e->pos);
	if (last != e) {
		hash_move(&t->index, hash_id(last->id), last->pos, e->pos);
		last->pos = e->pos;
		t->v[last->pos] = last;
	}
	t->nr--;
	free(e);
}

static struct thread *get_thread(struct tasks *t, pid_t tid)
{
	struct thread *th = find_id(&t->threads, tid);

	return th ? th : add_id(&t->threads, tid, sizeof(*th));
}

static struct process *get_process(struct tasks *t, pid_t pid)
{
	struct process *p = find_id(&t->processes, pid);

	return p ? p : add_id(&t->processes, pid, sizeof(*p));
}

/* ---- files */

static bool same_file(const void *table, uint32_t pos, const void *key)
{
	const struct mapped_file *a = &((const struct tasks *)table)->files[pos]->file, *b = key;

	return a->ino == b->ino && a->maj == b->maj && a->min == b->min && !strcmp(a->path, b->path);
}

static uint64_t hash_file(const struct mapped_file *f)
{
	return hash_bytes(f->path, strlen(f->path), f->ino);
}

/*
 * A file keeps its name when it is deleted: the kernel adds " (deleted)" to it in MMAP2 records and in /proc. Without
 * an inode, nothing else would tell it from a new file of that name.
 */
static char *copy_path(const char *path, uint64_t ino)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	if (ino && len > tail && !strcmp(path + len - tail, deleted))
		len -= tail;
	return strndup(path, len);
}

/* @key.path is ours, taken or freed. */
static const struct mapped_file *intern_file(struct tasks *t, struct mapped_file key)
{
	struct known_file **v, *f = NULL;
	uint64_t hash;
	uint32_t pos;

	if (!key.path)
		return NULL;
	hash = hash_file(&key);
	pos = hash_find(&t->file_index, hash, same_file, t, &key);
	if (pos != HASH_NONE) {
		free(key.path);
		return &t->files[pos]->file;
	}
	v = grow(t->files, &t->cap_files, t->nr_files, 1, sizeof(*v));
	if (v)
		t->files = v;
	if (v)
		f = calloc(1, sizeof(*f));
	if (!f || hash_add(&t->file_index, hash, (uint32_t)t->nr_files)) {
		free(key.path);
		free(f);
		return NULL;
	}
	f->file = key;
	t->files[t->nr_files++] = f;
	return &f->file;
}

static void free_file(struct known_file *f)
{
	free(f->file.path);
	free(f);
}

static void mark_files(const struct process *p)
{
	size_t i, k;

	for (i = 0; i < p->nr_images; i++)
		for (k = 0; k < p->images[i].maps->nr; k++)
			((struct known_file *)p->images[i].maps->v[k].file)->used = true;
}

/* Drop the files that no image maps any more. */
static void sweep_files(struct tasks *t)
{
	size_t i, kept = 0;

	for (i = 0; i < t->processes.nr; i++)
		mark_files((const struct process *)t->processes.v[i]);
	for (i = 0; i < t->nr_files; i++) {
		struct known_file *f = t->files[i];
		uint64_t hash = hash_file(&f->file);

		if (f->used) {
			f->used = false;
			hash_move(&t->file_index, hash, (uint32_t)i, (uint32_t)kept);
			t->files[kept++] = f;
		} else {
			hash_del(&t->file_index, hash, (uint32_t)i);
			free_file(f);
		}
	}
	t->nr_files = kept;
}

/* ---- images */

static void set_comm(char *to, const char *comm)
{
	memset(to, 0, COMM_LEN);
	memcpy(to, comm, strnlen(comm, COMM_LEN - 1));
}

static void drop_images(struct tasks *t, struct process *p, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++)
		maps_unref(p->images[i].maps);
	t->nr_images -= nr;
	p->nr_images -= nr;
	memmove(p->images, p->images + nr, p->nr_images * sizeof(*p->images));
}

/* Begin a new image; it owns the reference to @maps, also on failure. */
static int add_image(struct tasks *t, struct process *p, const char *comm, struct maps *maps)
{
	size_t max = t->nr_images < MANY_IMAGES ? MAX_IMAGES : MAX_IMAGES_FEW;
	struct image *v = maps ? grow(p->images, &p->cap_images, p->nr_images, 1, sizeof(*v)) : NULL;

	if (!v) {
		maps_unref(maps);
		return -ENOMEM;
	}
	p->images = v;
	if (p->nr_images >= max)
		drop_images(t, p, p->nr_images - max + 1);
	t->nr_images++;
	set_comm(p->images[p->nr_images].comm, comm);
	p->images[p->nr_images++].maps = maps;
	return 0;
}

static struct image *newest(struct process *p)
{
	return p->nr_images ? &p->images[p->nr_images - 1] : NULL;
}

static void free_process(struct tasks *t, struct process *p)
{
	if (p->exited)
		t->nr_exited--;
	drop_images(t, p, p->nr_images);
	free(p->images);
	del_id(&t->processes, &p->entry);
}

static void forget_later(struct tasks *t)
{
	t->forget_exited = t->nr_exited + TASKS_MAX_EXITED;
	t->forget_files = t->nr_files + FORGET_FILES;
	t->forget_mappings = t->mappings.used + FORGET_MAPPINGS;
	if (t->forget_mappings > t->mappings.max)
		t->forget_mappings = t->mappings.max;
}

/* ---- public */

struct tasks *tasks_new(const struct host *host)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->host = host;
	t->mappings.max = MAX_MAPPINGS;
	forget_later(t);
	return t;
}

void tasks_free(struct tasks *t)
{
	size_t i;

	if (!t)
		return;
	while (t->processes.nr)
		free_process(t, (struct process *)t->processes.v[t->processes.nr - 1]);
	while (t->threads.nr)
		del_id(&t->threads, t->threads.v[t->threads.nr - 1]);
	hash_release(&t->processes.index);
	hash_release(&t->threads.index);
	free(t->processes.v);
	free(t->threads.v);
	for (i = 0; i < t->nr_files; i++)
		free_file(t->files[i]);
	free(t->files);
	hash_release(&t->file_index);
	free(t);
}

static int name_thread(struct tasks *t, pid_t tid, const char *comm, bool from_proc)
{
	struct thread *th = get_thread(t, tid);

	if (!th)
		return -ENOMEM;
	th->named = true;
	th->dead = false;
	th->from_proc = from_proc;
	set_comm(th->comm, comm);
	return 0;
}

static int learn_name(void *ctx, pid_t pid, pid_t tid)
{
	struct tasks *t = ctx;
	struct thread *th = find_id(&t->threads, tid);
	char comm[COMM_LEN];

	if ((th && th->named) || proc_comm(t->host, pid, tid, comm))
		return 0;
	return name_thread(t, tid, comm, true);
}

/* The thread if it has a name or /proc knows one, else NULL. */
static const struct thread *named_thread(struct tasks *t, pid_t pid, pid_t tid)
{
	const struct thread *th = find_id(&t->threads, tid);

	if (!th || !th->named) {
		learn_name(t, pid, tid);
		th = find_id(&t->threads, tid);
	}
	return th && th->named ? th : NULL;
}

int tasks_comm(struct tasks *t, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	struct process *p;
	int rc = name_thread(t, tid, comm, false);

	if (rc || !exec)
		return rc;
	p = get_process(t, pid);
	if (!p)
		return -ENOMEM;
	p->learned = true; /* every mapping of the new program is told of */
	return add_image(t, p, comm, maps_new(&t->mappings));
}

int tasks_fork(struct tasks *t, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid)
{
	const struct thread *parent_thread = named_thread(t, ppid, ptid);
	struct thread *child;
	char comm[COMM_LEN] = "";
	struct process *p, *parent;
	int rc;

	child = get_thread(t, tid);
	if (!child)
		return -ENOMEM;
	/* What /proc said of a living child was later than this record, and its parent may have another name by now. */
	if (!child->from_proc || child->dead) {
		child->named = parent_thread;
		if (parent_thread)
			set_comm(child->comm, parent_thread->comm);
	}
	child->dead = false;
	if (child->named)
		set_comm(comm, child->comm);
	if (pid == ppid)
		return 0;
	rc = tasks_learn(t, ppid);
	p = get_process(t, pid);
	if (rc || !p)
		return -ENOMEM;
	if (p->exited) {
		p->exited = false; /* the pid is used again */
		t->nr_exited--;
	}
	p->learned = true;
	parent = find_id(&t->processes, ppid);
	return add_image(t, p, comm,
			 parent && parent->nr_images ? maps_ref(newest(parent)->maps) : maps_new(&t->mappings));
}

int tasks_exit(struct tasks *t, pid_t pid, pid_t tid)
{
	struct thread *th = find_id(&t->threads, tid), *oldest;
	struct process *p = find_id(&t->processes, pid);

	if (th && !th->dead) {
		th->dead = true;
		th->dead_at = t->next_dead;
		/* A number that was used again may have died once more since, and has another place. */
		oldest = find_id(&t->threads, t->dead[t->next_dead]);
		if (oldest && oldest != th && oldest->dead && oldest->dead_at == t->next_dead)
			del_id(&t->threads, &oldest->entry);
		t->dead[t->next_dead] = tid;
		t->next_dead = (t->next_dead + 1) % MAX_DEAD_THREADS;
	}
	if (p && pid == tid && !p->exited) {
		p->exited = true;
		t->nr_exited++;
	}
	return 0;
}

static int map_into(struct tasks *t, struct process *p, const struct mapping *m, const char *path, uint32_t maj,
		    uint32_t min, uint64_t ino)
{
	struct mapping what = *m;
	int rc;

	what.file = intern_file(t, (struct mapped_file){ copy_path(path, ino), maj, min, ino });
	if (!what.file)
		return -ENOMEM;
	rc = maps_insert(&newest(p)->maps, &what);
	t->refused += rc == -E2BIG;
	return rc == -ENOMEM ? rc : 0; /* a mapping that makes no sense, or is one too many, is not worth the run */
}

int tasks_mmap(struct tasks *t, pid_t pid, const struct mapping *m, const char *path, uint32_t maj, uint32_t min,
	       uint64_t ino)
{
	struct process *p = get_process(t, pid);
	struct thread *leader = find_id(&t->threads, pid);

	if (!p || (!newest(p) && add_image(t, p, leader && leader->named ? leader->comm : "", maps_new(&t->mappings))))
		return -ENOMEM;
	return map_into(t, p, m, path, maj, min, ino);
}

struct learner {
	struct tasks *t;
	struct process *p;
};

static int learn_map(void *ctx, const struct proc_map *m)
{
	struct mapping map = { m->start, m->end, m->pgoff, NULL };
	struct learner *l = ctx;

	if (!m->exec)
		return 0;
	return map_into(l->t, l->p, &map, *m->path ? m->path : "//anon", m->maj, m->min, m->ino);
}

int tasks_learn(struct tasks *t, pid_t pid)
{
	struct process *p = find_id(&t->processes, pid);
	struct learner l = { t, p };
	char comm[COMM_LEN] = "";

	if (p && p->learned)
		return 0;
	if (pid <= 0)
		return 0;
	if (!p)
		l.p = p = get_process(t, pid);
	if (!p)
		return -ENOMEM;
	p->learned = true;
	if (!newest(p)) {
		proc_comm(t->host, pid, pid, comm);
		if (add_image(t, p, comm, maps_new(&t->mappings)))
			return -ENOMEM;
	}
	return proc_maps(t->host, pid, learn_map, &l) == -ENOMEM ? -ENOMEM : 0;
}

int tasks_snapshot(struct tasks *t, const struct filter *filter)
{
	size_t i;
	int rc = 0;

	if (!filter->nr)
		return proc_processes(t->host, learn_name, t);
	for (i = 0; i < filter->nr && !rc; i++)
		rc = filter->by_tid ? learn_name(t, filter->ids[i], filter->ids[i])
				    : proc_threads(t->host, filter->ids[i], learn_name, t);
	return rc;
}

void tasks_name(struct tasks *t, pid_t pid, pid_t tid, char *comm)
{
	const struct thread *th = named_thread(t, pid, tid);

	if (!th)
		th = named_thread(t, pid, pid);
	memset(comm, 0, COMM_LEN);
	if (th)
		memcpy(comm, th->comm, COMM_LEN);
	else
		snprintf(comm, COMM_LEN, ":%d", tid);
}

/* The newest image of @p that maps @addr and, unless @comm is NULL, began under that name. */
static const struct mapping *find_in(const struct process *p, const char *comm, uint64_t addr)
{
	size_t i;

	for (i = p->nr_images; i-- > 0;) {
		const struct image *im = &p->images[i];
		const struct mapping *m;

		if (comm && strncmp(im->comm, comm, COMM_LEN))
			continue;
		m = maps_find(im->maps, addr);
		if (m)
			return m;
	}
	return NULL;
}

int tasks_find(struct tasks *t, pid_t pid, const char *comm, uint64_t addr, struct mapping *out)
{
	const struct process *p;
	const struct mapping *m;

	if (tasks_learn(t, pid))
		return 0;
	p = find_id(&t->processes, pid);
	if (!p)
		return 0;
	m = find_in(p, comm, addr);
	if (!m)
		m = find_in(p, NULL, addr);
	if (!m)
		return 0;
	*out = *m;
	return 1;
}

size_t tasks_exited(const struct tasks *t)
{
	return t->nr_exited;
}

uint64_t tasks_refused(const struct tasks *t)
{
	return t->refused;
}

bool tasks_forget_due(const struct tasks *t)
{
	return t->nr_exited >= t->forget_exited || t->nr_files >= t->forget_files ||
	       t->mappings.used >= t->forget_mappings;
}

void tasks_forget(struct tasks *t, bool (*keep)(void *ctx, pid_t pid), void *ctx)
{
	size_t i;

	/* Backwards: the entry that takes a freed one's place has been looked at. */
	for (i = t->processes.nr; i-- > 0;) {
		struct process *p = (struct process *)t->processes.v[i];

		if (p->exited && !keep(ctx, p->entry.id))
			free_process(t, p);
	}
	sweep_files(t);
	forget_later(t);
}
