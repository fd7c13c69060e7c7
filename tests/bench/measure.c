// SPDX-License-Identifier: Apache-2.0
/*
 * measure COMMAND [ARGUMENT...] - what a run of profile costs, printed as "started_us rss_kib cpu_us".
 *
 * started_us: from just before the fork to the moment the command names on stderr, "started_ns: N" (CLOCK_MONOTONIC);
 * rss_kib: its peak resident memory; cpu_us: user and system time. Its stdout is discarded. A program of its own,
 * because a child's peak memory begins with its parent's.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void run_command(char **argv, int err_fd)
{
	int null = open("/dev/null", O_RDWR);

	if (null < 0 || dup2(null, 0) < 0 || dup2(null, 1) < 0 || dup2(err_fd, 2) < 0)
		_exit(126);
	execv(argv[0], argv);
	_exit(127);
}

/* Copies @fd to stderr but for the lines of --stats, and finds the one that is wanted. */
static uint64_t read_started(int fd)
{
	FILE *in = fdopen(fd, "r");
	uint64_t started = 0;
	char line[1024];

	if (!in)
		return 0;
	while (fgets(line, sizeof(line), in)) {
		if (!strncmp(line, "started_ns: ", 12))
			started = strtoull(line + 12, NULL, 10);
		else if (!strncmp(line, "profile: ", 9))
			fputs(line, stderr);
	}
	fclose(in);
	return started;
}

int main(int argc, char **argv)
{
	struct rusage usage;
	uint64_t begin, started;
	int fds[2], status;
	pid_t pid;

	if (argc < 2) {
		fputs("usage: measure COMMAND [ARGUMENT...]\n", stderr);
		return 2;
	}
	if (pipe2(fds, O_CLOEXEC))
		return fail("pipe");
	begin = now_ns();
	pid = fork();
	if (pid < 0)
		return fail("fork");
	if (pid == 0)
		run_command(argv + 1, fds[1]);
	close(fds[1]);
	started = read_started(fds[0]);
	if (wait4(pid, &status, 0, &usage) != pid)
		return fail("wait4");
	if (!WIFEXITED(status) || WEXITSTATUS(status) || started < begin) {
		fprintf(stderr, "measure: '%s' failed, status 0x%x, or did not say when it started\n", argv[1], status);
		return 1;
	}
	printf("%" PRIu64 " %ld %" PRIu64 "\n", (started - begin) / 1000, usage.ru_maxrss,
	       (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
		       (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec));
	return 0;
}
