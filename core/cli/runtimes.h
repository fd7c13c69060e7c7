/* SPDX-License-Identifier: Apache-2.0 */
/* Language runtimes that make code at run time, and how each can write the names of that code. */
#ifndef CORE_CLI_RUNTIMES_H
#define CORE_CLI_RUNTIMES_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * enum runtime - runtimes that can write names.
 * RUNTIME_PYTHON_TRAMPOLINES: CPython 3.12, which writes a perf map but no jitdump; earlier versions write neither
 * RUNTIME_PYTHON: CPython 3.13 and later
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
 * runtime_of_file() - the runtime to which a program or library with this path belongs. The path may be hostile.
 * @is_program: a process runs it; otherwise a process has mapped it
 */
enum runtime runtime_of_file(const char *path, bool is_program);

/**
 * runtime_can() - true if @r can write the names of its code in a form that a report can use.
 * @recorded: for a recording, which needs a jitdump, not a perf map
 */
bool runtime_can(enum runtime r, bool recorded);

/**
 * runtime_print() - print how to run @r so that it writes these names; only if runtime_can(). @pid: the process, for
 * commands that need it.
 */
void runtime_print(FILE *out, enum runtime r, bool recorded, pid_t pid);

#endif
