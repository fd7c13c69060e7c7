// SPDX-License-Identifier: Apache-2.0
// CFLAGS: -ldl
/*
 * memfd SECONDS FILE COMM - makes a copy of FILE that is only in memory. If FILE is a program, executes the copy as
 * FILE SECONDS COMM; if it is a shared library, takes the name COMM and calls its lib_outer().
 *
 * Expected with libnamed.so: ...;main;lib_outer;lib_inner.
 */
#include "workload.h"

#include <dlfcn.h>
#include <sys/mman.h>

static int copy_to_memory(const char *path)
{
	int in = open(path, O_RDONLY | O_CLOEXEC), out = memfd_create("copy", MFD_CLOEXEC);
	char buf[65536];
	ssize_t n;

	if (in < 0 || out < 0)
		workload_die(path);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (write(out, buf, (size_t)n) != n)
			workload_die(path);
	if (n < 0)
		workload_die(path);
	close(in);
	return out;
}

int main(int argc, char **argv)
{
	char path[64];
	void *library;
	void (*run)(void);
	int fd;

	if (argc != 4) {
		fputs("usage: memfd SECONDS FILE COMM\n", stderr);
		return 2;
	}
	workload_live(argc, argv);
	fd = copy_to_memory(argv[2]);
	if (!strstr(argv[2], ".so")) {
		fexecve(fd, (char *[]){ argv[2], argv[1], argv[3], NULL }, environ);
		workload_die(argv[2]);
	}
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	library = dlopen(path, RTLD_NOW);
	run = library ? (void (*)(void))dlsym(library, "lib_outer") : NULL;
	if (!run)
		workload_die("cannot open the library");
	prctl(PR_SET_NAME, argv[3]);
	workload_ready();
	run();
	return 0;
}
