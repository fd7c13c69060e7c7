// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -ldl
/*
 * sharer SECONDS LIBRARY - makes a process that has the same memory (clone(2) with CLONE_VM), then opens a library and
 * lets that process work in it.
 *
 * Expected, of libred.so: child "shared_child" has ...;work_for_parent;plugin_run;red_plugin_work.
 */
#include "workload.h"

#include <dlfcn.h>

#define STACK (256 * 1024)

typedef void (*run_fn)(uint64_t n);

static run_fn volatile run;

static NOINLINE void work_for_parent(void)
{
	run(10000000);
	workload_sink++;
}

static int child(void *unused)
{
	(void)unused;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_NAME, "shared_child");
	while (!run)
		sched_yield();
	while (!workload_stop)
		work_for_parent();
	return 0;
}

int main(int argc, char **argv)
{
	char *stack = malloc(STACK), line[2];
	void *library;

	workload_live(argc, argv);
	if (!stack || argc < 3 || clone(child, stack + STACK, CLONE_VM | SIGCHLD, NULL) < 0)
		workload_die("cannot make a process");
	workload_ready();
	/* One byte on stdin, or its end: it is sampled by now. */
	if (read(0, line, 1) < 0)
		workload_die("stdin");
	library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	run = library ? (run_fn)dlsym(library, "plugin_run") : NULL;
	if (!run)
		workload_die(argv[2]);
	while (wait(NULL) < 0 && errno == EINTR)
		;
	return 0;
}
