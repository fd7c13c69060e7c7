/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The jitdumps of processes, see jitdump.h: find the one for an address, and decide when to read it.
 *
 * A compiler maps a page of its jitdump executable, so the dump is a mapped file like others, wherever it is. We look
 * for it in the root of its process while the process lives, open it only if it is a regular file that is proved to be
 * the mapped one, and keep it open (open_files.h). So no other file can replace it, and names remain when the process
 * and its container are gone. For a recording, it is looked for in the root of the host, if the recording is of this
 * boot. After a fork, a child process uses the jitdump of its parent for inherited code.
 *
 * Limits: at most 128 are open, and all together take about 256 MiB. The least recently used are closed first. Not
 * thread safe.
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
 * jitdumps_new() - no jitdump yet.
 * @where: how mapped files are opened; @tasks: which process has mapped them. Both are borrowed. NULL: no memory.
 */
struct jitdumps *jitdumps_new(const struct mapped_files_cfg *where, const struct tasks *tasks);
void jitdumps_free(struct jitdumps *j);

/** jitdumps_renew() - another report begins: lookups read new records. Close jitdumps not used since the last call. */
void jitdumps_renew(struct jitdumps *j);

/**
 * jitdumps_find() - the code at @addr in process @pid while it was called @comm, in @image, see tasks_find().
 * @line: out, if not NULL: its source line; line 0: not known
 * Return: 1 and *@out, which is borrowed until jitdumps_renew() or jitdumps_of(). 0: there is no record of it.
 * -ENOMEM, -EIO, -E2BIG, -ECANCELED: this call, the first for the jitdump in this report, could not read all records,
 * and those records have no @addr; later calls return 0 for such an address. *@out is only written for 1.
 */
int jitdumps_find(struct jitdumps *j, pid_t pid, const char *comm, uint32_t image, uint64_t addr,
		  struct jitdump_code *out, struct jitdump_line *line);

/** jitdumps_have() - true if process @pid writes a jitdump. */
bool jitdumps_have(const struct jitdumps *j, pid_t pid);

/**
 * jitdumps_of() - the jitdump of process @pid now (in event time). Reads new records at most 200 times a second, and
 * for at most a 50th of the time.
 * Return: borrowed until the next call of any of these; NULL: there is none.
 */
struct jitdump *jitdumps_of(struct jitdumps *j, pid_t pid);

#endif
