// SPDX-License-Identifier: Apache-2.0
/*
 * Each test is a process of its own, since priorities are. What the kernel permits is a table: this program's own
 * setpriority(), sched_setscheduler() and pthread_create() take the place of libc's.
 */
#include "core/base/clock.h"
#include "core/host/priority.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <sched.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define WORKER 12345

static struct {
	int lowest; /* nice value that is permitted */
	rlim_t limit;
	bool no_rt;    /* real-time is not */
	bool stays;    /* a real-time policy can not be given up */
	bool by_limit; /* real time is permitted by RLIMIT_RTPRIO alone */
	int nice, policy, rt_priority;
	bool reset; /* on fork */
	int worker_nice, worker_policy;
	bool worker_reset;
	int created; /* policy of the thread that was made */
	unsigned int calls;
	uint64_t slept;
} kernel;

/* Of the tests: time that passes is what they say, of which this thread has so much. */
static uint64_t now, cpu;

int clock_gettime(clockid_t clock, struct timespec *ts)
{
	uint64_t ns = clock == CLOCK_THREAD_CPUTIME_ID ? cpu : now;

	if (!now)
		return (int)syscall(SYS_clock_gettime, clock, ts);
	*ts = (struct timespec){ .tv_sec = (time_t)(ns / 1000000000), .tv_nsec = (long)(ns % 1000000000) };
	return 0;
}

int nanosleep(const struct timespec *ts, struct timespec *rest)
{
	(void)rest;
	ck_assert_int_eq(ts->tv_sec, 0);
	now += (uint64_t)ts->tv_nsec;
	kernel.slept += (uint64_t)ts->tv_nsec;
	return 0;
}

/* This thread has a CPU to itself. */
static void work(uint64_t ns)
{
	now += ns;
	cpu += ns;
}

int getpriority(__priority_which_t which, id_t who)
{
	ck_assert_int_eq(which, PRIO_PROCESS);
	ck_assert_uint_eq(who, 0);
	return kernel.nice;
}

int setpriority(__priority_which_t which, id_t who, int prio)
{
	ck_assert_int_eq(which, PRIO_PROCESS);
	if (who == WORKER) {
		kernel.worker_nice = prio;
		return 0;
	}
	ck_assert_uint_eq(who, 0);
	kernel.calls++;
	if (prio < kernel.nice && prio < kernel.lowest) {
		errno = EACCES;
		return -1;
	}
	kernel.nice = prio;
	return 0;
}

int getrlimit(__rlimit_resource_t resource, struct rlimit *rl)
{
	/* A sanitizer asks for others. */
	if (resource != RLIMIT_NICE)
		return prlimit(0, resource, NULL, rl);
	*rl = (struct rlimit){ kernel.limit, RLIM_INFINITY };
	return 0;
}

int sched_getscheduler(pid_t pid)
{
	ck_assert_int_eq(pid, 0);
	return kernel.policy | (kernel.reset ? SCHED_RESET_ON_FORK : 0);
}

int sched_getparam(pid_t pid, struct sched_param *param)
{
	ck_assert_int_eq(pid, 0);
	param->sched_priority = kernel.rt_priority;
	return 0;
}

/* Of this thread, or of a worker. Without the right to it, nobody may say no more that the policy is not inherited. */
int sched_setscheduler(pid_t pid, int policy, const struct sched_param *param)
{
	bool reset = policy & SCHED_RESET_ON_FORK;

	policy &= ~SCHED_RESET_ON_FORK;
	if (kernel.stays || (policy == SCHED_FIFO && kernel.no_rt) ||
	    (kernel.by_limit && (pid ? kernel.worker_reset : kernel.reset) && !reset)) {
		errno = EPERM;
		return -1;
	}
	if (pid) {
		ck_assert_int_eq(pid, WORKER);
		kernel.worker_policy = policy;
		kernel.worker_reset = reset;
		return 0;
	}
	kernel.policy = policy;
	kernel.reset = reset;
	kernel.rt_priority = param->sched_priority;
	return 0;
}

/* The thread is never run; what it would be is in kernel.created. */
int pthread_create(pthread_t *thread, const pthread_attr_t *attr, void *(*fn)(void *arg), void *arg)
{
	struct sched_param param = { 0 };
	int inherits = PTHREAD_INHERIT_SCHED;

	(void)fn;
	(void)arg;
	*thread = pthread_self();
	kernel.created = kernel.reset ? SCHED_OTHER : kernel.policy;
	if (attr)
		pthread_attr_getinheritsched(attr, &inherits);
	if (inherits == PTHREAD_INHERIT_SCHED)
		return 0;
	if (kernel.no_rt)
		return EPERM;
	pthread_attr_getschedpolicy(attr, &kernel.created);
	pthread_attr_getschedparam(attr, &param);
	ck_assert_int_eq(param.sched_priority, 1);
	return 0;
}

