/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Open the files that processes have mapped, to read names and unwind rules.
 *
 * A path is a claim of the process, and the file that is there now may not be the one that was mapped. So we open a
 * regular file only if it is proved to be the mapped one, or if nothing that we know shows that it is another one. We
 * never open a FIFO, a device or the like. The contents are hostile, and may change while we read them.
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
 * The file may belong to any user. No symlink in @path is followed. If @path is not a regular file, nothing is opened.
 * @st: out: of that file; the descriptor may be that of a copy
 * Return: as mapped_file_open().
 */
int process_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st);

/**
 * linked_file_open() - the same for a @path that is written in a file: opens only files that the user who runs the
 * program may read (privileges.h).
 */
int linked_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st);

/**
 * mapped_file_build() - the build id that a file must have to be @file of a recording.
 * @id: out: that of the mapping, else the one that the recording has for its path
 * Return: true: @id decides; it is unknown if the recording has several for the path and the mapping has no inode: then
 * no file can be proved to be @file. false: the inode decides, if it is known: there is no recording, or it has no
 * build id for @file, or it has several for the path and the mapping has an inode.
 */
bool mapped_file_build(const struct mapped_files_cfg *cfg, const struct mapped_file *file, struct build_id *id);

/**
 * mapped_file_open() - open @file as process @pid has mapped it.
 *
 * No symlink on the way is followed: the kernel names mapped files by their real path, so a link was put there later.
 * The places, in this order: the descriptor that was kept open while the file was mapped; the process's own root, which
 * may be that of a container; if the inode of the mapping is known, the roots of the process's ancestors; the root of
 * the host. The inode has to be that of the mapping, if that is known.
 *
 * For a recording, the places are @symfs and then the root of the host, but no root of a process, because @pid may be
 * another process now. If mapped_file_build() returns true, only that build is opened, whatever its inode: at its path
 * in these places, or else in the directories of mapped_file_open_debug(), as ".build-id/xx/..." or
 * ".build-id/xx/.../elf". Otherwise, any regular file at the path below @symfs is opened; in the root of the host, only
 * a file with the inode of the mapping. If that inode is unknown, a file there is opened only if the recording is not
 * of another boot and there is no @symfs.
 *
 * Return: a descriptor open for reading, the caller's, close-on-exec; -ENOENT: it is not there, or not for us to read;
 * -ESTALE: another file is there; -EMFILE, -ENFILE: no descriptors are left; -ETIME: its file system does not answer;
 * -EAGAIN: no process can be started to open it (open_files.h); others of open_files_get(); for a recording also
 * -ENOMEM, -EIO and others of pread(2).
 */
int mapped_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file);

/**
 * mapped_file_open_debug() - open the separate debug file of build @id, ".build-id/xx/....debug" below @debug_dir, or
 * else below /usr/lib/debug of the root of the host. Symlinks are followed: these directories belong to you and to
 * root, and some distributions fill /usr/lib/debug with symlinks. For a recording, the order is: @debug_dir,
 * usr/lib/debug of @symfs, @perf_cache, /usr/lib/debug of the host; then perf's name, ".build-id/xx/.../debug", below
 * @debug_dir and @perf_cache.
 * Return: as mapped_file_open(), but -ENOENT also if the file there is not of that build, or if @id is unknown.
 */
int mapped_file_open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id);

/**
 * mapped_file_open_vdso() - open a recorded vDSO, ".build-id/xx/.../vdso" below @debug_dir or @perf_cache.
 * Return: as mapped_file_open_debug().
 */
int mapped_file_open_vdso(const struct mapped_files_cfg *cfg, const struct build_id *id);

/**
 * mapped_file_open_kallsyms() - open the copy of /proc/kallsyms that perf keeps of the kernel of build @id, below
 * @debug_dir or @perf_cache. The file does not contain a build id, so only its path shows which build it is of.
 * Return: as mapped_file_open_debug().
 */
int mapped_file_open_kallsyms(const struct mapped_files_cfg *cfg, const struct build_id *id);

#endif
