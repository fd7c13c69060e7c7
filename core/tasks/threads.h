/* SPDX-License-Identifier: Apache-2.0 */
/* The known threads: whether they live, in which process, and their names. Part of struct tasks. */
#ifndef CORE_TASKS_THREADS_H
#define CORE_TASKS_THREADS_H

#include "core/tasks/comm.h"
#include "core/tasks/pid_table.h"

#include <stdint.h>

#define THREADS_MAX_DEAD 1024 /* dead threads whose names are kept: samples may still come after the EXIT record */

struct thread_group;

/** struct thread - a thread of a process, found by its tid. */
struct thread {
	struct pid_entry entry;
	bool named, dead;
	size_t dead_at;   /* its index in threads.dead, if it is dead */
	uint64_t read_ns; /* when the name was read from /proc; 0: it is from an event */
	char comm[COMM_LEN];
	uint64_t mntns;             /* 0: not known */
	bool hidden;                /* /proc does not permit us to read @mntns */
	struct thread_group *group; /* live threads of its process but the leader; NULL: it is the leader, or dead */
	struct thread *prev, *next;
};

/** struct threads - all zeros: none. */
struct threads {
	struct pid_table all;
	struct pid_table groups;      /* by the pid of the process */
	pid_t dead[THREADS_MAX_DEAD]; /* a queue: a new entry replaces the oldest */
	size_t next_dead;
};

/** threads_find() - NULL: it is not known. */
struct thread *threads_find(const struct threads *ts, pid_t tid);
/** threads_get() - find it, or add one with nothing known. NULL: no memory. */
struct thread *threads_get(struct threads *ts, pid_t tid);

/**
 * threads_set_alive() - @th lives, in process @pid: a reused number may be in another process than before.
 * Return: 0 or -ENOMEM.
 */
int threads_set_alive(struct threads *ts, struct thread *th, pid_t pid);
/** threads_set_dead() - @th has ended; it is kept for some time. */
void threads_set_dead(struct threads *ts, struct thread *th);

/** threads_rename() - @tid of process @pid lives, and has the name @comm. @read_ns: see struct thread. 0 or -ENOMEM. */
int threads_rename(struct threads *ts, pid_t pid, pid_t tid, const char *comm, uint64_t read_ns);

/** thread_process() - the process in which @th lives; if it is the leader, or dead, its own number. */
pid_t thread_process(const struct thread *th);

/**
 * threads_mntns() - the mount namespace of a thread of @pid other than the leader. Use it if the leader has ended while
 * other threads go on, because the leader has no mount namespace then. Return: 0: not known.
 */
uint64_t threads_mntns(const struct threads *ts, pid_t pid);

/**
 * threads_end_group() - an exec in process @pid has ended all of its threads but the one that called exec. If this one
 * was not the leader, it now has the leader's number, and there is no EXIT record for its old number.
 */
void threads_end_group(struct threads *ts, pid_t pid);

/**
 * threads_successor() - the thread that becomes the leader. If the leader is dead and one other thread lives, that
 * one may be in exec: it takes the leader's number, and some time later the new program's name. Samples between these
 * two moments have the leader's number, but this thread's old name is the right one for them. NULL: there is no such
 * thread, as far as we know.
 */
const struct thread *threads_successor(const struct threads *ts, const struct thread *leader);

void threads_release(struct threads *ts);

#endif
