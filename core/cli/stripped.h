/* SPDX-License-Identifier: Apache-2.0 */
/* Advice about a file that lacks symbols, or is missing: which one it is, what was looked for, and what to do. */
#ifndef CORE_CLI_STRIPPED_H
#define CORE_CLI_STRIPPED_H

#include "core/cli/advised.h"
#include "core/cli/programs.h"

/**
 * struct stripped - a file without symbols. @pid: a process that maps it
 * Its state is FILE_STRIPPED or FILE_REPLACED, of a recording also FILE_MISSING.
 */
struct stripped {
	struct symbol_source source;
	pid_t pid;
};

/**
 * stripped_find() - the file that lacks the symbol of the innermost nameless frame in most of @p.
 * Return: true and *@out; false: why it has none is not known, or there is no memory.
 */
bool stripped_find(const struct advised *a, const struct program *p, struct stripped *out);

/** stripped_print() - print why it has no symbols, with what was looked for, and what to do. */
void stripped_print(FILE *out, const struct mapped_files_cfg *files, const struct stripped *file);

#endif
