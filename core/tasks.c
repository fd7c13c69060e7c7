// SPDX-License-Identifier: Apache-2.0
#include "core/tasks.h"

#include "core/grow.h"
#include "core/hash.h"
#include "core/maps.h"
#include "core/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Images of one process: a chain of execs, or a pid used again. The newest are kept; fewer while there are many. */
#define MAX_IMAGES       4096
#define MAX_IMAGES_FEW   16
#define MANY_IMAGES      65536 /* of all processes */
#define MAX_DEAD_THREADS 1024  /* whose names are kept: samples may still come after the EXIT record */

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

struct tasks {
	const struct host *host;
	struct pid_table threads, processes;
	size_t nr_exited, nr_images;

	pid_t dead[MAX_DEAD_THREADS]; /* a queue: the oldest is forgotten when a new one comes */
	size_t next_dead;

	struct hash_index file_index;
	struct mapped_file **files;
	size_t nr_files, cap_files;
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
	const struct mapped_file *a = ((const struct tasks *)table)->files[pos], *b = key;

	return a->ino == b->ino && a->maj == b->maj && a->min == b->min && !strcmp(a->path, b->path);
}

static const struct mapped_file *intern_file(struct tasks *t, const char *path, uint32_t maj, uint32_t min,
					     uint64_t ino)
{
	struct mapped_file key = { (char *)path, maj, min, ino }, *f, **v;
	uint64_t hash = hash_bytes(path, strlen(path), ino);
	uint32_t pos = hash_find(&t->file_index, hash, same_file, t, &key);

	if (pos != HASH_NONE)
		return t->files[pos];
	v = grow(t->files, &t->cap_files, t->nr_files, 1, sizeof(*v));
	if (!v)
		return NULL;
	t->files = v;
	f = malloc(sizeof(*f));
	if (f)
		*f = (struct mapped_file){ strdup(path), maj, min, ino };
	if (!f || !f->path || hash_add(&t->file_index, hash, (uint32_t)t->nr_files)) {
		if (f)
			free(f->path);
		free(f);
		return NULL;
	}
	t->files[t->nr_files++] = f;
	return f;
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

/* ---- public */

struct tasks *tasks_new(const struct host *host)
{
	struct tasks *t = calloc(1, sizeof(*t));

	if (t)
		t->host = host;
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
	for (i = 0; i < t->nr_files; i++) {
		free(t->files[i]->path);
		free(t->files[i]);
	}
	free(t->files);
	hash_release(&t->file_index);
	free(t);
}

static int name_thread(struct tasks *t, pid_t tid, const char *comm)
{
	struct thread *th = get_thread(t, tid);

	if (!th)
		return -ENOMEM;
	th->named = true;
	th->dead = false;
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
	return name_thread(t, tid, comm);
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
	int rc = name_thread(t, tid, comm);

	if (rc || !exec)
		return rc;
	p = get_process(t, pid);
	if (!p)
		return -ENOMEM;
	p->learned = true; /* every mapping of the new program is told of */
	return add_image(t, p, comm, maps_new());
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
	child->dead = false;
	child->named = parent_thread;
	if (parent_thread) {
		set_comm(comm, parent_thread->comm);
		set_comm(child->comm, comm);
	}
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
	return add_image(t, p, comm, parent && parent->nr_images ? maps_ref(newest(parent)->maps) : maps_new());
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

	what.file = intern_file(t, path, maj, min, ino);
	if (!what.file)
		return -ENOMEM;
	rc = maps_insert(&newest(p)->maps, &what);
	return rc == -ENOMEM ? rc : 0; /* a mapping that makes no sense, or is one too many, is not worth the run */
}

int tasks_mmap(struct tasks *t, pid_t pid, const struct mapping *m, const char *path, uint32_t maj, uint32_t min,
	       uint64_t ino)
{
	struct process *p = get_process(t, pid);
	struct thread *leader = find_id(&t->threads, pid);

	if (!p || (!newest(p) && add_image(t, p, leader && leader->named ? leader->comm : "", maps_new())))
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
		if (add_image(t, p, comm, maps_new()))
			return -ENOMEM;
	}
	return proc_maps(t->host, pid, learn_map, &l) == -ENOMEM ? -ENOMEM : 0;
}

int tasks_snapshot(struct tasks *t)
{
	return proc_threads(t->host, learn_name, t);
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

void tasks_forget(struct tasks *t, bool (*keep)(void *ctx, pid_t pid), void *ctx)
{
	size_t i;

	/* Backwards: the entry that takes a freed one's place has been looked at. */
	for (i = t->processes.nr; i-- > 0;) {
		struct process *p = (struct process *)t->processes.v[i];

		if (p->exited && !keep(ctx, p->entry.id))
			free_process(t, p);
	}
}
