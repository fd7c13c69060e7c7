// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output.h"
#include "tests/unit/unit.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

static char *top;
static struct output out;
static struct err err;

/* Errors of linkat(2) and of file_without_name(); 0: the kernel's result. */
static int link_fails, unnamed_fails;

static void setup(void)
{
	top = unit_tmpdir();
	link_fails = unnamed_fails = 0;
	memset(&err, 0, sizeof(err));
}

static void teardown(void)
{
	output_discard(&out);
	unit_rmdir(top);
}

/* Two results can be used at once. */
static const char *at(const char *name)
{
	static char paths[2][PATH_MAX];
	static unsigned int next;
	char *path = paths[next++ % 2];

	ck_assert_int_lt(snprintf(path, PATH_MAX, "%s/%s", top, name), PATH_MAX);
	return path;
}

static void put(const char *name, const char *text)
{
	unit_write(top, name, text, strlen(text));
}

/* @text: NULL: no such file */
static void check_file(const char *name, const char *text)
{
	char got[512] = "";
	int fd = open(at(name), O_RDONLY | O_CLOEXEC);

	if (!text) {
		ck_assert_int_lt(fd, 0);
		ck_assert_int_eq(errno, ENOENT);
		return;
	}
	ck_assert_int_ge(fd, 0);
	ck_assert_int_ge(read(fd, got, sizeof(got) - 1), 0);
	close(fd);
	ck_assert_str_eq(got, text);
}

/* Number of entries of the directory @name, including temporary ones. */
static int entries(const char *name)
{
	DIR *d = opendir(at(name));
	int nr = -2; /* . and .. */

	ck_assert_ptr_nonnull(d);
	while (readdir(d))
		nr++;
	closedir(d);
	return nr;
}

