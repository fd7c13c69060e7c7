/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The unwind rules of the files that processes have mapped: opened at the first frame in them, while the process most
 * likely still lives, and shared by all processes. Bounded: those not used for longest are closed first.
 */
#ifndef PERFRING_RULE_FILES_H
#define PERFRING_RULE_FILES_H

#include "core/files/mapped_files.h"
#include "core/tasks/mapping.h"

struct rule_files;
struct rules;
struct tasks;

/**
 * rule_files_new() - none yet.
 * @files_cfg: how to open mapped files, borrowed; @tasks owns the mapped files. NULL: no memory.
 */
struct rule_files *rule_files_new(const struct mapped_files_cfg *files_cfg, const struct tasks *tasks);
void rule_files_free(struct rule_files *f);

/**
 * rule_files_find() - the rules of what @m shows, borrowed until the next call.
 * @pid: a process that has it mapped. NULL: there are none to be had.
 */
struct rules *rule_files_find(struct rule_files *f, pid_t pid, const struct mapping *m);

#endif
