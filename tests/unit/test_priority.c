// SPDX-License-Identifier: Apache-2.0
/*
 * Each test is a process of its own, because priorities belong to processes. The kernel's permissions are in a table:
 * this program's own setpriority(), sched_getscheduler() and pthread_create() replace libc's. Timers and threads are
 * real.
 */
#include "core/base/clock.h"
#include "core/host/priority.h"
#include "tests/unit/unit.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#define WORKER 12345

static struct {
	int lowest; /* lowest permitted nice value */
	rlim_t limit;
	bool no_rt;      /* no real-time permitted */
	bool no_timers;  /* no timer can be created */
	bool never_ends; /* the thread does not end in the time that it has */
	int nice, policy, rt_priority;
	int worker_nice, thread_nice;
	int created;       /* policy of the created thread */
	int changed;       /* its later policy; -1: none */
	timer_t timers[4]; /* that exist */
	size_t nr_timers;
	unsigned int calls;
	unsigned int rests, rested_ms;
} kernel;

int getpriority(__priority_which_t which, id_t who)
{
	ck_assert_int_eq(which, PRIO_PROCESS);
	ck_assert_uint_eq(who, 0);
	return kernel.nice;
}

/* The created thread has a nice value of its own. */
static bool is_thread(void)
{
	return syscall(SYS_gettid) != getpid();
}

int setpriority(__priority_which_t which, id_t who, int prio)
{
	ck_assert_int_eq(which, PRIO_PROCESS);
	if (who == WORKER) {
		kernel.worker_nice = prio;
		return 0;
	}
	ck_assert_uint_eq(who, 0);
	if (is_thread()) {
		kernel.thread_nice = prio;
		return 0;
	}
	kernel.calls++;
	if (prio < kernel.nice && prio < kernel.lowest) {
		errno = EACCES;
		return -1;
	}
	__atomic_store_n(&kernel.nice, prio, __ATOMIC_RELEASE);
	return 0;
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *rl)
{
	/* A sanitizer reads other limits. */
	if (resource != RLIMIT_NICE)
		return prlimit(0, resource, NULL, rl);
	*rl = (struct rlimit){ kernel.limit, RLIM_INFINITY };
	return 0;
}

int sched_getscheduler(pid_t pid)
{
	ck_assert_int_eq(pid, 0);
	return kernel.policy;
}

int sched_getparam(pid_t pid, struct sched_param *param)
{
	ck_assert_int_eq(pid, 0);
	param->sched_priority = kernel.rt_priority;
	return 0;
}

/* check(3) has timers of its own. */
int timer_create(clockid_t clock, struct sigevent *event, timer_t *timer)
{
	static int (*real)(clockid_t, struct sigevent *, timer_t *);
	bool ours = event && event->sigev_notify == SIGEV_THREAD_ID;
	int rc;

	if (ours && kernel.no_timers) {
		errno = EAGAIN; /* RLIMIT_SIGPENDING */
		return -1;
	}
	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "timer_create");
	rc = real(clock, event, timer);
	if (ours && !rc)
		kernel.timers[kernel.nr_timers++] = *timer;
	return rc;
}

int timer_delete(timer_t timer)
{
	static int (*real)(timer_t);

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "timer_delete");
	if (kernel.nr_timers && kernel.timers[kernel.nr_timers - 1] == timer)
		kernel.nr_timers--;
	return real(timer);
}

/* A rest takes no time here. */
int poll(struct pollfd *fds, nfds_t nr, int timeout)
{
	ck_assert_ptr_null(fds);
	ck_assert_uint_eq(nr, 0);
	kernel.rested_ms += (unsigned int)timeout;
	__atomic_add_fetch(&kernel.rests, 1, __ATOMIC_RELEASE);
	return 0;
}