static void check_mode(const char *name, mode_t mode)
{
	struct stat st;

	ck_assert_int_eq(lstat(at(name), &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
}

static void begin(const char *path)
{
	ck_assert_msg(output_open(&out, path, stdout, &err) == 0, "%s", err.msg);
	ck_assert_ptr_nonnull(out.stream);
}

static void commit(void)
{
	ck_assert_msg(output_commit(&out, &err) == 0, "%s", err.msg);
	ck_assert_ptr_null(out.stream);
	ck_assert_ptr_null(out.path);
	ck_assert_ptr_null(out.temp);
}

START_TEST(test_new)
{
	mode_t mask = umask(027);

	begin(at("report"));
	fputs("the report\n", out.stream);
	ck_assert_int_eq(entries(""), 0); /* a kill now would leave nothing */
	commit();
	umask(mask);
	check_file("report", "the report\n");
	check_mode("report", 0640);
	ck_assert_int_eq(entries(""), 1);

	begin(at("empty"));
	commit();
	check_file("empty", "");
	output_discard(&out); /* already closed */
	check_file("empty", "");
	ck_assert_int_eq(entries(""), 2);
}
END_TEST

START_TEST(test_relative)
{
	int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);

	ck_assert_int_eq(chdir(top), 0);
	begin("report");
	fputs("x", out.stream);
	commit();
	ck_assert_int_eq(fchdir(here), 0);
	close(here);
	check_file("report", "x");
	ck_assert_int_eq(entries(""), 1);
}
END_TEST

START_TEST(test_replace)
{
	put("report", "old, and longer than the new one");
	ck_assert_int_eq(chmod(at("report"), 06604), 0);
	begin(at("report"));
	fputs("new", out.stream);
	fflush(out.stream);
	check_file("report", "old, and longer than the new one");
	commit();
	check_file("report", "new");
	check_mode("report", 0604); /* but no set-id bits: the owner may be another user now */
	ck_assert_int_eq(entries(""), 1);
}
END_TEST

/* A name of maximal length: temporary names are not made from it. */
START_TEST(test_long_name)
{
	char name[NAME_MAX + 2];

	memset(name, 'n', sizeof(name));
	name[NAME_MAX] = 0;
	begin(at(name));
	fputs("x", out.stream);
	commit();
	check_file(name, "x");
	name[NAME_MAX] = 'n';
	name[NAME_MAX + 1] = 0;
	ck_assert_int_eq(output_open(&out, at(name), stdout, &err), -ENAMETOOLONG);
}
END_TEST

/* These replace libc's functions. */
int linkat(int from_dir, const char *from, int to_dir, const char *to, int flags)
{
	if (!link_fails)
		return (int)syscall(SYS_linkat, from_dir, from, to_dir, to, flags);
	errno = link_fails;
	return -1;
}

int access(const char *path, int mode)
{
	if (!unnamed_fails || strcmp(path, "/proc/self/fd") != 0)
		return (int)syscall(SYS_faccessat, AT_FDCWD, path, mode);
	errno = unnamed_fails;
	return -1;
}

/* In a shared directory, other users may have made files with all names that can be guessed. */
START_TEST(test_taken_names)
{
	char name[64];
	int i;

	for (i = 0; i < 200; i++) {
		snprintf(name, sizeof(name), ".profile-%d-%d", getpid(), i);
		put(name, "taken");
	}
	begin(at("report"));
	fputs("x", out.stream);
	commit();
	check_file("report", "x");
	check_file(name, "taken");
	ck_assert_int_eq(entries(""), 201);
}
END_TEST

static const struct {
	int link_fails, unnamed_fails;
} no_names[] = { { EEXIST, 0 }, { EPERM, 0 }, { EOPNOTSUPP, 0 }, { ENOENT, 0 }, { 0, ENOENT } };

/* Files without a name cannot be linked, or cannot be made: the report is the same. */
START_TEST(test_no_link)
{
	char text[] = "a report, of some length";

	link_fails = no_names[_i].link_fails;
	unnamed_fails = no_names[_i].unnamed_fails;
	put("old", "old");
	ck_assert_int_eq(chmod(at("old"), 0604), 0);
	begin(at("old"));
	fputs(text, out.stream);
	ck_assert_int_eq(entries(""), unnamed_fails ? 2 : 1);
	commit();
	check_file("old", text);
	check_mode("old", 0604);
	begin(at("empty"));
	commit();
	check_file("empty", "");
	ck_assert_int_eq(entries(""), 2);
	begin(at("discarded"));
	output_discard(&out);
	ck_assert_int_eq(entries(""), 2);
}
END_TEST

START_TEST(test_discard)
{
	struct output zero = { 0 };

	output_discard(&zero);
	begin(at("new"));
	fputs("x", out.stream);
	output_discard(&out);
	ck_assert_ptr_null(out.stream);
	output_discard(&out);
	check_file("new", NULL);
	ck_assert_int_eq(entries(""), 0);

	put("old", "old");
	begin(at("old"));
	fputs("x", out.stream);
	fflush(out.stream);
	output_discard(&out);
	check_file("old", "old");
	ck_assert_int_eq(entries(""), 1);
}
END_TEST

START_TEST(test_symlink)
{
	char target[32];
	ssize_t len;

	put("folder/target", "old");
	ck_assert_int_eq(symlink("folder/target", at("link")), 0);
	ck_assert_int_eq(symlink("link", at("second")), 0);
	begin(at("second"));
	fputs("new", out.stream);
	commit();
	check_file("folder/target", "new");
	len = readlink(at("second"), target, sizeof(target));
	ck_assert_int_eq(len, 4);
	len = readlink(at("link"), target, sizeof(target));
	ck_assert_int_eq(len, 13);
	ck_assert_int_eq(entries("folder"), 1);
	ck_assert_int_eq(entries(""), 3);
}
END_TEST

/* The error has the name of the file that has @text. */
static void check_kept(const char *text)
{
	char *name = strstr(err.msg, ".profile-"), *end = name ? strchr(name, '\'') : NULL;

	ck_assert_msg(end, "no name in: %s", err.msg);
	*end = 0;
	check_file(name, text);
}

/* While sampling, the directory is removed, or another directory takes the name. */
START_TEST(test_lost_folder)
{
	ck_assert_int_eq(mkdir(at("folder"), 0755), 0);
	begin(at("folder/report"));
	fputs("x", out.stream);
	ck_assert_int_eq(rmdir(at("folder")), 0);
	ck_assert_int_eq(output_commit(&out, &err), -ENOENT);
	ck_assert_int_eq(err.code, -ENOENT);
	ck_assert_ptr_null(out.stream);

	begin(at("report"));
	fputs("whole", out.stream);
	ck_assert_int_eq(mkdir(at("report"), 0755), 0);
	ck_assert_int_eq(output_commit(&out, &err), -EISDIR);
	ck_assert_int_eq(entries(""), 2);
	check_kept("whole");
}
END_TEST

/* Refused before sampling. Paths are below the test's directory unless they begin with a slash. */
static const struct {
	const char *path;
	int rc;
	const char *cause;
} refused[] = {
	{ "missing/report", -ENOENT, "No such file or directory" },
	{ "missing/folder/report", -ENOENT, "No such file or directory" },
	{ "missing/", -ENOENT, "No such file or directory" },
	{ "file/report", -ENOTDIR, "Not a directory" },
	{ "file/", -ENOTDIR, "Not a directory" },
	{ "folder", -EISDIR, "Is a directory" },
	{ "folder/", -EISDIR, "Is a directory" },
	{ "folder/.", -EISDIR, "Is a directory" },
	{ "", -EISDIR, "Is a directory" },
	{ "to-folder", -EISDIR, "Is a directory" },
	{ "loop", -ELOOP, "Too many levels of symbolic links" },
	{ "missing/../nothing/report", -ENOENT, "No such file or directory" },
};

START_TEST(test_refused)
{
	char want[PATH_MAX + 64];
	const char *path;

	put("file", "kept");
	ck_assert_int_eq(mkdir(at("folder"), 0755), 0);
	ck_assert_int_eq(symlink("folder", at("to-folder")), 0);
	ck_assert_int_eq(symlink("loop", at("loop")), 0);
	path = at(refused[_i].path);
	ck_assert_int_eq(output_open(&out, path, stdout, &err), refused[_i].rc);
	ck_assert_int_eq(err.code, refused[_i].rc);
	snprintf(want, sizeof(want), "cannot write '%s': %s", path, refused[_i].cause);
	ck_assert_str_eq(err.msg, want);
	output_discard(&out);
	check_file("file", "kept");
	ck_assert_int_eq(entries(""), 4);
	ck_assert_int_eq(entries("folder"), 0);
}
END_TEST

START_TEST(test_empty_name)
{
	ck_assert_int_eq(output_open(&out, "", stdout, &err), -ENOENT);
}
END_TEST

/* Call output_open() without root's permissions. Return: 0 or -errno. */
static int open_as_nobody(const char *path)
{
	int status;
	pid_t pid;

	ck_assert_int_eq(chmod(top, 0777), 0);
	fflush(NULL);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		if (!getuid() && (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534)))
			_exit(255);
		status = -output_open(&out, path, stdout, NULL);
		output_discard(&out);
		_exit(status);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFEXITED(status));
	ck_assert_int_ne(WEXITSTATUS(status), 255);
	return -WEXITSTATUS(status);
}

