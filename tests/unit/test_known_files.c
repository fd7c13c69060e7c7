// SPDX-License-Identifier: Apache-2.0
#include "core/tasks/known_files.h"
#include "tests/unit/unit.h"

#include <errno.h>
#include <limits.h>

static struct known_files files;

static void setup(void)
{
	files = (struct known_files){ 0 };
}

static void teardown(void)
{
	known_files_release(&files);
	ck_assert_uint_eq(files.bytes, 0);
}

static int add(const char *path, uint64_t ino, const struct mapped_file **out)
{
	const struct mapped_file file = { .path = path, .ino = ino };

	return known_files_add(&files, &file, out);
}

/* The path of an added file. */
static const char *added(const char *path, uint64_t ino)
{
	const struct mapped_file *out;

	ck_assert_int_eq(add(path, ino, &out), 0);
	ck_assert_uint_eq(out->ino, ino);
	return out->path;
}

START_TEST(test_add)
{
	const struct mapped_file *a, *b;

	ck_assert_int_eq(add("/bin/a", 1, &a), 0);
	ck_assert_int_eq(add("/bin/a", 1, &b), 0);
	ck_assert_ptr_eq(a, b);
	ck_assert_int_eq(add("/bin/a (deleted)", 1, &b), 0);
	ck_assert_ptr_eq(a, b);
	ck_assert_int_eq(add("/bin/a", 2, &b), 0);
	ck_assert_ptr_ne(a, b);
	ck_assert_str_eq(added("/bin/b (deleted)", 0), "/bin/b (deleted)");
}
END_TEST

/* A path of PATH_MAX bytes that ends with "/" and @number. */
static const char *long_path(unsigned int number)
{
	static char path[PATH_MAX];
	char name[16];

	snprintf(name, sizeof(name), "/%u", number);
	memset(path, 'd', sizeof(path) - 1);
	path[0] = '/';
	memcpy(path + sizeof(path) - strlen(name) - 1, name, strlen(name) + 1);
	return path;
}

/* All long paths together have a limit; after that only names of files are kept. Dropped files make room. */
START_TEST(test_long_paths)
{
	unsigned int i = 0;

	while (files.bytes < KNOWN_FILES_LONG)
		added(long_path(i++), 1);
	ck_assert_uint_lt(files.bytes, KNOWN_FILES_LONG + 2 * PATH_MAX);
	ck_assert_str_eq(added(long_path(0), 1), long_path(0));
	ck_assert_str_eq(added(long_path(1234567), 1), "/.../1234567");
	ck_assert_str_eq(added(long_path(1234567), 1), "/.../1234567");
	ck_assert_str_eq(added("/lib/libc.so.6", 7), "/lib/libc.so.6");
	known_files_sweep(&files);
	ck_assert_uint_eq(files.bytes, 0);
	ck_assert_str_eq(added(long_path(1234567), 1), long_path(1234567));
}
END_TEST

/* All files together have a limit, too. Known files stay. */
START_TEST(test_many_files)
{
	const struct mapped_file *out;
	uint64_t ino = 1;

	while (!add("/dir/name", ino, &out))
		ino++;
	ck_assert_int_eq(add("/dir/name", ino, &out), -E2BIG);
	ck_assert_uint_le(files.bytes, KNOWN_FILES_MAX + 256);
	ck_assert_str_eq(added("/dir/name", 1), "/dir/name");
	known_files_sweep(&files);
	ck_assert_str_eq(added("/dir/name", ino), "/dir/name");
}
END_TEST

int main(void)
{
	Suite *s = suite_create("known_files");
	TCase *tc = tcase_create("known_files");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, test_add);
	tcase_add_test(tc, test_long_paths);
	tcase_add_test(tc, test_many_files);
	suite_add_tcase(s, tc);
	return unit_main(s);
}
