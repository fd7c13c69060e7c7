/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Threads and processes through time: names for samples, mappings for addresses.
 *
 * The input is side-band records in time order (backend-perfring) and, for the state before the first record, /proc. A
 * process is a list of images: each fork and each exec begins a new one, and so does a mapping that changes the file at
 * an address. A sample that comes in time order has the image of its time. In-kernel counts carry no time: the
 * addresses of a row (rows.h: stacks, a process and its comm) are looked up in the newest image that began under the
 * row's comm and maps the address, else in the newest image that maps it. If another image with that comm maps
 * something else there, and may have samples, the address is unknown. An image whose mappings could not be read ends
 * the search, too: better no name than a wrong one.
 *
 * Memory is limited to running processes, those that rows still need, and records between two calls of tasks_forget().
 * Not thread safe.
 */
#ifndef CORE_TASKS_TASKS_H
#define CORE_TASKS_TASKS_H

#include "core/tasks/comm.h"
#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define COMM_OUTSIDE "[outside]" /* name of all tasks outside our pid namespace: their pid and tid are -1 */

#define TASKS_MAX_EXITED 8192 /* exited processes kept until tasks_forget() is due */

struct tasks;
struct filter;
struct host;

/** tasks_new() - empty; unknown tasks are read below @host's /proc, NULL: nowhere. Return: NULL: no memory. */
struct tasks *tasks_new(const struct host *host);
void tasks_free(struct tasks *t);

/**
 * tasks_at() - the records that follow happened at @ns (CLOCK_MONOTONIC); 0: not known, or on any other clock.
 * Call it before each record. If the record of an exec, exit or fork is older than a reading of /proc, that reading is
 * not believed any more.
 */
void tasks_at(struct tasks *t, uint64_t ns);

/**
 * tasks_on_mapped() - have @fn called for each file that a process has mapped, as a record or /proc shows. @fn returns
 * true if it need not be called for that file again; it is called at most 16 times for a file, but always for memory
 * without a file. Of a list in /proc, @fn is called for the first 1024 mappings only. A file that is not mapped any
 * more is forgotten with tasks_forget(), and counts as new afterwards.
 * @fn: @m is borrowed; called within the functions that follow; of these it may call only tasks_lineage()
 */
void tasks_on_mapped(struct tasks *t, bool (*fn)(void *ctx, pid_t pid, const struct mapping *m), void *ctx);

/**
 * tasks_copied_fn - find the parts of @m, memory of process @pid, that have a copy of a file's code.
 * @near:   a mapping of the file, next to @m or in its place; borrowed, like @m
 * @pieces: out, room for @max: mappings of that file, ascending, within @m
 * Return: how many; 0: none; -errno: unknown.
 */
typedef int (*tasks_copied_fn)(void *ctx, pid_t pid, const struct mapping *m, const struct mapping *near,
			       struct mapping *pieces, size_t max);

/**
 * tasks_on_copied() - have @fn called for executable memory of a process that replaces a file's code, or is next to a
 * file: for at most 16 such mappings of a list in /proc. Copies that @fn finds are treated as mappings of the file. A
 * recording has no memory to compare, and so no @fn.
 */
void tasks_on_copied(struct tasks *t, tasks_copied_fn fn, void *ctx);

/*
 * Events, in time order. Return 0, or -ENOMEM. Strings are copied and need not be terminated within COMM_LEN.
 */

/** tasks_comm() - thread @tid of process @pid has the name @comm now; @exec: because it called exec. */
int tasks_comm(struct tasks *t, pid_t pid, pid_t tid, const char *comm, bool exec);
/**
 * tasks_refresh() - in /proc, thread @tid of process @pid has the name @comm at the time given by tasks_at(), and
 * earlier records may be missing. Nothing changes if the thread is known to live under this name. A leader with another
 * name, or one that was dead, may have called exec without a record: a new image begins under the name @comm,
 * tasks_learn() will read it, and the process lives. Do not call this for zombies: /proc shows their names, too.
 */
int tasks_refresh(struct tasks *t, pid_t pid, pid_t tid, const char *comm);
/**
 * tasks_fork() - thread @ptid of process @ppid made thread @tid of @pid; a new process if @pid differs.
 * @exec: it has called exec since, so that it has no mappings of @ppid
 */
int tasks_fork(struct tasks *t, pid_t pid, pid_t tid, pid_t ppid, pid_t ptid, bool exec);
/** tasks_exit() - the thread has ended; the process too if @tid was its leader. /proc is not read for them any more. */
int tasks_exit(struct tasks *t, pid_t pid, pid_t tid);
/**
 * tasks_mmap() - @pid mapped @m executable, which replaces older mappings there. @m->file is copied. The kernel calls
 * each vDSO "[vdso]": below 4 GiB it is that of a 32-bit process, and gets the name VDSO32 here.
 */
int tasks_mmap(struct tasks *t, pid_t pid, const struct mapping *m);

/** tasks_namespaces() - the thread is in the mount namespace of inode number @mntns now. */
int tasks_namespaces(struct tasks *t, pid_t pid, pid_t tid, uint64_t mntns);

/**
 * tasks_snapshot() - read the names of threads that exist now and have no record yet; and their mount namespaces, if
 * @filter needs these.
 * @filter: only the processes or threads that it names, if it names any
 */
int tasks_snapshot(struct tasks *t, const struct filter *filter);
/**
 * tasks_learn() - read the mappings of @pid from /proc if they are not known. Cheap if they are.
 * Return: 0, also if there is nothing to read; -ENOMEM.
 */
int tasks_learn(struct tasks *t, pid_t pid);
/** tasks_learn_sampled() - the same, and keep the current mappings longer, because a sample has addresses in them. */
int tasks_learn_sampled(struct tasks *t, pid_t pid);

