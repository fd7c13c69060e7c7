// SPDX-License-Identifier: Apache-2.0
#include "core/signals.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

static void both(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

int signals_catch(struct err *err)
{
	sigset_t set;
	int fd;

	both(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_sys(err, -errno, "cannot create a signalfd") : fd;
}

bool signals_take(int fd)
{
	struct signalfd_siginfo info;

	return read(fd, &info, sizeof(info)) == sizeof(info);
}

static volatile sig_atomic_t noted;

static void note(int sig)
{
	(void)sig;
	noted = 1;
}

void signals_note(void)
{
	struct sigaction sa = { .sa_handler = note, .sa_flags = SA_RESTART | SA_RESETHAND };

	noted = 0;
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

bool signals_noted(void)
{
	return noted;
}

void signals_release(void)
{
	sigset_t set;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	both(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}
