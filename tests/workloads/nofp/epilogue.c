// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wno-vla
/*
 * epilogue [SECONDS] - callers that find their frame through rbp call functions that only save and restore registers.
 * Once rbp is restored, gcc's rules still say that it is saved: below the stack pointer.
 */
#include "tests/workloads/nofp/nofp.h"

static NOIPA uint64_t saves(uint64_t a)
{
	CLOBBER_ALL;
	return a ^ 5;
}

static NOIPA uint64_t variable(size_t len, uint64_t a)
{
	volatile char area[len];
	int i;

	area[len - 1] = 1;
	for (i = 0; i < 100000; i++)
		a = saves(a);
	return a + (uint64_t)area[len - 1];
}

int main(int argc, char **argv)
{
	size_t len = 0;

	workload_live(argc, argv);
	expect("START;main;variable");
	workload_ready();
	while (!workload_stop) {
		len = (len + 13) % 700;
		workload_sink += variable(len + 1, workload_sink);
	}
	return 0;
}
