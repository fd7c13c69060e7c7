// SPDX-License-Identifier: Apache-2.0
#include "core/cli/list_backends.h"

#include "core/host/privileges.h"
#include "core/session/ladder.h"

/* For scripts: one line each, fields between tabs. */
static void list_rung(FILE *out, enum rung rung, const struct rung_state *s)
{
	fprintf(out, "%s\t%s\t%s\n", rung_name(rung), s->usable ? "yes" : "no", s->why.code ? s->why.msg : "-");
}

static void show_rung(FILE *out, enum tool tool, enum rung rung, const struct rung_state *s, bool taken)
{
	fprintf(out, "%-14s  %-3s  %s", rung_name(rung), s->usable ? "yes" : "no",
		s->usable ? rung_does(tool, rung) : s->why.msg);
	fprintf(out, "%s\n", taken ? "  <- taken" : "");
	if (s->usable && s->why.code)
		fprintf(out, "%21s%s\n", "", s->why.msg);
	if (*s->cause.remedy)
		fprintf(out, "%21sremedy: %s\n", "", s->cause.remedy);
}

void list_backends(FILE *out, const struct options *o)
{
	struct rung_state s;
	bool taken = false;
	enum rung rung;

	privileges_use();
	for (rung = 0; rung < RUNG_NR; rung++) {
		ladder_try(&host_here, o->tool, rung, RUN_FILES, &s);
		if (o->list_fields)
			list_rung(out, rung, &s);
		else
			show_rung(out, o->tool, rung, &s, s.usable && !taken);
		taken |= s.usable;
	}
}
