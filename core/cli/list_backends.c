// SPDX-License-Identifier: Apache-2.0
#include "core/cli/backends.h"
#include "core/cli/list_backends.h"

#include "core/cli/options.h"
#include "core/cli/request.h"
#include "core/host/privileges.h"
#include "core/session/fallback.h"
#include "core/session/session.h"

#include <errno.h>

/* A way to sample whole CPUs, or, with @tasks, only tasks. */
struct listed {
	const struct way *way;
	bool tasks;
	char name[32]; /* stable name for scripts */
	struct way_trial trial;
};

static const char *does(enum tool tool, const struct listed *l)
{
	static const char *const all[3][2] = {
		{ "counts the stacks of all CPUs in the kernel",
		  "adds up the time off the CPU of all threads in the kernel" },
		{ "reads the perf rings of all CPUs and counts in user space",
		  "reads the perf rings of all CPUs and adds up in user space" },
		{ "reads the perf rings of this user's threads; a command, -p or -L selects some",
		  "reads the perf rings of this user's threads; a command, -p or -t selects some" },
	};

	return all[l->tasks ? 2 : !l->way->counter][tool];
}

/* Try a way, on whole CPUs or on the calling thread. Use a rate that every host permits if it permits any. */
static void try_way(enum tool tool, struct listed *l)
{
	pid_t self = 0;
	struct options least;
	struct session *s;

	options_default(&least, tool);
	least.sampling.freq_hz = 1;
	if (l->tasks) {
		least.pids = &self;
		least.nr_pids = 1;
		least.filter.by_tid = true;
	}
	s = request_session(&least, &host_here);
	if (s)
		fallback_try(s, l->way, l->tasks, &l->trial);
	else
		err_sys(&l->trial.why, -ENOMEM, "cannot begin");
	session_free(s);
}

/* For scripts: one line for each way, with tabs between fields. */
static void list_fields(FILE *out, const struct listed *l)
{
	const struct way_trial *t = &l->trial;

	fprintf(out, "%s\t%s\t%s\n", l->name, t->usable ? "yes" : "no", t->why.code ? t->why.msg : "-");
}

static void show(FILE *out, enum tool tool, const struct listed *l, bool taken)
{
	const struct way_trial *t = &l->trial;

	fprintf(out, "%-14s  %-3s  %s", l->name, t->usable ? "yes" : "no", t->usable ? does(tool, l) : t->why.msg);
	fprintf(out, "%s\n", taken ? "  <- taken" : "");
	if (t->usable && t->why.code)
		fprintf(out, "%21s%s\n", "", t->why.msg);
	if (*t->why.cause.remedy)
		fprintf(out, "%21sremedy: %s\n", "", t->why.cause.remedy);
}

/* Return: true if it is usable. */
static bool list(FILE *out, const struct options *o, const struct way *way, bool tasks, bool taken)
{
	struct listed l = { .way = way, .tasks = tasks };

	snprintf(l.name, sizeof(l.name), "%s%s", way->name, tasks ? "-tasks" : "");
	try_way(o->tool, &l);
	if (o->list_fields)
		list_fields(out, &l);
	else
		show(out, o->tool, &l, l.trial.usable && !taken);
	return l.trial.usable;
}

void list_backends(FILE *out, const struct options *o)
{
	const struct way *way;
	bool taken = false;
	unsigned int i;

	privileges_use();
	for (i = 0; (way = way_at(ways_here, i)); i++)
		taken |= list(out, o, way, false, taken);
	list(out, o, way_alone(ways_here), true, taken);
}
