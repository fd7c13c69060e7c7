/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that was made at run time: just-in-time compilers write them to /tmp/perf-PID.map and append to it as
 * they compile; see perf_map.h for the lines. PID is the one in the innermost PID namespace of the process, and /tmp is
 * below the root of the process: both may be those of a container. Recordings differ, see below.
 *
 * The file is hostile. It is read only if it is a regular file without other names (hard links). It must belong to the
 * effective user of the process, or to root and be readable by all users. No symlink on the way is followed, and only
 * regular files are opened. We read a file up to the size that it has when we begin, and if that is more than 64
 * MiB, only the last 64 MiB. For one report we read at most 256 MiB of all files.
 *
 * When a process has exited, its root and its user are unknown, so perf_maps_note() opens its file while the process
 * lives. If there was no time for that, the file is looked for in the root of the host, by the PID that we know. Then
 * it must belong to our own effective user instead, or to root: any user can write a file of that name into /tmp. A
 * file that was last written before a process began may be left by an earlier process with the same PID, so a warning
 * says that it was used. If a PID is reused, we notice only if the first process was looked up or noted.
 *
 * For a recording, files are read only if the time of its last sample is proved to be of this boot (recorded.h), and
 * only from the root of the host, by the recorded PID. If the process that has the PID now began before that time, it
 * is the recorded one, and the file may belong to its effective user. Otherwise the file must belong to ours or to
 * root, and must have been written last before that time: a later one may be of another process.
 *
 * Each file is read at the first lookup in its process. Not thread safe.
 */
#ifndef CORE_SYMBOLS_PERF_MAPS_H
#define CORE_SYMBOLS_PERF_MAPS_H

#include "core/base/err.h"
#include "core/symbols/perf_map.h"

#include <sys/types.h>

struct mapped_files_cfg;
struct perf_maps;

/** perf_maps_new() - @where: /proc and the root of the host; borrowed until perf_maps_free(). NULL: no memory. */
struct perf_maps *perf_maps_new(const struct mapped_files_cfg *where);
void perf_maps_free(struct perf_maps *pm);

/**
 * perf_maps_renew() - time has passed: the next lookup in a process reads its file again if that has changed. If the
 * file or the process is gone, the names read before stay. Forgets processes that were neither looked up nor noted
 * since the last call.
 */
void perf_maps_renew(struct perf_maps *pm);

/**
 * perf_maps_note() - the running process @pid makes code: if it has a file that is not older than the process, keep
 * that open until it is read, or perf_maps_renew() forgets the process, so that it can be read after the end. Cheap
 * enough to be called for each mapping of code: it looks for the file at the first call, the second, the fourth, and so
 * on. At most 256 files are kept open.
 */
void perf_maps_note(struct perf_maps *pm, pid_t pid);

/**
 * perf_maps_find() - the name of @addr in process @pid.
 * Return: 1 and *@out, borrowed until the next perf_maps_renew() or perf_maps_note(); *@out is untouched otherwise. 0:
 * @addr has no name. -errno: the file of @pid was not read, and @addr has no name from an earlier read: -EMFILE,
 * -ENFILE; -ENOMEM; -E2BIG: the names of all files take 256 MiB, or more than that would be read between two calls of
 * perf_maps_renew(); -ECANCELED: signals_overdue(); others of process_file_open(). The error is returned once: until
 * perf_maps_renew(), later lookups in @pid find only names from earlier reads.
 */
int perf_maps_find(struct perf_maps *pm, pid_t pid, uint64_t addr, struct perf_map_symbol *out);

/**
 * perf_maps_older() - true if names came from files that were last written before their process began.
 * @why: out: a line with the number of processes.
 */
bool perf_maps_older(const struct perf_maps *pm, struct err *why);

/** perf_maps_have() - true if a lookup has read the file of @pid. */
bool perf_maps_have(const struct perf_maps *pm, pid_t pid);

#endif
