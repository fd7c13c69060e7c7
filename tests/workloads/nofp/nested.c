// SPDX-License-Identifier: Apache-2.0
/*
 * nested [SECONDS] - for a quarter of the time a coroutine works, whose stack is a part of main()'s frame. The rest of
 * the time a function works that main() calls, below it on the same stack.
 */
#include "tests/workloads/nofp/nofp.h"

#include <ucontext.h>

static ucontext_t outside, inside;

static NOIPA void coroutine(void)
{
	while (!workload_stop) {
		spin_iterations(100000);
		if (swapcontext(&inside, &outside))
			workload_die("swapcontext");
	}
}

static NOIPA void called(uint64_t a)
{
	volatile uint64_t area[8] = { a };

	spin_iterations(300000);
	workload_sink += area[0];
}

int main(int argc, char **argv)
{
	char stack[8192];

	workload_live(argc, argv);
	memset(stack, 1, sizeof(stack)); /* the kernel stops copying a stack at a page that is not there */
	if (getcontext(&inside))
		workload_die("getcontext");
	inside.uc_stack.ss_sp = stack;
	inside.uc_stack.ss_size = sizeof(stack);
	makecontext(&inside, coroutine, 0);
	expect("START;main;called");
	expect("(__start_context|\\[libc[.]so[^;]*\\]);coroutine");
	expect("START;main;(swapcontext|setcontext|\\[libc[.]so[^;]*\\])");
	workload_ready();
	while (!workload_stop) {
		if (swapcontext(&outside, &inside))
			workload_die("swapcontext");
		called(1);
	}
	return 0;
}
