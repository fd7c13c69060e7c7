// SPDX-License-Identifier: Apache-2.0
/* Mappings of processes: from records, and from /proc for the time before the records. */
#include "core/base/clock.h"
#include "core/base/saturate.h"
#include "core/tasks/proc.h"
#include "core/tasks/tasks.h"
#include "core/tasks/tasks_state.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define TELLS_MAX 16   /* calls of on_mapped() for one file */
#define TOLD_MAX  1024 /* calls of on_mapped() for one list: it opens each file, and keeps at most as many open */

/* A list in /proc is long beyond this size: some 2000 mappings. */
#define LONG_BYTES (256u << 10)
#define LOOK_BYTES (16u << 10)  /* of a long list, between two checks of the clock */
#define LONG_NS    NSEC_PER_SEC /* of CPU time for long lists, */
#define LONG_SHARE 32           /* and one part in so many of the run time */
#define LINE_BYTES 73           /* of a line, without the path */

#define PIECES_MAX   8  /* parts of one mapping that are copies of code */
#define COPIES_TRIED 16 /* mappings of one list that are checked for copies */

#define PARENTS_MAX 4 /* ancestors that may have mapped the code of a process */

#define LOADING_NS (100 * 1000 * 1000ULL) /* longest time between the mappings of two segments of a library */

void tasks_on_mapped(struct tasks *t, bool (*fn)(void *ctx, pid_t pid, const struct mapping *m), void *ctx)
{
	t->on_mapped = fn;
	t->on_mapped_ctx = ctx;
}

void tasks_on_copied(struct tasks *t, tasks_copied_fn fn, void *ctx)
{
	t->on_copied = fn;
	t->on_copied_ctx = ctx;
}

/* All memory without a file counts as one file: report only that the process has such memory. */
static void tell_mapped(struct tasks *t, pid_t pid, const struct mapping *m)
{
	struct known_file *f = (struct known_file *)m->file;

	if (t->on_mapped && mapped_file_is_memory(m->file))
		t->on_mapped(t->on_mapped_ctx, pid, m);
	else if (t->on_mapped && f->told < TELLS_MAX)
		f->told = t->on_mapped(t->on_mapped_ctx, pid, m) ? TELLS_MAX : f->told + 1;
}

/*
 * The loader first maps a library as a whole, then its segments over that; no code of the library runs before that is
 * done. If samples are counted in the kernel, we do not see when they were taken, so the time has to decide.
 */
static bool is_loading(const struct tasks *t, const struct process *p, const struct mapping *m)
{
	return p->mapped == m->file && !p->sampled_since && t->processes.event_ns - p->mapped_ns <= LOADING_NS;
}

/* Insert @m, which replaces what is mapped there. */
static int remap(struct tasks *t, struct process *p, const struct mapping *m)
{
	struct maps *none;
	int rc = process_remap(&t->processes, p);

	if (rc)
		return rc;
	rc = maps_insert(&process_newest(p)->maps, m);
	if (!rc) {
		process_remapped(&t->processes, p);
		return 0;
	}
	/* There is no room for more mappings: give this image none, rather than the old ones. */
	none = maps_new(&t->processes.mappings);
	if (!none)
		return -ENOMEM;
	maps_unref(process_newest(p)->maps);
	process_newest(p)->maps = none;
	return rc;
}

/* The caller owns @m->file. */
static int map_file(struct tasks *t, struct process *p, const struct mapping *m)
{
	struct image *im = process_writable(&t->processes, p);
	struct mapping what = *m;
	int rc;

	if (!im)
		return -ENOMEM;
	rc = known_files_add(&t->files, m->file, &what.file);
	if (!rc && maps_replaces(im->maps, &what) && !is_loading(t, p, &what) && !process_is_brief(&t->processes, p))
		rc = remap(t, p, &what);
	else if (!rc)
		rc = maps_insert(&im->maps, &what);
	p->mapped = rc ? NULL : what.file;
	p->mapped_ns = t->processes.event_ns;
	p->sampled_since = false;
	t->refused += rc == -E2BIG;
	return rc == -ENOMEM ? rc : 0; /* a malformed mapping, or one too many, is no reason to end the run */
}

