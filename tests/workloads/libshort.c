// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -nostdlib -Wl,-soname,./libshort.so
/*
 * Where the programs of the workload shortlived spend their time. They find it in their working directory: searching
 * takes the dynamic loader long, and where there is no /proc, it does not know where a program is.
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
