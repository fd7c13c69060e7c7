// SPDX-License-Identifier: Apache-2.0
/*
 * Files without names, on kernels and file systems that lack them: this program has its own open() and memfd_create().
 */
#include "compat/files.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>

static int no_tmpfile, no_memfd; /* errno; 0: supported */

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	if ((flags & O_TMPFILE) == O_TMPFILE && no_tmpfile) {
		errno = no_tmpfile;
		return -1;
	}
	return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int memfd_create(const char *name, unsigned int flags)
{
	if (!no_memfd)
		return (int)syscall(SYS_memfd_create, name, flags);
	errno = no_memfd;
	return -1;
}

/* The number of files in a directory that have a name as the temporary files of this project have. */
static unsigned int left_in(const char *folder)
{
	DIR *d = opendir(folder);
	struct dirent *e;
	unsigned int nr = 0;

	while (d && (e = readdir(d)))
		nr += !strncmp(e->d_name, ".profile-", 9);
	if (d)
		closedir(d);
	return nr;
}

/* The file has no name, another process may not open it, no command inherits it, and it can be written and read. */
static void check_file(int fd)
{
	char text[4] = "";
	struct stat st;

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(fstat(fd, &st), 0);
	ck_assert_uint_eq(st.st_nlink, 0);
	ck_assert_uint_eq(fcntl(fd, F_GETFD), FD_CLOEXEC);
	ck_assert_int_eq(write(fd, "abc", 3), 3);
	ck_assert_int_eq(pread(fd, text, 3, 0), 3);
	ck_assert_str_eq(text, "abc");
	close(fd);
}

/* The answer of a kernel or file system, and the result; 0: a file. */
static const struct {
	int says, want;
} without_name[] = {
	{ 0, 0 },
	{ EOPNOTSUPP, -EOPNOTSUPP },
	{ EISDIR, -EOPNOTSUPP }, /* before 3.11 */
	{ ENOENT, -EOPNOTSUPP },
	{ EACCES, -EACCES },
	{ EROFS, -EROFS },
	{ ENOSPC, -ENOSPC },
	{ EMFILE, -EMFILE },
	{ ENOTDIR, -ENOTDIR },
};

START_TEST(test_without_name)
{
	char *folder = unit_tmpdir();
	int fd;

	no_tmpfile = without_name[_i].says;
	fd = file_without_name(folder);
	/* Not every file system supports them. */
	if (!no_tmpfile && fd != -EOPNOTSUPP)
		check_file(fd);
	else
		ck_assert_int_eq(fd, no_tmpfile ? without_name[_i].want : -EOPNOTSUPP);
	ck_assert_uint_eq(left_in(folder), 0);
	no_tmpfile = 0;
	ck_assert_int_eq(file_without_name("/dev/null/no"), -ENOTDIR);
	unit_rmdir(folder);
}
END_TEST

static const struct {
	int memfd, tmpfile, want;
} in_memory[] = {
	{ 0, 0, 0 },
	{ 0, EISDIR, 0 },
	{ ENOSYS, 0, 0 },      /* before 3.17 */
	{ ENOSYS, EISDIR, 0 }, /* before 3.11 */
	{ ENOSYS, EOPNOTSUPP, 0 },
	{ ENOSYS, EACCES, -EACCES },
	{ ENOSYS, EROFS, -EROFS },
	{ ENOSYS, ENOSPC, -ENOSPC },
	{ EMFILE, 0, -EMFILE },
	{ ENFILE, 0, -ENFILE },
	{ ENOMEM, 0, -ENOMEM },
	{ EPERM, 0, -EPERM },
};

START_TEST(test_in_memory)
{
	unsigned int before = left_in("/dev/shm") + left_in("/tmp");
	int fds = unit_open_fds(), fd;

	no_memfd = in_memory[_i].memfd;
	no_tmpfile = in_memory[_i].tmpfile;
	fd = file_in_memory("unit");
	if (in_memory[_i].want)
		ck_assert_int_eq(fd, in_memory[_i].want);
	else
		check_file(fd);
	ck_assert_uint_eq(left_in("/dev/shm") + left_in("/tmp"), before);
	no_memfd = no_tmpfile = 0;
	ck_assert_int_eq(unit_open_fds(), fds);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("compat_files");
	TCase *tc = tcase_create("compat_files");

	tcase_add_loop_test(tc, test_without_name, 0, ARRAY_SIZE(without_name));
	tcase_add_loop_test(tc, test_in_memory, 0, ARRAY_SIZE(in_memory));
	suite_add_tcase(s, tc);
	return unit_main(s);
}
