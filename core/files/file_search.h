/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Find a file that a process has mapped, or has written for profilers, in file systems that are not ours. Opens only a
 * regular file that is the wanted one. file_search() follows no symlink of a path.
 *
 * These functions may sleep for as long as such a file system does not answer. A caller that must not block has a
 * worker call them, see open_files.h. Thread safe.
 */
#ifndef CORE_FILES_FILE_SEARCH_H
#define CORE_FILES_FILE_SEARCH_H

#include "core/files/build_ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SEARCH_PIDS_MAX 8

/** struct search_places - borrowed. @proc: the path of /proc; @root: where the files of this host are */
struct search_places {
	const char *proc, *root;
};

/**
 * struct file_search - the file to look for, and where, in this order.
 * @start,@end: of a mapping of @pids[0]: /proc/PID/map_files leads to the file even if its path is gone; both 0: none
 * @pids:       in the roots of these processes; 0 ends them
 * @host:       in the root of the host
 * @path:       below a root; "": only the mapping
 * @by_build:   only the build @id, whatever inode it has; no file if @id is unknown
 * @ino:        without @by_build: only this inode; 0: any
 * @dev:        without @by_build: the device of the mapping; 0: any. On btrfs and overlayfs, stat(2) reports another
 *              device. So the device is not checked for a file that every user may read. Any other file found by @path
 *              has to be on @dev: in a mount namespace of their own, users may mount any file over a path, and choose
 *              the number of an inode.
 * @as_caller:  only files that the caller can open at @path with their own rights (see privileges.h); does not apply to
 *              the mapping. A file on another device than @dev is always opened with the caller's rights: users may
 *              also mount something over a directory of @path
 */
struct file_search {
	uint64_t start, end;
	pid_t pids[SEARCH_PIDS_MAX];
	bool host;
	const char *path;
	bool by_build;
	struct build_id id;
	uint64_t ino;
	dev_t dev;
	bool as_caller;
};

/**
 * struct found_file - the result of file_search().
 * @fd:    open for reading, close-on-exec; the caller closes it
 * @local: reading it never waits for a user or a network: it is on a disk or in memory of this host. False for network
 *         file systems, FUSE and unknown types. Also false for an overlayfs that any user may have mounted. That is
 *         so if the process in which the file was found is in another user namespace than ours, or if the file was
 *         found by the mapping, and @path in the root of that process is on another device than the file.
 */
struct found_file {
	int fd;
	bool local;
	struct stat st;
};

/**
 * file_search() - find and open the file @what.
 * Return: 0; -ENOENT: it is not there, or we may not read it; -ESTALE: another file is there; -EMFILE, -ENFILE: no
 * descriptors are left; if builds are compared also -ENOMEM, -EIO and others of pread(2).
 */
int file_search(const struct search_places *places, const struct file_search *what, struct found_file *out);

/**
 * file_open_build() - open the file at @path of this host if it is a regular one of build @id (NULL: of any). Uses the
 * caller's own rights, and follows symlinks.
 * Return: 0 or -errno, as file_search().
 */
int file_open_build(const char *path, const struct build_id *id, struct found_file *out);

/**
 * file_copy() - copy the bytes of @fd into memory. @max: limit on their number
 * Return: a close-on-exec descriptor, which the caller closes; -EFBIG: more than @max bytes; -EIO: the read failed;
 * -ENOSPC: the write failed; -ENOMEM; -errno of fstat(2) or file_in_memory().
 */
int file_copy(int fd, uint64_t max);

#endif