START_TEST(test_denied)
{
	put("read-only", "kept");
	put("folder/file", "kept");
	ck_assert_int_eq(chmod(at("read-only"), 0444), 0);
	/* its directory permits to replace it */
	ck_assert_int_eq(open_as_nobody(at("read-only")), -EACCES);
	check_file("read-only", "kept");
	ck_assert_int_eq(open_as_nobody(at("new")), 0);
	/* the file is writable, but its directory permits neither to replace it nor to make a new one */
	ck_assert_int_eq(chmod(at("folder/file"), 0666), 0);
	ck_assert_int_eq(chmod(at("folder"), 0555), 0);
	ck_assert_int_eq(open_as_nobody(at("folder/file")), -EACCES);
	ck_assert_int_eq(open_as_nobody(at("folder/new")), -EACCES);
	ck_assert_int_eq(chmod(at("folder"), 0755), 0);
	check_file("folder/file", "kept");
	ck_assert_int_eq(entries(""), 2);
}
END_TEST

/*
 * The disk is full at the first byte, at the last, or in between: always an error with its cause, which stdio does not
 * keep.
 */
static const size_t lengths[] = { 1, 100, 64 * 1024 - 1, 64 * 1024, 64 * 1024 + 1, 1000 * 1000 };

START_TEST(test_full)
{
	size_t i;
	int rc = 0;

	begin("/dev/full");
	for (i = 0; i < lengths[_i] && !rc; i++) {
		errno = 0;
		rc = fputc('x', out.stream) == EOF ? -errno : 0;
	}
	errno = ENOENT; /* from another call */
	if (rc) {
		ck_assert_int_eq(output_error(&out, rc, &err), -ENOSPC);
		output_discard(&out);
	} else {
		ck_assert_int_eq(output_commit(&out, &err), -ENOSPC);
	}
	ck_assert_int_eq(err.code, -ENOSPC);
	ck_assert_str_eq(err.msg, "cannot write '/dev/full': No space left on device");
	ck_assert_ptr_null(out.stream);
}
END_TEST

