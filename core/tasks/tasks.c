// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/tasks.h"

#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/base/intern.h"
#include "core/tasks/filter.h"
#include "core/tasks/maps.h"
#include "core/tasks/proc.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * What is read from /proc is later than what the records have told so far: they are applied in the order of their
 * times, but some tenths of a second after the kernel wrote them. So each reading is kept with its time, and the
 * records that come later and are older than that say what it was worth:
 *
 * - COMM of an exec, mappings read: the kernel gives the process its new, empty address space, writes the record, then
 *   maps the program. A reading that was over by then has nothing of the new program. One that was not may be of the
 *   new one, or of both (before 3.18 one reading could go from one address space to the other). So the time at which it
 *   ended decides, and the image is not known: its addresses are not looked up in it, nor in the new program. The same
 *   where nothing had been read by then, if the name is known that its rows have.
 * - EXIT of a process: what was read afterwards is nothing, or another process with its number. FORK: what was read of
 *   that number may be the child as it was later, or a process before it. Not known, as above. After its EXIT nothing
 *   of a task is read any more.
 * - FORK of a process whose parent was read later: the child has what was read, and when an exec of the parent makes
 *   that void, it is void for the child, too; the child is then read itself.
 * - MMAP2: applied, though it may be what the reading has already. Had the reading something newer in that range, its
 *   record comes, too. Leaving it out would lose what was mapped at the time of the samples that follow and unmapped
 *   before the reading. What was there before it, and what munmap(2) took away, no record tells.
 * - COMM, name read: the name is another from here on. The samples before were counted under the one that was read,
 *   which was later than they, and the one they had is nowhere to be found.
 *
 * Where the times of the events are of an unknown clock (before 4.1) every reading is believed.
 */

/* Images of one process: a chain of execs, or a pid used again. The newest are kept; fewer while there are many. */
#define MAX_IMAGES     4096
#define MAX_IMAGES_FEW 16
#define MANY_IMAGES    65536 /* of all processes */

#define MAX_MAPPINGS     (4u << 20) /* of all images, 32 bytes each; what is mapped beyond is not known */
#define FORGET_MAPPINGS  (256u << 10)
#define FORGET_FILES     16384
#define TELLS_MAX        16   /* of one file to on_mapped() */
#define MAX_DEAD_THREADS 1024 /* whose names are kept: samples may still come after the EXIT record */

/* Things found by a pid; each begins with this. */
struct entry {
	pid_t id;
};

/* An entry of the tables. */
struct slot {
	pid_t id;
	struct entry *entry;
};

static const struct intern_kind slot_kind = INTERN_BYTES(struct slot, id);

struct thread {
	struct entry entry;
	bool named, dead;
	size_t dead_at;   /* its place in the queue, when it is dead */
	uint64_t read_ns; /* when /proc told the name; 0: an event told it */
	char comm[COMM_LEN];
	uint64_t mntns;      /* 0: not known */
	bool hidden;         /* it was not, and /proc did not permit to read it */
	struct group *group; /* NULL: it leads its process, or is dead */
	struct thread *prev, *next;
};

/* The threads of a process that are known and live, without its leader. It goes with the last of them. */
struct group {
	struct entry entry; /* the process's pid */
	struct thread *first;
};

/* Of /proc/PID/maps. Shared by the images that have something of it: that of @pid, and those of its children. */
struct reading {
	unsigned int refs;
	pid_t pid;
	uint64_t end_ns; /* CLOCK_MONOTONIC */
	bool failed;     /* what was mapped before the events that follow is not known */
	bool late;       /* it was of something that came later: nothing of it, or mixed with it, is to be believed */
};

/* A process from a fork or an exec to the next exec. */
struct image {
	char comm[COMM_LEN]; /* the name it began with; "": not known */
	uint64_t comm_ns;    /* when /proc told it; 0: an event did */
	struct maps *maps;
	struct reading *reading; /* NULL: all of @maps was told by events */
};

struct process {
	struct entry entry;
	bool exited;
	bool learned;  /* its mappings are known: from its beginning on, or from /proc */
	bool executed; /* its newest program, as a record told */
	bool anew;     /* not all of them: see tasks_read_anew() */
	pid_t parent;  /* that forked it; 0: no record told */
	pid_t shown;   /* thread in whose folder of /proc the process is to be seen; 0: its own number will do */
	struct image *images;
	size_t nr_images, cap_images;
};

