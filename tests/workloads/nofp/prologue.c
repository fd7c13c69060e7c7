// SPDX-License-Identifier: Apache-2.0
/*
 * prologue [SECONDS] - functions that do little but save registers, make a frame, push arguments and undo all that:
 * most samples are between two of these instructions.
 */
#include "tests/workloads/nofp/nofp.h"

static NOIPA uint64_t nothing(uint64_t a)
{
	return a + 1;
}

static NOIPA uint64_t saves(uint64_t a)
{
	CLOBBER_ALL;
	return a ^ 5;
}

static NOIPA uint64_t saves_some(uint64_t a)
{
	__asm__ volatile("" : : : "rbx", "r12", "memory");
	return a * 3;
}

static NOIPA uint64_t frame(uint64_t a)
{
	volatile uint64_t area[40];

	CLOBBER_ALL;
	area[a % 40] = a;
	return area[(a + 1) % 40 ? a % 40 : 0] + 1;
}

static NOIPA uint64_t takes(uint64_t a, uint64_t b, uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g,
			    uint64_t h, uint64_t i)
{
	return a ^ b ^ c ^ d ^ e ^ f ^ g ^ h ^ i;
}

static NOIPA uint64_t pushes(uint64_t a)
{
	return takes(a, 1, 2, 3, 4, 5, a + 1, a + 2, a + 3) + takes(1, 2, 3, 4, 5, 6, 7, a, a);
}

/* Saves registers on only one of its paths. */
static NOIPA uint64_t early(uint64_t a)
{
	if (a & 1)
		return a;
	CLOBBER_ALL;
	return nothing(a) + saves(a);
}

static NOIPA uint64_t calls(uint64_t a)
{
	int i;

	for (i = 0; i < 100000; i++)
		a = early(pushes(frame(saves_some(saves(nothing(a))))));
	return a;
}

int main(int argc, char **argv)
{
	workload_live(argc, argv);
	expect("START;main;calls");
	workload_ready();
	while (!workload_stop)
		workload_sink += calls(workload_sink);
	return 0;
}
