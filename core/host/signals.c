// SPDX-License-Identifier: Apache-2.0
#include "core/host/signals.h"

#include "core/base/clock.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define TWIN_NS (200 * 1000 * 1000ULL) /* a signal so soon after an equal one is its twin */
#define WORK_NS (3 * NSEC_PER_SEC)     /* of the 5 s for a report; the rest is for work that cannot be interrupted */

static void both(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGINT);
	sigaddset(set, SIGTERM);
}

static uint64_t came_ns; /* when the first signal came, CLOCK_MONOTONIC; 0: none has come */

/* Atomic: the thread that names symbols may see a signal before the thread that takes it from its descriptor. */
void signals_obey(void)
{
	uint64_t none = 0;

	__atomic_compare_exchange_n(&came_ns, &none, now_ns(), false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

static void forget_signals(void)
{
	__atomic_store_n(&came_ns, 0, __ATOMIC_RELEASE);
}

static bool is_pending(void)
{
	sigset_t set;

	return !sigpending(&set) && (sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1);
}

uint64_t signals_due(void)
{
	uint64_t came;

	if (!__atomic_load_n(&came_ns, __ATOMIC_ACQUIRE) && is_pending())
		signals_obey();
	came = __atomic_load_n(&came_ns, __ATOMIC_ACQUIRE);
	return came ? came + WORK_NS : UINT64_MAX;
}

bool signals_overdue(void)
{
	uint64_t due = signals_due();

	return due != UINT64_MAX && now_ns() >= due;
}

void signals_hold(void)
{
	sigset_t set;

	both(&set);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int signals_catch(struct err *err)
{
	sigset_t set;
	int fd;

	forget_signals();
	signals_hold();
	both(&set);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? err_sys(err, -errno, "cannot create a signalfd") : fd;
}

static volatile pid_t pass_to; /* 0: none */

/* The last signal that was not a twin, and when it came; 0: none. */
static volatile int last_sig;
static volatile uint64_t last_ns;

void signals_pass_to(pid_t pid)
{
	pass_to = pid;
	/* The last signal came before this child existed: so do not treat the next one as its twin, but pass it on. */
	if (pid > 0)
		last_sig = 0;
}

/*
 * A key of the terminal signals the whole foreground group, so nothing is passed on within the group. A signal from
 * another process may have been sent to the group or to us alone. We cannot know which, so it is passed on.
 */
static void pass_on(int sig, int code)
{
	pid_t pid = pass_to;

	if (pid > 0 && (code != SI_KERNEL || getpgid(pid) != getpgrp()))
		kill(pid, sig);
}

/* A signal sent to this process may be sent again to its process group, as timeout(1) does. */
static bool is_twin(int sig)
{
	return sig == last_sig && now_ns() - last_ns < TWIN_NS;
}

static void handle_signal(int sig, int code)
{
	if (is_twin(sig))
		return;
	last_sig = sig;
	last_ns = now_ns();
	signals_obey();
	pass_on(sig, code);
}

bool signals_take(int fd)
{
	struct signalfd_siginfo info;

	if (read(fd, &info, sizeof(info)) != sizeof(info))
		return false;
	handle_signal((int)info.ssi_signo, info.ssi_code);
	return true;
}

void signals_wait(int other)
{
	siginfo_t info;
	sigset_t set;

	both(&set);
	sigaddset(&set, other);
	if (sigwaitinfo(&set, &info) > 0 && info.si_signo != other)
		handle_signal(info.si_signo, info.si_code);
}

/* Causes: a closed pipe, and a file beyond RLIMIT_FSIZE. If the signals are ignored, the write fails instead. */
static const int of_writing[] = { SIGPIPE, SIGXFSZ };
static struct sigaction before[ARRAY_SIZE(of_writing)];
static bool ignored;

void signals_ignore(void)
{
	struct sigaction ignore = { .sa_handler = SIG_IGN };
	size_t i;

	for (i = 0; i < ARRAY_SIZE(of_writing); i++)
		sigaction(of_writing[i], &ignore, ignored ? NULL : &before[i]);
	ignored = true;
}

void signals_restore(void)
{
	size_t i;

	for (i = 0; ignored && i < ARRAY_SIZE(of_writing); i++)
		sigaction(of_writing[i], &before[i], NULL);
	ignored = false;
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
	forget_signals();
	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
}

bool signals_noted(void)
{
	return noted;
}

static void end(int sig, siginfo_t *info, void *context)
{
	(void)context;
	if (is_twin(sig))
		return;
	handle_signal(sig, info->si_code);
	signal(sig, SIG_DFL);
	raise(sig);
}

static void pass(int sig, siginfo_t *info, void *context)
{
	(void)context;
	handle_signal(sig, info->si_code);
}

static void handle_with(void (*handler)(int sig, siginfo_t *info, void *context))
{
	struct sigaction sa = { .sa_sigaction = handler, .sa_flags = SA_RESTART | SA_SIGINFO };
	sigset_t set;

	sigaction(SIGINT, &sa, NULL);
	sigaction(SIGTERM, &sa, NULL);
	both(&set);
	pthread_sigmask(SIG_UNBLOCK, &set, NULL);
}

void signals_release(void)
{
	handle_with(end);
}

void signals_pass(void)
{
	handle_with(pass);
}
