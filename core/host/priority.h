/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CPU time for the profiler on a busy host.
 *
 * While the process samples, its main thread has the lowest nice value that the host permits. That is enough for work
 * that may be late. It is not enough for the rings, beside a fork storm: measured on 6.18 with 300 busy threads, and
 * processes on 2 CPUs that fork, exec and exit all the time, a thread with nice -20 got 30 ms of CPU time in 15 s. So
 * one small thread, which moves records from the rings to memory and does little else (ring_thread.h), has the lowest
 * SCHED_FIFO priority.
 *
 * The kernel limits that thread: a timer on its CPU time makes it sleep after 3 ms of work, for three times as long as
 * it has worked, at most 100 ms. The kernel checks such timers in each tick, and the thread handles the signal when it
 * returns from the kernel. Its system calls take microseconds, so it holds a CPU for at most 3 ms and a tick. While the
 * main thread copies records of a ring for which this thread waits, the main thread inherits the priority of this
 * thread (ring.h).
 *
 * SCHED_FIFO, not SCHED_DEADLINE: a deadline thread runs before the real-time threads of other programs, whatever their
 * priority; it is refused if a cpuset leaves out a CPU; it uses up bandwidth that others may want to reserve; and 3.10
 * does not have it.
 *
 * A real-time thread must not look up a path of a process in /proc, nor call wait4(2) for an ended process. If a thread
 * of that process is just ending, and was preempted while the kernel frees its directory entry, the lookup and wait4(2)
 * wait for the ending thread in a loop without sleeping (d_invalidate(), fs/dcache.c). Measured on 6.18: a CPU was lost
 * for 950 ms, as long as the kernel permits a real-time thread to have it.
 */
#ifndef CORE_HOST_PRIORITY_H
#define CORE_HOST_PRIORITY_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/** priority_raise() - raise the priority of the calling thread, the main one, if that is permitted. */
void priority_raise(void);

/**
 * priority_keep() - keep the priority raised for @ns nanoseconds more, for the report: on a host where dozens of
 * threads wait for each CPU, a tenth of a second of work would take several seconds otherwise. Then a timer restores
 * the nice value. If @ns is 0 or the timer fails, restore it at once.
 */
void priority_keep(uint64_t ns);

/** priority_share() - give process @pid, which works for the calling thread, the same nice value. */
void priority_share(pid_t pid);

/** struct priority_thread - a thread from priority_thread_start(). */
struct priority_thread {
	pthread_t id;
	void (*fn)(void *arg);
	void *arg;
	int nice;
	bool realtime;
};

/**
 * priority_thread_start() - as pthread_create(3), with real-time priority, limited as described above. A caller with a
 * real-time policy of its own passes that on instead, without limit.
 * @t: must not move until priority_thread_join()
 * @permitted: if false, or if the host does not permit real time, the thread gets the priority of the calling thread
 * Return: 0 or -errno.
 */
int priority_thread_start(struct priority_thread *t, bool permitted, void (*fn)(void *arg), void *arg);

/**
 * priority_thread_join() - wait for @t, whose function has to end soon. If it has not ended in a second, perhaps
 * because a cgroup of version 1 has used up its real time, take the real-time priority from @t and wait on.
 */
void priority_thread_join(struct priority_thread *t);

/** priority_got_realtime() - the real-time priority, 1 to 99, of the thread that was started last; 0: none. */
int priority_got_realtime(void);

/** priority_nice() - the nice value, -20 to 19, that the last priority_raise() has reached; 0 before the first call. */
int priority_nice(void);

#endif
