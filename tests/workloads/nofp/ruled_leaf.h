/* SPDX-License-Identifier: Apache-2.0 */
/* A program that is nearly always in leaf(), whose unwind rules contain LEAF_RULES, directives of the assembler. */
#include "tests/workloads/nofp/nofp.h"

static NOIPA uint64_t leaf(uint64_t a)
{
	__asm__ volatile(LEAF_RULES);
	spin_iterations(a % 64 + 200000);
	return a ^ 5;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("leaf");
	workload_ready();
	while (!workload_stop)
		workload_sink = leaf(workload_sink);
	return 0;
}
