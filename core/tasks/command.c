// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/command.h"

#include "core/base/clock.h"
#include "core/base/printable.h"
#include "core/host/privileges.h"
#include "core/host/signals.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOT_RUN 127 /* the status that shells use for a command that cannot be run */

struct command {
	char *const *argv;
	pid_t pid;
	int sock; /* to its process, until command_release(); then -1 */
	int fd;   /* a signalfd for SIGCHLD */
	bool ended;
	int status; /* of wait4(2), once it has ended */
	struct rusage usage;

	/* The signal mask and the action of SIGCHLD before command_start(). */
	sigset_t mask;
	struct sigaction action;
};

/* Block SIGCHLD, and give it its default action: if it is ignored, child processes leave no exit status. */
static void block_sigchld(struct command *c)
{
	struct sigaction def = { .sa_handler = SIG_DFL };
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	pthread_sigmask(SIG_BLOCK, &set, &c->mask);
	sigaction(SIGCHLD, &def, &c->action);
	c->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void restore_sigchld(const struct command *c)
{
	sigaction(SIGCHLD, &c->action, NULL);
	pthread_sigmask(SIG_SETMASK, &c->mask, NULL);
}

/*
 * The process of the command. Exec closes everything that we opened, also @sock: command_release() waits for that. If
 * the parent closes its end of the socket without a message, exit.
 */
static void __attribute__((noreturn)) become(const struct command *c, int sock)
{
	char go;
	int code;

	if (privileges_return() || send(sock, "", 1, MSG_NOSIGNAL) != 1)
		_exit(NOT_RUN);
	restore_sigchld(c);
	signals_restore();
	if (recv(sock, &go, sizeof(go), 0) == sizeof(go)) {
		execvp(c->argv[0], c->argv);
		code = errno;
		send(sock, &code, sizeof(code), MSG_NOSIGNAL);
	}
	_exit(NOT_RUN);
}

/* Wait until the process has dropped our lent rights: only then can its events be opened without any right. */
static int wait_for_return(const struct command *c)
{
	char returned;
	ssize_t n;

	do
		n = recv(c->sock, &returned, sizeof(returned), 0);
	while (n < 0 && errno == EINTR);
	return n == sizeof(returned) ? 0 : -ECHILD;
}

static int start(struct command *c)
{
	int ends[2], code;

	if (c->fd < 0 || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends))
		return -errno;
	c->pid = fork();
	if (!c->pid) {
		close(ends[0]);
		become(c, ends[1]);
	}
	code = -errno;
	close(ends[1]);
	c->sock = ends[0];
	return c->pid < 0 ? code : wait_for_return(c);
}

struct command *command_start(char *const *argv, struct err *err)
{
	struct command *c = calloc(1, sizeof(*c));
	char name[NAME_SHOWN + 1];
	int rc = -ENOMEM;

	if (c) {
		*c = (struct command){ .argv = argv, .pid = -1, .sock = -1 };
		block_sigchld(c);
		rc = start(c);
	}
	if (!rc) {
		signals_pass_to(c->pid);
		return c;
	}
	command_free(c);
	err_sys(err, rc, "cannot make a process for '%s'", name_shown(argv[0], name));
	return NULL;
}

pid_t command_pid(const struct command *c)
{
	return c->pid;
}

/*
 * Check whether the command has ended. @options: of wait4(2). After its end another process may get its id, so no more
 * signals are passed on.
 */
static void look(struct command *c, int options)
{
	pid_t pid = 0;

	if (c->ended)
		return;
	do
		pid = wait4(c->pid, &c->status, options, &c->usage);
	while (pid < 0 && errno == EINTR);
	c->ended = pid != 0;
	if (c->ended)
		signals_pass_to(0);
}

static void close_sock(struct command *c)
{
	if (c->sock >= 0)
		close(c->sock);
	c->sock = -1;
}

/* Wait until the exec is over, or a signal has come. */
static void wait_for_exec(const struct command *c, int signal_fd)
{
	struct pollfd fds[] = { { c->sock, POLLIN, 0 }, { signal_fd, POLLIN, 0 } };

	while (poll(fds, ARRAY_SIZE(fds), -1) < 0 && errno == EINTR)
		;
}

int command_release(struct command *c, int signal_fd, struct err *err)
{
	char name[NAME_SHOWN + 1];
	ssize_t got = 0;
	int code;

	if (send(c->sock, "", 1, MSG_NOSIGNAL) == 1) {
		wait_for_exec(c, signal_fd);
		got = recv(c->sock, &code, sizeof(code), MSG_DONTWAIT);
	}
	close_sock(c);
	if (got != sizeof(code))
		return 0;
	look(c, 0);
	return err_sys(err, -code, "cannot run '%s'", name_shown(c->argv[0], name));
}

int command_fd(const struct command *c)
{
	return c->fd;
}

bool command_ended(struct command *c)
{
	struct signalfd_siginfo info;

	/* Read signals first: a process that ends now sends another one. */
	while (read(c->fd, &info, sizeof(info)) == sizeof(info))
		;
	look(c, WNOHANG);
	return c->ended;
}

static uint64_t ns_of(const struct timeval *t)
{
	return (uint64_t)t->tv_sec * NSEC_PER_SEC + (uint64_t)t->tv_usec * 1000;
}

uint64_t command_cpu_ns(const struct command *c, bool user_only)
{
	return ns_of(&c->usage.ru_utime) + (user_only ? 0 : ns_of(&c->usage.ru_stime));
}

int command_wait(struct command *c)
{
	/* A command that was not released ends because of that. */
	close_sock(c);
	signals_hold();
	while (!command_ended(c))
		signals_wait(SIGCHLD);
	return WIFSIGNALED(c->status) ? 128 + WTERMSIG(c->status) : WEXITSTATUS(c->status);
}

void command_free(struct command *c)
{
	if (!c)
		return;
	if (c->sock >= 0) {
		close_sock(c);
		if (c->pid > 0)
			look(c, 0);
	}
	signals_pass_to(0);
	if (c->fd >= 0)
		close(c->fd);
	restore_sigchld(c);
	free(c);
}
