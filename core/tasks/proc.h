/* SPDX-License-Identifier: Apache-2.0 */
/* Tasks as /proc tells of them: names and mappings of what existed before the events were open (proc(5)). */
#ifndef CORE_TASKS_PROC_H
#define CORE_TASKS_PROC_H

#include "core/host/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * proc_readlink() - readlink(2) of a link of a process. By the main thread, as all here.
 * @buf: out: at most @size - 1 bytes, and a 0; "" where there is an error
 * Return: the length or -errno.
 */
ssize_t proc_readlink(const char *path, char *buf, size_t size);

/** struct proc_map - one line of /proc/PID/maps; @path is "" for anonymous memory. */
struct proc_map {
	uint64_t start, end, pgoff;
	bool exec;
	uint32_t maj, min;
	uint64_t ino;
	char *path; /* points into the line, which was changed: newlines in names are written \012 there */
};

/** proc_map_parse() - read one line without its newline. Return: 0; -EINVAL: not such a line. */
int proc_map_parse(char *line, struct proc_map *out);

/**
 * proc_maps() - call @fn for each mapping of @pid until it returns non-zero.
 * Return: 0; what @fn returned; -errno when the file cannot be read (-ENOENT, -ESRCH: the process is gone). Lines that
 * cannot be read are skipped.
 */
int proc_maps(const struct host *h, pid_t pid, int (*fn)(void *ctx, const struct proc_map *m), void *ctx);

/**
 * proc_comm() - the name of a thread.
 * @comm: out, COMM_LEN bytes, zero padded. What /proc adds to a kernel worker's name is taken off ("kworker/0:1-events"
 *        is called "kworker/0:1", since 4.18).
 * Return: 0 or -errno.
 */
int proc_comm(const struct host *h, pid_t pid, pid_t tid, char *comm);

/** proc_started() - when process @pid began, in clock ticks since boot (field 22 of its stat); 0: not known. */
uint64_t proc_started(const struct host *h, pid_t pid);

/**
 * proc_owner() - who runs process @pid.
 * @uid: out: its real user id
 * @parent: out: the process that made it, or that has taken its place; 0: it is outside this pid namespace
 * Return: 0; -errno; -EBADMSG: not such a file.
 */
int proc_owner(const struct host *h, pid_t pid, uid_t *uid, pid_t *parent);

/**
 * proc_cgroup() - the path of the cgroup of a process, as cgroups(7) has it: of version 2; where that is the root or is
 * missing, the one that systemd has for it in version 1, or else any that is not the root.
 * @out: to be freed
 * Return: 0; -ENOENT: it is gone, or in none; -errno.
 */
int proc_cgroup(const struct host *h, pid_t pid, char **out);

/**
 * proc_share_memory() - have both processes the same memory, as after clone(2) with CLONE_VM? False where the kernel
 * does not tell, or not us.
 */
bool proc_share_memory(pid_t a, pid_t b);

/** proc_newest() - the id that was given to a thread or process last, in this pid namespace; 0: not known. */
pid_t proc_newest(const struct host *h);

/** proc_mntns() - the mount namespace of a thread. @out: its inode number. Return: 0 or -errno. */
int proc_mntns(const struct host *h, pid_t pid, pid_t tid, uint64_t *out);

/**
 * proc_hold_mntns() - the mount namespace of a process. As long as it is held, no other one has its inode number, also
 * when all its tasks are gone.
 * @out: that number
 * Return: a descriptor to be closed, or -errno.
 */
int proc_hold_mntns(const struct host *h, pid_t pid, uint64_t *out);

/** proc_lives() - is there such a thread, and has it not ended? The name of one that waits for its parent is still
 * told. */
bool proc_lives(const struct host *h, pid_t pid, pid_t tid);

/**
 * proc_ended() - has the thread @id ended, or, if it @is_process, have all of its threads?
 * @started: as proc_started() told it, of another one that has the same id by now; 0: not known
 */
bool proc_ended(const struct host *h, pid_t id, bool is_process, uint64_t started);

/**
 * proc_cpu_ns() - CPU time that the thread @id has had, or, if it @is_process, all of its threads, also those that have
 * ended. Of threads the kernel tells it only if it keeps statistics of its scheduler (CONFIG_SCHED_INFO).
 * Return: 0 or -errno.
 */
int proc_cpu_ns(const struct host *h, pid_t id, bool is_process, uint64_t *out);

/** proc_threads() - call @fn for every thread of @pid until it returns non-zero. Those that end meanwhile are left out.
 */
int proc_threads(const struct host *h, pid_t pid, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);
/** proc_pid_max() - all process ids of this host are below. */
uint32_t proc_pid_max(const struct host *h);
/** proc_pids() - call @fn for every process until it returns non-zero. Return: that; 0; -errno. */
int proc_pids(const struct host *h, int (*fn)(void *ctx, pid_t pid), void *ctx);
/** proc_processes() - as proc_threads(), for every thread of every process. */
int proc_processes(const struct host *h, int (*fn)(void *ctx, pid_t pid, pid_t tid), void *ctx);

#endif
