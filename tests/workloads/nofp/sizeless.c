// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -s -rdynamic -fvisibility=hidden
/*
 * sizeless [SECONDS] - a stripped program in which only the first function has a symbol, without a size: the other
 * functions must not get its name.
 */
#include "tests/workloads/nofp/nofp.h"

__asm__(".text\n"
	".globl first_function\n"
	"first_function:\n"
	"	ret\n");

void first_function(void);

#define CALLED "\\[sizeless\\+0x[0-9a-f]+\\]"

static NOIPA uint64_t leaf(uint64_t a)
{
	spin_iterations(200000);
	return a;
}

static NOIPA uint64_t middle(uint64_t a)
{
	return leaf(a) + 1;
}

int main(int argc, char **argv)
{
	uint64_t sum = 0;

	workload_live(argc, argv);
	expect("START;" CALLED ";" CALLED ";" CALLED);
	workload_ready();
	first_function();
	while (!workload_stop)
		sum += middle(sum);
	return (int)(sum & 1);
}
