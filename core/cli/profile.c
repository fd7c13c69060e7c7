// SPDX-License-Identifier: Apache-2.0
/* profile: what runs on the CPUs, by sampling. */
#include "core/cli/list_backends.h"
#include "core/cli/run.h"
#include "core/session/ways.h"

static void print_source(FILE *out)
{
	const struct way *way;
	unsigned int i;

	for (i = 0; (way = way_at(ways_here, i)); i++)
		if (way->counter)
			fputs(way->counter->program, out);
}

static void act(FILE *out, const struct options *o)
{
	if (o->action == ACTION_PRINT_BPF)
		print_source(out);
	else
		list_backends(out, o);
}

int main(int argc, char **argv)
{
	return run_main(TOOL_PROFILE, act, argc, argv);
}
