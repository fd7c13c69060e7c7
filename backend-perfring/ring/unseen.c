// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/ring/rings.h"
#include "core/host/ids.h"
#include "core/tasks/pid_bits.h"

#include <stdlib.h>

#define FOUND_MAX 64 /* processes between two calls of the reader; a power of two */

struct unseen {
	const struct filter *filter;
	struct pid_bits existed; /* at unseen_begin(), and their mappings were not read since; used by the reader */
	struct pid_bits seen;    /* found by rings_look(); used by the ring thread */
	/* Between the two threads: @nr_put of them were found, and the reader has taken @nr_taken. */
	pid_t found[FOUND_MAX];
	uint32_t nr_put, nr_taken;
};

struct unseen *unseen_new(const struct host *h, const struct filter *filter)
{
	struct unseen *u = calloc(1, sizeof(*u));

	if (!u)
		return NULL;
	u->filter = filter;
	if (!pid_bits_init(&u->existed, h) && !pid_bits_init(&u->seen, h))
		return u;
	unseen_delete(u);
	return NULL;
}

void unseen_delete(struct unseen *u)
{
	if (!u)
		return;
	pid_bits_release(&u->existed);
	pid_bits_release(&u->seen);
	free(u);
}

void unseen_begin(struct unseen *u, const struct host *h)
{
	pid_bits_set_existing(&u->existed, u->filter, h);
}

bool unseen_take(struct unseen *u, pid_t pid)
{
	return u && pid_bits_clear(&u->existed, pid);
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

void rings_learn(struct source *b, pid_t pid)
{
	if (unseen_take(b->unseen, pid))
		tasks_learn(b->env->sink->tasks, pid);
}

static bool is_wanted(const struct filter *f, pid_t pid)
{
	return !f->nr || f->by_tid || ids_has(f->ids, f->nr, pid);
}

/* The lower half of @word is the process id, as in PERF_SAMPLE_TID. If @found is full, the reader finds the process
 * itself when it comes to the sample. */
static void look_at(void *ctx, const struct perf_event_header *record, uint64_t word)
{
	struct unseen *u = ctx;
	pid_t pid = (pid_t)(uint32_t)word;

	if (record->type != PERF_RECORD_SAMPLE ||
	    u->nr_put - __atomic_load_n(&u->nr_taken, __ATOMIC_ACQUIRE) == FOUND_MAX || !is_wanted(u->filter, pid) ||
	    !pid_bits_set(&u->seen, pid))
		return;
	u->found[u->nr_put % FOUND_MAX] = pid;
	__atomic_store_n(&u->nr_put, u->nr_put + 1, __ATOMIC_RELEASE);
}

int rings_look(struct source *b)
{
	size_t tid_at = sizeof(struct perf_event_header), i;
	uint32_t before;

	if (!b->unseen)
		return -1;
	before = b->unseen->nr_put;
	if (events_attr(b->env->events)->sample_type & PERF_SAMPLE_IDENTIFIER)
		tid_at += sizeof(uint64_t);
	for (i = 0; i < b->env->events->nr_places; i++)
		if (b->rings[i].samples.page)
			ring_look(&b->rings[i].samples, tid_at, look_at, b->unseen);
	return b->unseen->nr_put != before;
}
