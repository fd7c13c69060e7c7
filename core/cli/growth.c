// SPDX-License-Identifier: Apache-2.0
#include "core/cli/growth.h"

#include "core/report/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

static int add_row(void *ctx, const struct report_row *row)
{
	return functions_add(ctx, row);
}

static int tell_of_grown(const struct functions *f, const struct options *o)
{
	const struct function **sorted = functions_sorted(f, NULL, NULL);
	struct function_change c;
	char name[NAME_SHOWN + 1];
	int nr = 0;
	size_t i;

	if (!sorted)
		return -ENOMEM;
	for (i = 0; i < f->table.nr; i++) {
		functions_change(f, sorted[i], o->report.by_total, o->report.absolute, &c);
		if (c.change <= o->fail_above || c.change <= c.noise)
			continue;
		fprintf(stderr,
			"%s: '%s' grew by %.2f points, from %.2f to %.2f: more than %.2f, and than chance (%.2f)\n",
			tool_name(o->tool), name_shown(sorted[i]->name, name), c.change, c.before, c.now, o->fail_above,
			c.noise);
		nr++;
	}
	free(sorted);
	return nr;
}

int growth_judge(struct report *r, const struct options *o, struct err *err)
{
	struct functions f = { 0 };
	int rc = report_each(r, add_row, &f);

	if (!rc)
		rc = tell_of_grown(&f, o);
	functions_release(&f);
	return rc < 0 ? err_sys(err, rc, "cannot compare the reports") : rc;
}