/* The requested policy is kept in kernel.created; the real thread is created without it. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg)
{
	static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
	struct sched_param param = { 0 };

	if (!real)
		*(void **)&real = dlsym(RTLD_NEXT, "pthread_create");
	kernel.created = kernel.policy;
	if (attr) {
		if (kernel.no_rt)
			return EPERM;
		pthread_attr_getschedpolicy(attr, &kernel.created);
		pthread_attr_getschedparam(attr, &param);
		ck_assert_int_eq(param.sched_priority, 1);
	}
	return real(thread, NULL, fn, arg);
}

int pthread_setschedparam(pthread_t thread, int policy, const struct sched_param *param)
{
	(void)thread;
	ck_assert_int_eq(param->sched_priority, 0);
	kernel.changed = policy;
	return 0;
}

int pthread_timedjoin_np(pthread_t thread, void **result, const struct timespec *until)
{
	(void)until;
	return kernel.never_ends ? ETIMEDOUT : pthread_join(thread, result);
}

static void setup(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.lowest = -20;
	kernel.changed = -1;
}

static const struct {
	int before, lowest;
	rlim_t limit; /* RLIMIT_NICE */
	int want;
} raises[] = {
	{ 0, -20, 0, -20 },
	{ 19, -20, 0, -20 },
	{ -20, -20, 0, -20 },
	{ 0, 0, 0, 0 }, /* nothing is permitted */
	{ 5, 5, 0, 5 },
	{ -5, -5, 0, -5 },
	{ 0, 0, 1, 0 }, /* 19: lower than the present one */
	{ 0, 0, 20, 0 },
	{ 0, -5, 25, -5 }, /* as the limit permits */
	{ 10, -5, 25, -5 },
	{ 0, -20, 40, -20 },
	{ 0, 0, 40, 0 }, /* permitted by the limit, but the host refuses */
	{ 0, -20, RLIM_INFINITY, -20 },
};

START_TEST(test_raise)
{
	kernel.limit = raises[_i].limit;
	kernel.nice = raises[_i].before;
	kernel.lowest = raises[_i].lowest;
	priority_raise();
	ck_assert_int_eq(kernel.nice, raises[_i].want);
	ck_assert_int_eq(priority_nice(), raises[_i].want);
	priority_raise();
	ck_assert_int_eq(kernel.nice, raises[_i].want);
	priority_keep(0);
	ck_assert_int_eq(kernel.nice, raises[_i].before);
	ck_assert_int_eq(priority_nice(), raises[_i].want);
	/* the next interval */
	priority_raise();
	ck_assert_int_eq(kernel.nice, raises[_i].want);
}
END_TEST

static int nice_now(void)
{
	return __atomic_load_n(&kernel.nice, __ATOMIC_ACQUIRE);
}

/* The raised priority ends by itself, whatever the thread is doing. */
START_TEST(test_keep)
{
	priority_raise();
	priority_keep(3600 * NSEC_PER_SEC);
	ck_assert_int_eq(nice_now(), -20);
	priority_keep(NSEC_PER_SEC / 1000);
	while (nice_now() != 0)
		;
	/* The time permitted for the last interval does not end this one. */
	priority_keep(3600 * NSEC_PER_SEC);
	priority_raise();
	ck_assert_int_eq(nice_now(), -20);
	ck_assert_uint_eq(kernel.nr_timers, 1);
}
END_TEST

START_TEST(test_keep_without_timers)
{
	kernel.no_timers = true;
	priority_raise();
	ck_assert_int_eq(kernel.nice, -20);
	priority_keep(3600 * NSEC_PER_SEC);
	ck_assert_int_eq(kernel.nice, 0);
}
END_TEST

/* A signal from another process. */
START_TEST(test_foreign_signal)
{
	priority_raise();
	raise(SIGRTMIN + 1);
	ck_assert_int_eq(kernel.nice, -20);
}
END_TEST

/* If the priority could not be raised, it is not lowered. */
START_TEST(test_nothing_raised)
{
	unsigned int calls;

	kernel.lowest = 0;
	priority_raise();
	calls = kernel.calls;
	priority_keep(0);
	ck_assert_uint_eq(kernel.calls, calls);
	ck_assert_int_eq(kernel.nice, 0);
}
END_TEST

START_TEST(test_share)
{
	kernel.nice = 19;
	priority_share(WORKER);
	ck_assert_int_eq(kernel.worker_nice, 19);
	priority_raise();
	priority_share(WORKER);
	ck_assert_int_eq(kernel.worker_nice, -20);
}
END_TEST

static void nothing(void *arg)
{
	(void)arg;
}

static void work_until_rested(void *arg)
{
	(void)arg;
	while (__atomic_load_n(&kernel.rests, __ATOMIC_ACQUIRE) < 3)
		;
}

