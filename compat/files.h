/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_FILES_H
#define COMPAT_FILES_H

/**
 * file_without_name() - make a new file without a name, in directory @folder, for reading and writing, mode 0600.
 *
 * O_TMPFILE exists since 3.11, and not in every file system. An older kernel treats it as O_DIRECTORY, and returns
 * EISDIR: see open(2), BUGS.
 *
 * Return: a close-on-exec descriptor; -EOPNOTSUPP: the kernel or the file system has no such files, or there is no
 * @folder; -errno.
 */
int file_without_name(const char *folder);

/**
 * file_in_memory() - make a new file that is not in the file system, for reading and writing.
 * @name: shown in /proc
 *
 * memfd_create(2) exists since 3.17. Before, it is a file without a name in /dev/shm, or else in /tmp. Without
 * O_TMPFILE, which needs 3.11 and the support of the file system, it has a name there for a moment.
 *
 * Return: a close-on-exec descriptor, or -errno.
 */
int file_in_memory(const char *name);

#endif
