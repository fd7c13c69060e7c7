// SPDX-License-Identifier: Apache-2.0
/*
 * paused [SECONDS] - a process that its parent stops all the time, for a third of a millisecond after every 2 ms. One
 * of its two threads works in the kernel.
 *
 * Expected: paused-user;...;main;stopped_forever;stopped_work, and paused-kernel;...;read_forever;read_zeros with
 * kernel frames of a read from /dev/zero behind it.
 */
#include "workload.h"

#include <pthread.h>

static char buffer[1 << 20];

static NOINLINE void stopped_work(void)
{
	spin_iterations(100000);
	workload_sink++;
}

static NOINLINE void stopped_forever(void)
{
	while (!workload_stop)
		stopped_work();
}

/* libc's read() has no frame, so that its caller is missing in the stacks: that is this function. */
static NOINLINE void read_zeros(int fd)
{
	if (read(fd, buffer, sizeof(buffer)) < 0)
		workload_die("cannot read /dev/zero");
}

static NOINLINE void *read_forever(void *arg)
{
	int fd = open("/dev/zero", O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		workload_die("cannot open /dev/zero");
	prctl(PR_SET_NAME, "paused-kernel");
	while (!workload_stop)
		read_zeros(fd);
	return arg;
}

static void be_stopped(pid_t parent)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(1);
	prctl(PR_SET_NAME, "paused-user");
	errno = pthread_create(&thread, NULL, read_forever, NULL);
	if (errno)
		workload_die("cannot start a thread");
	stopped_forever();
}

static void stop_and_continue(pid_t pid)
{
	int status;

	if (kill(pid, SIGSTOP) || waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status)) {
		fprintf(stderr, "paused: cannot stop the child\n");
		exit(1);
	}
	sleep_ns(MSEC / 3);
	kill(pid, SIGCONT);
	sleep_ns(2 * MSEC);
}

int main(int argc, char **argv)
{
	pid_t parent = getpid(), pid;

	workload_live(argc, argv);
	pid = fork();
	if (pid < 0)
		workload_die("cannot fork");
	if (pid == 0) {
		be_stopped(parent);
		_exit(0);
	}
	stop_and_continue(pid);
	workload_ready();
	while (!workload_stop)
		stop_and_continue(pid);
	return 0;
}
