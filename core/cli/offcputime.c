// SPDX-License-Identifier: Apache-2.0
/* offcputime: the time that threads are off the CPU, by the stacks they leave it with. */
#include "core/cli/run.h"

int main(int argc, char **argv)
{
	return run_main(TOOL_OFFCPUTIME, argc, argv);
}
