// SPDX-License-Identifier: Apache-2.0
#include "core/session/forget.h"

#include "core/base/clock.h"
#include "core/base/grow.h"
#include "core/host/ids.h"
#include "core/session/counting.h"

#include <stdlib.h>

/*
 * The most time that a walk through the counts in the kernel (counter_ops.pids) may take. A full table of the default
 * size takes 30 ms. A walk is needed once in thousands of exits.
 */
#define FORGET_WALK_NS (500 * 1000 * 1000ULL)

/* Processes that rows refer to. */
struct pid_set {
	pid_t *v;
	size_t nr, cap;
	bool incomplete; /* so no process may be dropped */
	uint64_t until_ns;
};

static bool note_pid(void *ctx, pid_t pid)
{
	struct pid_set *p = ctx;
	pid_t *v = grow(p->v, &p->cap, p->nr, 1, sizeof(*v));

	if (v) {
		p->v = v;
		v[p->nr++] = pid;
	} else {
		p->incomplete = true;
	}
	return !p->incomplete && now_ns() < p->until_ns;
}

static void note_rows(struct pid_set *set, const struct rows *stacks)
{
	struct row row;
	size_t i;

	for (i = 0; stacks && i < rows_nr(stacks); i++) {
		rows_get(stacks, i, &row);
		note_pid(set, row.key.pid);
	}
}

static bool has_pid(void *ctx, pid_t pid)
{
	struct pid_set *p = ctx;

	return p->incomplete || ids_has(p->v, p->nr, pid);
}

void forget_tasks(struct session *s)
{
	struct pid_set set = { .until_ns = now_ns() + FORGET_WALK_NS };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(s->sink.sets); i++) {
		note_rows(&set, s->sink.sets[i].samples);
		note_rows(&set, s->sink.sets[i].intervals);
		note_rows(&set, s->sink.sets[i].ring_intervals);
		if (s->sink.sets[i].compare)
			note_rows(&set, compare_rows(s->sink.sets[i].compare));
	}
	if (!counting_pids(s, note_pid, &set))
		set.incomplete = true;
	ids_sort(set.v, set.nr);
	tasks_forget(s->sink.tasks, has_pid, &set);
	free(set.v);
}
