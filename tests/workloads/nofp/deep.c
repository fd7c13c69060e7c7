// SPDX-License-Identifier: Apache-2.0
/*
 * deep [SECONDS [DEPTH]] - 200 frames (or DEPTH), 64 bytes each, then bottom.
 */
#include "tests/workloads/nofp/nofp.h"

static NOIPA void bottom(void)
{
	spin_iterations(2000000);
}

static NOIPA void down(long left)
{
	CLOBBER_ALL;
	if (left > 1)
		down(left - 1);
	else
		bottom();
	workload_sink++;
}

int main(int argc, char **argv)
{
	long i, depth = workload_arg(argc, argv, 2, 200);
	char *chain = calloc((size_t)depth * 5 + 1, 1);

	workload_live(argc, argv);
	if (!chain)
		workload_die("no memory");
	for (i = 0; i < depth; i++)
		memcpy(chain + 5 * i, "down;", 5);
	expect("START;main;%sbottom", chain);
	free(chain);
	workload_ready();
	while (!workload_stop)
		down(depth);
	return 0;
}