struct known_file {
	struct mapped_file file;
	bool used;    /* set and cleared in sweep_files() */
	uint8_t told; /* how often on_mapped() was called; TELLS_MAX: not any more */
};

struct tasks {
	const struct host *host;
	struct intern_table threads, groups, processes;
	uint64_t event_ns; /* of the record that is applied; 0: unknown */
	size_t nr_exited, nr_images;

	pid_t dead[MAX_DEAD_THREADS]; /* a queue: the oldest is forgotten when a new one comes */
	size_t next_dead;

	struct intern_table files; /* of pointers to struct known_file */
	uint64_t forgotten;        /* see tasks_forgotten() */
	bool (*on_mapped)(void *ctx, pid_t pid, const struct mapping *m);
	void *on_mapped_ctx;
	uint64_t sweeps; /* of sweep_files() */

	struct maps_budget mappings;
	uint64_t refused;                                    /* mappings for which there was no room */
	size_t forget_exited, forget_files, forget_mappings; /* tasks_forget() is due at these numbers */
};

/* Is the record that is applied older than a reading that ended at @read_ns? */
static bool is_older(const struct tasks *t, uint64_t read_ns)
{
	return t->event_ns && t->event_ns <= read_ns;
}

/* ---- tables */

static void *find_id(const struct intern_table *t, pid_t id)
{
	const struct slot *s = intern_find(t, &slot_kind, &id);

	return s ? s->entry : NULL;
}

static void *entry_at(const struct intern_table *t, size_t i)
{
	return ((const struct slot *)t->v)[i].entry;
}

/* The entry of @id, a new zeroed one of @size bytes if there is none. NULL: no memory. */
static void *get_id(struct intern_table *t, pid_t id, size_t size)
{
	bool is_new;
	struct slot *s = intern(t, &slot_kind, &id, &is_new);

	if (!s || !is_new)
		return s ? s->entry : NULL;
	s->entry = calloc(1, size);
	if (!s->entry) {
		intern_delete(t, &slot_kind, s);
		return NULL;
	}
	s->entry->id = id;
	return s->entry;
}

/* The last entry takes the place of the one that goes. */
static void del_id(struct intern_table *t, struct entry *e)
{
	intern_delete(t, &slot_kind, intern_find(t, &slot_kind, &e->id));
	free(e);
}

static void free_entries(struct intern_table *t)
{
	size_t i;

	for (i = 0; i < t->nr; i++)
		free(entry_at(t, i));
	intern_release(t);
}

static struct thread *get_thread(struct tasks *t, pid_t tid)
{
	return get_id(&t->threads, tid, sizeof(struct thread));
}

static struct process *get_process(struct tasks *t, pid_t pid)
{
	return get_id(&t->processes, pid, sizeof(struct process));
}

/* ---- groups */

static void leave_group(struct tasks *t, struct thread *th)
{
	struct group *g = th->group;

	if (!g)
		return;
	if (th->prev)
		th->prev->next = th->next;
	else
		g->first = th->next;
	if (th->next)
		th->next->prev = th->prev;
	th->prev = th->next = NULL;
	th->group = NULL;
	if (!g->first)
		del_id(&t->groups, &g->entry);
}

/* Of the process in which @th lives, when it does. */
static pid_t home(const struct thread *th)
{
	return th->group ? th->group->entry.id : th->entry.id;
}

/* @th lives, in process @pid: a number that is used again may be in another one than it was. */
static int set_alive(struct tasks *t, struct thread *th, pid_t pid)
{
	struct group *g;

	th->dead = false;
	if (home(th) == pid)
		return 0;
	leave_group(t, th);
	if (th->entry.id == pid)
		return 0;
	g = get_id(&t->groups, pid, sizeof(*g));
	if (!g)
		return -ENOMEM;
	th->group = g;
	th->next = g->first;
	if (th->next)
		th->next->prev = th;
	g->first = th;
	return 0;
}

static void set_dead(struct tasks *t, struct thread *th)
{
	struct thread *oldest = find_id(&t->threads, t->dead[t->next_dead]);

	leave_group(t, th);
	th->dead = true;
	th->dead_at = t->next_dead;
	/* A number that was used again may have died once more since, and has another place. */
	if (oldest && oldest != th && oldest->dead && oldest->dead_at == t->next_dead)
		del_id(&t->threads, &oldest->entry);
	t->dead[t->next_dead] = th->entry.id;
	t->next_dead = (t->next_dead + 1) % MAX_DEAD_THREADS;
}

