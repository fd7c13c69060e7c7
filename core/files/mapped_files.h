/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that mappings show, opened for reading: for names and for unwinding.
 *
 * A path is a claim of the process, and the file that is there now may not be the one that was mapped. So we open only
 * a regular file that is proved to be the mapped one, or that nothing we know contradicts; we never open anything else
 * there, such as a FIFO or a tape drive. The contents are hostile, and may change while we read them.
 */
#ifndef CORE_FILES_MAPPED_FILES_H
#define CORE_FILES_MAPPED_FILES_H

#include "core/tasks/mapping.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct host;
struct open_files;
struct recorded;
struct stat;
struct tasks;
struct build_id;

/**
 * struct mapped_files_cfg - where mapped files are looked for. Each call borrows the objects it points to.
 * @host:      the roots of processes are below its /proc
 * @root:      where the files of this host are; NULL: "/"
 * @debug_dir: your directory of debug files and of files of recordings, laid out as /usr/lib/debug, not below @root;
 *             NULL: none
 * @symfs:     for a recording: the directory that has the files of the recorded host at their paths, and its debug
 *             files below usr/lib/debug; NULL: none
 * @perf_cache: for a recording: as perf_cache_find(); NULL: none
 * @recorded:  the recording; NULL: the processes run now, on @host
 * @open_files: keeps files of these processes open, and opens more in bounded time; NULL: nothing is kept, and files
 *             are opened in this process, however long that takes
 * @tasks:     knows the parents of processes that have exited, to find files in the root they had; NULL: unknown
 */
struct mapped_files_cfg {
	const struct host *host;
	const char *root, *debug_dir, *symfs, *perf_cache;
	const struct recorded *recorded;
	struct open_files *open_files;
	const struct tasks *tasks;
};

/** mapped_files_root() - the root of the host, of @cfg or "/"; borrowed. */
const char *mapped_files_root(const struct mapped_files_cfg *cfg);

/**
 * process_file_open() - open the regular file at @path below the root of process @pid, or of the host if @pid is 0.
 * It may belong to any user. No symlink of @path is followed, and nothing else is opened.
 * @st: out: of that file; the descriptor may be that of a copy
 * Return: as mapped_file_open().
 */
int process_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st);

/** linked_file_open() - the same of a path that a file names: opens only files that the caller may read (privileges.h).
 */
int linked_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st);

/**
 * mapped_file_build() - the build id that a file must have to be @file of a recording.
 * @id: out: that of the mapping, else the one that the recording has for its path; unknown after contradictions
 * Return: true; false: @file has none (or there is no recording), and its inode decides, if it is known.
 */
bool mapped_file_build(const struct mapped_files_cfg *cfg, const struct mapped_file *file, struct build_id *id);

/**
 * mapped_file_open() - open @file as process @pid has mapped it.
 *
 * No symlink on the way is followed: the kernel names mapped files by their real path, so a link was put there later.
 * The places, in this order: the descriptor that was kept open while the file was mapped; the process's own root, which
 * may be that of a container; if the inode of the mapping is known, the roots of its ancestors; the root of the host.
 * The inode has to be that of the mapping, if it is known.
 *
 * For a recording, the places are @symfs and then the root of the host: @pid is the number of another process now. If
 * mapped_file_build() knows a build id, only that build is opened, whatever its inode: at its path, or else as
 * ".build-id/xx/...", or as "elf" in a directory of that name, where mapped_file_open_debug() looks. If it does not, a
 * file below @symfs is believed. In the root of the host, if the recording is of another boot or with @symfs, only a
 * file with the inode of the mapping is.
 *
 * Return: a descriptor open for reading, the caller's, close-on-exec; -ENOENT: it is not there, or not for us to read;
 * -ESTALE: another file is there; -EMFILE, -ENFILE: no descriptors are left; -ETIME: its file system does not answer;
 * -EAGAIN: no process can be started to open it (open_files.h); for a recording also -ENOMEM, -EIO and others of
 * pread(2).
 */
int mapped_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file);

/**
 * mapped_file_open_debug() - open the separate debug file of build @id, ".build-id/xx/....debug" below @debug_dir, or
 * else below /usr/lib/debug of the root of the host. Symlinks are followed: these directories belong to you and to
 * root, and some distributions fill theirs with symlinks. For a recording, also below usr/lib/debug of @symfs and in
 * @perf_cache; and as "debug" in a directory, as perf names it, in @debug_dir or @perf_cache.
 * Return: as mapped_file_open(), but -ENOENT also if the file there is not of that build, or if @id is unknown.
 */
int mapped_file_open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id);

/** mapped_file_open_vdso() - a recorded vDSO, ".build-id/xx/.../vdso" below @debug_dir or @perf_cache. */
int mapped_file_open_vdso(const struct mapped_files_cfg *cfg, const struct build_id *id);

/**
 * mapped_file_open_kallsyms() - open the copy of /proc/kallsyms that perf keeps of the kernel of build @id, below
 * @debug_dir or @perf_cache. The file does not contain a build id, so its path has to do.
 * Return: as mapped_file_open_debug().
 */
int mapped_file_open_kallsyms(const struct mapped_files_cfg *cfg, const struct build_id *id);

#endif
