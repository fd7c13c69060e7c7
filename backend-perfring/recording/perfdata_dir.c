// SPDX-License-Identifier: Apache-2.0
#include "backend-perfring/recording/perfdata_dir.h"

#include "core/base/grow.h"
#include "core/base/number.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NUMBER_MAX 999999

static int add_number(struct dir_files *files, unsigned int number)
{
	unsigned int *numbers;

	if (files->nr >= DIR_FILES_MAX)
		return -E2BIG;
	numbers = grow(files->numbers, &files->cap, files->nr, 1, sizeof(*numbers));
	if (!numbers)
		return -ENOMEM;
	files->numbers = numbers;
	numbers[files->nr++] = number;
	return 0;
}

static int read_names(struct dir_files *files, DIR *d)
{
	static const char prefix[] = "data.";
	const struct dirent *entry;
	const char *s;
	uint64_t number;
	int rc = 0;

	while (!rc && (errno = 0, entry = readdir(d))) {
		if (strncmp(entry->d_name, prefix, strlen(prefix)) != 0)
			continue;
		s = entry->d_name + strlen(prefix);
		/* Accept one name for each number: perf record writes no leading zeros. */
		if ((*s == '0' && s[1]) || parse_digits(&s, 10, NUMBER_MAX, &number) || *s)
			continue;
		rc = add_number(files, (unsigned int)number);
	}
	return rc || !errno ? rc : -errno;
}

static int compare_numbers(const void *a, const void *b)
{
	unsigned int x = *(const unsigned int *)a, y = *(const unsigned int *)b;

	return (x > y) - (x < y);
}

int dir_list(struct dir_files *files, int dir, const char *name, struct err *err)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC), rc;
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	*files = (struct dir_files){ 0 };
	rc = d ? read_names(files, d) : -errno;
	if (d)
		closedir(d);
	else if (fd >= 0)
		close(fd);
	if (rc == -E2BIG)
		return err_set(err, rc, "%s has more than %d files of records", name, DIR_FILES_MAX);
	if (rc)
		return err_sys(err, rc, "cannot read %s", name);
	if (files->nr)
		qsort(files->numbers, files->nr, sizeof(*files->numbers), compare_numbers);
	return 0;
}

int dir_open_file(int dir, const char *file)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	struct stat st;

	if (fd < 0)
		return -errno;
	if (!fstat(fd, &st) && S_ISREG(st.st_mode))
		return fd;
	close(fd);
	return -ENOENT;
}