/*
 * The mount namespace of the threads of @pid but the leader, which has none any more when it has ended, while the
 * others go on. Return: 0: not known.
 */
static uint64_t mntns_of_group(const struct tasks *t, pid_t pid)
{
	const struct group *g = find_id(&t->groups, pid);
	const struct thread *th = g ? g->first : NULL;

	while (th && !th->mntns)
		th = th->next;
	return th ? th->mntns : 0;
}

/* An exec of @pid has ended all of its other threads. The one that called it, if not the leader, has no EXIT record. */
static void end_group(struct tasks *t, pid_t pid)
{
	struct thread *leader = find_id(&t->threads, pid);
	struct group *g = find_id(&t->groups, pid);
	struct thread *th = g ? g->first : NULL, *next;

	if (leader && !leader->mntns)
		leader->mntns = mntns_of_group(t, pid);
	for (; th; th = next) {
		next = th->next; /* not freed: it is not dead yet */
		set_dead(t, th);
	}
}

/*
 * An exec in a thread that is not the leader: when all others are gone, the thread takes the leader's number, and some
 * time later the new program's name. Between these it runs as the leader, under its own name. NULL: not so, as far as
 * is known.
 */
static const struct thread *successor(const struct tasks *t, const struct thread *leader)
{
	const struct group *g = leader->dead ? find_id(&t->groups, leader->entry.id) : NULL;

	return g && !g->first->next && g->first->named ? g->first : NULL;
}

/* ---- files */

static uint64_t hash_file(const void *key)
{
	return mapped_file_hash(*(const struct mapped_file *const *)key);
}

static bool same_file(const void *have, const void *key)
{
	return mapped_file_equal(*(const struct mapped_file *const *)have, *(const struct mapped_file *const *)key);
}

/* Each is a pointer to a struct known_file, and so to its struct mapped_file. */
static const struct intern_kind file_kind = { sizeof(struct known_file *), 0, 0, hash_file, same_file };

/*
 * A file keeps its name when it is deleted: the kernel adds " (deleted)" to it in MMAP2 records and in /proc. Without
 * an inode or a build id, nothing else would tell it from a new file of that name.
 */
static char *copy_path(const char *path, bool identified)
{
	static const char deleted[] = " (deleted)";
	size_t len = strlen(path), tail = sizeof(deleted) - 1;

	if (identified && len > tail && !strcmp(path + len - tail, deleted))
		len -= tail;
	return strndup(path, len);
}

/* @key.path is ours, taken or freed. */
static const struct mapped_file *intern_file(struct tasks *t, struct mapped_file key)
{
	const struct mapped_file *wanted = &key;
	struct known_file **place, *f;
	bool is_new;

	if (!key.path)
		return NULL;
	place = intern_find(&t->files, &file_kind, &wanted);
	if (place) {
		free((char *)key.path);
		return &(*place)->file;
	}
	f = calloc(1, sizeof(*f));
	if (f)
		f->file = key;
	place = f ? intern(&t->files, &file_kind, &f, &is_new) : NULL;
	if (!place) {
		free((char *)key.path);
		free(f);
		return NULL;
	}
	*place = f;
	return &f->file;
}

static void free_file(struct known_file *f)
{
	free((char *)f->file.path);
	free(f);
}

/* Images share their maps after a fork: each of these is looked at once. */
static void mark_files(const struct process *p, uint64_t sweep)
{
	size_t i, k;

	for (i = 0; i < p->nr_images; i++) {
		struct maps *m = p->images[i].maps;

		for (k = 0; k < m->nr && m->marked != sweep; k++)
			((struct known_file *)m->v[k].file)->used = true;
		m->marked = sweep;
	}
}

/* Drop the files that no image maps any more. */
static void sweep_files(struct tasks *t)
{
	struct known_file **files = t->files.v, *f;
	size_t i;

	t->sweeps++;
	for (i = 0; i < t->processes.nr; i++)
		mark_files(entry_at(&t->processes, i), t->sweeps);
	/* Backwards: the file that takes the place of a dropped one has been looked at. */
	for (i = t->files.nr; i-- > 0;) {
		f = files[i];
		if (!f->used) {
			intern_delete(&t->files, &file_kind, &files[i]);
			free_file(f);
			t->forgotten++;
		} else {
			f->used = false;
		}
	}
}

/* ---- images */

static void set_comm(char *to, const char *comm)
{
	memset(to, 0, COMM_LEN);
	memcpy(to, comm, strnlen(comm, COMM_LEN - 1));
}

