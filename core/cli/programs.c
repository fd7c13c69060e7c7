// SPDX-License-Identifier: Apache-2.0
#include "core/cli/programs.h"

#include "core/tasks/tasks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A task that is being assigned to its program. */
struct member {
	const char *path;
	const struct task_quality *task;
	uint32_t at;
};

/* The program is mapped below its libraries: take the first code mapping with a path. */
static bool note_path(void *ctx, const struct mapping *m)
{
	const char **path = ctx;

	if (!mapped_file_has_path(m->file))
		return true;
	*path = m->file->path;
	return false;
}

/* Programs with an unknown file come last, in the order of their names. */
static int cmp_programs(const struct member *a, const struct member *b)
{
	if (a->path && b->path)
		return strcmp(a->path, b->path);
	if (a->path || b->path)
		return a->path ? -1 : 1;
	return memcmp(a->task->key.comm, b->task->key.comm, COMM_LEN);
}

static int cmp_tasks(const struct task_quality *a, const struct task_quality *b)
{
	if (a->key.pid != b->key.pid)
		return a->key.pid < b->key.pid ? -1 : 1;
	return memcmp(a->key.comm, b->key.comm, COMM_LEN);
}

static int cmp_members(const void *pa, const void *pb)
{
	const struct member *a = pa, *b = pb;
	int c = cmp_programs(a, b);

	return c ? c : cmp_tasks(a->task, b->task);
}

static void group(struct programs *p, const struct member *members, size_t nr)
{
	struct program *program = NULL;
	size_t i;

	for (i = 0; i < nr; i++) {
		p->tasks[i] = members[i].at;
		if (!i || cmp_programs(&members[i - 1], &members[i])) {
			program = &p->v[p->nr++];
			*program = (struct program){ .path = members[i].path, .tasks = &p->tasks[i] };
		}
		program->nr++;
		quality_add(&program->of, &members[i].task->of);
		quality_add(&p->of, &members[i].task->of);
	}
}

int programs_find(const struct report_quality *q, const struct tasks *tasks, struct programs *out)
{
	const struct task_quality *all = q->tasks.v;
	size_t nr = q->tasks.nr, i;
	struct member *members = calloc(nr + 1, sizeof(*members));

	*out = (struct programs){ .v = calloc(nr + 1, sizeof(*out->v)), .tasks = calloc(nr + 1, sizeof(*out->tasks)) };
	if (!members || !out->v || !out->tasks) {
		free(members);
		programs_release(out);
		return -ENOMEM;
	}
	for (i = 0; i < nr; i++) {
		members[i] = (struct member){ .task = &all[i], .at = (uint32_t)i };
		tasks_each_mapped(tasks, all[i].key.pid, all[i].key.comm, note_path, (void *)&members[i].path);
	}
	qsort(members, nr, sizeof(*members), cmp_members);
	group(out, members, nr);
	free(members);
	return 0;
}

void programs_release(struct programs *p)
{
	free(p->v);
	free(p->tasks);
	*p = (struct programs){ 0 };
}

static bool is_worse(const struct program *a, const struct program *b)
{
	return a->of.flawed > b->of.flawed || (a->of.flawed == b->of.flawed && a < b);
}

const struct program *programs_worst(const struct programs *p, const struct program *after)
{
	const struct program *worst = NULL, *v;

	for (v = p->v; v < p->v + p->nr; v++)
		if ((!after || is_worse(after, v)) && (!worst || is_worse(v, worst)))
			worst = v;
	return worst;
}

const struct task_quality *program_task(const struct report_quality *q, const struct program *p, enum stack_flaw flaw)
{
	const struct task_quality *all = q->tasks.v, *most = &all[p->tasks[0]];
	size_t i;

	for (i = 1; i < p->nr; i++)
		if (all[p->tasks[i]].of.by_flaw[flaw] > most->of.by_flaw[flaw])
			most = &all[p->tasks[i]];
	return most;
}
