// SPDX-License-Identifier: Apache-2.0
/*
 * plain [SECONDS] - eight ordinary functions: saved registers, values that do not fit into registers.
 */
#include "tests/workloads/nofp/nofp.h"

static NOIPA uint64_t leaf(uint64_t a, uint64_t b)
{
	spin_iterations(a % 64 + 200000);
	return a ^ b;
}

/* More values than registers are live across the call. */
#define STEP(name, next)                                                                                               \
	static NOIPA uint64_t name(uint64_t a, uint64_t b)                                                             \
	{                                                                                                              \
		uint64_t c = a + b, d = a ^ b, e = a * b, f = a - b, g = a * 3, h = b * 5, i = c * d, j = e ^ f;       \
                                                                                                                       \
		return (next(a + 1, b) ^ a) * b + c * d + e * f + g * h + (i ^ j) + (c ^ h) + (d ^ g);                 \
	}

static NOIPA uint64_t small(uint64_t a, uint64_t b)
{
	return leaf(a, b) + 1;
}

STEP(six, small)
STEP(five, six)

static NOIPA uint64_t few(uint64_t a, uint64_t b)
{
	return five(a, b) * b;
}

STEP(three, few)
STEP(two, three)
STEP(one, two)

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;one;two;three;few;five;six;small;leaf");
	workload_ready();
	while (!workload_stop)
		workload_sink = one(workload_sink, 3);
	return 0;
}
