/* SPDX-License-Identifier: Apache-2.0 */
/* How to install a distribution's debug packages. */
#ifndef CORE_CLI_DEBUG_PACKAGE_H
#define CORE_CLI_DEBUG_PACKAGE_H

#include "core/files/mapped_files.h"
#include "core/host/distribution.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct debug_package - the file whose debug file is missing, and its distribution.
 * @path:    its path, which may be hostile; @hex: its build id
 * @of_host: it is a file of this host; false: of a container, or unknown
 * @pid:     a process in that container; 0: none is known
 * @distribution: of the host, or of the container
 */
struct debug_package {
	const char *path, *hex;
	bool of_host;
	pid_t pid;
	enum distribution distribution;
};

/**
 * debug_package_find() - find out where @file, mapped by process @pid, comes from: set @of_host, @pid and
 * @distribution.
 * @p: zeros except its path and build id
 */
void debug_package_find(const struct mapped_files_cfg *files, const struct mapped_file *file, pid_t pid,
			struct debug_package *p);

/**
 * debug_package_print() - print how to install the debug file, without newline. It prints a command only if the
 * distribution is known, packages put files at such a path, and a shell reads that path as one word.
 */
void debug_package_print(FILE *out, const struct debug_package *p);

#endif