static void release_reading(struct reading *r)
{
	if (r && !--r->refs)
		free(r);
}

static void drop_images(struct tasks *t, struct process *p, size_t nr)
{
	size_t i;

	for (i = 0; i < nr; i++) {
		maps_unref(p->images[i].maps);
		release_reading(p->images[i].reading);
	}
	t->nr_images -= nr;
	p->nr_images -= nr;
	if (p->nr_images)
		memmove(p->images, p->images + nr, p->nr_images * sizeof(*p->images));
}

/* Begin a new image: with what @from has, unless NULL, which is not of the same process. */
static int add_image(struct tasks *t, struct process *p, const char *comm, const struct image *from)
{
	size_t max = t->nr_images < MANY_IMAGES ? MAX_IMAGES : MAX_IMAGES_FEW;
	struct image *v = grow(p->images, &p->cap_images, p->nr_images, 1, sizeof(*v)), *im;
	struct maps *maps;

	if (!v)
		return -ENOMEM;
	p->images = v;
	maps = from ? maps_ref(from->maps) : maps_new(&t->mappings);
	if (!maps)
		return -ENOMEM;
	/* Some more than needed, so that a long chain does not move them all for each exec. */
	if (p->nr_images >= max)
		drop_images(t, p, p->nr_images - max + max / 8);
	t->nr_images++;
	im = &p->images[p->nr_images++];
	*im = (struct image){ .maps = maps, .reading = from ? from->reading : NULL };
	if (im->reading)
		im->reading->refs++;
	set_comm(im->comm, comm);
	return 0;
}

static struct image *newest(struct process *p)
{
	return p->nr_images ? &p->images[p->nr_images - 1] : NULL;
}

static bool is_late(const struct image *im)
{
	return im && im->reading && im->reading->late;
}

/* The record that is applied ends what @p was, or began after that: what was read of it later was something else. */
static void doubt_reading(const struct tasks *t, struct process *p)
{
	struct image *im = newest(p);

	if (im && im->reading && im->reading->pid == p->entry.id && is_older(t, im->reading->end_ns))
		im->reading->late = true;
}

/* Of the mappings of @pid, for @im; failed until it is done. NULL: no memory. */
static struct reading *begin_reading(struct image *im, pid_t pid)
{
	struct reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	release_reading(im->reading);
	im->reading = r;
	r->refs = 1;
	r->pid = pid;
	r->failed = true;
	return r;
}

/* The newest image, for more to be put in; a late reading gives way to nothing, and to another reading. */
static struct image *usable(struct tasks *t, struct process *p)
{
	struct image *im = newest(p);
	struct maps *maps;

	if (!is_late(im))
		return im;
	maps = maps_new(&t->mappings);
	if (!maps)
		return NULL;
	maps_unref(im->maps);
	release_reading(im->reading);
	im->maps = maps;
	im->reading = NULL;
	p->learned = false;
	return im;
}

static void set_exited(struct tasks *t, struct process *p, bool exited)
{
	t->nr_exited += exited;
	t->nr_exited -= p->exited;
	p->exited = exited;
}

static void free_process(struct tasks *t, struct process *p)
{
	set_exited(t, p, false);
	drop_images(t, p, p->nr_images);
	free(p->images);
	del_id(&t->processes, &p->entry);
}

static void forget_later(struct tasks *t)
{
	size_t left = t->mappings.max - t->mappings.used;

	t->forget_exited = t->nr_exited + TASKS_MAX_EXITED;
	t->forget_files = t->files.nr + FORGET_FILES;
	/* Near the end of the budget: before it is used up, which it never is to the last. */
	t->forget_mappings = t->mappings.used + (left < FORGET_MAPPINGS ? left / 2 + 1 : FORGET_MAPPINGS);
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
	struct known_file **files;
	size_t i;

	if (!t)
		return;
	files = t->files.v;
	while (t->processes.nr)
		free_process(t, entry_at(&t->processes, t->processes.nr - 1));
	free_entries(&t->threads);
	free_entries(&t->groups);
	intern_release(&t->processes);
	for (i = 0; i < t->files.nr; i++)
		free_file(files[i]);
	intern_release(&t->files);
	free(t);
}

void tasks_on_mapped(struct tasks *t, bool (*fn)(void *ctx, pid_t pid, const struct mapping *m), void *ctx)
{
	t->on_mapped = fn;
	t->on_mapped_ctx = ctx;
}

void tasks_at(struct tasks *t, uint64_t ns)
{
	t->event_ns = ns;
}

