/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jitdumps of processes, see jitdump.h: which one tells of an address, and when it is read.
 *
 * A compiler maps a page of its jitdump executable, wherever it is, so that it is a mapped file as others are: found in
 * the root of its process, opened only if it is a regular file and proved to be the one that is mapped, and kept open
 * while the process lives (mapped_files.h). So no other file can take its place, and names are there when the process
 * and its container are gone. Of a recording, it is found in the root of the host, if that is of this boot. A copy of
 * the process, after a fork, has what it inherited.
 *
 * Bounded: those not asked for longest are closed first, and all together take 256 MiB. Not thread safe.
 */
#ifndef CORE_SYMBOLS_JITDUMPS_H
#define CORE_SYMBOLS_JITDUMPS_H

#include "core/symbols/jitdump.h"

#include <stdbool.h>
#include <sys/types.h>

struct jitdumps;
struct mapped_files_cfg;
struct tasks;

/**
 * jitdumps_new() - none is known yet.
 * @where: how mapped files are opened; @tasks: who has mapped them. Both are borrowed. NULL: no memory.
 */
struct jitdumps *jitdumps_new(const struct mapped_files_cfg *where, const struct tasks *tasks);
void jitdumps_free(struct jitdumps *j);

/** jitdumps_renew() - another report begins: what is new is read. Those nobody has asked for in the last are closed. */
void jitdumps_renew(struct jitdumps *j);

/**
 * jitdumps_find() - the code at @addr in process @pid while it was called @comm, in @image, see tasks_find().
 * @line: out, if not NULL: of its source; line 0: not known
 * Return: 1 and *@out, borrowed until jitdumps_renew() or jitdumps_of(); it is untouched otherwise. 0: nothing is
 * known. -ENOMEM, -EIO, -E2BIG: not all of it was read in this report.
 */
int jitdumps_find(struct jitdumps *j, pid_t pid, const char *comm, uint32_t image, uint64_t addr,
		  struct jitdump_code *out, struct jitdump_line *line);

/** jitdumps_have() - does process @pid write one? */
bool jitdumps_have(const struct jitdumps *j, pid_t pid);

/**
 * jitdumps_of() - that of process @pid now (in event time). It is read further at most 200 times in a second, and for
 * a 50th of the time.
 * Return: borrowed until the next call of any of these; NULL: there is none to be had.
 */
struct jitdump *jitdumps_of(struct jitdumps *j, pid_t pid);

#endif
