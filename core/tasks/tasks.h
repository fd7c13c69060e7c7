/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and processes through time: names for samples, mappings for addresses.
 *
 * Fed by side-band records in time order (backend-perfring) and, for what existed before, by /proc. A process is a
 * list of images: each fork and each exec begins a new one, and so does a mapping that changes what an address shows.
 * A sample that comes in time order has the image of its time. In-kernel counts carry no time: their addresses are
 * looked up in the newest image that began under the row's comm and maps the address, else in the newest image that
 * maps it. If another image of that name shows something else there, and may have samples, the address is unknown.
 * An image whose mappings could not be read ends the search, too: better no name than a wrong one.
 *
 * Memory is bounded by what lives, what rows still need, and what comes between two calls of tasks_forget().
 * Not thread safe.
 */
#ifndef CORE_TASKS_TASKS_H
#define CORE_TASKS_TASKS_H

#include "core/tasks/comm.h"
#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define COMM_OUTSIDE "[outside]" /* of all tasks outside our pid namespace, whose pid and tid are -1 then */

#define TASKS_MAX_EXITED 8192 /* exited processes kept until tasks_forget() is due */

struct tasks;
struct filter;
struct host;

/** tasks_new() - empty; what is not known yet is read below @host's /proc, NULL: nowhere. Return: NULL: no memory. */
struct tasks *tasks_new(const struct host *host);
void tasks_free(struct tasks *t);

/**
 * tasks_at() - the records that follow happened at @ns (CLOCK_MONOTONIC); 0: not known, on any other clock.
 * Called before each record. What was read from /proc later than an exec, exit or fork is not believed any more.
 */
void tasks_at(struct tasks *t, uint64_t ns);

/**
 * tasks_on_mapped() - have @fn called for each file that a process is found to have mapped, by a record or in /proc,
 * until it says for one that it need not hear of that one any more, or has heard of it 16 times; of memory without a
 * file always; but of no more than the first 1024 mappings that are read of a process. A file that nobody maps any more
 * is forgotten with tasks_forget(), and is another one afterwards.
 * @fn: @m is borrowed; called within the functions that follow, of which it may call tasks_lineage() alone
 */
void tasks_on_mapped(struct tasks *t, bool (*fn)(void *ctx, pid_t pid, const struct mapping *m), void *ctx);

/**
 * tasks_copied_fn - which parts of @m, memory of process @pid, have a copy of a file's code?
 * @near:   a mapping of the file, next to @m or in its place; borrowed, as @m is
 * @pieces: out, room for @max: mappings of that file, ascending, within @m
 * Return: how many; 0: none; -errno: that cannot be found out.
 */
typedef int (*tasks_copied_fn)(void *ctx, pid_t pid, const struct mapping *m, const struct mapping *near,
			       struct mapping *pieces, size_t max);

/**
 * tasks_on_copied() - have @fn called for executable memory of a process where a file's code was, or next to a file:
 * for at most 16 such mappings of a list in /proc. The copies that @fn finds show the file. A recording has no memory
 * to look at, and no @fn.
 */
void tasks_on_copied(struct tasks *t, tasks_copied_fn fn, void *ctx);

/*
 * Events, in time order. Return 0, or -ENOMEM. Strings are copied and need not be terminated within COMM_LEN.
 */

/** tasks_comm() - thread @tid of process @pid is called @comm now; @exec: because it executed a new program. */
int tasks_comm(struct tasks *t, pid_t pid, pid_t tid, const char *comm, bool exec);
/**
 * tasks_refresh() - /proc says that thread @tid of process @pid is called @comm at the time given by tasks_at(), and
 * records may be missing from before. What is known already, and lives, is left alone. A leader of another name, or one
 * that was dead, may have executed a program of which nothing told: a new image begins under that name, for
 * tasks_learn() to read, and the process lives. So do not call this for zombies, whose names /proc shows, too.
 */
int tasks_refresh(struct tasks *t, pid_t pid, pid_t tid, const char *comm);
/**
 * tasks_fork() - thread @ptid of process @ppid made thread @tid of @pid; a new process when @pid differs.
 * @exec: it has executed another program since, so that nothing of @ppid is mapped there
 */
int tasks_fork(struct tasks *t, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid, bool exec);
/** tasks_exit() - the thread is gone; the process too when it was its leader. Nothing of it is read from /proc later.
 */
int tasks_exit(struct tasks *t, pid_t pid, pid_t tid);
/** tasks_mmap() - @pid mapped @m executable; older mappings give way where they overlap. @m->file is copied. */
int tasks_mmap(struct tasks *t, pid_t pid, const struct mapping *m);

/** tasks_namespaces() - the thread is in the mount namespace of inode number @mntns now. */
int tasks_namespaces(struct tasks *t, pid_t pid, pid_t tid, uint64_t mntns);

/**
 * tasks_snapshot() - read the names of threads that exist now, of which no event has told yet; and their mount
 * namespaces, if @filter is about these.
 * @filter: only of the processes or threads it names, if it names any
 */
int tasks_snapshot(struct tasks *t, const struct filter *filter);
/**
 * tasks_learn() - read the mappings of @pid from /proc if nothing is known of it. Cheap when something is.
 * Return: 0, also when there is nothing to read; -ENOMEM.
 */
int tasks_learn(struct tasks *t, pid_t pid);
/** tasks_learn_sampled() - the same, and keep the present mappings longer, because a sample has addresses in them. */
int tasks_learn_sampled(struct tasks *t, pid_t pid);