/* However long the thread works, a timer makes it rest: after 3 ms or a tick later, three times as long. */
START_TEST(test_rests)
{
	struct priority_thread t;

	priority_raise();
	ck_assert_int_eq(priority_got_realtime(), 0);
	ck_assert_int_eq(priority_thread_start(&t, true, work_until_rested, NULL), 0);
	priority_thread_join(&t);
	ck_assert_uint_ge(kernel.rests, 3);
	ck_assert_uint_ge(kernel.rested_ms, 3 * 3 * 3 - 3); /* whole milliseconds */
	ck_assert_int_eq(kernel.created, SCHED_FIFO);
	ck_assert_int_eq(kernel.changed, -1);
	ck_assert_int_eq(kernel.thread_nice, -20);
	ck_assert_int_eq(priority_got_realtime(), 1);
	ck_assert_uint_eq(kernel.nr_timers, 1); /* the timer of the report */
}
END_TEST

/* The caller may have blocked the signal. */
START_TEST(test_rests_though_blocked)
{
	struct priority_thread t;
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, NULL);
	ck_assert_int_eq(priority_thread_start(&t, true, work_until_rested, NULL), 0);
	priority_thread_join(&t);
	ck_assert_uint_ge(kernel.rests, 3);
}
END_TEST

/* Without a limit, real-time priority is given up. */
START_TEST(test_no_timers)
{
	struct priority_thread t;

	kernel.no_timers = true;
	ck_assert_int_eq(priority_thread_start(&t, true, nothing, NULL), 0);
	priority_thread_join(&t);
	ck_assert_int_eq(kernel.created, SCHED_FIFO);
	ck_assert_int_eq(kernel.changed, SCHED_OTHER);
}
END_TEST

/* A real-time thread that does not end in time, because it has no CPU time, becomes an ordinary one. */
START_TEST(test_never_ends)
{
	struct priority_thread t;

	kernel.never_ends = true;
	kernel.no_rt = _i;
	ck_assert_int_eq(priority_thread_start(&t, true, nothing, NULL), 0);
	priority_thread_join(&t);
	ck_assert_int_eq(kernel.changed, _i ? -1 : SCHED_OTHER);
}
END_TEST

static const struct {
	bool permitted, no_rt;
	int policy, created, got;
} policies[] = {
	{ true, false, SCHED_OTHER, SCHED_FIFO, 1 },
	{ true, false, SCHED_BATCH, SCHED_FIFO, 1 },
	{ true, false, SCHED_IDLE, SCHED_FIFO, 1 },
	{ true, false, SCHED_OTHER | SCHED_RESET_ON_FORK, SCHED_FIFO, 1 },
	{ true, true, SCHED_OTHER, SCHED_OTHER, 0 },
	{ false, false, SCHED_OTHER, SCHED_OTHER, 0 },
	/* A priority from the caller stays, without limit. */
	{ true, false, SCHED_FIFO, SCHED_FIFO, 42 },
	{ true, false, SCHED_RR, SCHED_RR, 42 },
	{ true, false, 6, 6, 42 }, /* SCHED_DEADLINE */
	{ true, false, SCHED_RR | SCHED_RESET_ON_FORK, SCHED_RR | SCHED_RESET_ON_FORK, 42 },
};

START_TEST(test_policy)
{
	struct priority_thread t;

	kernel.no_rt = policies[_i].no_rt;
	kernel.policy = policies[_i].policy;
	kernel.rt_priority = 42;
	ck_assert_int_eq(priority_thread_start(&t, policies[_i].permitted, nothing, NULL), 0);
	priority_thread_join(&t);
	ck_assert_int_eq(kernel.created, policies[_i].created);
	ck_assert_int_eq(priority_got_realtime(), policies[_i].got);
	ck_assert_int_eq(kernel.changed, -1);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("priority");
	TCase *tc = tcase_create("priority");

	/* Also with sanitizers and valgrind, where tests otherwise share a process. */
	setenv("CK_FORK", "yes", 1);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_raise, 0, ARRAY_SIZE(raises));
	tcase_add_test(tc, test_keep);
	tcase_add_test(tc, test_keep_without_timers);
	tcase_add_test(tc, test_foreign_signal);
	tcase_add_test(tc, test_nothing_raised);
	tcase_add_test(tc, test_share);
	tcase_add_test(tc, test_rests);
	tcase_add_test(tc, test_rests_though_blocked);
	tcase_add_test(tc, test_no_timers);
	tcase_add_loop_test(tc, test_never_ends, 0, 2);
	tcase_add_loop_test(tc, test_policy, 0, ARRAY_SIZE(policies));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
