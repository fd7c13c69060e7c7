/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Advice about a file that lacks symbols, or is missing: its name, the places searched for its symbols, and the remedy.
 */
#ifndef CORE_CLI_STRIPPED_H
#define CORE_CLI_STRIPPED_H

#include "core/cli/advised.h"
#include "core/cli/programs.h"

/**
 * struct stripped - a file without symbols. @source.symbols is FILE_STRIPPED or FILE_REPLACED, for a recording also
 * FILE_MISSING. @pid: a process that maps the file
 */
struct stripped {
	struct symbol_source source;
	pid_t pid;
};

/**
 * stripped_find() - among the stacks of @p that lack names because of missing symbols, look at the innermost frame
 * without a symbol, and find the file that has most of these frames.
 * Return: true and *@out; false: the reason for the missing symbols is not known, or there is no memory.
 */
bool stripped_find(const struct advised *a, const struct program *p, struct stripped *out);

/** stripped_print() - print the reason for the missing symbols, the searched places, and the remedy. */
void stripped_print(FILE *out, const struct mapped_files_cfg *files, const struct stripped *file);

#endif