static void setup(void)
{
	memset(&kernel, 0, sizeof(kernel));
	kernel.lowest = -20;
	now = cpu = 1000000000;
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
	{ 0, 0, 1, 0 }, /* 19: lower than it has */
	{ 0, 0, 20, 0 },
	{ 0, -5, 25, -5 }, /* what the limit permits */
	{ 10, -5, 25, -5 },
	{ 0, -20, 40, -20 },
	{ 0, 0, 40, 0 }, /* it says so, and the host does not */
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
	priority_lower();
	ck_assert_int_eq(kernel.nice, raises[_i].before);
	ck_assert_int_eq(priority_nice(), raises[_i].want);
	priority_lower();
	ck_assert_int_eq(kernel.nice, raises[_i].before);
}
END_TEST

static void check_often(void)
{
	int i;

	for (i = 0; i < 10000; i++)
		priority_check();
}

/* It ends by itself when it was permitted for a time, and only then. */
START_TEST(test_keep)
{
	priority_raise();
	check_often();
	ck_assert_int_eq(kernel.nice, -20);
	priority_keep(3600ULL * 1000000000);
	check_often();
	ck_assert_int_eq(kernel.nice, -20);
	priority_keep(0);
	ck_assert_int_eq(kernel.nice, -20);
	check_often();
	ck_assert_int_eq(kernel.nice, 0);
	/* The next interval. */
	priority_raise();
	check_often();
	ck_assert_int_eq(kernel.nice, -20);
}
END_TEST

static const struct {
	uint64_t work, wait; /* ms */
	bool ends;
} uses[] = {
	{ 19, 0, false }, { 20, 0, true }, { 0, 79, false }, { 0, 80, true }, { 19, 60, false }, { 10, 70, true },
};

/* It may use 20 ms of CPU time within 80 ms. */
START_TEST(test_keep_cpu_time)
{
	kernel.no_rt = true;
	priority_raise();
	priority_keep(20 * 1000 * 1000);
	work(uses[_i].work * 1000000);
	now += uses[_i].wait * 1000000;
	priority_check_now();
	ck_assert_int_eq(kernel.nice, uses[_i].ends ? 0 : -20);
}
END_TEST

/* Who could not raise it has nothing to lower. */
START_TEST(test_nothing_raised)
{
	unsigned int calls;

	kernel.lowest = 0;
	kernel.no_rt = true;
	priority_raise();
	calls = kernel.calls;
	priority_keep(0);
	check_often();
	priority_lower();
	ck_assert_uint_eq(kernel.calls, calls);
	ck_assert_int_eq(kernel.nice, 0);
}
END_TEST

static void *nothing(void *arg)
{
	return arg;
}

/* As the thread that was made. */
static void create(struct priority_window *w)
{
	pthread_t thread;

	ck_assert_int_eq(priority_create_thread(&thread, w, nothing, NULL), 0);
	kernel.policy = kernel.created;
	kernel.reset = false;
	cpu = 0;
}

#define A_SECOND 1000000000
#define SHARE    (A_SECOND / 4)

/* The thread that was made has the nice value of who made it, and never sleeps within its share. */
START_TEST(test_made)
{
	struct priority_window w;

	kernel.no_rt = _i;
	priority_raise();
	create(&w);
	kernel.nice = 0; /* as the kernel does where a real-time thread makes another one */
	priority_window_enter(&w);
	ck_assert_int_eq(kernel.nice, -20);
	work(SHARE / 100);
	priority_window_check(&w);
	ck_assert_uint_eq(kernel.slept, 0);
}
END_TEST

/* However much there is to do: it works for a quarter of the time, and stays real-time. */
START_TEST(test_paced)
{
	struct priority_window w;
	uint64_t began, used;

	ck_assert_int_eq(priority_got_realtime(), 0);
	create(&w);
	began = now;
	used = cpu;
	while (now - began < 10ULL * A_SECOND) {
		work((uint64_t)_i * 1000 * 1000);
		priority_window_check(&w);
		ck_assert_int_eq(kernel.policy, SCHED_FIFO);
	}
	/* Each second begins without a rest. */
	ck_assert_uint_le(cpu - used, 10ULL * A_SECOND / 100 * 45);
	ck_assert_uint_ge(cpu - used, 10ULL * A_SECOND / 100 * 20);
	ck_assert_int_eq(priority_got_realtime(), 1);
}
END_TEST

