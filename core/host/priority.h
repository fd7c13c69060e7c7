/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the profiler gets CPU time on a busy host. Two threads take part: the main thread opens perf events, works on
 * records and writes the report; another one only empties the ring buffers.
 *
 * Both have the highest nice value that they may have, which is enough where sessions with scheduling groups of their
 * own (sched(7), autogroup) compete: a group that hardly runs is the next to get a CPU. It is not enough beside a fork
 * storm. Measured on 6.18 with 300 busy threads, and 2 CPUs that fork, exec and exit all the time: a thread with nice
 * -20 got 30 ms of CPU time in 15 s. So both threads have the lowest real-time priority, each for at most a quarter of
 * one CPU in each second. Beyond that the main thread has its nice value alone, and the other one sleeps.
 *
 * No real-time thread looks up a path of a process in /proc, or takes the status of one that has ended (wait4(2)). If
 * a thread of that process is just ending, and was preempted while the kernel frees its directory entry, both wait for
 * it in a loop without sleeping (d_invalidate(), fs/dcache.c). Measured on 6.18: a CPU was lost for 950 ms, as long as
 * the kernel permits a real-time thread to have it.
 *
 * The report begins with the priority of the reader, for a bounded time, and goes on with that of the caller: on a host
 * where dozens of threads wait for each CPU, a tenth of a second of work would take several seconds without it.
 */
#ifndef CORE_HOST_PRIORITY_H
#define CORE_HOST_PRIORITY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** priority_raise() - of the calling thread. Where that is not permitted, all stays as it is. */
void priority_raise(void);

/**
 * priority_keep() - where it is raised, it stays so until the thread has used @cpu_ns nanoseconds of CPU time, or four
 * times as much time has passed: then priority_check() ends that.
 */
void priority_keep(uint64_t cpu_ns);

/** priority_check() - by the main thread, often: end what priority_keep() permitted; see priority_window_check(). */
void priority_check(void);

/** priority_check_now() - the same before something that takes longer. */
void priority_check_now(void);

/**
 * priority_pause(), priority_resume() - by the main thread, around what may wait for a thread that ends, see above:
 * meanwhile it is not real-time, nor is a process that it calls (priority_share()). They nest.
 * priority_resume() leaves errno alone.
 */
void priority_pause(void);
void priority_resume(void);

/** priority_lower() - the calling thread has what the caller gave the process again; so do processes it forks. */
void priority_lower(void);

/**
 * struct priority_window - how much CPU time a thread has used of what a real-time one may use: a quarter of one CPU in
 * each second, and a rest after each 5 ms of work. The thread's own.
 */
struct priority_window {
	uint64_t began, used, rested; /* CLOCK_MONOTONIC, and CPU time of the thread */
	uint64_t others;              /* time that processes have had which work for it, at most */
	int before;                   /* the policy that it has otherwise, */
	int nice;                     /* and the nice value; of a thread that was made */
	bool paced;                   /* beyond its share it works no more than that, and stays real-time */
	bool permitted, realtime;     /* it may be real-time, and is now */
};

/**
 * priority_create_thread() - pthread_create(3), for a thread that begins with the lowest SCHED_FIFO priority, where
 * that is permitted. A caller with a real-time policy of its own hands that down instead, unbounded. Otherwise the
 * thread has what the calling thread has.
 * @w: out, for priority_window_check()
 * Return: 0 or an error number, as pthread_create(3).
 */
int priority_create_thread(pthread_t *thread, struct priority_window *w, void *(*fn)(void *arg), void *arg);

/** priority_window_enter() - the thread that was made calls it first. */
void priority_window_enter(const struct priority_window *w);

/** priority_window_check() - by the thread itself, often: end, or begin again, its real-time priority; or rest. */
void priority_window_check(struct priority_window *w);

/** struct priority_shared - what a process got from priority_share(). All zeros: a new process. */
struct priority_shared {
	bool known, realtime;
	int nice;
	uint64_t began; /* CLOCK_MONOTONIC: being real-time */
};

/** PRIORITY_SHARED_NS - how long a process may be real-time at once, see priority_share(). */
#define PRIORITY_SHARED_NS (50 * 1000 * 1000ULL)

/**
 * priority_share() - give process @pid, which the main thread is going to wait for, the priority of this thread. After
 * PRIORITY_SHARED_NS, or when it need not wait any more, the caller takes real time away by priority_unshare(), which
 * counts the time as this thread's.
 */
void priority_share(pid_t pid, struct priority_shared *s);
void priority_unshare(pid_t pid, struct priority_shared *s);

/** priority_got_realtime() - the real-time priority, 1 to 99, that the threads have got; 0: none. */
int priority_got_realtime(void);

/** priority_nice() - the nice value, -20 to 19, that the thread got at the last priority_raise(); 0 before. */
int priority_nice(void);

#endif
