/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What debug information (DWARF) knows of an address: the functions that were inlined there, and source lines.
 *
 * Debug information is hostile, and the library that reads it is not made for that. So it is read in a process of its
 * own, which has nothing but the file (see worker.h and confine.h): each question has 2 s of CPU time and a deadline, and
 * a file whose questions are not answered in time, or end that process, is not asked any more. Neither is any file when
 * that has happened too often, or all of it took too long: a minute, or a quarter of an interval; then the next report
 * goes on. What comes back is checked as what any stranger writes.
 *
 * Not in the file itself, and not looked for: the .dwo files of split debug information, and the shared files of dwz.
 * Their functions and names are missing.
 *
 * Answers are remembered, so that the same question has one answer, whatever happens between. Not thread safe; see
 * worker.h for what a thread is to it.
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
 * @wanted: of enum lines_wanted; the rest is not read
 * @interval_ns: between reports, which bounds the time for debug information in each; 0: there is one report
 * Return: NULL: no memory.
 */
struct lines *lines_new(unsigned int wanted, uint64_t interval_ns);
void lines_free(struct lines *l);

/** lines_add_file() - Return: the number of another file, or -ENOMEM. */
int64_t lines_add_file(struct lines *l);

/** lines_forget() - forget all files, whose numbers begin anew, and what is known of them. */
void lines_forget(struct lines *l);

/**
 * lines_renew() - another report begins: what is remembered of before may go, and the time of files begins anew. Files
 * that were given up stay so.
 */
void lines_renew(struct lines *l);

/**
 * lines_find() - what is known of @addr.
 * @file: a number of lines_add_file()
 * @fd:   of it, open for reading, the same file each time; borrowed
 * @addr: as the addresses of the file
 * @out:  the frames, innermost first; borrowed until the next call
 * Return: how many; 0: nothing is known.
 */
size_t lines_find(struct lines *l, uint32_t file, int fd, uint64_t addr, const struct lines_frame **out);

/** lines_skipped() - were files not asked (any more)? Return: true and a line in @why with their number and a cause. */
bool lines_skipped(const struct lines *l, struct err *why);

#endif
