/* SPDX-License-Identifier: Apache-2.0 */
#ifndef COMPAT_FILES_H
#define COMPAT_FILES_H

/**
 * file_without_name() - a new file in @folder that has no name there, to be read and written, mode 0600.
 *
 * O_TMPFILE is of 3.11, and not every file system has it. An older kernel takes it for O_DIRECTORY, and says EISDIR:
 * see open(2), BUGS.
 *
 * Return: a close-on-exec descriptor; -EOPNOTSUPP: the kernel or the file system has no such files, or there is no
 * @folder; -errno.
 */
int file_without_name(const char *folder);

/**
 * file_in_memory() - a new file that is nowhere in the file system, to be read and written.
 * @name: what /proc shows of it
 *
 * memfd_create(2) is of 3.17. Before, it is a file without a name in /dev/shm, or else in /tmp; before 3.11, one that
 * has had a name there for a moment.
 *
 * Return: a close-on-exec descriptor, or -errno.
 */
int file_in_memory(const char *name);

#endif
