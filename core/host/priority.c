// SPDX-License-Identifier: Apache-2.0
#include "core/host/priority.h"

#include "core/base/clock.h"

#include <errno.h>
#include <sched.h>
#include <time.h>
#include <sys/resource.h>

#define NICE_HIGHEST (-20)

/* Of what priority_keep() permits, in real time: a worker process may use it, and where groups compete, much is
 * waiting. */
#define WAIT_TIMES 4

#define CALLS 256

/* Of each window a real-time thread may use one part in so many, and rests when it has worked for so long. */
#define WINDOW_NS     NSEC_PER_SEC
#define WINDOW_SHARES 4
#define WORK_NS       (5 * 1000 * 1000ULL)
#define REST_NS       (1000 * 1000ULL)
#define REST_MAX_NS   (100 * 1000 * 1000ULL)

static bool known;                    /* @callers is */
static int callers;                   /* the nice value with which the process was started */
static int got;                       /* see priority_nice() */
static int got_realtime;              /* see priority_got_realtime() */
static struct priority_window window; /* of the main thread */
static unsigned int pauses;           /* of its real time: calls of priority_pause() that were not resumed */
static bool raised;                   /* the main thread is, */
static bool ends;                     /* when it has used so much CPU time, or at that moment of CLOCK_MONOTONIC */
static uint64_t cpu_end, end;

/* -1 is a value, too. */
static int nice_value(void)
{
	return getpriority(PRIO_PROCESS, 0);
}

/* Without the right to any, what RLIMIT_NICE permits: 20 minus that (getrlimit(2)). */
static int permitted(void)
{
	struct rlimit rl;

	if (getrlimit(RLIMIT_NICE, &rl) || rl.rlim_cur < 1)
		return callers;
	return rl.rlim_cur >= 40 ? NICE_HIGHEST : 20 - (int)rl.rlim_cur;
}

static bool is_realtime(int policy)
{
	return policy != SCHED_OTHER && policy != SCHED_BATCH && policy != SCHED_IDLE;
}

/* That of the main thread, before it was raised; -1: unknown. */
static int policy_before(void)
{
	int policy = sched_getscheduler(0);

	return window.permitted ? window.before : policy < 0 ? policy : policy & ~SCHED_RESET_ON_FORK;
}

/* Of one thread: sched_setscheduler(2) takes a thread for what POSIX calls a process. */
static bool set_policy(pid_t tid, int policy, int priority)
{
	const struct sched_param param = { .sched_priority = priority };

	return !sched_setscheduler(tid, policy, &param);
}

static int lowest(void)
{
	return sched_get_priority_min(SCHED_FIFO);
}

/* What it forks is not real-time. */
static bool become_realtime(pid_t tid)
{
	return set_policy(tid, SCHED_FIFO | SCHED_RESET_ON_FORK, lowest());
}

/* With no more than RLIMIT_RTPRIO nobody may clear SCHED_RESET_ON_FORK (sched_setscheduler(2)). */
static bool end_realtime(pid_t tid, int policy)
{
	return set_policy(tid, policy, 0) || set_policy(tid, policy | SCHED_RESET_ON_FORK, 0);
}

/* What the caller has given is kept, and shown. */
static void note_callers_realtime(int policy)
{
	struct sched_param param = { 0 };

	if (policy >= 0 && is_realtime(policy) && !sched_getparam(0, &param))
		got_realtime = param.sched_priority;
}

static void window_begin(struct priority_window *w, int before)
{
	*w = (struct priority_window){
		.began = now_ns(), .used = own_cpu_ns(), .rested = own_cpu_ns(), .before = before
	};
	if (before < 0 || is_realtime(before)) {
		note_callers_realtime(before);
		return;
	}
	w->permitted = w->realtime = become_realtime(0);
	if (w->permitted)
		got_realtime = lowest();
}

static void window_end(struct priority_window *w)
{
	if (w->realtime && !end_realtime(0, w->before))
		return;
	w->realtime = w->permitted = false;
}

/* A thread that would have to become a real-time one by itself might wait for the CPU time that this takes. */
static int create_realtime(pthread_t *thread, void *(*fn)(void *arg), void *arg)
{
	const struct sched_param param = { .sched_priority = lowest() };
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
		rc = pthread_create(thread, &attr, fn, arg);
	pthread_attr_destroy(&attr);
	if (!rc)
		got_realtime = param.sched_priority;
	return rc;
}

