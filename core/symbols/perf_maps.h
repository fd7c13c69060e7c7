/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of code that was made at run time: just-in-time compilers write them to /tmp/perf-PID.map and append to it as
 * they compile; see perf_map.h for the lines. PID is the one that the process knows itself by, and /tmp that of its own
 * root: both may be those of a container.
 *
 * The file is hostile. It is read only if it is a regular file without other names (hard links), of the effective user
 * of the process, or of root and for everybody to read; no symlink on the way is followed, and nothing else is opened.
 * No more of it is read than its size, or its last 64 MiB, and of all files 256 MiB for one report.
 *
 * A process that is gone tells nothing of its root and its user, so its file is kept open while it lives. Where there
 * was no time for that, it is looked for in the root of the host, by the number that we know the process by, and has to
 * be of root or of our own effective user: in /tmp, any other may be anybody's. A file that was last written before a
 * process began may be left by another one with the same number, so a warning says that it was used. Whether a process
 * with the number of one that is gone is another one is not told when the first one was never looked up.
 *
 * Of a recording, files are read only if the time of its last sample is proved to be of this boot (recorded.h). A
 * process that has the number now is the recorded one if it began before that time. Else the file in the root of the
 * host has to have been written last before that time: a later one may be of another process.
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
 * process that is gone keeps its names. Those that were neither looked up nor noted since the last time are dropped.
 */
void perf_maps_renew(struct perf_maps *pm);

/**
 * perf_maps_note() - @pid, which lives, makes code: its file is kept open from now on, if it is there, until
 * perf_maps_renew() drops it; so it is read when the process has ended. Cheap when called for each mapping of code: the
 * file is looked for at the first call, the second, the fourth, and so on. Of 256 processes at most.
 */
void perf_maps_note(struct perf_maps *pm, pid_t pid);

/**
 * perf_maps_find() - the name of @addr in process @pid.
 * Return: 1 and *@out, borrowed until perf_maps_renew(); it is untouched otherwise. 0: it has none. -EMFILE, -ENFILE,
 * -ENOMEM, -E2BIG (all files together take 256 MiB, or as much was read since perf_maps_renew()): the file of @pid was
 * not read; told once, then it has no names.
 */
int perf_maps_find(struct perf_maps *pm, pid_t pid, uint64_t addr, struct perf_map_symbol *out);

/**
 * perf_maps_older() - are there names of files that were last written before their process began?
 * Return: true and a line in @why with the number of processes.
 */
bool perf_maps_older(const struct perf_maps *pm, struct err *why);

/** perf_maps_have() - has the file of @pid been read, by a lookup since it was last renewed? */
bool perf_maps_have(const struct perf_maps *pm, pid_t pid);

#endif
