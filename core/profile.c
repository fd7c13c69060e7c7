// SPDX-License-Identifier: Apache-2.0
/* profile: what runs on the CPUs, by sampling. */
#include "core/backend.h"
#include "core/list_backends.h"
#include "core/run.h"

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
		list_backends(out, o);
}

int main(int argc, char **argv)
{
	return run_main(TOOL_PROFILE, act, argc, argv);
}