/**
 * tasks_image() - the number of the image that process @pid has now (in event time); 0: the process is not known.
 * Numbers are not reused.
 */
uint32_t tasks_image(const struct tasks *t, pid_t pid);

/**
 * tasks_report() - the next report has no samples or intervals from before @since_ns (CLOCK_MONOTONIC; 0: no limit).
 * So its addresses do not belong to an image that had ended by then.
 */
void tasks_report(struct tasks *t, uint64_t since_ns);

/**
 * tasks_unmapped() - true if thread @tid is the leader of @pid, lives and has called exec, but no mapping has been
 * recorded since. In this case the next tasks_learn() reads the mappings.
 */
bool tasks_unmapped(struct tasks *t, pid_t pid, pid_t tid);

/** tasks_read_anew() - records of mappings may be missing: let tasks_learn() read those of each process again. */
void tasks_read_anew(struct tasks *t);

/**
 * tasks_name() - the name that thread @tid of process @pid has now (in event time).
 * @comm: out, COMM_LEN bytes, zero padded. The idle task (tid 0) has no name here: the caller knows its CPU.
 * The name of an unknown thread is read from /proc; if that fails, it is that of its process, else ":TID".
 * If @tid is a leader that has ended, and exactly one other thread is known to live, the name is that thread's: it has
 * called exec, and its record with the new name is still to come.
 */
void tasks_name(struct tasks *t, pid_t pid, pid_t tid, char *comm);

/**
 * tasks_mntns() - the inode number of the mount namespace of thread @tid now (in event time); 0: none, or not known.
 * Without a record this is that of the thread that made @tid, else the one in /proc.
 */
uint64_t tasks_mntns(struct tasks *t, pid_t pid, pid_t tid);
/** tasks_mntns_hidden() - true if the mount namespace is not known because we may not read it in /proc. */
bool tasks_mntns_hidden(const struct tasks *t, pid_t tid);

/**
 * tasks_find() - the mapping at @addr in process @pid when a thread of it had the name @comm; see the rule above.
 * @image: the result of tasks_image() at that time; 0: not known
 * Return: 1 and *@out, its file borrowed until tasks_forget() or tasks_free(); 0 if no mapping of that address is
 * known; -ESTALE: different files were mapped there, and the records do not say which is meant; or @image was dropped.
 */
int tasks_find(struct tasks *t, pid_t pid, const char *comm, uint32_t image, uint64_t addr, struct mapping *out);

/**
 * tasks_mapped() - the mapping at @addr in process @pid now (in event time), whatever names the process had.
 * Return: 1 and *@out; 0: none is known.
 */
int tasks_mapped(struct tasks *t, pid_t pid, uint64_t addr, struct mapping *out);

/**
 * tasks_jitdump() - the jitdump of code that process @pid makes now (in event time), see jitdump.h: the one that it
 * mapped last. Return: borrowed like that of tasks_find(); NULL: none is known.
 */
const struct mapped_file *tasks_jitdump(const struct tasks *t, pid_t pid);

/** tasks_find_jitdump() - the same for the image in which tasks_find() finds @addr. */
const struct mapped_file *tasks_find_jitdump(const struct tasks *t, pid_t pid, const char *comm, uint32_t image,
					     uint64_t addr);

/**
 * tasks_each_mapped() - call @fn for each mapping of process @pid, ascending, until it returns false: of its newest
 * image that began as @comm, else of its newest one. Nothing if the mappings of that image are not known.
 */
void tasks_each_mapped(const struct tasks *t, pid_t pid, const char *comm,
		       bool (*fn)(void *ctx, const struct mapping *m), void *ctx);

/**
 * tasks_lineage() - processes that may have the root of @pid: itself, the one that forked it, and so on.
 * @pids: out, room for @max, each once; the first is @pid, 0 follows the last if there is room. If the leader of a
 *        process had ended before its mappings were read from /proc, the entry is the tid of another thread of that
 *        process: /proc/TID exists, too.
 * Return: their number. Ancestors from before the first record are not known.
 */
size_t tasks_lineage(const struct tasks *t, pid_t pid, pid_t *pids, size_t max);

/** tasks_keep_cgroups() - from now on tasks_learn() reads the cgroups of processes, too: once for each program. */
void tasks_keep_cgroups(struct tasks *t);

/**
 * tasks_cgroup() - the path of the cgroup, see proc_cgroup(), that process @pid was in under the name @comm. If the
 * process ended before its cgroup was read, the path for its earlier program, or for its parent. Return: NULL: not
 * known; valid until tasks_free().
 */
const char *tasks_cgroup(struct tasks *t, pid_t pid, const char *comm);

/** tasks_unread() - how often there was no memory for the mappings of a process in /proc. */
uint64_t tasks_unread(const struct tasks *t);

/**
 * tasks_refused() - mappings that were not kept, because a process has too many, or all processes together have too
 * many mappings or files; see maps.h and known_files.h.
 */
uint64_t tasks_refused(const struct tasks *t);

/**
 * tasks_overlong() - how often only the first mappings of a process were read, because the list in /proc took too long:
 * all parts of lists beyond the usual length together may take a second of CPU time, plus a 32nd of the run time.
 */
uint64_t tasks_overlong(const struct tasks *t);

/** tasks_forget_due() - true if tasks_forget() is due: many processes exited, or many files or mappings were added. */
bool tasks_forget_due(const struct tasks *t);
/** tasks_forgotten() - number of struct mapped_file freed so far: pointers to these may point to other files now. */
uint64_t tasks_forgotten(const struct tasks *t);
/** tasks_forget() - drop exited processes for which @keep returns false, and files that no process maps any more. */
void tasks_forget(struct tasks *t, bool (*keep)(void *ctx, pid_t pid), void *ctx);

#endif
