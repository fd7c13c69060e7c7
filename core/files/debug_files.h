/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files with the symbols that a program was stripped of, and which of them is believed.
 *
 * Looked for are, in this order: the file of the same build id below the folder that the user gives, then below
 * /usr/lib/debug of the host; the file that .gnu_debuglink names, if its CRC is right: in the same folder below the
 * user's one and below /usr/lib/debug, in the folder of the program, and in its .debug; then what is in the program
 * itself, .gnu_debugdata. The first that has a .symtab is taken. Of a recording, mapped_file_open_debug() has more
 * places for build ids, and the last three for .gnu_debuglink are looked at below mapped_files_cfg.symfs first.
 *
 * The program and all that is in the root of its process may be hostile: there, no symlink is followed, nothing but a
 * regular file is opened, and what is read of it is bounded. A file that .gnu_debuglink names has to be one that
 * everybody may read.
 */
#ifndef CORE_FILES_DEBUG_FILES_H
#define CORE_FILES_DEBUG_FILES_H

#include "core/files/elf.h"

#include <stdint.h>
#include <sys/types.h>

struct mapped_files_cfg;
struct mapped_file;

/**
 * struct debug_files - where debug files are looked for, and what that has taken.
 * @mapped:   where the files of programs are, and the user's folder; borrowed by each call
 * @crc_read: begins as 0; bytes read for their CRC, of all files together: when they are 8 GiB, .gnu_debuglink is not
 *            followed any more
 */
struct debug_files {
	const struct mapped_files_cfg *mapped;
	uint64_t crc_read;
};

/**
 * debug_files_add() - add the debug file to @es, the symbols of @file as @pid has mapped it, if @es wants one.
 * @by_path: out: it was looked for where the path of @file says, or may be later (elf_symbols_want_names()); under
 *           another name, @file may have another one
 * Return: 0; -ENOENT: there is none that can be read; -EMFILE, -ENFILE: no descriptors are left to look for it;
 * -ENOMEM.
 * @es is as it was after a failure.
 */
int debug_files_add(struct debug_files *d, pid_t pid, const struct mapped_file *file, struct elf_symbols *es,
		    bool *by_path);

#endif
