/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind rules of the files that processes have mapped. A file is opened at the first frame in it, when its process
 * most likely still lives. All processes and all names of a file (hard links, mounts) share its rules. The number of
 * open files is limited: the least recently used ones are closed first.
 *
 * A report needs the same rules for a file from its beginning to its end, so that a function has one name in it. After
 * rule_files_renew(), small files are still closed to make room, because their rules are quickly read again. A large
 * file that the report has used stays open. If there is no room for another large file, that file is refused. If
 * rule_files_renew() is never called, there are no reports: then a large file that was closed to make room is not
 * opened again, because reading its rules takes long.
 */
#ifndef UNWIND_RULE_FILES_H
#define UNWIND_RULE_FILES_H

#include "core/files/mapped_files.h"
#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stdint.h>

struct rule_files;
struct rules;
struct tasks;

/**
 * rule_files_new() - none yet.
 * @files_cfg: how to open mapped files, borrowed; @tasks owns the mapped files; @again_ns: as file_cache_init()
 * Return: NULL: no memory.
 */
struct rule_files *rule_files_new(const struct mapped_files_cfg *files_cfg, const struct tasks *tasks,
				  uint64_t again_ns);
void rule_files_free(struct rule_files *f);

/** rule_files_clear() - as after rule_files_new(). */
void rule_files_clear(struct rule_files *f);

/**
 * rule_files_renew() - a report begins: from now on until the next call, the same lookups must have the same results.
 */
void rule_files_renew(struct rule_files *f);

/**
 * rule_files_round() - files may have been written since the last call. At the first use of a file by another process
 * than at the last such look, we look whether the file was written since it was opened; if so, its rules are read anew.
 * rule_files_renew() does this, too.
 */
void rule_files_round(struct rule_files *f);

/**
 * rule_files_close() - close files, except large ones that have been used since rule_files_renew(). They are opened
 * again when they are needed; large ones are not if they were closed before the first rule_files_renew(). Return: true
 * if files were closed
 */
bool rule_files_close(struct rule_files *f);

/**
 * rule_files_find() - the rules of the file that @m maps, borrowed until the next call.
 * @pid: a process that has it mapped
 * @rc: out, may be NULL: -EMFILE, -ENFILE: closing other files did not free enough descriptors for the file and
 * its debug file; -ECANCELED: signals_overdue(); else 0
 * Return: NULL: the file has none, or cannot be read
 */
struct rules *rule_files_find(struct rule_files *f, pid_t pid, const struct mapping *m, int *rc);

/**
 * rule_files_settle() - count the memory of the last result of rule_files_find(): rules grow when they are used.
 * Return: false: they are too large, and have been closed; the caller must forget their answers
 */
bool rule_files_settle(struct rule_files *f);

#endif
