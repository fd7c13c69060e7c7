// SPDX-License-Identifier: Apache-2.0
/*
 * deep SECONDS - a program as distributions build them: optimized, without frame pointers, with a C library; here a
 * static one. It has a frame of fixed size with saved registers, one of a size only known at run time, and a large one.
 *
 * Expected: deep;_start;...;main;walk;fixed;sized;kept;leaf, nearly always.
 */
#include "tests/workloads/nofp/nofp.h"

#include <alloca.h>

static NOIPA uint64_t leaf(uint64_t a, uint64_t b)
{
	spin_iterations(a % 64 + 200000);
	return a ^ b;
}

/* A frame that is larger than any other. */
static NOIPA uint64_t kept(uint64_t a, uint64_t b)
{
	volatile char large[3000];

	large[a % sizeof(large)] = (char)b;
	return leaf(a, b) + (uint64_t)large[b % sizeof(large)];
}

static NOIPA uint64_t sized(uint64_t a, uint64_t b)
{
	volatile char *area = alloca(a % 700 + 1);

	area[0] = (char)a;
	return kept(a, b) + (uint64_t)area[0];
}

/* More values than registers live through the call. */
static NOIPA uint64_t fixed(uint64_t a, uint64_t b)
{
	uint64_t c = a + b, d = a ^ b, e = a * b, f = a - b, g = a * 3, h = b * 5, i = c * d, j = e ^ f;

	return (sized(a + 1, b) ^ a) * b + c * d + e * f + g * h + (i ^ j) + (c ^ h) + (d ^ g);
}

static NOIPA uint64_t walk(uint64_t a, uint64_t b)
{
	return fixed(a, b) * b;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	workload_ready();
	while (!workload_stop)
		workload_sink = walk(workload_sink, 3);
	return 0;
}
