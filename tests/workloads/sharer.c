// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -ldl
/*
 * sharer SECONDS LIBRARY FIFO - starts a process that shares its memory (clone(2) with CLONE_VM). When a byte comes
 * through FIFO, it opens a library, and lets that process work in it.
 *
 * Expected with libred.so: "shared_child" has ...;work_for_parent;plugin_run;red_plugin_work.
 */
#include "workload.h"

#include <dlfcn.h>
#include <fcntl.h>

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
	char *stack = malloc(STACK), byte;
	void *library;
	int fd;

	workload_live(argc, argv);
	if (!stack || argc < 4 || clone(child, stack + STACK, CLONE_VM | SIGCHLD, NULL) < 0)
		workload_die("cannot make a process");
	workload_ready();
	fd = open(argv[3], O_RDONLY | O_CLOEXEC);
	if (fd < 0 || read(fd, &byte, 1) != 1)
		workload_die(argv[3]);
	library = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
	run = library ? (run_fn)dlsym(library, "plugin_run") : NULL;
	if (!run)
		workload_die(argv[2]);
	while (wait(NULL) < 0 && errno == EINTR)
		;
	return 0;
}