int priority_create_thread(pthread_t *thread, struct priority_window *w, void *(*fn)(void *arg), void *arg)
{
	int before = policy_before();

	/* The new thread may run before this returns. */
	*w = (struct priority_window){ .began = now_ns(),
				       .before = before,
				       .nice = nice_value(),
				       .permitted = true,
				       .realtime = true,
				       .paced = true };
	if (before >= 0 && !is_realtime(before) && !create_realtime(thread, fn, arg))
		return 0;
	*w = (struct priority_window){ .nice = nice_value() };
	note_callers_realtime(before);
	return pthread_create(thread, NULL, fn, arg);
}

/* What a real-time thread makes has the nice value 0 (sched_fork(), kernel/sched/core.c). */
void priority_window_enter(const struct priority_window *w)
{
	if (nice_value() != w->nice)
		setpriority(PRIO_PROCESS, 0, w->nice);
}

static void rest(struct priority_window *w, uint64_t cpu, uint64_t ns)
{
	nanosleep(&(struct timespec){ .tv_nsec = (long)(ns < REST_MAX_NS ? ns : REST_MAX_NS) }, NULL);
	w->rested = cpu;
}

void priority_window_check(struct priority_window *w)
{
	uint64_t now, cpu;
	bool spent;

	if (!w->permitted || (w == &window && pauses))
		return;
	now = now_ns();
	cpu = own_cpu_ns();
	if (now - w->began >= WINDOW_NS) {
		w->began = now;
		w->used = cpu;
		w->others = 0;
		w->realtime = w->realtime || become_realtime(0);
	}
	spent = cpu - w->used + w->others > WINDOW_NS / WINDOW_SHARES;
	if (w->realtime && spent && !w->paced)
		w->realtime = !end_realtime(0, w->before);
	if (w->realtime && spent)
		rest(w, cpu, (WINDOW_SHARES - 1) * (cpu - w->rested));
	else if (w->realtime && cpu - w->rested > WORK_NS)
		rest(w, cpu, REST_NS);
}

void priority_raise(void)
{
	if (!known)
		callers = nice_value();
	known = true;
	if (setpriority(PRIO_PROCESS, 0, NICE_HIGHEST) && permitted() < nice_value())
		setpriority(PRIO_PROCESS, 0, permitted());
	got = nice_value();
	raised = got < callers;
	ends = false;
	if (!window.permitted)
		window_begin(&window, policy_before());
}

void priority_keep(uint64_t cpu_ns)
{
	ends = raised || window.permitted;
	cpu_end = own_cpu_ns() + cpu_ns;
	end = now_ns() + WAIT_TIMES * cpu_ns;
}

void priority_check_now(void)
{
	if (ends && (now_ns() >= end || own_cpu_ns() >= cpu_end))
		priority_lower();
	priority_window_check(&window);
}

/* A system call tells the CPU time, and a name may be known already: each time would be too dear. */
void priority_check(void)
{
	static unsigned int calls;

	if ((ends || window.permitted) && ++calls % CALLS == 0)
		priority_check_now();
}

void priority_pause(void)
{
	if (!pauses++ && window.realtime)
		end_realtime(0, window.before);
}

void priority_resume(void)
{
	int code = errno;

	/* Where it is not permitted just now, the next window tries again. */
	if (!--pauses && window.realtime)
		window.realtime = become_realtime(0);
	errno = code;
}

void priority_lower(void)
{
	window_end(&window);
	if (raised)
		setpriority(PRIO_PROCESS, 0, callers);
	raised = ends = false;
}

void priority_share(pid_t pid, struct priority_shared *s)
{
	int nice = nice_value();

	if (!s->known || s->nice != nice)
		setpriority(PRIO_PROCESS, (id_t)pid, nice);
	*s = (struct priority_shared){ .known = true, .nice = nice, .began = now_ns() };
	s->realtime = window.realtime && !pauses && become_realtime(pid);
}

void priority_unshare(pid_t pid, struct priority_shared *s)
{
	if (!s->realtime)
		return;
	s->realtime = false;
	window.others += now_ns() - s->began;
	end_realtime(pid, window.before);
}

int priority_got_realtime(void)
{
	return got_realtime;
}

int priority_nice(void)
{
	return got;
}
