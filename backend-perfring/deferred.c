// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/deferred.h"

#include "core/base/grow.h"
#include "core/base/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct waiting {
	struct waiting *next; /* of the same thread, later */
	unsigned int set;
	struct row_key key; /* its kernel stack is @frames */
	frame_t frames[];
};

/* A thread with at least one sample that waits; or a free entry, whose @newer is the next free one. */
struct thread {
	pid_t tid;
	bool exited;
	uint32_t older, newer; /* of the same list; HASH_NONE: none */
	uint64_t cookie;
	struct waiting *first, *last;
};

/* Positions of threads, in the order in which they began to wait (live ones) or exited; HASH_NONE: none */
struct list {
	uint32_t oldest, newest;
	size_t nr;
};

struct deferred {
	deferred_fn count;
	void *ctx;
	struct hash_index index; /* by tid */
	struct thread *threads;
	size_t nr_threads, cap_threads;
	uint32_t unused;     /* position of the first free entry of @threads; HASH_NONE: none */
	struct list list[2]; /* of live threads, and of exited ones */
	size_t nr, bytes;    /* of samples that wait */
};

static const struct stack missed = { .state = STACK_MISSED };

struct deferred *deferred_new(deferred_fn count, void *ctx)
{
	struct deferred *d = malloc(sizeof(*d));

	if (d)
		*d = (struct deferred){ .count = count,
					.ctx = ctx,
					.unused = HASH_NONE,
					.list = { { HASH_NONE, HASH_NONE, 0 }, { HASH_NONE, HASH_NONE, 0 } } };
	return d;
}

static void free_samples(struct waiting *w)
{
	struct waiting *next;

	for (; w; w = next) {
		next = w->next;
		free(w);
	}
}

void deferred_free(struct deferred *d)
{
	size_t i;

	if (!d)
		return;
	for (i = 0; i < d->nr_threads; i++)
		free_samples(d->threads[i].first);
	hash_release(&d->index);
	free(d->threads);
	free(d);
}

/* ---- threads */

static uint64_t hash_tid(pid_t tid)
{
	return hash_bytes(&tid, sizeof(tid), 0);
}

static bool is_thread(const void *table, uint32_t pos, const void *tid)
{
	return ((const struct thread *)table)[pos].tid == *(const pid_t *)tid;
}

static uint32_t find_waiting(const struct deferred *d, pid_t tid)
{
	return hash_find(&d->index, hash_tid(tid), is_thread, d->threads, &tid);
}

/* Return: the position of a free entry; HASH_NONE: no memory. */
static uint32_t unused_entry(struct deferred *d)
{
	struct thread *threads;

	if (d->unused != HASH_NONE)
		return d->unused;
	threads = grow(d->threads, &d->cap_threads, d->nr_threads, 1, sizeof(*threads));
	if (!threads)
		return HASH_NONE;
	d->threads = threads;
	threads[d->nr_threads] = (struct thread){ .newer = HASH_NONE };
	d->unused = (uint32_t)d->nr_threads++;
	return d->unused;
}

static void link_thread(struct deferred *d, uint32_t pos)
{
	struct thread *t = &d->threads[pos];
	struct list *l = &d->list[t->exited];

	t->older = l->newest;
	t->newer = HASH_NONE;
	if (l->newest != HASH_NONE)
		d->threads[l->newest].newer = pos;
	else
		l->oldest = pos;
	l->newest = pos;
	l->nr++;
}

static void unlink_thread(struct deferred *d, uint32_t pos)
{
	const struct thread *t = &d->threads[pos];
	struct list *l = &d->list[t->exited];

	if (t->older != HASH_NONE)
		d->threads[t->older].newer = t->newer;
	else
		l->oldest = t->newer;
	if (t->newer != HASH_NONE)
		d->threads[t->newer].older = t->older;
	else
		l->newest = t->older;
	l->nr--;
}

/* Add a thread as the newest. Return: its position; HASH_NONE: no memory. */
static uint32_t add_thread(struct deferred *d, pid_t tid, uint64_t cookie)
{
	uint32_t pos = unused_entry(d);
	struct thread *t;

	if (pos == HASH_NONE || hash_add(&d->index, hash_tid(tid), pos))
		return HASH_NONE;
	t = &d->threads[pos];
	d->unused = t->newer;
	*t = (struct thread){ .tid = tid, .cookie = cookie };
	link_thread(d, pos);
	return pos;
}

