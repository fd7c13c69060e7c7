/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that mappings show, opened for reading: for names and for unwinding.
 *
 * A path is what the process says of itself, and what is there now need not be what was mapped. So nothing is opened
 * but a regular file that is proved to be the one that was mapped, or not contradicted by all that is known; what
 * else is there is left alone, be it a FIFO or a tape drive. What is in the file is hostile, and may change while it is
 * read.
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
 * struct mapped_files_cfg - where mapped files are looked for. What it points to is borrowed by each call.
 * @host:      below whose /proc the roots of processes are
 * @root:      where the files of this host are; NULL: "/"
 * @debug_dir: the user's folder of debug files, and of files of recordings, laid out as /usr/lib/debug, not below
 * @root; NULL: none
 * @symfs:     of a recording: the folder that has the files of the recorded host at their paths, and its debug files
 *             below usr/lib/debug; NULL: none
 * @perf_cache: of a recording: as perf_cache_find(); NULL: none
 * @recorded:  of a recording; NULL: the processes are those of now, on @host
 * @open_files: what is kept open of these processes, and who opens more in bounded time; NULL: nothing, and they are
 *             opened here, for as long as that takes
 * @tasks:     whose child a process is that has exited, so that its files are found in the root it had; NULL: unknown
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
 * process_file_open() - open the regular file at @path below the root of process @pid, or of the host when that is 0,
 * whoever's it is. No symlink of @path is followed, and nothing else is opened.
 * @st: out: of that file, which is not always what the descriptor is of
 * Return: as mapped_file_open().
 */
int process_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st);

/** linked_file_open() - the same of a path that a file names: nothing that the caller may not read (privileges.h). */
int linked_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const char *path, struct stat *st);

/**
 * mapped_file_build() - the build id that decides whether a file is @file of a recording.
 * @id: out: the one of the mapping, else the one that is told of its path; unknown after contradictions
 * Return: true; false: @file has none (or there is no recording), and its inode decides, if it is known.
 */
bool mapped_file_build(const struct mapped_files_cfg *cfg, const struct mapped_file *file, struct build_id *id);

/**
 * mapped_file_open() - open @file as process @pid has mapped it.
 *
 * No symlink on the way is followed: the kernel names mapped files by their real path, so a link was put there later.
 * What was kept open of it while it was mapped comes first. Then the process's own root, it may live in a container;
 * those of the processes it descends from, when the inode of the mapping is known; the root of the host. The inode has
 * to be the one of the mapping, if that is known.
 *
 * Of a recording, it is looked for below @symfs, and then in the root of the host: a process with the number @pid is
 * another one now. With mapped_file_build() only that build is opened, whatever its inode: at its path, or else as
 * ".build-id/xx/...", or as "elf" in a directory of that name, where mapped_file_open_debug() looks. Without, what is
 * below @symfs is believed; in the root of the host, of another boot or with @symfs, only what has the inode of the
 * mapping.
 *
 * Return: a descriptor open for reading, the caller's, close-on-exec; -ENOENT: it is not there, or not for us to read;
 * -ESTALE: another file is there; -EMFILE, -ENFILE: no descriptors are left; -ETIME: its file system does not answer;
 * -EAGAIN: no process can be started to open it (open_files.h); of a recording also -ENOMEM, -EIO and others of pread(2).
 */
int mapped_file_open(const struct mapped_files_cfg *cfg, pid_t pid, const struct mapped_file *file);

/**
 * mapped_file_open_debug() - open the separate debug file of build @id, ".build-id/xx/....debug" below the user's
 * folder, or else below /usr/lib/debug of the root of the host. Symlinks are followed: these folders are the user's and
 * root's, and some distributions fill theirs with them. Of a recording, also below usr/lib/debug of @symfs and in
 * @perf_cache; and as "debug" in a directory, as perf has it, of the latter or the user's folder.
 * Return: as mapped_file_open(), but -ENOENT also when there is a file that is not of that build; or @id is unknown.
 */
int mapped_file_open_debug(const struct mapped_files_cfg *cfg, const struct build_id *id);

/** mapped_file_open_vdso() - a recorded vDSO, ".build-id/xx/.../vdso" below the user's folder or @perf_cache. */
int mapped_file_open_vdso(const struct mapped_files_cfg *cfg, const struct build_id *id);

/**
 * mapped_file_open_kallsyms() - open the copy of /proc/kallsyms that perf keeps of the kernel of build @id, below the
 * user's folder or @perf_cache. Nothing in it tells its build: that it is called so has to do.
 * Return: as mapped_file_open_debug().
 */
int mapped_file_open_kallsyms(const struct mapped_files_cfg *cfg, const struct build_id *id);

#endif
