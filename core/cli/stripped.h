/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice about a file that lacks symbols, or is missing: its name, the places searched for its symbols, and the remedy.
 */
#ifndef CORE_CLI_STRIPPED_H
#define CORE_CLI_STRIPPED_H

#include "core/cli/advised.h"
#include "core/cli/programs.h"

/**
 * struct stripped - a file without symbols. @pid: a process that maps it Its state is FILE_STRIPPED or FILE_REPLACED,
 * for a recording also FILE_MISSING.
 */
struct stripped {
	struct symbol_source source;
	pid_t pid;
};

/**
 * stripped_find() - find the file that lacks the symbol of the innermost nameless frame in most stacks of @p.
 * Return: true and *@out; false: the reason for the missing symbol is not known, or there is no memory.
 */
bool stripped_find(const struct advised *a, const struct program *p, struct stripped *out);

/** stripped_print() - print the reason for the missing symbols, the searched places, and the remedy. */
void stripped_print(FILE *out, const struct mapped_files_cfg *files, const struct stripped *file);

#endif
