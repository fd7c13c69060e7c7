// SPDX-License-Identifier: Apache-2.0
/*
 * grove [SECONDS [PROCESSES [THREADS [MSEC]]]] - a tree of PROCESSES (200), each of which starts two more, with THREADS
 * (500) in addition to their first ones. Each thread uses MSEC (10) of CPU time; then its process starts the next ones:
 * by posix_spawn, by fork and exec, and as daemons, whose parent has ended.
 *
 * Prints the pid of each process, and when all have ended, "cpu" and the seconds of CPU time that they used in all. No
 * process lives longer than SECONDS (60).
 *
 * Expected: grove;...;main;work;process_work, and grove-0 to grove-499;...;thread_work.
 */
#include "workload.h"

#include <pthread.h>
#include <spawn.h>
#include <sys/resource.h>

extern char **environ;

static long seconds, processes, threads, msec, self;
static char path[PATH_MAX];

static inline __attribute__((always_inline)) void burn(void)
{
	uint64_t until = (uint64_t)msec * MSEC;

	do
		spin_iterations(20000);
	while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < until);
}

static NOINLINE void process_work(void)
{
	burn();
}

static NOINLINE void *thread_work(void *arg)
{
	char name[16];

	snprintf(name, sizeof(name), "grove-%ld", (long)(intptr_t)arg);
	prctl(PR_SET_NAME, name);
	burn();
	return arg;
}

/* Threads self, self + processes, and so on. */
static NOINLINE void work(void)
{
	pthread_t ids[64];
	long i, nr = 0;

	for (i = self; i < threads && nr < 64; i += processes, nr++) {
		errno = pthread_create(&ids[nr], NULL, thread_work, (void *)(intptr_t)i);
		if (errno)
			workload_die("cannot start a thread");
	}
	process_work();
	while (nr--)
		pthread_join(ids[nr], NULL);
}

static void plant(long index)
{
	char args[5][24], *const argv[] = { "grove", args[0], args[1], args[2], args[3], args[4], NULL };
	const long values[] = { seconds, processes, threads, msec, index };
	pid_t pid;
	int i;

	if (index >= processes)
		return;
	for (i = 0; i < 5; i++)
		snprintf(args[i], sizeof(args[i]), "%ld", values[i]);
	if (index % 3 == 0) {
		errno = posix_spawn(&pid, path, NULL, NULL, argv, environ);
		if (errno)
			workload_die("cannot spawn");
		return;
	}
	pid = fork();
	if (pid < 0)
		workload_die("cannot fork");
	if (pid)
		return;
	if (index % 3 == 2) {
		pid = fork();
		if (pid)
			_exit(pid < 0);
	}
	execv(path, argv);
	_exit(127);
}

static void wait_for_all(void)
{
	int status;

	while (wait(&status) > 0 || errno == EINTR) {
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			fprintf(stderr, "grove: a process failed\n");
			exit(1);
		}
	}
}

static double cpu_of(int who)
{
	struct rusage r;

	getrusage(who, &r);
	return (double)(r.ru_utime.tv_sec + r.ru_stime.tv_sec) +
	       (double)(r.ru_utime.tv_usec + r.ru_stime.tv_usec) / 1e6;
}

int main(int argc, char **argv)
{
	ssize_t len = readlink("/proc/self/exe", path, sizeof(path) - 1);

	if (len < 0)
		workload_die("cannot find this program");
	seconds = workload_live(argc, argv);
	processes = workload_arg(argc, argv, 2, 200);
	threads = workload_arg(argc, argv, 3, 500);
	msec = workload_arg(argc, argv, 4, 10);
	self = workload_arg(argc, argv, 5, 0);
	if (!self)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	printf("%d\n", getpid());
	fflush(stdout);
	work();
	plant(2 * self + 1);
	plant(2 * self + 2);
	wait_for_all();
	if (!self)
		printf("cpu %.6f\n", cpu_of(RUSAGE_SELF) + cpu_of(RUSAGE_CHILDREN));
	return 0;
}
