// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wl,--build-id
/*
 * named [SECONDS [COMM]] - works in a function whose name is only in .symtab; the thread is called COMM.
 *
 * Expected: ...;main;named_outer;named_inner.
 */
#include "workload.h"

static NOINLINE void named_inner(void)
{
	spin_iterations(1000000);
	workload_sink++;
}

static NOINLINE void named_outer(void)
{
	while (!workload_stop)
		named_inner();
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	if (argc > 2)
		prctl(PR_SET_NAME, argv[2]);
	workload_ready();
	named_outer();
	return 0;
}
