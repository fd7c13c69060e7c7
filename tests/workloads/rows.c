// SPDX-License-Identifier: Apache-2.0
/*
 * rows [SECONDS] - two functions that a third one calls in turn. None is static: with -rdynamic, .dynsym has all.
 *
 * Expected: ...;main;serve;hash_rows and ...;main;serve;sort_rows, two to one.
 */
#include "workload.h"

void hash_rows(void);
void sort_rows(void);
void serve(void);

NOINLINE void hash_rows(void)
{
	spin_iterations(2000000);
}

NOINLINE void sort_rows(void)
{
	spin_iterations(1000000);
}

NOINLINE void serve(void)
{
	while (!workload_stop) {
		hash_rows();
		sort_rows();
	}
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_ready();
	serve();
	return 0;
}
