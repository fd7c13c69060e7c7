/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find the file with the symbols that were stripped from a program, and decide whether to believe it.
 *
 * The places, in this order; the first file that has a .symtab is used (if only lines are wanted, debug information):
 *  - the file with the same build id, below your directory (mapped_files_cfg.debug_dir), then below /usr/lib/debug of
 *    the host;
 *  - the file that .gnu_debuglink names, if its CRC is right: at the path of the program's directory below your
 *    directory and below /usr/lib/debug, in the program's directory, and in .debug there;
 *  - .gnu_debugdata, inside the program itself.
 * For a recording, mapped_file_open_debug() has more places for build ids, and the last three places for .gnu_debuglink
 * are tried below mapped_files_cfg.symfs first.
 *
 * The program and everything in the root of its process may be hostile: no symlink is followed there, only a regular
 * file is opened, and we read a limited amount of it. A file that .gnu_debuglink names must be readable by every user,
 * or belong to you if you are not root; in your directory and below symfs it need not.
 */
#ifndef CORE_FILES_DEBUG_FILES_H
#define CORE_FILES_DEBUG_FILES_H

#include "core/files/elf.h"

#include <stdint.h>
#include <sys/types.h>

struct mapped_files_cfg;
struct mapped_file;

/**
 * struct debug_files - where debug files are looked for, and how many bytes of them were read.
 * @mapped:   where the files of programs are, and your directory of debug files; borrowed by each call
 * @crc_read: begins as 0; bytes read for the CRC of all files. A file with which they would exceed 8 GiB is not used
 */
struct debug_files {
	const struct mapped_files_cfg *mapped;
	uint64_t crc_read;
};

/**
 * debug_files_add() - add the debug file to @es, the symbols of @file as @pid has mapped it, if @es wants one.
 * @by_path: out: true if the debug file depends on the path of @file: .gnu_debuglink was followed, or may be later
 *           (elf_symbols_want_names()). The same file at another path may have another debug file
 * Return: 0; -ENOENT: there is none that can be read; -EMFILE, -ENFILE: no descriptors are left to look for it;
 * -ECANCELED: signals_overdue(); -ENOMEM. After a failure, @es is unchanged.
 */
int debug_files_add(struct debug_files *d, pid_t pid, const struct mapped_file *file, struct elf_symbols *es,
		    bool *by_path);

#endif
