// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -fcf-protection=none -fplt -Wl,-z,lazy -lcalls '-Wl,-rpath,$ORIGIN'
/*
 * plt [SECONDS] - calls functions of a shared library that do nearly nothing, so that many samples are in the procedure
 * linkage table.
 */
#include "tests/workloads/nofp/nofp.h"

uint64_t call_0(uint64_t a);
uint64_t call_1(uint64_t a);
uint64_t call_2(uint64_t a);
uint64_t call_3(uint64_t a);

static NOIPA uint64_t calls(uint64_t a)
{
	int i;

	for (i = 0; i < 100000; i++)
		a = call_3(call_2(call_1(call_0(a))));
	return a;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;calls");
	workload_ready();
	while (!workload_stop)
		workload_sink += calls(workload_sink);
	return 0;
}