/**
 * tasks_image() - the image that process @pid has now (in event time), by its number; 0: nothing is known of it.
 * Numbers are not used again.
 */
uint32_t tasks_image(const struct tasks *t, pid_t pid);

/**
 * tasks_report() - samples and intervals that were counted before @since_ns (CLOCK_MONOTONIC; 0: none) are not in the
 * next report: its addresses are not of an image that had ended by then.
 */
void tasks_report(struct tasks *t, uint64_t since_ns);

/**
 * tasks_unmapped() - does thread @tid, the first one of @pid, live, and has it executed a program of which no mapping
 * was told? Then tasks_learn() is to read them.
 */
bool tasks_unmapped(struct tasks *t, pid_t pid, pid_t tid);

/** tasks_read_anew() - records about mappings may be missing: tasks_learn() is to read those of all processes again. */
void tasks_read_anew(struct tasks *t);

/**
 * tasks_name() - the name thread @tid of process @pid has now (in event time).
 * @comm: out, COMM_LEN bytes, zero padded. The idle task (tid 0) has no name here: the caller knows its CPU.
 * An unknown thread's name is read from /proc, then it is its process's, at last ":TID".
 * A leader that is gone, while one other thread is known to live, is that thread: its exec has not come to its name
 * yet.
 */
void tasks_name(struct tasks *t, pid_t pid, pid_t tid, char *comm);

/**
 * tasks_mntns() - the inode number of the mount namespace that it is in now (in event time); 0: none, or not known.
 * What no record told is read from /proc, or is that of the thread that made it.
 */
uint64_t tasks_mntns(struct tasks *t, pid_t pid, pid_t tid);
/** tasks_mntns_hidden() - is it not known since /proc does not permit to read it? */
bool tasks_mntns_hidden(const struct tasks *t, pid_t tid);

/**
 * tasks_find() - what @addr showed in process @pid when a thread of it was called @comm; see the rule above.
 * @image: as tasks_image() was at that time; 0: not known
 * Return: 1 and *@out, its file borrowed until tasks_forget() or tasks_free(); 0 when nothing is known of that address;
 * -ESTALE: it showed different things, and the records cannot tell which.
 */
int tasks_find(struct tasks *t, pid_t pid, const char *comm, uint32_t image, uint64_t addr, struct mapping *out);

/**
 * tasks_mapped() - what @addr shows in process @pid now (in event time), without any rule about names.
 * Return: as tasks_find().
 */
int tasks_mapped(struct tasks *t, pid_t pid, uint64_t addr, struct mapping *out);

/**
 * tasks_jitdump() - the file that tells of code that process @pid makes now (in event time), see jitdump.h: the one
 * that it mapped last. Return: it, borrowed as that of tasks_find(); NULL: none is known.
 */
const struct mapped_file *tasks_jitdump(const struct tasks *t, pid_t pid);

/** tasks_find_jitdump() - the same of the image in which tasks_find() finds @addr. */
const struct mapped_file *tasks_find_jitdump(const struct tasks *t, pid_t pid, const char *comm, uint32_t image,
					     uint64_t addr);

/**
 * tasks_each_mapped() - call @fn for each mapping of process @pid, ascending, until it returns false: of its newest
 * image that began as @comm, else of its newest one. Nothing of one whose mappings are not known.
 */
void tasks_each_mapped(const struct tasks *t, pid_t pid, const char *comm,
		       bool (*fn)(void *ctx, const struct mapping *m), void *ctx);

/**
 * tasks_lineage() - processes that may have the root of @pid: itself, the one that forked it, and so on.
 * @pids: out, room for @max, each once; the first is @pid, 0 follows the last if there is room. In the place of a
 *        process whose first thread had ended when it was read is a thread that had not: it has a folder in /proc, too.
 * Return: their number. Nothing is known of those that were there before the records began.
 */
size_t tasks_lineage(const struct tasks *t, pid_t pid, pid_t *pids, size_t max);

/** tasks_keep_cgroups() - from now on tasks_learn() reads the cgroups of processes, too: once for each program. */
void tasks_keep_cgroups(struct tasks *t);

/**
 * tasks_cgroup() - the path of the cgroup, see proc_cgroup(), that process @pid was in under the name @comm. If it
 * ended before its cgroup was read, that of the program it executed before, or of the process that made it. Return:
 * NULL: not known; until tasks_free().
 */
const char *tasks_cgroup(struct tasks *t, pid_t pid, const char *comm);

/** tasks_unread() - how often there was no memory for the mappings that /proc has of a process. */
uint64_t tasks_unread(const struct tasks *t);

/** tasks_refused() - mappings that were not kept, because a process or all of them have too many; see maps.h. */
uint64_t tasks_refused(const struct tasks *t);

/**
 * tasks_overlong() - processes of which only the first mappings are known because the list in /proc took too long to
 * read: what lists have beyond the usual length may take a second of CPU time, and a 32nd of the time of the run.
 */
uint64_t tasks_overlong(const struct tasks *t);

/** tasks_forget_due() - has so much come since the last time that tasks_forget() should be called? */
bool tasks_forget_due(const struct tasks *t);
/** tasks_forgotten() - mapped files dropped so far: their addresses may be those of others now. */
uint64_t tasks_forgotten(const struct tasks *t);
/** tasks_forget() - drop exited processes for which @keep says false, and files that nobody maps any more. */
void tasks_forget(struct tasks *t, bool (*keep)(void *ctx, pid_t pid), void *ctx);

#endif
