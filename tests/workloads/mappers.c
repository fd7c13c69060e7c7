// SPDX-License-Identifier: Apache-2.0
/*
 * mappers [SECONDS [PROCESSES]] - PROCESSES (6) that map a page of this executable as code and unmap it again, as fast
 * as they can: about 100,000 records of mappings in a second on each CPU.
 *
 * Expected: mappers;...;main;map_forever;mmap and munmap of libc, with kernel frames behind them.
 */
#include "workload.h"

#include <sys/mman.h>

static NOINLINE void map_forever(int fd)
{
	while (!workload_stop) {
		void *page = mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);

		if (page == MAP_FAILED || munmap(page, 4096))
			workload_die("cannot map");
	}
}

int main(int argc, char **argv)
{
	long seconds = workload_live(argc, argv), i;
	int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	pid_t parent = getpid();

	if (fd < 0)
		workload_die("/proc/self/exe");
	for (i = 1; i < workload_arg(argc, argv, 2, 6); i++) {
		pid_t pid = fork();

		if (pid < 0)
			workload_die("cannot fork");
		if (pid)
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		alarm((unsigned int)seconds);
		if (getppid() == parent)
			map_forever(fd);
		exit(0);
	}
	workload_ready();
	map_forever(fd);
	return 0;
}
