// SPDX-License-Identifier: Apache-2.0
/*
 * The workload turns opens this library and libblue.so in turn: the same code at the same address, under two names.
 */
#include "workload.h"

#ifndef PLUGIN_WORK
#define PLUGIN_WORK red_plugin_work
#endif

void plugin_run(uint64_t n);

static NOINLINE void PLUGIN_WORK(uint64_t n)
{
	spin_iterations(n);
	workload_sink++;
}

void plugin_run(uint64_t n)
{
	PLUGIN_WORK(n);
	workload_sink++;
}
