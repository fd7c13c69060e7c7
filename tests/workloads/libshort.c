// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -nostdlib -Wl,-soname,./libshort.so
/*
 * The programs of the workload shortlived spend their time in this library. They find it in their working directory: a
 * search would take the dynamic loader long, and without /proc it does not know the directory of a program.
 */
#include "workload.h"

void burn_red(uint64_t n);
void burn_green(uint64_t n);
void burn_blue(uint64_t n);

void burn_red(uint64_t n)
{
	spin_iterations(n);
}

void burn_green(uint64_t n)
{
	spin_iterations(n);
}

void burn_blue(uint64_t n)
{
	spin_iterations(n);
}
