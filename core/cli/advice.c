// SPDX-License-Identifier: Apache-2.0
#include "core/cli/advice.h"

#include "core/base/printable.h"
#include "core/cli/messages.h"
#include "core/cli/programs.h"
#include "core/cli/runtimes.h"
#include "core/cli/stripped.h"
#include "core/tasks/tasks.h"

#include <string.h>

/*
 * If there is no advice about the worst program, try the next one if it has at least a tenth of all flawed values. If
 * there is none about a flaw, try the next one if it has at least a tenth of the program's flawed values.
 */
#define PART_MIN 10

static unsigned int percent(uint64_t part, uint64_t all)
{
	return all ? (unsigned int)((double)part * 100 / (double)all) : 0;
}

static void print_subject(FILE *out, const struct advised *a, const struct program *p, enum stack_flaw flaw)
{
	const struct task_quality *task = program_task(a->quality, p, flaw);
	char comm[COMM_LEN + 1] = "", name[NAME_SHOWN + 1];

	memcpy(comm, task->key.comm, COMM_LEN);
	fprintf(out, "%s%u %% of the user stacks of '%s' ", warning_word(out), percent(p->of.by_flaw[flaw], p->of.all),
		name_shown(p->path ? p->path : comm, name));
}

static bool print_incomplete(FILE *out, const struct advised *a, const struct program *p)
{
	print_subject(out, a, p, FLAW_INCOMPLETE);
	fprintf(out, "are incomplete: the kernel follows frame pointers, and its code keeps none (%s)\n",
		!session_is_live(a->session) ? "use perf record --call-graph dwarf" : "use --unwind=dwarf");
	return true;
}

static bool print_no_symbols(FILE *out, const struct advised *a, const struct program *p)
{
	struct stripped file;

	if (!stripped_find(a, p, &file))
		return false;
	print_subject(out, a, p, FLAW_NO_SYMBOLS);
	fprintf(out, "lack names: ");
	stripped_print(out, &a->session->files, &file);
	fputc('\n', out);
	return true;
}

struct runtime_search {
	const char *program;
	enum runtime found;
};

static bool find_runtime(void *ctx, const struct mapping *m)
{
	struct runtime_search *s = ctx;

	s->found = runtime_of_file(m->file->path, !strcmp(m->file->path, s->program));
	return s->found == RUNTIME_NONE;
}

/* If a map was found but lacks these names, the reason is unknown. */
static bool print_no_map(FILE *out, const struct advised *a, const struct program *p)
{
	const struct task_quality *task = program_task(a->quality, p, FLAW_NO_MAP);
	bool recorded = !session_is_live(a->session);
	struct runtime_search search = { p->path, RUNTIME_NONE };
	enum runtime r;

	/* If the mappings of the process are not known, code of files looks like code made at run time. */
	if (!p->path || symbols_have_map(a->symbols, task->key.pid))
		return false;
	tasks_each_mapped(a->session->sink.tasks, task->key.pid, task->key.comm, find_runtime, &search);
	r = search.found;
	if (recorded && !runtime_can(r, true))
		return false;
	print_subject(out, a, p, FLAW_NO_MAP);
	fprintf(out, "lack names: their code was made at run time, and %s (",
		recorded ? "a recording has no names for it" : "there is no perf map (/tmp/perf-PID.map) for it");
	if (runtime_can(r, recorded))
		runtime_print(out, r, recorded, task->key.pid);
	else
		fprintf(out, "have its compiler write one, if it can");
	fprintf(out, ")\n");
	return true;
}

static bool (*const print_flaw[])(FILE *out, const struct advised *a, const struct program *p) = {
	[FLAW_INCOMPLETE] = print_incomplete,
	[FLAW_NO_SYMBOLS] = print_no_symbols,
	[FLAW_NO_MAP] = print_no_map,
};

/*
 * Print advice about the program's most frequent flaw; if nothing can be done about it, about the next one that a
 * tenth of its flawed values have.
 */
static bool print_program(FILE *out, const struct advised *a, const struct program *p)
{
	struct quality left = p->of;
	enum stack_flaw most, i;

	for (;;) {
		for (most = 0, i = 1; i < FLAW_NR; i++)
			if (left.by_flaw[i] > left.by_flaw[most])
				most = i;
		if (!left.by_flaw[most] || left.by_flaw[most] < p->of.flawed / PART_MIN)
			return false;
		if (print_flaw[most](out, a, p))
			return true;
		left.by_flaw[most] = 0;
	}
}

/* Print advice about the worst program; if there is none, about the next one with a tenth of all flaws. */
static bool print_worst(FILE *out, const struct advised *a, const struct programs *programs)
{
	const struct program *p = programs_worst(programs, NULL);

	while (p && !print_program(out, a, p)) {
		p = programs_worst(programs, p);
		if (p && p->of.flawed < programs->of.flawed / PART_MIN)
			return false;
	}
	return p;
}

bool advice_print(FILE *out, const struct advised *a)
{
	struct programs programs;
	bool printed = false;

	if (programs_find(a->quality, a->session->sink.tasks, &programs))
		return false;
	if (programs.of.times >= ADVICE_TIMES && programs.of.flawed > programs.of.all / 2)
		printed = print_worst(out, a, &programs);
	programs_release(&programs);
	return printed;
}