static void del_thread(struct deferred *d, uint32_t pos)
{
	struct thread *t = &d->threads[pos];

	hash_del(&d->index, hash_tid(t->tid), pos);
	unlink_thread(d, pos);
	*t = (struct thread){ .newer = d->unused };
	d->unused = pos;
}

/* ---- samples */

static size_t bytes_of(const struct waiting *w)
{
	return sizeof(*w) + w->key.kernel.nr * sizeof(*w->frames);
}

static struct waiting *new_sample(const struct row_key *key, unsigned int set)
{
	struct waiting *w = malloc(sizeof(*w) + key->kernel.nr * sizeof(*w->frames));

	if (!w)
		return NULL;
	*w = (struct waiting){ .set = set, .key = *key };
	w->key.kernel.frames = w->frames;
	if (key->kernel.nr)
		memcpy(w->frames, key->kernel.frames, key->kernel.nr * sizeof(*w->frames));
	return w;
}

/* Count all samples of the thread at @pos; each gets @user as its user stack. */
static int settle(struct deferred *d, uint32_t pos, const struct stack *user)
{
	struct waiting *w = d->threads[pos].first, *next;
	int rc = 0;

	del_thread(d, pos);
	for (; w; w = next) {
		next = w->next;
		d->nr--;
		d->bytes -= bytes_of(w);
		w->key.user = *user;
		if (!rc)
			rc = d->count(d->ctx, &w->key, w->set);
		free(w);
	}
	return rc;
}

/* Count the samples of the thread that has waited longest as missed. Exited threads go first. */
static int give_up(struct deferred *d)
{
	return settle(d, d->list[d->list[true].nr > 0].oldest, &missed);
}

static int make_room(struct deferred *d, size_t bytes)
{
	int rc = 0;

	while (!rc && d->nr && (d->nr >= DEFERRED_MAX_SAMPLES || bytes > DEFERRED_MAX_BYTES - d->bytes))
		rc = give_up(d);
	return rc;
}

static void add_sample(struct deferred *d, uint32_t pos, struct waiting *w)
{
	struct thread *t = &d->threads[pos];

	if (t->last)
		t->last->next = w;
	else
		t->first = w;
	t->last = w;
	d->nr++;
	d->bytes += bytes_of(w);
}

int deferred_wait(struct deferred *d, pid_t tid, uint64_t cookie, const struct row_key *key, unsigned int set)
{
	struct waiting *w = new_sample(key, set);
	uint32_t pos = find_waiting(d, tid);
	int rc = 0;

	if (!w)
		return -ENOMEM;
	if (pos != HASH_NONE && d->threads[pos].cookie != cookie)
		rc = settle(d, pos, &missed);
	if (!rc)
		rc = make_room(d, bytes_of(w));
	pos = find_waiting(d, tid); /* settle() and make_room() may have dropped the thread */
	if (!rc && pos == HASH_NONE)
		pos = add_thread(d, tid, cookie);
	if (!rc && pos == HASH_NONE)
		rc = -ENOMEM;
	if (!rc)
		add_sample(d, pos, w);
	else
		free(w);
	return rc;
}

int deferred_came(struct deferred *d, pid_t tid, uint64_t cookie, const struct stack *user)
{
	uint32_t pos = find_waiting(d, tid);

	return pos != HASH_NONE && d->threads[pos].cookie == cookie ? settle(d, pos, user) : 0;
}

int deferred_executed(struct deferred *d, pid_t tid)
{
	uint32_t pos = find_waiting(d, tid);

	return pos == HASH_NONE ? 0 : settle(d, pos, &missed);
}

int deferred_exited(struct deferred *d, pid_t tid)
{
	uint32_t pos = find_waiting(d, tid);

	if (pos == HASH_NONE || d->threads[pos].exited)
		return 0;
	unlink_thread(d, pos);
	d->threads[pos].exited = true;
	link_thread(d, pos);
	return d->list[true].nr > DEFERRED_MAX_EXITED ? give_up(d) : 0;
}

int deferred_flush(struct deferred *d)
{
	int rc = 0;

	while (!rc && d->nr)
		rc = give_up(d);
	return rc;
}

size_t deferred_nr(const struct deferred *d)
{
	return d->nr;
}
