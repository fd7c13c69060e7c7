/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that was made at run time: just-in-time compilers write them to /tmp/perf-PID.map and append to it as
 * they compile; see perf_map.h for the lines. PID is the one in the innermost PID namespace of the process, and /tmp is
 * below the root of the process: both may be those of a container.
 *
 * The file is hostile. It is read only if it is a regular file without other names (hard links). It must belong to the
 * effective user of the process, or to root and be readable by all users. No symlink on the way is followed, and
 * nothing else is opened. We read no more of a file than its size, or the last 64 MiB, and 256 MiB of all files for one
 * report.
 *
 * When a process has exited, its root and its user are unknown, so its file is kept open while the process lives. If
 * there was no time for that, the file is looked for in the root of the host, by the PID that we know. Then it must
 * belong to root or to our own effective user: any user can write another one into /tmp. A file that was last written
 * before a process began may be left by an earlier process with the same PID, so a warning says that it was used. If a
 * PID is reused, we notice only if the first process was looked up or noted.
 *
 * For a recording, files are read only if the time of its last sample is proved to be of this boot (recorded.h). A
 * process that has the PID now is the recorded one if it began before that time. Otherwise the file in the root of the
 * host must have been written last before that time: a later one may be of another process.
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
 * perf_maps_renew() - time has passed: at the next lookup in its process a file that has changed is read again, while a
 * process that is gone keeps its names. Drops files that were neither looked up nor noted since the last call.
 */
void perf_maps_renew(struct perf_maps *pm);

/**
 * perf_maps_note() - the running process @pid makes code: keep its file open from now on, if it is there, until
 * perf_maps_renew() drops it. So it can be read when the process has ended. Cheap enough to be called for each mapping
 * of code: it looks for the file at the first call, the second, the fourth, and so on. At most 256 processes.
 */
void perf_maps_note(struct perf_maps *pm, pid_t pid);

/**
 * perf_maps_find() - the name of @addr in process @pid.
 * Return: 1 and *@out, borrowed until perf_maps_renew(); it is untouched otherwise. 0: it has none. -EMFILE, -ENFILE,
 * -ENOMEM, -E2BIG (all files together take 256 MiB, or as much was read since perf_maps_renew()): the file of @pid was
 * not read. The error is returned once; later lookups of @pid find no names.
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
