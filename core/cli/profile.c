// SPDX-License-Identifier: Apache-2.0
/* profile: what runs on the CPUs, by sampling. */
#include "core/cli/run.h"

int main(int argc, char **argv)
{
	return run_main(TOOL_PROFILE, argc, argv);
}