/* The main thread is real-time within its share, then not until the window is over. */
START_TEST(test_window)
{
	kernel.by_limit = _i;
	priority_raise();
	work(SHARE);
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_FIFO);
	work(10);
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	ck_assert_int_eq(kernel.rt_priority, 0);
	ck_assert_int_eq(kernel.reset, _i);
	work(SHARE);
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	now += A_SECOND;
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_FIFO);
	ck_assert_int_eq(kernel.rt_priority, 1);
	work(SHARE + 10);
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	ck_assert_int_eq(priority_got_realtime(), 1); /* that is what --stats tells */
}
END_TEST

/* A real-time priority that the kernel does not take back is known to be there still, and the thread rests. */
START_TEST(test_window_stays)
{
	priority_raise();
	kernel.stays = true;
	work(SHARE + 10);
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_FIFO);
	ck_assert_uint_gt(kernel.slept, 50 * 1000 * 1000);
}
END_TEST

/* After 5 ms of work others get on. */
START_TEST(test_rests)
{
	priority_raise();
	work(5 * 1000 * 1000);
	priority_check_now();
	ck_assert_uint_eq(kernel.slept, 0);
	work(1);
	priority_check_now();
	ck_assert_uint_eq(kernel.slept, 1000 * 1000);
}
END_TEST

/* Not permitted: a thread like the others, which nobody changes. */
START_TEST(test_no_realtime)
{
	struct priority_window w;

	kernel.no_rt = true;
	priority_raise();
	create(&w);
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	ck_assert_int_eq(priority_got_realtime(), 0);
	work(2ULL * A_SECOND);
	priority_window_check(&w);
	ck_assert_uint_eq(kernel.slept, 0);
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	priority_lower();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
}
END_TEST

static const struct {
	int before, during, thread, got;
} policies[] = {
	{ SCHED_OTHER, SCHED_FIFO, SCHED_FIFO, 1 },
	{ SCHED_BATCH, SCHED_FIFO, SCHED_FIFO, 1 },
	{ SCHED_IDLE, SCHED_FIFO, SCHED_FIFO, 1 },
	/* What the caller gave stays. */
	{ SCHED_FIFO, SCHED_FIFO, SCHED_FIFO, 42 },
	{ SCHED_RR, SCHED_RR, SCHED_RR, 42 },
	{ 6, 6, 6, 42 }, /* SCHED_DEADLINE */
};

/* The main thread has what the caller gave when all is over, and a thread beyond its share. */
START_TEST(test_policy)
{
	int callers = policies[_i].before == policies[_i].during ? 42 : 0;
	struct priority_window w;
	pthread_t thread;

	kernel.policy = policies[_i].before;
	kernel.rt_priority = callers;
	priority_raise();
	ck_assert_int_eq(kernel.policy, policies[_i].during);
	ck_assert_int_eq(kernel.reset, !callers); /* other processes are as the caller is */
	ck_assert_int_eq(priority_got_realtime(), policies[_i].got);
	ck_assert_int_eq(priority_create_thread(&thread, &w, nothing, NULL), 0);
	ck_assert_int_eq(kernel.created, policies[_i].thread);
	ck_assert_int_eq(w.permitted, !callers);
	if (!callers)
		ck_assert_int_eq(w.before, policies[_i].before);
	ck_assert_int_eq(priority_got_realtime(), policies[_i].got);
	priority_lower();
	ck_assert_int_eq(kernel.policy, policies[_i].before);
	ck_assert(!kernel.reset);
	/* The next interval. */
	priority_raise();
	ck_assert_int_eq(kernel.policy, policies[_i].during);
}
END_TEST

/* Where only RLIMIT_RTPRIO permits it, it ends all the same. */
START_TEST(test_by_limit)
{
	kernel.by_limit = true;
	priority_raise();
	ck_assert_int_eq(kernel.policy, SCHED_FIFO);
	priority_lower();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	ck_assert(kernel.reset);
}
END_TEST

