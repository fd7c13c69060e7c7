// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/tasks/proc.h"

#include <stdlib.h>

#define FOUND_MAX 64 /* processes between two calls of the reader; a power of two */

struct unseen {
	uint32_t nr_words;
	uint64_t *bits; /* by process id; changed by both threads, as is @nr_left */
	size_t nr_left; /* bits that are set; one more until unseen_begin() has set all */
	/* Between the two threads: @nr_put of them were found, and the reader has taken @nr_taken. */
	pid_t found[FOUND_MAX];
	uint32_t nr_put, nr_taken;
};

struct unseen *unseen_new(const struct host *h)
{
	struct unseen *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->nr_left = 1;
	u->nr_words = proc_pid_words(h);
	u->bits = calloc(u->nr_words, sizeof(*u->bits));
	if (u->bits)
		return u;
	free(u);
	return NULL;
}

void unseen_delete(struct unseen *u)
{
	if (!u)
		return;
	free(u->bits);
	free(u);
}

/* NULL: no process can have the id. */
static uint64_t *word_of(const struct unseen *u, pid_t pid)
{
	return pid > 0 && proc_word(pid) < u->nr_words ? &u->bits[proc_word(pid)] : NULL;
}

static int add_pid(void *ctx, pid_t pid)
{
	struct unseen *u = ctx;
	uint64_t *word = word_of(u, pid);

	if (!word)
		return 0;
	__atomic_fetch_add(&u->nr_left, 1, __ATOMIC_RELAXED);
	if (__atomic_fetch_or(word, proc_bit(pid), __ATOMIC_RELAXED) & proc_bit(pid))
		__atomic_fetch_sub(&u->nr_left, 1, __ATOMIC_RELAXED);
	return 0;
}

void unseen_begin(struct unseen *u, const struct host *h, const struct filter *filter)
{
	filter_pids(filter, h, add_pid, u);
	__atomic_fetch_sub(&u->nr_left, 1, __ATOMIC_RELAXED);
}

bool unseen_take(struct unseen *u, pid_t pid)
{
	uint64_t *word = u ? word_of(u, pid) : NULL;

	if (!word || !(__atomic_load_n(word, __ATOMIC_RELAXED) & proc_bit(pid)) ||
	    !(__atomic_fetch_and(word, ~proc_bit(pid), __ATOMIC_RELAXED) & proc_bit(pid)))
		return false;
	__atomic_fetch_sub(&u->nr_left, 1, __ATOMIC_RELAXED);
	return true;
}

pid_t unseen_next(struct unseen *u)
{
	pid_t pid;

	if (!u || u->nr_taken == __atomic_load_n(&u->nr_put, __ATOMIC_ACQUIRE))
		return 0;
	pid = u->found[u->nr_taken % FOUND_MAX];
	__atomic_store_n(&u->nr_taken, u->nr_taken + 1, __ATOMIC_RELEASE);
	return pid;
}

/* The first half of @word is the process id, as in PERF_SAMPLE_TID. Without room, the reader finds the process itself.
 */
static void look_at(void *ctx, const struct perf_event_header *record, uint64_t word)
{
	struct unseen *u = ctx;
	pid_t pid = (pid_t)(uint32_t)word;

	if (record->type != PERF_RECORD_SAMPLE ||
	    u->nr_put - __atomic_load_n(&u->nr_taken, __ATOMIC_ACQUIRE) == FOUND_MAX || !unseen_take(u, pid))
		return;
	u->found[u->nr_put % FOUND_MAX] = pid;
	__atomic_store_n(&u->nr_put, u->nr_put + 1, __ATOMIC_RELEASE);
}

int rings_look(struct source *b)
{
	size_t tid_at = sizeof(struct perf_event_header), i;
	uint32_t before;

	if (!b->unseen || !__atomic_load_n(&b->unseen->nr_left, __ATOMIC_RELAXED))
		return -1;
	before = b->unseen->nr_put;
	if (events_attr(b->env->events)->sample_type & PERF_SAMPLE_IDENTIFIER)
		tid_at += sizeof(uint64_t);
	for (i = 0; i < b->env->events->nr_places; i++)
		if (b->rings[i].samples.page)
			ring_look(&b->rings[i].samples, tid_at, look_at, b->unseen);
	return b->unseen->nr_put != before;
}