static int name_thread(struct tasks *t, pid_t pid, pid_t tid, const char *comm, uint64_t read_ns)
{
	struct thread *th = get_thread(t, tid);

	if (!th || set_alive(t, th, pid))
		return -ENOMEM;
	th->named = true;
	th->read_ns = read_ns;
	set_comm(th->comm, comm);
	return 0;
}

static int learn_name(void *ctx, pid_t pid, pid_t tid)
{
	struct tasks *t = ctx;
	struct thread *th = find_id(&t->threads, tid);
	char comm[COMM_LEN];

	if (!t->host || (th && (th->named || th->dead)) || proc_comm(t->host, pid, tid, comm))
		return 0;
	return name_thread(t, pid, tid, comm, now_ns());
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

/*
 * @p has a new program, and the mappings of the one it had, called @comm, were never read. They are not to be looked
 * for in the new one.
 */
static int leave_unread(struct tasks *t, struct process *p, const char *comm)
{
	if (p->learned || (!newest(p) && add_image(t, p, comm, NULL)))
		return p->learned ? 0 : -ENOMEM;
	return begin_reading(newest(p), p->entry.id) ? 0 : -ENOMEM;
}

/* The program that @p had under the name @old gives way to another. @told: every mapping of that is told of. */
static int renew_process(struct tasks *t, struct process *p, const char *old, const char *comm, bool told)
{
	if (*old && leave_unread(t, p, old))
		return -ENOMEM;
	doubt_reading(t, p);
	set_exited(t, p, false); /* an exec in another thread has ended the leader, and takes its number */
	p->shown = 0;
	p->learned = p->executed = told;
	p->anew = false;
	if (add_image(t, p, comm, NULL))
		return -ENOMEM;
	/* Until it is read, its addresses are not looked for in the old program. */
	return told || begin_reading(newest(p), p->entry.id) ? 0 : -ENOMEM;
}

int tasks_comm(struct tasks *t, pid_t pid, pid_t tid, const char *comm, bool exec)
{
	const struct thread *th = find_id(&t->threads, tid);
	char old[COMM_LEN] = "";
	struct process *p;

	if (th && th->named)
		set_comm(old, th->comm);
	if (exec)
		end_group(t, pid);
	if (name_thread(t, pid, tid, comm, 0))
		return -ENOMEM;
	p = pid == tid && !exec ? find_id(&t->processes, pid) : NULL;
	if (p && newest(p) && !*newest(p)->comm)
		set_comm(newest(p)->comm, comm);
	if (!exec)
		return 0;
	p = get_process(t, pid);
	return p ? renew_process(t, p, old, comm, true) : -ENOMEM;
}

int tasks_refresh(struct tasks *t, pid_t pid, pid_t tid, const char *comm)
{
	const struct thread *th = find_id(&t->threads, tid);
	struct process *p = pid == tid ? find_id(&t->processes, pid) : NULL;
	bool known = th && (th->named || th->dead);
	char old[COMM_LEN] = "", new[COMM_LEN];

	set_comm(new, comm);
	if (th && th->named)
		set_comm(old, th->comm);
	if (known && !th->dead && home(th) == pid && !memcmp(old, new, COMM_LEN))
		return 0;
	if (name_thread(t, pid, tid, new, 0))
		return -ENOMEM;
	return p && (known || p->exited) ? renew_process(t, p, old, new, false) : 0;
}

/*
 * Does @child keep the name that /proc told of it, instead of taking @parent's? Not what was read before it was born,
 * and not where @parent's name is certain: a later one is told. Else both were read later than this record, and its own
 * is the better guess.
 */
static bool keeps_name(const struct tasks *t, const struct thread *child, const struct thread *parent)
{
	if (!child->read_ns || child->dead)
		return false;
	if (!t->event_ns)
		return true;
	return is_older(t, child->read_ns) && (!parent || (parent->read_ns && is_older(t, parent->read_ns)));
}

static int fork_process(struct tasks *t, pid_t pid, pid_t ppid, const char *comm, bool exec)
{
	int rc = tasks_learn(t, ppid);
	struct process *p = get_process(t, pid), *parent = find_id(&t->processes, ppid);
	struct image *from = parent && !exec ? newest(parent) : NULL;

	if (rc || !p)
		return -ENOMEM;
	doubt_reading(t, p);
	/* A process that is born now was not there before its name was read: rows that have it are of later images. */
	if (is_late(newest(p)) && newest(p)->comm_ns && is_older(t, newest(p)->comm_ns))
		set_comm(newest(p)->comm, "");
	set_exited(t, p, false); /* the pid may be used again */
	p->parent = ppid;
	p->shown = 0;
	p->anew = p->executed = false;
	p->learned = ppid > 0; /* of a parent outside our pid namespace nothing is known */
	/* Of another program the name is still to come. */
	return add_image(t, p, exec ? "" : comm, from);
}

/*
 * Since 6.3 the kernel gives its threads their names when it makes them, and no COMM record tells of it. Those that are
 * gone when /proc is asked are called as the thread that makes them all, which is pid 2.
 */
static bool makes_kernel_threads(pid_t pid, const struct thread *th)
{
	return pid == 2 && th && !strcmp(th->comm, "kthreadd");
}

int tasks_fork(struct tasks *t, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid, bool exec)
{
	const struct thread *parent = named_thread(t, ppid, ptid);
	struct thread *child = get_thread(t, tid);
	char comm[COMM_LEN] = "";

	if (!child)
		return -ENOMEM;
	if (!keeps_name(t, child, parent)) {
		child->named = child->dead = false;
		child->read_ns = 0;
		child->mntns = parent ? parent->mntns : 0;
		child->hidden = false;
		if (makes_kernel_threads(ppid, parent))
			learn_name(t, pid, tid);
		if (!child->named && parent) {
			child->named = true;
			set_comm(child->comm, parent->comm);
		}
	}
	if (set_alive(t, child, pid))
		return -ENOMEM;
	if (child->named)
		set_comm(comm, child->comm);
	return pid == ppid ? 0 : fork_process(t, pid, ppid, comm, exec);
}

int tasks_exit(struct tasks *t, pid_t pid, pid_t tid)
{
	struct thread *th = get_thread(t, tid);
	struct process *p;

	if (!th)
		return -ENOMEM;
	if (!th->dead)
		set_dead(t, th);
	p = pid != tid ? find_id(&t->processes, pid) : NULL;
	if (p && p->shown == tid)
		p->shown = 0;
	if (pid != tid)
		return 0;
	p = get_process(t, pid);
	if (!p)
		return -ENOMEM;
	doubt_reading(t, p);
	set_exited(t, p, true);
	return 0;
}

/* All memory without a file is one: what is told of it is that the process has such. */
static void tell_mapped(struct tasks *t, pid_t pid, const struct mapping *m)
{
	struct known_file *f = (struct known_file *)m->file;

	if (t->on_mapped && mapped_file_is_memory(m->file))
		t->on_mapped(t->on_mapped_ctx, pid, m);
	else if (t->on_mapped && f->told < TELLS_MAX)
		f->told = t->on_mapped(t->on_mapped_ctx, pid, m) ? TELLS_MAX : f->told + 1;
}

/* @m->file is of the caller. */
static int map_into(struct tasks *t, struct process *p, const struct mapping *m)
{
	struct image *im = usable(t, p);
	struct mapped_file file = *m->file;
	struct mapping what = *m;
	int rc;

	if (!im)
		return -ENOMEM;
	file.path = copy_path(file.path, file.ino || file.build_id_size);
	what.file = intern_file(t, file);
	if (!what.file)
		return -ENOMEM;
	rc = maps_insert(&im->maps, &what);
	t->refused += rc == -E2BIG;
	return rc == -ENOMEM ? rc : 0; /* a mapping that makes no sense, or is one too many, is not worth the run */
}

int tasks_mmap(struct tasks *t, pid_t pid, const struct mapping *m)
{
	struct process *p = get_process(t, pid);
	struct thread *leader = find_id(&t->threads, pid);
	const struct mapping *shown;
	int rc;

	if (!p || (!newest(p) && add_image(t, p, leader && leader->named ? leader->comm : "", NULL)))
		return -ENOMEM;
	rc = map_into(t, p, m);
	shown = rc ? NULL : maps_find(newest(p)->maps, m->start);
	if (shown)
		tell_mapped(t, pid, shown);
	return rc;
}

struct learner {
	struct tasks *t;
	struct process *p;
	size_t nr; /* mappings seen */
};

static int learn_map(void *ctx, const struct proc_map *m)
{
	const struct mapped_file file = { .path = *m->path ? m->path : "//anon", m->maj, m->min, m->ino };
	const struct mapping map = { m->start, m->end, m->pgoff, &file };
	struct learner *l = ctx;

	l->nr++;
	if (!m->exec)
		return 0;
	return map_into(l->t, l->p, &map);
}

/* Nothing is known of it, or only what was read of its parent, which could not be used. */
static bool needs_reading(struct process *p)
{
	const struct image *im = newest(p);

	if (p->exited)
		return false; /* the number may be another's by now */
	if (!p->learned || p->anew)
		return true;
	return im && im->reading && im->reading->pid != p->entry.id && (im->reading->late || im->reading->failed);
}

/* The image into which the mappings of @p are to be read. It began under the name that the events have come to. */
static struct image *image_to_read(struct tasks *t, struct process *p)
{
	const struct thread *leader = named_thread(t, p->entry.id, p->entry.id);
	const char *comm = leader ? leader->comm : "";
	struct image *im;

	if (!newest(p) && add_image(t, p, comm, NULL))
		return NULL;
	im = usable(t, p);
	if (im && !*im->comm)
		set_comm(im->comm, comm);
	if (im && leader && !strncmp(im->comm, leader->comm, COMM_LEN))
		im->comm_ns = leader->read_ns;
	return im;
}

static int learn_of_thread(void *ctx, pid_t pid, pid_t tid)
{
	struct learner *l = ctx;
	int rc = tid == pid ? 0 : proc_maps(l->t->host, tid, learn_map, l);

	if (!l->nr)
		return rc == -ENOMEM ? rc : 0;
	l->p->shown = tid;
	return rc ? rc : 1;
}

/* When its first thread has ended, which is no end of a process, it has nothing any more under its own number. */
static int learn_maps(struct learner *l)
{
	pid_t pid = l->p->entry.id;
	int rc = proc_maps(l->t->host, pid, learn_map, l);

	return rc || l->nr ? rc : proc_threads(l->t->host, pid, learn_of_thread, l);
}

static int read_maps(struct tasks *t, struct process *p)
{
	struct image *im = image_to_read(t, p);
	struct reading *r = im ? begin_reading(im, p->entry.id) : NULL;
	struct learner l = { t, p };
	bool again = p->learned && p->anew;
	const struct maps *maps;
	size_t i;
	int rc;

	if (!r)
		return -ENOMEM;
	p->learned = true;
	p->anew = false;
	rc = learn_maps(&l);
	r->end_ns = now_ns();
	r->failed = rc < 0 && !again; /* most of it is known */
	/* Only now: it may take its time, and what is read meanwhile would be the less believed. */
	maps = newest(p)->maps;
	for (i = 0; i < maps->nr && !r->failed; i++)
		tell_mapped(t, p->entry.id, &maps->v[i]);
	return rc == -ENOMEM ? rc : 0;
}

int tasks_learn(struct tasks *t, pid_t pid)
{
	struct process *p;

	if (pid <= 0 || !t->host)
		return 0;
	p = get_process(t, pid);
	if (!p)
		return -ENOMEM;
	return needs_reading(p) ? read_maps(t, p) : 0;
}

bool tasks_unmapped(struct tasks *t, pid_t pid, pid_t tid)
{
	struct process *p = pid == tid ? find_id(&t->processes, pid) : NULL;
	const struct image *im = p && !p->exited && p->learned ? newest(p) : NULL;

	if (!im || !p->executed || im->maps->nr)
		return false;
	p->learned = false;
	return true;
}

void tasks_read_anew(struct tasks *t)
{
	size_t i;

	for (i = 0; i < t->processes.nr; i++)
		((struct process *)entry_at(&t->processes, i))->anew = true;
}

int tasks_namespaces(struct tasks *t, pid_t pid, pid_t tid, uint64_t mntns)
{
	struct thread *th = get_thread(t, tid);

	if (!th || (!th->dead && set_alive(t, th, pid)))
		return -ENOMEM;
	th->mntns = mntns;
	return 0;
}

uint64_t tasks_mntns(struct tasks *t, pid_t pid, pid_t tid)
{
	struct thread *th = find_id(&t->threads, tid);

	if (!th) {
		learn_name(t, pid, tid);
		th = find_id(&t->threads, tid);
	}
	if (th && !th->mntns && !th->dead && !th->hidden && t->host)
		th->hidden = proc_mntns(t->host, pid, tid, &th->mntns) == -EACCES;
	if (th && !th->mntns && pid == tid)
		th->mntns = mntns_of_group(t, pid);
	return th ? th->mntns : 0;
}

bool tasks_mntns_hidden(const struct tasks *t, pid_t tid)
{
	const struct thread *th = find_id(&t->threads, tid);

	return th && th->hidden && !th->mntns;
}

static int learn_both(void *ctx, pid_t pid, pid_t tid)
{
	int rc = learn_name(ctx, pid, tid);

	if (!rc)
		tasks_mntns(ctx, pid, tid);
	return rc;
}

int tasks_snapshot(struct tasks *t, const struct filter *filter)
{
	int (*learn)(void *ctx, pid_t pid, pid_t tid) = filter_by_mntns(filter) ? learn_both : learn_name;
	size_t i;
	int rc = 0;

	if (!filter->nr)
		return proc_processes(t->host, learn, t);
	for (i = 0; i < filter->nr && !rc; i++)
		rc = filter->by_tid ? learn(t, filter->ids[i], filter->ids[i])
				    : proc_threads(t->host, filter->ids[i], learn, t);
	return rc;
}

void tasks_name(struct tasks *t, pid_t pid, pid_t tid, char *comm)
{
	const struct thread *th = pid == tid ? find_id(&t->threads, tid) : NULL;

	if (th)
		th = successor(t, th);
	if (!th)
		th = named_thread(t, pid, tid);
	if (!th)
		th = named_thread(t, pid, pid);
	memset(comm, 0, COMM_LEN);
	if (th)
		memcpy(comm, th->comm, COMM_LEN);
	else
		snprintf(comm, COMM_LEN, ":%d", tid);
}

/*
 * Look for the newest image of @p that maps @addr and, unless @comm is NULL, began under that name. One that is not
 * known ends the search: it may have mapped @addr, too. Return: is the search over?
 */
static bool find_in(const struct process *p, const char *comm, uint64_t addr, const struct mapping **m)
{
	size_t i;

	for (i = p->nr_images; i-- > 0;) {
		const struct image *im = &p->images[i];

		if (comm && strncmp(im->comm, comm, COMM_LEN))
			continue;
		*m = is_late(im) ? NULL : maps_find(im->maps, addr);
		if (*m || is_late(im) || (im->reading && im->reading->failed))
			return true;
	}
	return false;
}

int tasks_find(struct tasks *t, pid_t pid, const char *comm, uint64_t addr, struct mapping *out)
{
	const struct mapping *m = NULL;
	const struct process *p;

	if (tasks_learn(t, pid))
		return 0;
	p = find_id(&t->processes, pid);
	if (!p)
		return 0;
	if (!find_in(p, comm, addr, &m))
		find_in(p, NULL, addr, &m);
	if (!m)
		return 0;
	*out = *m;
	return 1;
}

int tasks_mapped(struct tasks *t, pid_t pid, uint64_t addr, struct mapping *out)
{
	struct process *p = find_id(&t->processes, pid);
	const struct image *im = p ? newest(p) : NULL;
	const struct mapping *m = im && !is_late(im) ? maps_find(im->maps, addr) : NULL;

	if (!m)
		return 0;
	*out = *m;
	return 1;
}

size_t tasks_lineage(const struct tasks *t, pid_t pid, pid_t *pids, size_t max)
{
	const struct process *p;
	size_t nr = 0, i = 0;

	/* Numbers that are used again may lead back. */
	while (pid > 0 && nr < max && i == nr) {
		pids[nr++] = pid;
		p = find_id(&t->processes, pid);
		pid = p ? p->parent : 0;
		for (i = 0; i < nr && pids[i] != pid; i++)
			;
	}
	for (i = 0; i < nr; i++) {
		p = find_id(&t->processes, pids[i]);
		if (p && p->shown)
			pids[i] = p->shown;
	}
	if (nr < max)
		pids[nr] = 0;
	return nr;
}

uint64_t tasks_refused(const struct tasks *t)
{
	return t->refused;
}

uint64_t tasks_forgotten(const struct tasks *t)
{
	return t->forgotten;
}

bool tasks_forget_due(const struct tasks *t)
{
	return t->nr_exited >= t->forget_exited || t->files.nr >= t->forget_files ||
	       t->mappings.used >= t->forget_mappings;
}

void tasks_forget(struct tasks *t, bool (*keep)(void *ctx, pid_t pid), void *ctx)
{
	size_t i;

	/* Backwards: the entry that takes a freed one's place has been looked at. */
	for (i = t->processes.nr; i-- > 0;) {
		struct process *p = entry_at(&t->processes, i);

		if (p->exited && !keep(ctx, p->entry.id))
			free_process(t, p);
	}
	sweep_files(t);
	forget_later(t);
}
