// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -Wno-vla
/*
 * frames [SECONDS] - callers whose frames have no fixed size: alloca, arrays of variable length, both in a loop.
 */
#include "tests/workloads/nofp/nofp.h"

#include <alloca.h>

static NOIPA void leaf(volatile char *area, size_t len)
{
	area[len - 1] = 1;
	spin_iterations(200000);
}

static NOIPA size_t growing(size_t len)
{
	volatile char *area = NULL;
	size_t i;

	for (i = 1; i < 4; i++) {
		area = alloca(len * i);
		leaf(area, len * i);
	}
	return (size_t)area[0];
}

static NOIPA size_t variable(size_t len)
{
	volatile char area[len];

	area[0] = 1;
	return growing(len / 2 + 1) + (size_t)area[0];
}

static NOIPA size_t allocating(size_t len)
{
	volatile char *area = alloca(len);

	area[0] = 1;
	return variable(len + 17) + (size_t)area[0];
}

int main(int argc, char **argv)
{
	size_t len = 0;

	workload_live(argc, argv);
	expect("START;main;allocating;variable;growing;leaf");
	workload_ready();
	while (!workload_stop) {
		len = (len + 13) % 700;
		workload_sink += allocating(len + 1);
	}
	return 0;
}
