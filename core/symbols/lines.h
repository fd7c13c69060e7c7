/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The debug information (DWARF) of an address: the functions that were inlined there, and source lines.
 *
 * Debug information is hostile, and the library that reads it is not made for that. So a worker process reads it, which
 * can do nothing but read the file (see worker.h and confine.h). Each request has 2 s of CPU time and a deadline:
 * 10 s, or a quarter of an interval if that is shorter. If a request for a file is not answered in time or ends the
 * worker, the file is not used any more. But if a quarter of an interval is less than 10 s, a late file is tried again
 * in the next reports, for 20 s in all. After 16 failed files no file is used any more. In a report, debug information
 * may take a minute, or a quarter of an interval if that is shorter; the next report reads the rest. Replies are
 * checked like any hostile input.
 *
 * We do not look for the .dwo files of split debug information, or the shared files of dwz: the functions and names in
 * these are missing.
 *
 * Replies are remembered, so that the same address has the same frames, whatever happens meanwhile. Not thread safe;
 * see worker.h for the thread to use.
 */
#ifndef CORE_LINES_H
#define CORE_LINES_H

#include "core/base/err.h"
#include "core/symbols/lines_frame.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lines;

/**
 * lines_new() - no process is started yet.
 * @wanted: of enum lines_wanted; other data is not read
 * @interval_ns: time between reports, which limits the time for debug information in each; 0: there is one report
 * Return: NULL: no memory.
 */
struct lines *lines_new(unsigned int wanted, uint64_t interval_ns);
void lines_free(struct lines *l);

/** lines_add_file() - add a file. Return: its number, for lines_find(), or -ENOMEM. */
int64_t lines_add_file(struct lines *l);

/** lines_forget() - forget all files and their frames. File numbers start again at 0. */
void lines_forget(struct lines *l);

/**
 * lines_renew() - another report begins: frames from before may be forgotten, and the time limits of the report and of
 * files that were not late begin anew. Files that were given up are still not used.
 */
void lines_renew(struct lines *l);

/**
 * lines_find() - the frames at @addr.
 * @file: a number from lines_add_file()
 * @fd:   the file, open for reading, the same each time; borrowed
 * @addr: the file's own address
 * @out:  the frames, innermost first; borrowed until the next call
 * Return: how many; 0: none is known.
 */
size_t lines_find(struct lines *l, uint32_t file, int fd, uint64_t addr, const struct lines_frame **out);

/** lines_skipped() - true if files were not read (any more). @why: out: one line with the cause. */
bool lines_skipped(const struct lines *l, struct err *why);

#endif