/* Return: the number of parts of @m that are copies of a file that is mapped there, or of @near, which may be NULL. */
static int find_copies(struct tasks *t, const struct process *p, const struct mapping *m, const struct mapping *near,
		       struct mapping *pieces)
{
	const struct image *im = process_newest(p);
	const struct mapping *found = im ? maps_overlapped(im->maps, m->start, m->end) : NULL;
	struct mapping replaced;
	int rc;

	if (!t->on_copied || !mapped_file_may_be_copy(m->file) || (!found && !near) || m->start >= m->end)
		return 0;
	if (found) {
		replaced = *found;
		near = &replaced;
	}
	rc = t->on_copied(t->on_copied_ctx, p->entry.id, m, near, pieces, PIECES_MAX);
	return rc < 0 ? 0 : rc;
}

/* The same as map_file(), but treat parts that have copies of a file's code as that file. @near: see find_copies() */
static int map_into(struct tasks *t, struct process *p, const struct mapping *m, const struct mapping *near)
{
	struct mapping pieces[PIECES_MAX], rest = *m;
	int nr = find_copies(t, p, m, near, pieces), i, rc = 0;

	for (i = 0; i < nr && !rc; i++) {
		struct mapping before = rest;

		before.end = pieces[i].start;
		if (before.start < before.end)
			rc = map_file(t, p, &before);
		if (!rc)
			rc = map_file(t, p, &pieces[i]);
		rest.pgoff += pieces[i].end - rest.start;
		rest.start = pieces[i].end;
	}
	return rc || rest.start >= rest.end ? rc : map_file(t, p, &rest);
}

static const char *name_at(const char *path, uint64_t start)
{
	return start <= UINT32_MAX && !strcmp(path, "[vdso]") ? VDSO32 : path;
}

int tasks_mmap(struct tasks *t, pid_t pid, const struct mapping *m)
{
	struct process *p = processes_get(&t->processes, pid), *other;
	struct thread *leader = threads_find(&t->threads, pid);
	const char *comm = leader && leader->named ? leader->comm : "";
	struct mapped_file file = *m->file;
	struct mapping what = *m;
	const struct mapping *shown;
	size_t i = 0;
	int rc;

	file.path = name_at(file.path, m->start);
	what.file = &file;
	if (!p || (!process_newest(p) && process_add_image(&t->processes, p, comm, NULL)))
		return -ENOMEM;
	rc = map_into(t, p, &what, NULL);
	while (!rc && p->memory && (other = processes_sharing(&t->processes, p, &i)))
		rc = process_newest(other) ? map_into(t, other, &what, NULL) : 0;
	shown = rc ? NULL : maps_find(process_newest(p)->maps, m->start);
	if (shown)
		tell_mapped(t, pid, shown);
	return rc;
}

struct learner {
	struct tasks *t;
	struct process *p;
	struct mapping near; /* the last mapping of a file */
	struct mapped_file file;
	char *path;
	struct mapping memory; /* memory that may have a copy of the code of the next file; end 0: none */
	unsigned int tries;    /* number of such mappings */
	bool again;            /* records may be missing: believe this reading if it shows something new */
	bool news;             /* it has code that was not known */
	size_t nr;             /* mappings seen */
	size_t bytes, look_at; /* of the list so far; when to look at the clock again */
	uint64_t long_from;    /* own_cpu_ns() when the list became long; 0: it is short */
};

/*
 * Return true if more of @l's list, which is long, may be read. One list gets half of the time that is left, so that
 * it does not use up the time of other processes.
 */
