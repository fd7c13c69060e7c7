/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finding a file that a process has mapped, or written for us, in file systems that are not ours: nothing is opened but
 * a regular file that is what is looked for, and no symlink is followed.
 *
 * This is all that may sleep for as long as such a file system likes: whoever minds has it done by a worker, see
 * open_files.h. Thread safe.
 */
#ifndef CORE_FILES_FILE_SEARCH_H
#define CORE_FILES_FILE_SEARCH_H

#include "core/files/build_ids.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define SEARCH_PIDS_MAX 8

/** struct search_places - borrowed. @proc: where processes are; @root: where the files of this host are */
struct search_places {
	const char *proc, *root;
};

/**
 * struct file_search - what is looked for, and where, in this order.
 * @start,@end: of a mapping of @pids[0], which shows the file whatever became of its path; both 0: of none
 * @pids:       in the roots of these processes; 0 ends them
 * @host:       in the root of the host
 * @path:       below a root; "" for the mapping alone
 * @by_build:   only the build @id, whatever inode it has; none, if that is unknown
 * @ino:        else only this inode; 0: any
 * @dev:        the device that the mapping has. On btrfs and overlayfs stat(2) reports another one, so only what not
 *              everybody may read has to be on it: in a mount namespace of its own a user may mount any file over a
 * path, and choose the number of an inode. 0: any
 * @as_caller:  only what the caller's own rights reach from there (see privileges.h). What is on another device than
 * @dev is so in any case: the folders on the way may be mounted, too
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
 * struct found_file
 * @fd:    open for reading, close-on-exec, the caller's
 * @local: reading it asks nobody else: it is on a disk or in memory of this host. False for network file systems, FUSE,
 *         and what is mounted on top of others by somebody with a user namespace of their own, or may be: a mapping
 *         shows it, but at its path is none of that device.
 */
struct found_file {
	int fd;
	bool local;
	struct stat st;
};

/**
 * file_search() - find and open it.
 * Return: 0; -ENOENT: it is not there, or not for us to read; -ESTALE: another file is there; -EMFILE, -ENFILE: no
 * descriptors are left; where builds are compared also -ENOMEM, -EIO and others of pread(2).
 */
int file_search(const struct search_places *places, const struct file_search *what, struct found_file *out);

/**
 * file_open_build() - open the file at @path of this host if it is a regular one of build @id (NULL: of any). Symlinks
 * are followed, with the caller's own rights.
 * Return: 0 or -errno, as file_search().
 */
int file_open_build(const char *path, const struct build_id *id, struct found_file *out);

/**
 * file_copy() - the bytes of @fd, in memory. @max: bytes that it may have
 * Return: a descriptor, as that of a found file; -EFBIG; -EIO; -EBADF; -ENOSPC; -errno of
 * file_in_memory().
 */
int file_copy(int fd, uint64_t max);

#endif
