/* SPDX-License-Identifier: Apache-2.0 */
/* Read facts about tasks from /proc (proc(5)), such as names and mappings from before the events were open. */
#ifndef CORE_TASKS_PROC_H
#define CORE_TASKS_PROC_H

#include "core/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * proc_readlink() - readlink(2) of a link of a process. Call from the main thread only, like everything in this header.
 * @buf: out: at most @size - 1 bytes, and a 0; "" after an error
 * Return: the length or -errno.
 */
ssize_t proc_readlink(const char *path, char *buf, size_t size);

/** struct proc_map - one line of /proc/PID/maps; @path is "" for anonymous memory. */
struct proc_map {
	uint64_t start, end, pgoff;
	bool exec;
	uint32_t maj, min;
	uint64_t ino;
	char *path; /* points into the line, in which \012 was replaced by newlines */
};

/** proc_map_parse() - read one line without its newline. Return: 0; -EINVAL: not such a line. */
int proc_map_parse(char *line, struct proc_map *out);

/**
 * proc_maps() - call @fn for each mapping of @pid until it returns non-zero.
 * Return: 0, also if the process ends meanwhile; the value that @fn returned; -errno if the file cannot be opened
 * (-ENOENT, -ESRCH: the process has ended); -ENOMEM. Malformed lines are skipped.
 */
int proc_maps(const struct host *h, pid_t pid, int (*fn)(void *ctx, const struct proc_map *m), void *ctx);

/**
 * proc_comm() - the name of a thread.
 * @comm: out, COMM_LEN bytes, zero padded. The part that /proc adds to a kernel worker's name since 4.18 is removed:
 *        "kworker/0:1-events" is "kworker/0:1".
 * Return: 0 or -errno.
 */
int proc_comm(const struct host *h, pid_t pid, pid_t tid, char *comm);

/** proc_started() - when process @pid began, in clock ticks since boot (field 22 of its stat); 0: not known. */
uint64_t proc_started(const struct host *h, pid_t pid);

/**
 * proc_owner() - the user and the parent of process @pid.
 * @uid: out: its real user id
 * @parent: out: the process that made @pid, or that has adopted it; 0: none, or one outside this pid namespace
 * Return: 0; -errno; -EBADMSG: not such a file.
 */
int proc_owner(const struct host *h, pid_t pid, uid_t *uid, pid_t *parent);

/**
 * proc_cgroup() - the path of the cgroup of a process, see cgroups(7). This is the one of version 2; if that is the
 * root or missing, the one that systemd uses in version 1, or else any that is not the root; if all are, the root "/".
 * @out: to be freed
 * Return: 0; -ENOENT: the process has ended, or is in no cgroup; -errno.
 */
int proc_cgroup(const struct host *h, pid_t pid, char **out);

/**
 * proc_share_memory() - true if both processes have the same memory, as after clone(2) with CLONE_VM. False if they
 * have none, if the kernel does not support kcmp(2), or if we may not use it.
 */
bool proc_share_memory(const struct host *h, pid_t a, pid_t b);

/** proc_newest() - the id that a thread or process got last, in this pid namespace; 0: not known. */
pid_t proc_newest(const struct host *h);

/** proc_mntns() - the mount namespace of a thread. @out: its inode number. Return: 0 or -errno. */
int proc_mntns(const struct host *h, pid_t pid, pid_t tid, uint64_t *out);

/**
 * proc_hold_mntns() - open the mount namespace of a process. As long as it is open, no other one has its inode number,
 * even if all its tasks have ended.
 * @out: its inode number
 * Return: a descriptor for the caller to close, or -errno.
 */
int proc_hold_mntns(const struct host *h, pid_t pid, uint64_t *out);

/** proc_lives() - true if the thread exists and has not ended. A zombie has ended, but /proc still shows its name. */
bool proc_lives(const struct host *h, pid_t pid, pid_t tid);

/**
 * proc_ended() - true if the thread @id has ended; with @is_process, if all threads of process @id have ended.
 * @started: as of proc_started(), to notice that the id was reused; 0: not known
 */
bool proc_ended(const struct host *h, pid_t id, bool is_process, uint64_t started);

/**
 * proc_cpu_ns() - CPU time that the thread @id has used; with @is_process, the time that all threads of process @id
 * have used, also those that have ended. For threads, the kernel needs scheduler statistics (CONFIG_SCHED_INFO).
 * Return: 0 or -errno; -ENODATA: without these statistics, or if the thread has never run.
 */
int proc_cpu_ns(const struct host *h, pid_t id, bool is_process, uint64_t *out);

/**
 * proc_threads() - call @fn for every thread of @pid until it returns non-zero. Skips threads that end meanwhile.
 * Return: the value that @fn returned; 0, also if the process has ended or cannot be read.
 */
int proc_threads(const struct host *h, pid_t pid, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);
#define PID_MAX_LIMIT (4 << 20) /* of 64-bit kernels, include/linux/threads.h */

/** proc_pid_words() - number of 64-bit words of a bitmap with a bit for each possible process id of this host. */
uint32_t proc_pid_words(const struct host *h);

/** proc_pids() - call @fn for every process until it returns non-zero. Return: the value of @fn; 0; -errno. */
int proc_pids(const struct host *h, int (*fn)(void *ctx, pid_t pid), void *ctx);
/** proc_processes() - as proc_threads(), for every thread of every process. Return: also -errno, as proc_pids(). */
int proc_processes(const struct host *h, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

#endif
