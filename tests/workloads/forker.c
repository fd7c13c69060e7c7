// SPDX-License-Identifier: Apache-2.0
/*
 * forker [SECONDS] - 5,000 short processes per minute: every 12 ms one is forked and execs "shortjob", a
 * copy of this executable in a temporary directory, which runs short_work for 2 to 5 ms and exits.
 *
 * Expected: shortjob;...;main;short_work, and short_work under no other name.
 */
#include "workload.h"

static const char *const copies[] = { "shortjob", NULL };

static NOINLINE void short_work(void)
{
	spin_ns(2 * MSEC + ((uint64_t)getpid() * 2654435761U) % (3 * MSEC));
}

static NOINLINE void spawn_job(const char *path)
{
	pid_t pid = fork();

	if (pid < 0)
		workload_die("cannot fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(path, path, NULL);
		_exit(127);
	}
}

static void wait_for_jobs(void)
{
	int status;

	while (waitpid(-1, &status, WNOHANG) > 0) {
		if (WIFEXITED(status) && WEXITSTATUS(status)) {
			workload_remove_copies(0);
			fprintf(stderr, "forker: a job failed\n");
			exit(1);
		}
	}
}

int main(int argc, char **argv)
{
	const char *name = strrchr(argv[0], '/');
	char path[PATH_MAX + 16];
	struct timespec next;

	if (name && strcmp(name, "/shortjob") == 0) {
		short_work();
		return 0;
	}

	snprintf(path, sizeof(path), "%s/%s", workload_make_copies(copies), copies[0]);
	workload_live(argc, argv);
	workload_ready();
	clock_gettime(CLOCK_MONOTONIC, &next);
	while (!workload_stop) {
		spawn_job(path);
		next.tv_nsec += 12 * (long)MSEC;
		if (next.tv_nsec >= 1000000000L) {
			next.tv_nsec -= 1000000000L;
			next.tv_sec++;
		}
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
		wait_for_jobs();
	}
	return 0;
}
