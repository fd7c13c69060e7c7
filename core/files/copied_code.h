/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that a process has copied from a file it maps into memory of its own, at the same address.
 *
 * Programs do so to have their code in large pages (BOLT, HHVM, ClickHouse), and the file is mapped around it only. The
 * copy has the names and the unwind rules of the file. But other code may be in such a place: what a JIT compiler makes
 * where a library was before. So the bytes are compared.
 */
#ifndef CORE_FILES_COPIED_CODE_H
#define CORE_FILES_COPIED_CODE_H

#include "core/files/mapped_files.h"
#include "core/tasks/mapping.h"

/**
 * copied_code_find() - which parts of @m, memory of process @pid, have the code of a file?
 * @near:   a mapping that shows the file, next to @m or in its place
 * @pieces: out, room for @max: mappings of that file, ascending, within @m
 * Return: how many; 0: the bytes are others, or the file has no code there; -errno: the memory or the file cannot be
 * read.
 */
int copied_code_find(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapping *m, const struct mapping *near,
		     struct mapping *pieces, size_t max);

#endif
