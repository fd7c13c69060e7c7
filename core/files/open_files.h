/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files of processes that are being sampled: opened while they can be, and kept open, for names and unwind rules
 * that are asked for when the process, its container or the file is gone.
 *
 * One descriptor for each distinct file, of a bounded number of files: those that were found, or asked for, last. While
 * it is open its inode is not used again.
 *
 * A file system may answer late or never, be it a network that hangs or the doing of somebody who has mounted it. So
 * files are found and opened by a worker (see worker.h), and those on other than local file systems are read by it,
 * too: of these a handle is kept, with which nothing happens to them, and those who ask get a copy in memory, up to 256
 * MiB of one file and 1 GiB of all. What did not answer in time is not asked any more: that mount namespace, or that
 * device where it is ours; after 8 of these nothing is opened any more. Keeping what nobody has asked for yet takes no
 * longer than that, and then a small share of our time.
 *
 * Where no worker can be started, because somebody uses up the processes of the host, nothing below a process's root is
 * opened: it may hang for ever.
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
 * open_files_new() - none yet.
 * @host: borrowed; @root: where its files are, borrowed
 * @timeout_ms: what takes longer to open hangs, what takes 5 times as long to read; OPEN_FILES_MS but in tests
 * Return: NULL: no memory.
 */
struct open_files *open_files_new(const struct host *host, const char *root, int timeout_ms);
void open_files_free(struct open_files *of);

/**
 * open_files_start() - start the worker now: before somebody can hinder it, and where no other thread makes that slow.
 * Where it fails, or the worker ends, the next request tries again.
 */
void open_files_start(struct open_files *of);

/**
 * open_files_keep() - @what->pids[0] has mapped @m now or a moment ago; open its file and keep it.
 * @pids: that process and those whose roots it may have, as of tasks_lineage(); @nr of them
 * Return: true: it is open, or will never be; false: with another process there may be more luck.
 */
bool open_files_keep(struct open_files *of, const pid_t *pids, size_t nr, const struct mapping *m);

/**
 * open_files_get() - @file, if it is kept.
 * Return: a descriptor, the caller's, or -errno, as file_search(); -ETIME: its file system did not answer; -EAGAIN:
 * there is no worker; -ECANCELED: as worker_call(); -EFBIG: it cannot be copied; what reading it led to.
 */
int open_files_get(struct open_files *of, const struct mapped_file *file);

/**
 * open_files_search() - file_search(), in bounded time.
 * @st: out, of the file, even where the descriptor is that of a copy; who wants it closes that one soon, and it does
 *      not count as one of all that are copied; NULL: not wanted
 * Return: a descriptor, the caller's, or -errno as there and as of open_files_get().
 */
int open_files_search(struct open_files *of, const struct file_search *what, struct stat *st);

/** open_files_build() - file_open_build(), in bounded time. Return: as open_files_search(). */
int open_files_build(struct open_files *of, const char *path, const struct build_id *id);

/**
 * open_files_memory() - read @len bytes, at most 32 KiB, at @addr of process @pid. A process can make readers of its
 * memory wait for ever (userfaultfd(2)): once that has happened, nothing is read any more.
 * Return: 0; -errno, as process_vm_readv(2); -EFAULT: not all of it can be read; -ETIME: it does not answer; or as
 * worker_call().
 */
int open_files_memory(struct open_files *of, pid_t pid, uint64_t addr, void *to, size_t len);

/**
 * open_files_has_time() - may more be done ahead for names that nobody has asked for yet? Of all the time of a run a
 * 64th goes into that at most, beside that of some hangs.
 */
bool open_files_has_time(const struct open_files *of);
/** open_files_spend() - @ns went into such, beside that of open_files_keep(). */
void open_files_spend(struct open_files *of, uint64_t ns);

/** open_files_hung() - how often something that was asked for, or took too long, alone or with others, was given up. */
size_t open_files_hung(const struct open_files *of);
/** open_files_unserved() - how often no file was opened because no worker could be started. */
size_t open_files_unserved(const struct open_files *of);

#endif