static bool may_go_on(struct learner *l)
{
	uint64_t now = own_cpu_ns(), all = LONG_NS + (now_ns() - l->t->began_ns) / LONG_SHARE;

	if (!l->long_from)
		l->long_from = now;
	l->look_at = l->bytes + LOOK_BYTES;
	return now - l->long_from < sub_or_0(all, l->t->long_ns) / 2;
}

/* Copy @m: it borrows its path from a line of /proc/PID/maps. */
static bool keep_near(struct learner *l, const struct mapping *m)
{
	if (!l->path || strcmp(l->path, m->file->path) != 0) {
		free(l->path);
		l->path = strdup(m->file->path);
	}
	if (!l->path)
		return false;
	l->file = *m->file;
	l->file.path = l->path;
	l->near = *m;
	l->near.file = &l->file;
	return true;
}

/*
 * Return true if a record has another mapping at that place: then @m was mapped later, and its record is still to come.
 */
static bool is_ahead(const struct learner *l, const struct mapping *m)
{
	const struct image *im = process_newest(l->p);

	return !l->again && im && maps_replaces(im->maps, m);
}

/* No record has the mapping of the vsyscalls: all processes of x86-64 have it, above the user's addresses. */
static bool is_vsyscall(const struct mapping *m)
{
	return m->start >> 63;
}

/*
 * Memory between two files may have a copy of the code of either: try the file before it, then the one behind it.
 * @tries is limited because some programs have a lot of code in memory.
 */
static int learn_near(struct learner *l, const struct mapping *m, bool exec)
{
	static const struct mapped_file anonymous = { .path = "//anon" };
	bool maybe = exec && mapped_file_may_be_copy(m->file) && l->tries < COPIES_TRIED;
	int rc = 0;

	if (mapped_file_has_path(m->file) && l->memory.end) {
		rc = map_into(l->t, l->p, &l->memory, m);
		l->memory.end = 0;
	}
	l->news |= l->again && exec && !is_vsyscall(m) && !maps_cover(process_newest(l->p)->maps, m);
	if (!rc && exec && !is_ahead(l, m))
		rc = maybe ? map_into(l->t, l->p, m, l->path ? &l->near : NULL) : map_file(l->t, l->p, m);
	if (rc)
		return rc;
	if (maybe) {
		l->tries++;
		l->memory = *m;
		l->memory.file = &anonymous;
		if (maps_overlapped(process_newest(l->p)->maps, m->start, m->end))
			l->memory.end = 0;
	}
	return mapped_file_has_path(m->file) && !keep_near(l, m) ? -ENOMEM : 0;
}

static int learn_map(void *ctx, const struct proc_map *m)
{
	const char *path = *m->path ? name_at(m->path, m->start) : "//anon";
	const struct mapped_file file = { path, m->maj, m->min, m->ino };
	const struct mapping map = { m->start, m->end, m->pgoff, &file };
	struct learner *l = ctx;

	l->nr++;
	l->bytes += LINE_BYTES + strlen(m->path);
	if (l->bytes >= l->look_at && !may_go_on(l))
		return -ETIME;
	return m->exec || mapped_file_has_path(&file) ? learn_near(l, &map, m->exec) : 0;
}

/* Return true if the mappings of @p are not known, may be incomplete, or are of a reading of its parent that failed. */
static bool needs_reading(const struct process *p)
{
	const struct image *im = process_newest(p);

	if (p->exited)
		return false; /* the number may have been reused */
	if (!p->learned || p->anew)
		return true;
	return im && im->reading && im->reading->pid != p->entry.id && (im->reading->late || im->reading->failed);
}

/* The image to put the mappings of @p into. If its name is not known, it gets the name of the leader in event time. */
static struct image *image_to_read(struct tasks *t, struct process *p)
{
	const struct thread *leader = tasks_named_thread(t, p->entry.id, p->entry.id);
	const char *comm = leader ? leader->comm : "";
	struct image *im;

