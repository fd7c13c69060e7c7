// SPDX-License-Identifier: Apache-2.0
#include "tests/vm/run.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUN_SECONDS 120 /* longer than any run under emulation */
#define MAX_ARGS    32
#define NOBODY      65534

void die(const char *what)
{
	printf("Bail out! %s: %s\n", what, strerror(errno));
	exit(99);
}

uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

void nap_ms(unsigned int ms)
{
	struct timespec ts = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

bool await(bool (*holds)(void *arg), void *arg, unsigned int seconds)
{
	uint64_t end = now_ns() + seconds * 1000000000ULL;

	while (!holds(arg)) {
		if (now_ns() > end)
			return false;
		nap_ms(5);
	}
	return true;
}

/* ---- processes */

static void deny(unsigned int denied)
{
	struct sock_filter filter[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied & DENY_BPF ? SYS_bpf : ~0U, 2, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, denied & DENY_PERF ? SYS_perf_event_open : ~0U, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
	};
	struct sock_fprog program = { sizeof(filter) / sizeof(filter[0]), filter };

	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
		die("cannot filter system calls");
}

static void become_nobody(void)
{
	if (setgroups(0, NULL) || setgid(NOBODY) || setuid(NOBODY))
		die("cannot become nobody");
}

/* Split @args into words. */
static void split(char *args, char **argv)
{
	unsigned int argc = 1;
	char *word;

	while (argc < MAX_ARGS && (word = strsep(&args, " ")))
		if (*word)
			argv[argc++] = word;
	argv[argc] = NULL;
}

/* Return: its pid; @out and @err become its stdout and stderr. */
static pid_t spawn(const struct confined *as, const char *path, const char *args, int out, int err)
{
	char *argv[MAX_ARGS + 1] = { (char *)path }, words[256];
	pid_t pid = fork();

	if (pid < 0)
		die("cannot fork");
	if (pid)
		return pid;
	snprintf(words, sizeof(words), "%s", args);
	split(words, argv);
	if (dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0)
		die("cannot redirect");
	/* First the steps that need privileges. */
	if (as && as->denied)
		deny(as->denied);
	if (as && as->nobody)
		become_nobody();
	execv(path, argv);
	die(path);
}

static int scratch_file(void)
{
	char path[] = "/tmp/guest-XXXXXX";
	int fd = mkstemp(path);

	if (fd < 0 || unlink(path) || fcntl(fd, F_SETFD, FD_CLOEXEC))
		die("cannot make a file in /tmp");
	return fd;
}

/* The present contents of the file, as text. */
static char *contents(int fd)
{
	size_t len = 0;
	struct stat st;
	char *text;
	ssize_t n;

	if (fstat(fd, &st))
		die("fstat");
	text = malloc((size_t)st.st_size + 1);
	if (!text)
		die("malloc");
	while (len < (size_t)st.st_size && (n = pread(fd, text + len, (size_t)st.st_size - len, (off_t)len)) > 0)
		len += (size_t)n;
	text[len] = 0;
	return text;
}

/* ---- profile */

static void start(struct run *r, const char *program, const struct confined *as, const char *format, va_list args)
{
	*r = (struct run){ .out_fd = scratch_file(), .err_fd = scratch_file() };
	vsnprintf(r->args, sizeof(r->args), format, args);
	r->forked_ns = now_ns();
	r->pid = spawn(as, program, r->args, r->out_fd, r->err_fd);
}

void run_start(struct run *r, const struct confined *as, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	start(r, "./profile", as, format, args);
	va_end(args);
}

void run_start_offcputime(struct run *r, const struct confined *as, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	start(r, "./offcputime", as, format, args);
	va_end(args);
}

static bool samples_or_ended(void *arg)
{
	struct run *r = arg;
	siginfo_t info = { .si_pid = 0 };

	free(r->err);
	r->err = contents(r->err_fd);
	if (strstr(r->err, ": backend "))
		return true;
	return !waitid(P_PID, (id_t)r->pid, &info, WEXITED | WNOHANG | WNOWAIT) && info.si_pid;
}

bool run_await_sampling(struct run *r)
{
	return await(samples_or_ended, r, RUN_SECONDS) && strstr(r->err, ": backend ");
}

static bool has_ended(void *arg)
{
	struct run *r = arg;
	struct rusage usage;
	int status;

	if (wait4(r->pid, &status, WNOHANG, &usage) != r->pid)
		return false;
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	r->maxrss_kb = usage.ru_maxrss;
	return true;
}

void run_end(struct run *r)
{
	if (!await(has_ended, r, RUN_SECONDS)) {
		kill(r->pid, SIGKILL);
		waitpid(r->pid, NULL, 0);
		r->status = -1;
	}
	free(r->err);
	r->err = contents(r->err_fd);
	r->out = contents(r->out_fd);
	close(r->err_fd);
	close(r->out_fd);
}

void run_free(struct run *r)
{
	free(r->err);
	free(r->out);
}

void run_profile(struct run *r, const struct confined *as, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	start(r, "./profile", as, format, args);
	va_end(args);
	run_end(r);
}

void run_offcputime(struct run *r, const struct confined *as, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	start(r, "./offcputime", as, format, args);
	va_end(args);
	run_end(r);
}

/* ---- workloads */

pid_t load_start(const char *program, const char *name, const char *args, bool nobody)
{
	const struct confined as = { .nobody = nobody };
	char target[64], path[64], line[8] = "";
	int ends[2];
	pid_t pid;

	snprintf(target, sizeof(target), "/vm/%s", program);
	snprintf(path, sizeof(path), "/tmp/%s", name);
	unlink(path);
	if (symlink(target, path) || pipe(ends))
		die(path);
	fcntl(ends[0], F_SETFD, FD_CLOEXEC);
	pid = spawn(&as, path, args, ends[1], STDERR_FILENO);
	close(ends[1]);
	if (read(ends[0], line, sizeof(line) - 1) <= 0 || strncmp(line, "ready", 5))
		die(name);
	close(ends[0]);
	return pid;
}

void load_stop(pid_t pid)
{
	kill(pid, SIGTERM);
	waitpid(pid, NULL, 0);
}

uint64_t load_cpu_ms(pid_t pid)
{
	char path[64], line[1024];
	const char *p = NULL;
	uint64_t ticks = 0;
	FILE *f;
	int i;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	f = fopen(path, "re");
	if (f) {
		p = fgets(line, sizeof(line), f) ? strrchr(line, ')') : NULL;
		fclose(f);
	}
	/* After the name, the 12th and 13th field are user and system time. */
	for (i = 1; p && i <= 13; i++) {
		p = strchr(p + 1, ' ');
		if (p && i >= 12)
			ticks += strtoull(p, NULL, 10);
	}
	if (!p)
		die(path);
	return ticks * 1000 / (uint64_t)sysconf(_SC_CLK_TCK);
}
