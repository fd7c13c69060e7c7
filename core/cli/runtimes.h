/* SPDX-License-Identifier: Apache-2.0 */
/* Language runtimes that make code at run time, and how each of them writes down its names. */
#ifndef CORE_CLI_RUNTIMES_H
#define CORE_CLI_RUNTIMES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * enum runtime - those that can write names.
 * RUNTIME_PYTHON_TRAMPOLINES: CPython 3.12, which writes no jitdump yet; before, it wrote nothing
 */
enum runtime {
	RUNTIME_NONE,
	RUNTIME_NODE,
	RUNTIME_PYTHON_TRAMPOLINES,
	RUNTIME_PYTHON,
	RUNTIME_JAVA,
	RUNTIME_DOTNET,
	RUNTIME_ERLANG,
};

/**
 * runtime_of_file() - the runtime that a file with this path, which may be anybody's, is the program or library of.
 * @is_program: a process runs it; else it has mapped it
 */
enum runtime runtime_of_file(const char *path, bool is_program);

/**
 * runtime_can() - can it write its names, so that a report has them?
 * @recorded: for a recording, where they have to be in a jitdump, not in a perf map
 */
bool runtime_can(enum runtime r, bool recorded);

/** runtime_print() - print what to run for that; only where runtime_can(). @pid: the process, for what asks for it. */
void runtime_print(FILE *out, enum runtime r, bool recorded, pid_t pid);

#endif
