// SPDX-License-Identifier: Apache-2.0
/*
 * switches [N]: measure the cost of N intervals off the CPU (5000000) of 2000 threads. Each is one switch of a leaving
 * thread and one of a coming thread, with 20 user and 10 kernel frames, and 16 stacks for each thread. Goal: 1 us
 * of CPU time for each interval.
 */
#include "tests/bench/bench.h"

#include "core/rows/rows.h"
#include "core/rows/switches.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { USER_FRAMES = 20, KERNEL_FRAMES = 10, THREADS = 2000, STACKS = 16 };

static int out(struct switches *s, uint32_t id, uint64_t ns)
{
	uint64_t user[USER_FRAMES], kernel[KERNEL_FRAMES], stack = rng() % STACKS, i;
	struct switch_out out = { .id = id, .ns = ns, .key = { .comm = "worker", .pid = (pid_t)(id / 16) } };

	for (i = 0; i < USER_FRAMES; i++)
		user[i] = 0x7f0000000000 + i * 64 + stack;
	for (i = 0; i < KERNEL_FRAMES; i++)
		kernel[i] = 0xffffffff81000000 + i * 64 + stack / 4;
	out.key.user = (struct stack){ user, USER_FRAMES, STACK_TAKEN, false };
	out.key.kernel = (struct stack){ kernel, KERNEL_FRAMES, STACK_TAKEN, false };
	return switches_out(s, &out);
}

/* Half of them are off CPU at any time. */
static int run(struct switches *s, struct rows *to, uint64_t n)
{
	uint64_t i;
	int rc = 0;

	for (i = 0; !rc && i < n; i++) {
		rc = out(s, (uint32_t)(i % THREADS), i * 100);
		if (!rc)
			rc = switches_in(s, (uint32_t)((i + THREADS / 2) % THREADS), i * 100 + 50, to);
	}
	return rc;
}

int main(int argc, char **argv)
{
	const struct switches_limits limits = { 1000, UINT64_MAX };
	uint64_t n = argc > 1 ? strtoull(argv[1], NULL, 10) : 5000000;
	struct switches *s = switches_new(&limits);
	struct rows *to = rows_new();
	double begin = cpu_time();

	if (!s || !to || run(s, to, n)) {
		fputs("switches: not enough memory\n", stderr);
		return 1;
	}
	printf("ns_each: %.0f\nrows: %zu\nopen: %zu\n", (cpu_time() - begin) * 1e9 / (double)n, rows_nr(to),
	       switches_nr_open(s));
	switches_free(s);
	rows_free(to);
	return 0;
}
