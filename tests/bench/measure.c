// SPDX-License-Identifier: Apache-2.0
/*
 * measure FD COMMAND [ARGUMENT...] - measure what a run of a command costs. It writes a line to the descriptor FD when
 * it has started the command, and another when the command has ended:
 *
 * 	PID BEGAN_NS
 * 	ENDED_NS USER_US SYSTEM_US RSS_KIB STATUS
 *
 * Times are CLOCK_MONOTONIC's, BEGAN_NS just before the fork; CPU time and peak resident memory are those of the
 * command and of all children that it has waited for; STATUS is as from wait(2). A program of its own, because a
 * child's peak memory begins with its parent's. If this program dies, so does the command.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

static int fail(const char *what)
{
	fprintf(stderr, "measure: %s: %s\n", what, strerror(errno));
	return 1;
}

static uint64_t micros(struct timeval tv)
{
	return (uint64_t)tv.tv_sec * 1000000 + (uint64_t)tv.tv_usec;
}

/* A shell starts background commands with SIGINT ignored, but the benchmark ends runs by SIGINT. */
static void run_command(char **argv, int fd)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_DFL);
	close(fd);
	execvp(argv[0], argv);
	fprintf(stderr, "measure: '%s': %s\n", argv[0], strerror(errno));
	_exit(127);
}

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t began, ended;
	int fd, status;
	pid_t pid;

	fd = argc > 2 ? (int)strtol(argv[1], NULL, 10) : 0;
	if (fd <= 0) {
		fputs("usage: measure FD COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGINT, SIG_IGN);
	began = now_ns();
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (pid == 0)
		run_command(argv + 2, fd);
	dprintf(fd, "%d %" PRIu64 "\n", (int)pid, began);
	while (wait4(pid, &status, 0, &usage) != pid)
		if (errno != EINTR)
			return fail("wait4");
	ended = now_ns();
	dprintf(fd, "%" PRIu64 " %" PRIu64 " %" PRIu64 " %ld %d\n", ended, micros(usage.ru_utime),
		micros(usage.ru_stime), usage.ru_maxrss, status);
	return 0;
}