	if (!process_newest(p) && process_add_image(&t->processes, p, comm, NULL))
		return NULL;
	im = process_writable(&t->processes, p);
	if (im && !*im->comm)
		comm_set(im->comm, comm);
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

/* If the leader has ended, but not the process, /proc/PID/maps is empty: then read those of the other threads. */
static int learn_maps(struct learner *l)
{
	pid_t pid = l->p->entry.id;
	int rc = proc_maps(l->t->host, pid, learn_map, l);

	return rc || l->nr ? rc : proc_threads(l->t->host, pid, learn_of_thread, l);
}

/* If the parent has made @p with CLONE_VM, both have the same memory: each mapping of one is also in the other. */
static int find_shared(struct tasks *t, struct process *p)
{
	struct process *parent;
	pid_t ppid;
	uid_t uid;

	if (p->memory || proc_owner(t->host, p->entry.id, &uid, &ppid) || ppid <= 0 ||
	    !proc_share_memory(t->host, p->entry.id, ppid))
		return 0;
	parent = processes_get(&t->processes, ppid);
	if (!parent)
		return -ENOMEM;
	processes_share(&t->processes, p, parent);
	return 0;
}

/*
 * @p has been read again, and shows nothing new: believe its mappings as before, however late this reading @r was.
 * @before: the earlier one, or NULL; taken over. @whole: all mappings were read; else @p may have ended.
 */
static void keep_known(const struct process *p, struct reading *r, struct reading *before, bool whole)
{
	if (before && before->pid != p->entry.id && !whole) {
		image_set_reading(process_newest(p), before); /* it is still the parent's */
		return;
	}
	r->end_ns = before ? before->end_ns : 0;
	reading_release(before);
}

static int read_maps(struct tasks *t, struct process *p)
{
	struct image *im = image_to_read(t, p);
	bool again = im && p->learned && p->anew;
	struct reading *before = again ? image_hold_reading(im) : NULL;
	struct reading *r = im ? image_begin_reading(im, p->entry.id) : NULL;
	struct learner l = { .t = t, .p = p, .look_at = LONG_BYTES, .again = again };
	const struct maps *maps;
	bool whole;
	size_t i;
	int rc;

	if (!r) {
		reading_release(before);
		return -ENOMEM;
	}
	p->learned = true;
	p->anew = false;
	rc = learn_maps(&l);
	free(l.path);
	if (rc != -ENOMEM && find_shared(t, p))
		rc = -ENOMEM;
	p->learned = again || rc != -ENOMEM; /* else try again */
	p->anew |= again && rc == -ENOMEM;
	t->long_ns += l.long_from ? own_cpu_ns() - l.long_from : 0;
	t->overlong += rc == -ETIME;
	r->end_ns = now_ns();
	whole = rc >= 0 && (l.nr || !again);
	r->failed = !whole && (!again || (before && before->failed)); /* else most mappings are known from records */
	if (again && !l.news)
		keep_known(p, r, before, whole);
	else
		reading_release(before);
	/* Call on_mapped() last: it may take long, and would make the end of the reading later and so less credible. */
	maps = process_newest(p)->maps;
	for (i = 0; i < maps->nr && i < TOLD_MAX && (again || rc >= 0 || rc == -ETIME); i++)
		tell_mapped(t, p->entry.id, &maps->v[i]);
	return rc == -ENOMEM ? rc : 0;
}

int tasks_learn(struct tasks *t, pid_t pid)
{
	struct process *p;

	if (pid <= 0 || !t->host)
		return 0;
	p = processes_get(&t->processes, pid);
	if (!p || (needs_reading(p) && read_maps(t, p))) {
		t->unread++;
		return -ENOMEM;
	}
	tasks_read_cgroup(t, p);
	return 0;
}

int tasks_learn_sampled(struct tasks *t, pid_t pid)
{
	int rc = tasks_learn(t, pid);
	struct process *p = rc ? NULL : processes_find(&t->processes, pid);

	if (p) {
		process_set_sampled(p);
		p->sampled_since = true;
	}
	return rc;
}

uint32_t tasks_image(const struct tasks *t, pid_t pid)
{
	const struct process *p = processes_find(&t->processes, pid);
	const struct image *im = p ? process_newest(p) : NULL;

	return im ? im->number : 0;
}

void tasks_report(struct tasks *t, uint64_t since_ns)
{
	t->processes.since_ns = since_ns;
}

bool tasks_unmapped(struct tasks *t, pid_t pid, pid_t tid)
{
	struct process *p = pid == tid ? processes_find(&t->processes, pid) : NULL;
	const struct image *im = p && !p->exited && p->learned ? process_newest(p) : NULL;

	if (!im || !p->executed || im->maps->nr)
		return false;
	p->learned = false;
	return true;
}

void tasks_read_anew(struct tasks *t)
{
	size_t i;

	for (i = 0; i < pid_table_nr(&t->processes.all); i++)
		((struct process *)pid_table_at(&t->processes.all, i))->anew = true;
}

/*
 * A recording does not say which processes share memory. But code runs only where it is mapped: if a process has not
 * mapped it, then its parent has, or an earlier ancestor.
 */
static int find_inherited(const struct tasks *t, const struct process *p, uint64_t addr, struct place_found *out)
{
	unsigned int i;
	int rc = 0;

	for (i = 0; i < PARENTS_MAX && !rc && p && p->parent && p->inherits; i++) {
		p = processes_find(&t->processes, p->parent);
		rc = p ? process_find(&t->processes, p, "", 0, addr, out) : 0;
	}
	return rc;
}

int tasks_find(struct tasks *t, pid_t pid, const char *comm, uint32_t image, uint64_t addr, struct mapping *out)
{
	const struct process *p = tasks_learn(t, pid) ? NULL : processes_find(&t->processes, pid);
	struct place_found found;
	int rc = p ? process_find(&t->processes, p, comm, image, addr, &found) : 0;

	if (!rc && !t->host)
		rc = find_inherited(t, p, addr, &found);
	if (rc > 0)
		*out = *found.mapping;
	return rc;
}

int tasks_mapped(struct tasks *t, pid_t pid, uint64_t addr, struct mapping *out)
{
	const struct process *p = processes_find(&t->processes, pid);
	const struct mapping *m = p ? image_find(process_newest(p), addr) : NULL;
	struct place_found found;

	if (!m && !t->host && find_inherited(t, p, addr, &found) > 0)
		m = found.mapping;
	if (m)
		*out = *m;
	return m != NULL;
}

const struct mapped_file *tasks_find_jitdump(const struct tasks *t, pid_t pid, const char *comm, uint32_t image,
					     uint64_t addr)
{
	const struct process *p = processes_find(&t->processes, pid);
	struct place_found found;

	return p && process_find(&t->processes, p, comm, image, addr, &found) > 0 ? found.jitdump : NULL;
}

const struct mapped_file *tasks_jitdump(const struct tasks *t, pid_t pid)
{
	const struct process *p = processes_find(&t->processes, pid);
	const struct image *im = p ? process_newest(p) : NULL;

	return im && !image_is_late(im) ? im->maps->jitdump : NULL;
}

void tasks_each_mapped(const struct tasks *t, pid_t pid, const char *comm,
		       bool (*fn)(void *ctx, const struct mapping *m), void *ctx)
{
	const struct process *p = processes_find(&t->processes, pid);
	const struct image *im = p ? process_named(p, comm) : NULL;
	size_t i;

	for (i = 0; im && !image_is_late(im) && i < im->maps->nr; i++)
		if (!fn(ctx, &im->maps->v[i]))
			return;
}

uint64_t tasks_unread(const struct tasks *t)
{
	return t->unread;
}

uint64_t tasks_overlong(const struct tasks *t)
{
	return t->overlong;
}

uint64_t tasks_refused(const struct tasks *t)
{
	return t->refused;
}
