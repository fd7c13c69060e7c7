// SPDX-License-Identifier: Apache-2.0
#include "compat/files.h"

#include "core/base/err.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

int file_without_name(const char *folder)
{
	int fd = open(folder, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd >= 0)
		return fd;
	return errno == EISDIR || errno == ENOENT ? -EOPNOTSUPP : -errno;
}

static int file_soon_without_name(const char *folder)
{
	char path[64];
	int fd;

	snprintf(path, sizeof(path), "%s/.profile-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return -errno;
	unlink(path);
	return fd;
}

int file_in_memory(const char *name)
{
	static const char *const folders[] = { "/dev/shm", "/tmp" };
	int fd = memfd_create(name, MFD_CLOEXEC);
	size_t i;

	if (fd >= 0 || errno != ENOSYS)
		return fd < 0 ? -errno : fd;
	for (i = 0, fd = -ENOSYS; i < ARRAY_SIZE(folders) && fd < 0; i++) {
		fd = file_without_name(folders[i]);
		if (fd == -EOPNOTSUPP)
			fd = file_soon_without_name(folders[i]);
	}
	return fd;
}
