/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A binary tree of calls: the bits of a path decide which of two functions is called at each level. At its end is
 * leaf_work(), which each program defines, NOINLINE.
 */
#ifndef TESTS_WORKLOADS_TREE_H
#define TESTS_WORKLOADS_TREE_H

#include "workload.h"

static void left(unsigned long path, int levels);
static void right(unsigned long path, int levels);

static void leaf_work(void);

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
