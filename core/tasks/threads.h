/* SPDX-License-Identifier: Apache-2.0 */
/* The threads that are known: which live, in which process, under which name. Part of struct tasks. */
#ifndef CORE_TASKS_THREADS_H
#define CORE_TASKS_THREADS_H

#include "core/tasks/comm.h"
#include "core/tasks/pid_table.h"

#include <stdint.h>

#define THREADS_MAX_DEAD 1024 /* whose names are kept: samples may still come after the EXIT record */

struct thread_group;

/** struct thread - one of a process, by its tid. */
struct thread {
	struct pid_entry entry;
	bool named, dead;
	size_t dead_at;   /* its place in the queue, when it is dead */
	uint64_t read_ns; /* when /proc told the name; 0: an event told it */
	char comm[COMM_LEN];
	uint64_t mntns;             /* 0: not known */
	bool hidden;                /* it was not, and /proc did not permit to read it */
	struct thread_group *group; /* NULL: it leads its process, or is dead */
	struct thread *prev, *next;
};

/** struct threads - all zeros: none. */
struct threads {
	struct pid_table all;
	struct pid_table groups;      /* by the pid of the process */
	pid_t dead[THREADS_MAX_DEAD]; /* a queue: the oldest is forgotten when a new one comes */
	size_t next_dead;
};

/** threads_find() - NULL: it is not known. */
struct thread *threads_find(const struct threads *ts, pid_t tid);
/** threads_get() - a new one, of which nothing is known, if there is none. NULL: no memory. */
struct thread *threads_get(struct threads *ts, pid_t tid);

/**
 * threads_set_alive() - @th lives, in process @pid: a number that is used again may be in another one than it was.
 * Return: 0 or -ENOMEM.
 */
int threads_set_alive(struct threads *ts, struct thread *th, pid_t pid);
/** threads_set_dead() - @th has ended; it is kept for some time. */
void threads_set_dead(struct threads *ts, struct thread *th);

/** threads_rename() - @tid of process @pid lives, and is called @comm. @read_ns: see struct thread. 0 or -ENOMEM. */
int threads_rename(struct threads *ts, pid_t pid, pid_t tid, const char *comm, uint64_t read_ns);

/** thread_process() - in which @th lives, when it does. */
pid_t thread_process(const struct thread *th);

/**
 * threads_mntns() - the mount namespace of the threads of @pid but the leader, which has none any more when it has
 * ended, while the others go on. Return: 0: not known.
 */
uint64_t threads_mntns(const struct threads *ts, pid_t pid);

/**
 * threads_end_group() - an exec of @pid has ended all of its other threads. The one that called it, if not the leader,
 * has no EXIT record.
 */
void threads_end_group(struct threads *ts, pid_t pid);

/**
 * threads_successor() - an exec in a thread that is not the leader: when all others are gone, the thread takes the
 * leader's number, and some time later the new program's name. Between these it runs as the leader, under its own name.
 * NULL: not so, as far as is known.
 */
const struct thread *threads_successor(const struct threads *ts, const struct thread *leader);

void threads_release(struct threads *ts);

#endif
