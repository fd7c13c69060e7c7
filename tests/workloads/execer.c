// SPDX-License-Identifier: Apache-2.0
/*
 * execer [SECONDS] - a process that becomes stage-one, stage-two, stage-three, stage-one, ... by exec.
 *
 * The three are copies of this executable in a temporary directory. Each runs its own function for 30 ms and execs the
 * next one, so that one PID has a hundred images in three seconds, each time at other addresses. The parent waits and
 * cleans up.
 *
 * Expected: stage-one;...;main;run_stage;stage_one_work and so on, a third each, and never the function of another
 * stage.
 */
#include "workload.h"

static const char *const stages[] = { "stage-one", "stage-two", "stage-three", NULL };

static NOINLINE void stage_one_work(void)
{
	spin_ns(30 * MSEC);
}

static NOINLINE void stage_two_work(void)
{
	spin_ns(30 * MSEC);
}

static NOINLINE void stage_three_work(void)
{
	spin_ns(30 * MSEC);
}

static NOINLINE void run_stage(size_t i)
{
	if (i == 0)
		stage_one_work();
	else if (i == 1)
		stage_two_work();
	else
		stage_three_work();
}

static void exec_stage(const char *dir, size_t i)
{
	char path[PATH_MAX + 16];

	snprintf(path, sizeof(path), "%s/%s", dir, stages[i]);
	execl(path, path, NULL);
	workload_die(path);
}

int main(int argc, char **argv)
{
	char *slash = strrchr(argv[0], '/');
	const char *dir, *name = slash ? slash + 1 : argv[0];
	long seconds;
	size_t i;
	pid_t pid;

	for (i = 0; stages[i]; i++) {
		if (strcmp(name, stages[i]) != 0)
			continue;
		run_stage(i);
		*slash = 0;
		exec_stage(argv[0], (i + 1) % 3);
	}

	dir = workload_make_copies(stages);
	seconds = workload_live(argc, argv);
	pid = fork();
	if (pid < 0)
		workload_die("cannot fork");
	if (pid == 0) {
		alarm((unsigned int)seconds);
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		exec_stage(dir, 0);
	}
	workload_ready();
	waitpid(pid, NULL, 0);
	workload_remove_copies(0);
	return 0;
}
