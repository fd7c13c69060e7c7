// SPDX-License-Identifier: Apache-2.0
#include "core/host/priority.h"

#include "core/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#ifndef sigev_notify_thread_id
#define sigev_notify_thread_id _sigev_un._tid
#endif

#define NICE_HIGHEST (-20)

#define WORK_NS     (3 * 1000 * 1000ULL) /* after so much CPU time a real-time thread rests */
#define REST_TIMES  3                    /* so many times as long as it has worked */
#define REST_MAX_MS 100                  /* at most so long */

#define TIMER_SIGNAL (SIGRTMIN + 1)

enum alarm { LOWER, REST };

static bool known;       /* @callers is known */
static int callers;      /* the nice value at the start of the process */
static int got;          /* see priority_nice() */
static int got_realtime; /* see priority_got_realtime() */
static timer_t keeps;    /* timer that ends the main thread's raised priority */
static bool has_timer;   /* @keeps could be created */

static _Thread_local uint64_t rested; /* CPU time of the thread at the end of its last rest */

static void rest(void)
{
	uint64_t ms = REST_TIMES * (own_cpu_ns() - rested) / 1000000;

	/* poll(2) is permitted here, nanosleep(2) is not (signal-safety(7)). */
	poll(NULL, 0, (int)(ms < REST_MAX_MS ? ms : REST_MAX_MS));
	rested = own_cpu_ns();
}

/* Handle the timer of this thread. Signals from other senders are ignored. */
static void on_timer(int sig, siginfo_t *info, void *context)
{
	int code = errno;

	(void)sig;
	(void)context;
	if (info->si_code == SI_TIMER && info->si_value.sival_int == REST)
		rest();
	else if (info->si_code == SI_TIMER)
		setpriority(PRIO_PROCESS, 0, callers);
	errno = code;
}

/* Create a timer that signals the calling thread. Unblock the signal: the thread may have inherited a blocked one. */
static bool make_timer(clockid_t clock, enum alarm alarm, timer_t *timer)
{
	const struct sigaction action = { .sa_sigaction = on_timer, .sa_flags = SA_SIGINFO | SA_RESTART };
	struct sigevent event = {
		.sigev_notify = SIGEV_THREAD_ID,
		.sigev_signo = TIMER_SIGNAL,
		.sigev_value.sival_int = alarm,
	};
	sigset_t set;

	event.sigev_notify_thread_id = (pid_t)syscall(SYS_gettid);
	sigemptyset(&set);
	sigaddset(&set, TIMER_SIGNAL);
	return !sigaction(TIMER_SIGNAL, &action, NULL) && !pthread_sigmask(SIG_UNBLOCK, &set, NULL) &&
	       !timer_create(clock, &event, timer);
}

static struct timespec timespec_of(uint64_t ns)
{
	return (struct timespec){ .tv_sec = (time_t)(ns / NSEC_PER_SEC), .tv_nsec = (long)(ns % NSEC_PER_SEC) };
}

/* @ns: from now to the first signal; 0: stop the timer. @interval: ns between signals; 0: there is only one */
static bool set_timer(timer_t timer, uint64_t ns, uint64_t interval)
{
	const struct itimerspec spec = { timespec_of(interval), timespec_of(ns) };

	return !timer_settime(timer, 0, &spec, NULL);
}

/* ---- the nice value of the process */

/* -1 is a valid result, too. */
static int nice_value(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

/* The nice value that RLIMIT_NICE permits without a capability: 20 minus the limit (getrlimit(2)). */
static int permitted_nice(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NICE, &rl) || rl.rlim_cur < 1)
		return callers;
	return rl.rlim_cur >= 40 ? NICE_HIGHEST : 20 - (int)rl.rlim_cur;
}

void priority_raise(void)
{
	if (!known) {
		callers = nice_value();
		has_timer = make_timer(CLOCK_MONOTONIC, LOWER, &keeps);
	}
	known = true;
	if (has_timer)
		set_timer(keeps, 0, 0);
	if (setpriority(PRIO_PROCESS, 0, NICE_HIGHEST) && permitted_nice() < nice_value())
		setpriority(PRIO_PROCESS, 0, permitted_nice());
	got = nice_value();
}

