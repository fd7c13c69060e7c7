// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -no-pie
/*
 * rebuilt_old SECONDS PROGRAM - works, then executes PROGRAM, which is rebuilt_new under the name of this program. Both
 * have their code at the same addresses.
 *
 * Expected: half of ...;main;old_build_work, half of ...;main;new_build_work.
 */
#include "workload.h"

#ifndef BUILD_WORK
#define BUILD_WORK old_build_work
#endif

#define PIECES 1200

static NOINLINE void BUILD_WORK(void)
{
	spin_iterations(1000000);
	workload_sink++;
}

int main(int argc, char **argv)
{
	int i;

	workload_live(argc, argv);
	for (i = 0; i < PIECES; i++)
		BUILD_WORK();
	if (argc < 3)
		return 0;
	execl(argv[2], argv[2], argv[1], NULL);
	workload_die(argv[2]);
}
