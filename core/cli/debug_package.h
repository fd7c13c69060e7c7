/* SPDX-License-Identifier: Apache-2.0 */
/* How a distribution's debug packages are installed. */
#ifndef CORE_CLI_DEBUG_PACKAGE_H
#define CORE_CLI_DEBUG_PACKAGE_H

#include "core/files/mapped_files.h"
#include "core/host/distribution.h"

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

/**
 * struct debug_package - the debug file of which file is missing, and where that file is.
 * @path:    its path, which may be anybody's; @hex: its build id
 * @of_host: it is a file of this host; false: of a container, or nobody knows
 * @pid:     a process in that container; 0: not known
 * @distribution: of the host, or of the container
 */
struct debug_package {
	const char *path, *hex;
	bool of_host;
	pid_t pid;
	enum distribution distribution;
};

/**
 * debug_package_find() - where @file, which process @pid has mapped, comes from: set @of_host, @pid and @distribution.
 * @p: zeros but for its path and build id
 */
void debug_package_find(const struct mapped_files_cfg *files, const struct mapped_file *file, pid_t pid,
			struct debug_package *p);

/**
 * debug_package_print() - print how to get it, without newline. A command is printed only for a file at a place where
 * packages put theirs, and with a path that no shell would read as more than a word.
 */
void debug_package_print(FILE *out, const struct debug_package *p);

#endif