/* The caller's streams have no file name. */
START_TEST(test_full_standard)
{
	ck_assert_int_eq(output_open(&out, NULL, stdout, &err), 0);
	ck_assert_int_eq(output_error(&out, -ENOSPC, &err), -ENOSPC);
	ck_assert_str_eq(err.msg, "cannot write standard output: No space left on device");
	output_discard(&out);
	ck_assert_int_eq(output_open(&out, NULL, stderr, &err), 0);
	output_error(&out, -EIO, &err);
	ck_assert_str_eq(err.msg, "cannot write standard error: Input/output error");
	output_discard(&out);
}
END_TEST

START_TEST(test_device)
{
	begin("/dev/null");
	fputs("x", out.stream);
	commit();
	begin("/dev/null");
	output_discard(&out);
}
END_TEST

static void *read_fifo(void *path)
{
	static char got[64];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t len, nr = 0;

	while ((len = read(fd, got + nr, sizeof(got) - 1 - (size_t)nr)) > 0)
		nr += len;
	got[nr] = 0;
	close(fd);
	return got;
}

/* Opening a FIFO waits for its reader, like the shell's redirection. It stays a FIFO. */
START_TEST(test_fifo)
{
	char path[PATH_MAX];
	pthread_t reader;
	struct stat st;
	void *got;

	snprintf(path, sizeof(path), "%s", at("fifo"));
	ck_assert_int_eq(mkfifo(path, 0600), 0);
	ck_assert_int_eq(pthread_create(&reader, NULL, read_fifo, path), 0);
	begin(path);
	fputs("through it", out.stream);
	commit();
	ck_assert_int_eq(pthread_join(reader, &got), 0);
	ck_assert_str_eq(got, "through it");
	ck_assert(!stat(path, &st) && S_ISFIFO(st.st_mode));
	ck_assert_int_eq(entries(""), 1);
}
END_TEST

/* Standard output is flushed, never closed. */
START_TEST(test_standard)
{
	char buf[8] = "";
	int fds[2];
	FILE *f;

	ck_assert_int_eq(pipe(fds), 0);
	f = fdopen(fds[1], "w");
	ck_assert_int_eq(output_open(&out, NULL, f, &err), 0);
	ck_assert_ptr_eq(out.stream, f);
	fputs("abc", out.stream);
	commit();
	ck_assert_int_eq(read(fds[0], buf, sizeof(buf)), 3);
	ck_assert_int_eq(output_open(&out, NULL, f, &err), 0);
	output_discard(&out);
	ck_assert_int_ge(fputs("def", f), 0);
	ck_assert_int_eq(fflush(f), 0);
	ck_assert_int_eq(read(fds[0], buf, sizeof(buf)), 3);
	ck_assert_str_eq(buf, "def");
	fclose(f);
	close(fds[0]);

	f = fopen("/dev/full", "w");
	ck_assert_int_eq(output_open(&out, NULL, f, &err), 0);
	fputs("abc", out.stream);
	ck_assert_int_eq(output_commit(&out, &err), -ENOSPC);
	fclose(f);
}
END_TEST

/* A command that the profiler starts does not get the report's descriptor. */
START_TEST(test_close_on_exec)
{
	begin(_i ? "/dev/null" : at("report"));
	ck_assert(fcntl(fileno(out.stream), F_GETFD) & FD_CLOEXEC);
	output_discard(&out);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("output");
	TCase *t = tcase_create("output");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_test(t, test_new);
	tcase_add_test(t, test_relative);
	tcase_add_test(t, test_replace);
	tcase_add_test(t, test_long_name);
	tcase_add_test(t, test_taken_names);
	tcase_add_loop_test(t, test_no_link, 0, ARRAY_SIZE(no_names));
	tcase_add_test(t, test_discard);
	tcase_add_test(t, test_symlink);
	tcase_add_test(t, test_lost_folder);
	tcase_add_loop_test(t, test_refused, 0, ARRAY_SIZE(refused));
	tcase_add_test(t, test_empty_name);
	tcase_add_test(t, test_denied);
	tcase_add_loop_test(t, test_full, 0, ARRAY_SIZE(lengths));
	tcase_add_test(t, test_full_standard);
	tcase_add_test(t, test_device);
	tcase_add_test(t, test_fifo);
	tcase_add_test(t, test_standard);
	tcase_add_loop_test(t, test_close_on_exec, 0, 2);
	suite_add_tcase(s, t);
	return unit_main(s);
}