void priority_keep(uint64_t ns)
{
	if (got < callers && !(has_timer && ns && set_timer(keeps, ns, 0)))
		setpriority(PRIO_PROCESS, 0, callers);
}

void priority_share(pid_t pid)
{
	setpriority(PRIO_PROCESS, (id_t)pid, nice_value());
}

/* ---- the real-time thread */

/* Atomic: the real-time thread itself may have to set it to 0, while other threads read it. */
static void set_got(int priority)
{
	__atomic_store_n(&got_realtime, priority, __ATOMIC_RELEASE);
}

static bool is_realtime(int policy)
{
	return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

static void end_realtime(pthread_t thread)
{
	pthread_setschedparam(thread, SCHED_OTHER, &(struct sched_param){ 0 });
}

/* If the timer fails, give up the real-time priority: without limit, the thread could block a CPU. */
static void *run_realtime(void *arg)
{
	const struct priority_thread *t = arg;
	timer_t timer;
	bool made;

	/* Children of a real-time thread get the nice value 0 (sched_fork(), kernel/sched/core.c). */
	setpriority(PRIO_PROCESS, 0, t->nice);
	rested = own_cpu_ns();
	made = make_timer(CLOCK_THREAD_CPUTIME_ID, REST, &timer);
	if (!made || !set_timer(timer, WORK_NS, WORK_NS)) {
		end_realtime(pthread_self());
		set_got(0);
	}
	t->fn(t->arg);
	if (made)
		timer_delete(timer);
	return NULL;
}

static void *run(void *arg)
{
	const struct priority_thread *t = arg;

	t->fn(t->arg);
	return NULL;
}

/* Create the thread with the policy: to change its own policy, the thread might first have to wait for a CPU. */
static int create_realtime(struct priority_thread *t)
{
	const struct sched_param param = { .sched_priority = sched_get_priority_min(SCHED_FIFO) };
	pthread_attr_t attr;
	int rc = pthread_attr_init(&attr);

	if (rc)
		return rc;
	rc = pthread_attr_setinheritsched(&attr, PTHREAD_EXPLICIT_SCHED);
	if (!rc)
		rc = pthread_attr_setschedpolicy(&attr, SCHED_FIFO);
	if (!rc)
		rc = pthread_attr_setschedparam(&attr, &param);
	if (!rc)
		set_got(param.sched_priority);
	if (!rc)
		rc = pthread_create(&t->id, &attr, run_realtime, t);
	if (rc)
		set_got(0);
	pthread_attr_destroy(&attr);
	return rc;
}

int priority_thread_start(struct priority_thread *t, bool permitted, void (*fn)(void *arg), void *arg)
{
	int policy = sched_getscheduler(0);
	struct sched_param param = { 0 };

	/* The new thread may run before this returns. */
	*t = (struct priority_thread){ .fn = fn, .arg = arg, .nice = nice_value(), .realtime = true };
	if (permitted && policy >= 0 && !is_realtime(policy & ~SCHED_RESET_ON_FORK) && !create_realtime(t))
		return 0;
	t->realtime = false;
	set_got(0); /* forget the priority of an earlier thread */
	/* The new thread inherits the caller's real-time priority: report that. */
	if (policy >= 0 && is_realtime(policy & ~SCHED_RESET_ON_FORK) && !sched_getparam(0, &param))
		set_got(param.sched_priority);
	return -pthread_create(&t->id, NULL, run, t);
}

void priority_thread_join(struct priority_thread *t)
{
	struct timespec until;

	clock_gettime(CLOCK_REALTIME, &until);
	until.tv_sec += 1;
	if (!pthread_timedjoin_np(t->id, NULL, &until))
		return;
	if (t->realtime)
		end_realtime(t->id);
	pthread_join(t->id, NULL);
}

int priority_got_realtime(void)
{
	return __atomic_load_n(&got_realtime, __ATOMIC_ACQUIRE);
}

int priority_nice(void)
{
	return got;
}