/* A worker has what its user has; real time for a moment, which counts as its user's. */
START_TEST(test_share)
{
	struct priority_shared s = { 0 };
	int i;

	kernel.by_limit = _i;
	kernel.nice = 19;
	priority_share(WORKER, &s);
	ck_assert_int_eq(kernel.worker_nice, 19);
	ck_assert_int_eq(kernel.worker_policy, SCHED_OTHER);
	ck_assert(!s.realtime);
	priority_raise();
	priority_share(WORKER, &s);
	ck_assert_int_eq(kernel.worker_nice, -20);
	ck_assert_int_eq(kernel.worker_policy, SCHED_FIFO);
	ck_assert(s.realtime);
	priority_unshare(WORKER, &s);
	ck_assert_int_eq(kernel.worker_policy, SCHED_OTHER);
	for (i = 0; i < 6; i++) {
		priority_share(WORKER, &s);
		now += PRIORITY_SHARED_NS;
		priority_unshare(WORKER, &s);
	}
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER); /* of this thread, too */
	priority_share(WORKER, &s);
	ck_assert(!s.realtime);
	ck_assert_int_eq(kernel.worker_policy, SCHED_OTHER);
	priority_lower();
	priority_share(WORKER, &s);
	ck_assert_int_eq(kernel.worker_nice, 19);
}
END_TEST

/* No real time within, for whom it calls neither; afterwards as before. */
START_TEST(test_pause)
{
	struct priority_shared s = { 0 };

	kernel.by_limit = _i;
	priority_raise();
	priority_pause();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	ck_assert_int_eq(kernel.nice, -20);
	priority_pause();
	priority_share(WORKER, &s);
	ck_assert_int_eq(kernel.worker_policy, SCHED_OTHER);
	ck_assert(!s.realtime);
	priority_resume();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	/* A new window, and all of it used. */
	now += 1000000000;
	cpu += 1000000000;
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	priority_resume();
	ck_assert_int_eq(kernel.policy, SCHED_FIFO);
	ck_assert_int_eq(kernel.rt_priority, 1);
}
END_TEST

/* Where it may not come back now, it does in the next window. */
START_TEST(test_pause_refused)
{
	priority_raise();
	priority_pause();
	kernel.no_rt = true;
	errno = EINTR;
	priority_resume();
	ck_assert_int_eq(errno, EINTR);
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	kernel.no_rt = false;
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	now += 1000000000;
	priority_check_now();
	ck_assert_int_eq(kernel.policy, SCHED_FIFO);
}
END_TEST

/* What ended meanwhile does not come back, and what never was does not come. */
START_TEST(test_pause_ends)
{
	priority_pause();
	priority_resume();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	priority_raise();
	priority_pause();
	priority_lower();
	priority_resume();
	ck_assert_int_eq(kernel.policy, SCHED_OTHER);
	ck_assert_int_eq(kernel.nice, 0);
}
END_TEST

/* Real time that the caller has given is not taken away. */
START_TEST(test_pause_callers)
{
	kernel.policy = SCHED_RR;
	kernel.rt_priority = 42;
	priority_raise();
	priority_pause();
	ck_assert_int_eq(kernel.policy, SCHED_RR);
	priority_resume();
	ck_assert_int_eq(kernel.policy, SCHED_RR);
	ck_assert_int_eq(kernel.rt_priority, 42);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("priority");
	TCase *tc = tcase_create("priority");

	/* Also below sanitizers and valgrind, where tests share a process elsewhere. */
	setenv("CK_FORK", "yes", 1);

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_loop_test(tc, test_raise, 0, ARRAY_SIZE(raises));
	tcase_add_test(tc, test_keep);
	tcase_add_loop_test(tc, test_keep_cpu_time, 0, ARRAY_SIZE(uses));
	tcase_add_test(tc, test_nothing_raised);
	tcase_add_loop_test(tc, test_window, 0, 2);
	tcase_add_test(tc, test_window_stays);
	tcase_add_loop_test(tc, test_made, 0, 2);
	tcase_add_loop_test(tc, test_paced, 1, 20);
	tcase_add_test(tc, test_rests);
	tcase_add_test(tc, test_no_realtime);
	tcase_add_test(tc, test_by_limit);
	tcase_add_loop_test(tc, test_pause, 0, 2);
	tcase_add_test(tc, test_pause_refused);
	tcase_add_test(tc, test_pause_ends);
	tcase_add_test(tc, test_pause_callers);
	tcase_add_loop_test(tc, test_share, 0, 2);
	tcase_add_loop_test(tc, test_policy, 0, ARRAY_SIZE(policies));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
