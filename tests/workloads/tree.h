/* SPDX-License-Identifier: Apache-2.0 */
/* A binary tree of calls: the bits of a path decide which of two functions is called at each level. */
#ifndef TESTS_WORKLOADS_TREE_H
#define TESTS_WORKLOADS_TREE_H

#include "workload.h"

static void left(unsigned long path, int levels);
static void right(unsigned long path, int levels);

/* Some 10 us. */
static NOINLINE void leaf_work(void)
{
	spin_iterations(7000);
}

static inline __attribute__((always_inline)) void go_down(unsigned long path, int levels)
{
	if (levels == 0)
		leaf_work();
	else if (path >> (levels - 1) & 1)
		right(path, levels - 1);
	else
		left(path, levels - 1);
}

static NOINLINE void left(unsigned long path, int levels)
{
	go_down(path, levels);
	workload_sink++;
}

static NOINLINE void right(unsigned long path, int levels)
{
	go_down(path, levels);
	workload_sink--;
}

#endif
