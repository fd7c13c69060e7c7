// SPDX-License-Identifier: Apache-2.0
/*
 * The workload memfd opens this library.
 */
#include "workload.h"

void lib_outer(void);

static NOINLINE void lib_inner(void)
{
	spin_iterations(1000000);
	workload_sink++;
}

void lib_outer(void)
{
	while (!workload_stop)
		lib_inner();
}
