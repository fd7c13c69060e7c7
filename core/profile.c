// SPDX-License-Identifier: Apache-2.0
/* profile: what runs on the CPUs, by sampling. */
#include "core/backend.h"
#include "core/ladder.h"
#include "core/privileges.h"
#include "core/run.h"

/* For scripts: one line each, fields between tabs. */
static void list_rung(FILE *out, enum rung rung, const struct rung_state *s)
{
	fprintf(out, "%s\t%s\t%s\n", rung_name(rung), s->usable ? "yes" : "no", s->why.code ? s->why.msg : "-");
}

static void show_rung(FILE *out, enum rung rung, const struct rung_state *s, bool taken)
{
	fprintf(out, "%-14s  %-3s  %s", rung_name(rung), s->usable ? "yes" : "no",
		s->usable ? rung_does(rung) : s->why.msg);
	fprintf(out, "%s\n", taken ? "  <- taken" : "");
	if (s->usable && s->why.code)
		fprintf(out, "%21s%s\n", "", s->why.msg);
	if (*s->cause.remedy)
		fprintf(out, "%21sremedy: %s\n", "", s->cause.remedy);
}

static void list_backends(FILE *out, bool for_scripts)
{
	struct rung_state s;
	bool taken = false;
	enum rung rung;

	privileges_use();
	for (rung = 0; rung < RUNG_NR; rung++) {
		ladder_try(&host_here, rung, RUN_FILES, &s);
		if (for_scripts)
			list_rung(out, rung, &s);
		else
			show_rung(out, rung, &s, s.usable && !taken);
		taken |= s.usable;
	}
}

static void print_source(FILE *out)
{
	const struct backend_ops *ops;
	unsigned int i;

	for (i = 0; (ops = backend_at(i)); i++)
		if (ops->source)
			fputs(ops->source, out);
}

static void act(FILE *out, const struct options *o)
{
	if (o->action == ACTION_PRINT_BPF)
		print_source(out);
	else
		list_backends(out, o->report.form == REPORT_FOLDED);
}

int main(int argc, char **argv)
{
	return run_main(TOOL_PROFILE, act, argc, argv);
}
