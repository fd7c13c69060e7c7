/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Code that a process has copied from a mapped file into its own memory, at the same address.
 *
 * Programs do so to have their code in large pages (BOLT, HHVM, ClickHouse). Then only the parts of the file around the
 * copy are still mapped. The copy has the names and the unwind rules of the file. But other code may be in such a
 * place: a JIT compiler may have used the addresses of a library that was unmapped. So the bytes are compared.
 */
#ifndef CORE_FILES_COPIED_CODE_H
#define CORE_FILES_COPIED_CODE_H

#include "core/files/mapped_files.h"
#include "core/tasks/mapping.h"

/**
 * copied_code_find() - find the parts of @m, memory of process @pid, that have the code of a file.
 * @near:   a mapping of the file, next to @m, or at the same addresses before @m replaced it
 * @pieces: out, room for @max: mappings of that file, ascending, within @m
 * Return: their number; 0: the bytes differ, or the file has no code there; -errno: the memory or the file cannot be
 * read.
 */
int copied_code_find(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapping *m, const struct mapping *near,
		     struct mapping *pieces, size_t max);

#endif
