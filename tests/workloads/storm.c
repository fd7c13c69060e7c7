// SPDX-License-Identifier: Apache-2.0
/*
 * storm [SECONDS] - processes come and go as fast as they can: one forker on every CPU, each with at most two living
 * children. In turn these exit at once, work a little, exec "storm-job", and have a thread that execs "storm-thread".
 *
 * The last two are copies of this executable in a temporary directory. If a thread execs, the process keeps its PID,
 * and the thread gets the id of the first thread.
 *
 * Expected: storm;...;main;fork_forever;... with spawn;fork of libc and the kernel's frames of fork, exit and wait;
 * storm;...;child_work; storm-job;...;main;job_work; storm-thread;...;main;thread_job_work. None of the *_work under
 * another name.
 */
#include "workload.h"

#include <pthread.h>

enum { LIVING = 2 };

static const char *const copies[] = { "storm-job", "storm-thread", NULL };

static NOINLINE void child_work(void)
{
	spin_ns(MSEC / 5);
}

static NOINLINE void job_work(void)
{
	spin_ns(MSEC / 2);
}

static NOINLINE void thread_job_work(void)
{
	spin_ns(MSEC / 2);
}

/* Uses only calls that are safe in a child of fork. */
static void exec_copy(const char *name)
{
	const char *const argv[] = { name, NULL };

	if (chdir(workload_dir) == 0)
		execv(name, (char *const *)argv);
	if (errno == ENOENT)
		pause(); /* the parent has removed the copies, and is about to kill all processes */
	_exit(127);
}

static void *exec_in_thread(void *arg)
{
	exec_copy(arg);
	return NULL;
}

static NOINLINE void child(unsigned int turn)
{
	static char name[] = "storm-thread";
	pthread_t thread;

	switch (turn % 4) {
	case 0:
		_exit(0);
	case 1:
		child_work();
		_exit(0);
	case 2:
		exec_copy("storm-job");
		break;
	case 3:
		if (pthread_create(&thread, NULL, exec_in_thread, name) == 0)
			child_work(); /* until exec ends this thread, or until it is done */
		pthread_join(thread, NULL);
		break;
	}
	_exit(127);
}

static NOINLINE void spawn(unsigned int turn)
{
	pid_t parent = getpid(), pid = fork();

	if (pid < 0)
		workload_die("cannot fork");
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (getppid() != parent)
			_exit(1);
		child(turn);
	}
}

static NOINLINE void fork_forever(void)
{
	unsigned int turn;
	int status;

	for (turn = 0; !workload_stop; turn++) {
		spawn(turn);
		if (turn + 1 < LIVING)
			continue;
		if (waitpid(-1, &status, 0) < 0)
			workload_die("cannot wait");
		if (!WIFEXITED(status) || WEXITSTATUS(status)) {
			fprintf(stderr, "storm: a child failed\n");
			exit(1);
		}
	}
}

static void start_forker(int cpu)
{
	static const int deadly[] = { SIGALRM, SIGTERM, SIGINT, SIGHUP };
	pid_t parent = getpid(), pid = fork();
	size_t i;

	if (pid < 0)
		workload_die("cannot fork");
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	for (i = 0; i < sizeof(deadly) / sizeof(deadly[0]); i++)
		signal(deadly[i], SIG_DFL); /* the parent removes the copies */
	workload_pin(cpu);
	fork_forever();
	_exit(0);
}

int main(int argc, char **argv)
{
	cpu_set_t allowed;
	int cpu;

	if (strcmp(argv[0], "storm-job") == 0) {
		job_work();
		return 0;
	}
	if (strcmp(argv[0], "storm-thread") == 0) {
		thread_job_work();
		return 0;
	}

	if (sched_getaffinity(0, sizeof(allowed), &allowed))
		workload_die("cannot read the CPU affinity");
	workload_make_copies(copies);
	workload_live(argc, argv);
	for (cpu = 0; cpu < CPU_SETSIZE; cpu++)
		if (CPU_ISSET(cpu, &allowed))
			start_forker(cpu);
	workload_ready();
	waitpid(-1, NULL, 0); /* returns only if something went wrong */
	workload_remove_copies(0);
	return 1;
}
