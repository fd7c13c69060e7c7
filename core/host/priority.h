/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How the profiler gets CPU time on a busy host.
 *
 * While it samples, the process has the highest nice value that it may have. That is enough for what may be late.
 * It is not enough for the rings, beside a fork storm: measured on 6.18 with 300 busy threads, and 2 CPUs that fork,
 * exec and exit all the time, a thread with nice -20 got 30 ms of CPU time in 15 s. So one small thread, which moves
 * records from the rings to memory and does nothing else, has the lowest SCHED_FIFO priority.
 *
 * The kernel bounds what that thread takes: a timer on its CPU time makes it sleep after 3 ms of work, for three times
 * as long as it has worked, at most 100 ms. Such timers are looked at in each tick, and the signal is handled when the
 * thread comes back from the kernel, which takes microseconds here: it holds a CPU for at most 3 ms and a tick. It
 * lends its priority to the main thread while that copies records of a ring which it waits for (ring.h).
 *
 * SCHED_FIFO, not SCHED_DEADLINE: a deadline comes before the real-time threads of others, whatever their priority; is
 * refused where a cpuset leaves out a CPU; takes its part from what others may reserve; and 3.10 has none.
 *
 * A real-time thread looks up no path of a process in /proc, and takes no status of one that has ended (wait4(2)). If a
 * thread of that process is just ending, and was preempted while the kernel frees its directory entry, both wait for it
 * in a loop without sleeping (d_invalidate(), fs/dcache.c). Measured on 6.18: a CPU was lost for 950 ms, as long as the
 * kernel permits a real-time thread to have it.
 */
#ifndef CORE_HOST_PRIORITY_H
#define CORE_HOST_PRIORITY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** priority_raise() - of the calling thread, the main one. Where that is not permitted, all stays as it is. */
void priority_raise(void);

/**
 * priority_keep() - it stays raised for @ns nanoseconds more, for the report: on a host where dozens of threads wait
 * for each CPU, a tenth of a second of work would take several seconds without it. A timer ends that.
 */
void priority_keep(uint64_t ns);

/** priority_share() - give process @pid, which works for the calling thread, the nice value of this thread. */
void priority_share(pid_t pid);

/** struct priority_thread - a thread that was made by priority_thread_start(). */
struct priority_thread {
	pthread_t id;
	void (*fn)(void *arg);
	void *arg;
	int nice;
	bool realtime;
};

/**
 * priority_thread_start() - pthread_create(3) of a thread with real time, bounded as is told above. A caller with a
 * real-time policy of its own hands that down instead, unbounded.
 * @t: stays where it is until priority_thread_join()
 * @permitted: else, or where the host does not permit it, the thread has what the calling thread has
 * Return: 0 or -errno.
 */
int priority_thread_start(struct priority_thread *t, bool permitted, void (*fn)(void *arg), void *arg);

/**
 * priority_thread_join() - @t has been told to end. One that has not done so in a second, perhaps because a cgroup of
 * version 1 has used up its real time, goes on without real time.
 */
void priority_thread_join(struct priority_thread *t);

/** priority_got_realtime() - the real-time priority, 1 to 99, that such a thread has got; 0: none. */
int priority_got_realtime(void);

/** priority_nice() - the nice value, -20 to 19, that the thread got at the last priority_raise(); 0 before. */
int priority_nice(void);

#endif
