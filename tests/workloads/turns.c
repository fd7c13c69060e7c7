// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -ldl
/*
 * turns SECONDS ROUNDS - opens libred.so, works in it, and closes it; then libblue.so, which is mapped at the same
 * address; all that ROUNDS times. Ends when both have had the same number of iterations, or after SECONDS.
 *
 * Expected: half of ...;main;take_turn;plugin_run;red_plugin_work, half of ...;blue_plugin_work.
 */
#include "workload.h"

#include <dlfcn.h>

#define ITERATIONS 1200000000ULL /* of each library, in all rounds */
#define PIECE      1000000ULL

typedef void (*run_fn)(uint64_t n);

static run_fn opened_at;

static NOINLINE void take_turn(const char *file, uint64_t n)
{
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
	run_fn run = library ? (run_fn)dlsym(library, "plugin_run") : NULL;

	if (!run)
		workload_die(file);
	if (opened_at && run != opened_at) {
		fputs("workload: the libraries are not mapped at the same address\n", stderr);
		exit(1);
	}
	opened_at = run;
	for (; n >= PIECE; n -= PIECE)
		run(PIECE);
	dlclose(library);
}

int main(int argc, char **argv)
{
	long rounds = workload_arg(argc, argv, 2, 1), i;

	workload_live(argc, argv);
	workload_ready();
	for (i = 0; i < rounds; i++) {
		take_turn("$ORIGIN/libred.so", ITERATIONS / (uint64_t)rounds);
		take_turn("$ORIGIN/libblue.so", ITERATIONS / (uint64_t)rounds);
	}
	return 0;
}
