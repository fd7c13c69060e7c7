/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of processes that are being sampled. They are opened while that is possible and kept open, because names
 * and unwind rules may be needed after the process, its container or the file is gone.
 *
 * There is one descriptor for each distinct file, for a bounded number of files: those that were found or used last.
 * While the descriptor is open, no other file gets the file's inode number.
 *
 * A file system may answer late or never: a network may hang, or an attacker may have mounted it. So a worker (see
 * worker.h) finds and opens the files, and also reads those that are not on a local file system. For these we keep an
 * O_PATH descriptor, because closing it does not call the file system, and callers get a copy in memory: of files up to
 * 256 MiB, and up to 1 GiB of all copies. After a request that was not answered in time, nothing more is opened in that
 * mount namespace, or on that device if the mount namespace is ours; after 8 such requests nothing is opened at all.
 * Opening files ahead of use takes at most as long as 8 such requests, plus a small share of the run time.
 *
 * If no worker can be started, because something uses up the processes of the host, only open_files_build() opens
 * files, in our own process: opening any other file may hang for ever.
 *
 * Used by one thread.
 */
#ifndef CORE_FILES_OPEN_FILES_H
#define CORE_FILES_OPEN_FILES_H

#include "core/files/file_search.h"
#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>

struct host;
struct open_files;

#define OPEN_FILES_MS 2000

/**
 * open_files_new() - no files yet.
 * @host: borrowed; @root: where its files are, borrowed
 * @timeout_ms: a file counts as hung if opening it takes longer, or reading it takes 5 times as long; OPEN_FILES_MS
 *              except in tests
 * Return: NULL: no memory.
 */
struct open_files *open_files_new(const struct host *host, const char *root, int timeout_ms);
void open_files_free(struct open_files *of);

/**
 * open_files_start() - start the worker now: early, before something can prevent it, and while there is no other thread
 * that makes fork(2) slow. If this fails, or if the worker ends, the next request tries again.
 */
void open_files_start(struct open_files *of);

/**
 * open_files_keep() - open the file of @m and keep it. Process @pids[0] has it mapped, or had a moment ago.
 * @pids: that process and those whose roots it may have, as of tasks_lineage(); @nr of them
 * Return: true: it is open, or will never be; false: it may work with another process, or later.
 */
bool open_files_keep(struct open_files *of, const pid_t *pids, size_t nr, const struct mapping *m);

/**
 * open_files_get() - @file, if it is kept.
 * Return: a descriptor, the caller's, or -errno, as file_search(); -ETIME: its file system did not answer; -EAGAIN:
 * there is no worker; -ECANCELED, -EPIPE, -EBADMSG: as worker_call(); -EFBIG: it is too large to be copied; other
 * errors of reading it.
 */
int open_files_get(struct open_files *of, const struct mapped_file *file);

/**
 * open_files_search() - file_search(), in bounded time.
 * @st: out, of the file, even if the descriptor is that of a copy; NULL: not wanted. With @st, a copy does not count
 *      towards the limit on all copies, so the caller must close it soon
 * Return: a descriptor, the caller's, or -errno as there and as of open_files_get().
 */
int open_files_search(struct open_files *of, const struct file_search *what, struct stat *st);

/** open_files_build() - file_open_build(), in bounded time. Return: as open_files_search(). */
int open_files_build(struct open_files *of, const char *path, const struct build_id *id);

/**
 * open_files_memory() - read @len bytes, at most 32 KiB, at @addr of process @pid. A process can make readers of its
 * memory wait for ever (userfaultfd(2)): after one read without an answer, no memory of any process is read any more.
 * Return: 0; -errno, as process_vm_readv(2); -EFAULT: not all of it can be read; -ETIME: it does not answer; or as
 * worker_call().
 */
int open_files_memory(struct open_files *of, pid_t pid, uint64_t addr, void *to, size_t len);

/**
 * open_files_has_time() - true if there is time to open or read more ahead of use. Such work takes at most a 64th of
 * the run time, plus the time of 8 unanswered requests.
 */
bool open_files_has_time(const struct open_files *of);
/** open_files_spend() - count @ns as spent ahead of use, like the time of open_files_keep(). */
void open_files_spend(struct open_files *of, uint64_t ns);

/**
 * open_files_hung() - how often we gave up on a file: no answer in time, an earlier request without an answer, or no
 * time left to open it ahead of use.
 */
size_t open_files_hung(const struct open_files *of);
/** open_files_unserved() - how often no file was opened because no worker could be started. */
size_t open_files_unserved(const struct open_files *of);

#endif
