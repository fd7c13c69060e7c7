// SPDX-License-Identifier: Apache-2.0
/* Files to read: their format, by the first bytes; compressed or not; from a file, a pipe, a socket or a directory. */
#include "core/formats/infile.h"
#include "tests/unit/unit.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <zlib.h>

static char *dir, *path;
static struct infile *in;
static struct err err;

static void setup(void)
{
	dir = unit_tmpdir();
	ck_assert_int_gt(asprintf(&path, "%s/file", dir), 0);
	in = NULL;
	err = (struct err){ 0 };
}

static void teardown(void)
{
	infile_close(in);
	free(path);
	unit_rmdir(dir);
}

static void compress_file(const void *bytes, size_t len)
{
	gzFile gz = gzopen(path, "w");

	ck_assert_int_eq(gzwrite(gz, bytes, (unsigned int)len), (int)len);
	ck_assert_int_eq(gzclose(gz), Z_OK);
}

/* Check that the rest of @in is @text; read @step bytes at a time. */
static void check_rest(const char *text, size_t len, size_t step)
{
	char *got = malloc(len + step);
	size_t at = 0;
	ssize_t n;

	do {
		n = infile_read(in, got + at, step, &err);
		ck_assert_msg(n >= 0 && n <= (ssize_t)step, "%s", err.msg);
		at += (size_t)n;
	} while (n == (ssize_t)step && at <= len);
	ck_assert_uint_eq(at, len);
	ck_assert_mem_eq(got, text, len);
	free(got);
}

/* ---- formats */

#define BYTES(text) text, sizeof(text) - 1

static const struct {
	const char *begin;
	size_t len;
	enum infile_format format;
	const char *name;
} files[] = {
	{ BYTES(""), INFILE_FOLDED, "folded stacks" },
	{ BYTES("a;b 3\n"), INFILE_FOLDED, "folded stacks" },
	{ BYTES("a\tb\r\n"), INFILE_FOLDED, "folded stacks" },
	{ BYTES("PERFILE\n"), INFILE_FOLDED, "folded stacks" },
	{ BYTES("PERFILE2"), INFILE_RECORDING, "a perf.data recording" },
	{ BYTES("2ELIFREP and more"), INFILE_RECORDING, "a perf.data recording" },
	{ BYTES("{}"), INFILE_JSON, "JSON lines" },
	{ BYTES(" {}"), INFILE_FOLDED, "folded stacks" },
	{ BYTES("<!DOCTYPE html>"), INFILE_PAGE, "a page" },
	{ BYTES("<!-- a comment --><html"), INFILE_PAGE, "a page" },
	{ BYTES("<!DOCTYPE htm"), INFILE_FOLDED, "folded stacks" },
	{ BYTES("<!-- a comment --><htm"), INFILE_FOLDED, "folded stacks" },
	{ BYTES("\x0a\x04\x08\x01\x10\x02"), INFILE_PPROF, "a pprof profile" },
	{ BYTES("text, and a zero\0"), INFILE_PPROF, "a pprof profile" },
	{ BYTES("text\x1f"), INFILE_PPROF, "a pprof profile" },
	{ BYTES("text\x7f\xff"), INFILE_FOLDED, "folded stacks" },
};

enum { AS_FILE, COMPRESSED, BY_PIPE, BY_SOCKET, HOWS };

/* Give it by path, or as standard input. */
static const char *give(const char *bytes, size_t len, int how)
{
	int fds[2];

	if (how == AS_FILE)
		unit_write(dir, "file", bytes, len);
	if (how == COMPRESSED)
		compress_file(bytes, len);
	if (how == AS_FILE || how == COMPRESSED)
		return path;
	if (how == BY_PIPE)
		ck_assert_int_eq(pipe(fds), 0);
	else
		ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	ck_assert_int_eq(write(fds[1], bytes, len), (ssize_t)len);
	close(fds[1]);
	ck_assert_int_eq(dup2(fds[0], STDIN_FILENO), STDIN_FILENO);
	close(fds[0]);
	return "-";
}

START_TEST(test_formats)
{
	size_t row = (size_t)_i / HOWS, step;
	int how = _i % HOWS;
	const char *file;

	for (step = 1; step < 20; step += 6) {
		file = give(files[row].begin, files[row].len, how);
		ck_assert_msg(!infile_open(file, &in, &err), "%s", err.msg);
		ck_assert_msg(infile_format(in) == files[row].format, "row %zu, %d: %s", row, how,
			      infile_format_name(infile_format(in)));
		ck_assert_str_eq(infile_format_name(infile_format(in)), files[row].name);
		ck_assert_str_eq(infile_name(in), how < BY_PIPE ? path : "standard input");
		check_rest(files[row].begin, files[row].len, step);
		infile_close(in);
		in = NULL;
	}
}
END_TEST

/* More than the beginning that is looked at, and than a chunk. */
START_TEST(test_long)
{
	const size_t len = _i < BY_PIPE ? 300000 : 60000;
	char *text = malloc(len);
	size_t i;

	for (i = 0; i < len; i++)
		text[i] = (char)('a' + i * i % 23);
	ck_assert_msg(!infile_open(give(text, len, _i), &in, &err), "%s", err.msg);
	check_rest(text, len, 777);
	free(text);
}
END_TEST

/* ---- failures */

START_TEST(test_missing)
{
	char said[5000];

	ck_assert_int_eq(infile_open(path, &in, &err), -ENOENT);
	snprintf(said, sizeof(said), "cannot read '%s': No such file or directory", path);
	ck_assert_str_eq(err.msg, said);
}
END_TEST

/* Return: how many bytes the file has; -errno. */
static ssize_t open_and_read(void)
{
	char got[8000];
	ssize_t n;

	err = (struct err){ 0 };
	n = infile_open(path, &in, &err);
	if (n)
		return n;
	n = infile_read(in, got, sizeof(got), &err);
	infile_close(in);
	in = NULL;
	return n;
}

/* A compressed file that is cut at any place, or damaged. */
START_TEST(test_cut)
{
	char text[4000], bytes[8192];
	size_t len, cut;
	ssize_t n;
	int fd;

	for (cut = 0; cut < sizeof(text); cut++)
		text[cut] = (char)('a' + cut * cut % 23);
	compress_file(text, sizeof(text));
	fd = open(path, O_RDONLY);
	len = (size_t)read(fd, bytes, sizeof(bytes));
	close(fd);
	for (cut = 2; cut < len; cut++) {
		unit_write(dir, "file", bytes, cut);
		n = open_and_read();
		if (n >= 0 && cut < 10) /* zlib takes less than a header for text */
			continue;
		ck_assert_msg(n == -EBADMSG, "cut at %zu: %zd %s", cut, n, err.msg);
		ck_assert_msg(strstr(err.msg, "the compressed file ends too early"), "cut at %zu: %s", cut, err.msg);
	}
	bytes[len - 5] ^= 1; /* in the checksum */
	unit_write(dir, "file", bytes, len);
	ck_assert_int_eq(open_and_read(), -EBADMSG);
	ck_assert_msg(strstr(err.msg, "incorrect data check"), "%s", err.msg);
}
END_TEST

static const struct {
	const char *data;
	size_t len;
	bool compressed;
	int rc;
	const char *said;
} folders[] = {
	{ BYTES("PERFILE2"), false, 0, NULL },
	{ BYTES("PERFILE2"), true, -EINVAL, "'data' in this directory is no recording" },
	{ BYTES("a;b 3\n"), false, -EINVAL, "'data' in this directory is no recording" },
	{ BYTES("a;b 3\n"), true, -EINVAL, "'data' in this directory is no recording" },
	{ NULL, 0, false, -ENOENT, "it is a directory without a recording (a file 'data')" },
};

START_TEST(test_folder)
{
	char *folder = path;

	ck_assert_int_eq(mkdir(folder, 0700), 0);
	ck_assert_int_gt(asprintf(&path, "%s/data", folder), 0);
	if (folders[_i].compressed)
		compress_file(folders[_i].data, folders[_i].len);
	else if (folders[_i].data)
		unit_write(folder, "data", folders[_i].data, folders[_i].len);
	ck_assert_int_eq(infile_open(folder, &in, &err), folders[_i].rc);
	if (folders[_i].rc)
		ck_assert_msg(strstr(err.msg, folders[_i].said), "%s", err.msg);
	else
		check_rest(folders[_i].data, folders[_i].len, 100);
	free(folder);
}
END_TEST

/* ---- copies, for the reader of recordings */

START_TEST(test_copy)
{
	const char *copy = "", text[] = "PERFILE2 and more";
	char got[100];
	int fd;

	ck_assert_int_eq(infile_open(give(text, sizeof(text), _i), &in, &err), 0);
	ck_assert_int_eq((int)infile_format(in), (int)INFILE_RECORDING);
	ck_assert_int_eq(infile_copy(in, &copy, &err), 0);
	if (_i != COMPRESSED) {
		ck_assert_ptr_null(copy); /* the reader can read it itself: nothing was taken from it */
		fd = _i == AS_FILE ? open(path, O_RDONLY) : dup(STDIN_FILENO);
	} else {
		fd = open(copy, O_RDONLY);
	}
	ck_assert_int_eq(read(fd, got, sizeof(got)), sizeof(text));
	ck_assert_mem_eq(got, text, sizeof(text));
	close(fd);
}
END_TEST

/* ---- lines */

static const struct {
	const char *text;
	size_t nr; /* lines, of which each begins with its number */
} lines[] = {
	{ "", 0 }, { "1", 1 }, { "1\n", 1 }, { "1 a\n2 b", 2 }, { "1\n2\n3\n", 3 }, { "1 \n2\r\n3", 3 },
};

START_TEST(test_lines)
{
	struct infile_lines l = { 0 };
	const char *at = lines[_i].text;
	size_t nr, len;

	unit_write(dir, "file", at, strlen(at));
	ck_assert_int_eq(infile_open(path, &in, &err), 0);
	l.in = in;
	for (nr = 0; infile_line(&l, &err) == 1; nr++) {
		len = strcspn(at, "\n");
		ck_assert_uint_eq(l.len, len);
		ck_assert_mem_eq(l.line, at, len);
		ck_assert_int_eq(l.line[len], 0);
		ck_assert_uint_eq(l.number, nr + 1);
		at += len + (at[len] == '\n');
	}
	ck_assert_uint_eq(nr, lines[_i].nr);
	ck_assert_int_eq(infile_line(&l, &err), 0);
	infile_lines_release(&l);
}
END_TEST

/* Lines longer than a chunk, up to the limit. */
START_TEST(test_long_lines)
{
	const size_t longest = _i == 2 ? (8u << 20) + (2 << 16) : (size_t)_i * 100000 + 65535;
	struct infile_lines l = { 0 };
	char *text = malloc(longest + 4);
	int rc;

	memset(text, 'x', longest);
	memcpy(text + longest, "\ny\n", 4);
	unit_write(dir, "file", text, longest + 3);
	ck_assert_int_eq(infile_open(path, &in, &err), 0);
	l.in = in;
	rc = infile_line(&l, &err);
	ck_assert_int_eq(rc, _i == 2 ? -E2BIG : 1);
	if (_i == 2) {
		ck_assert_msg(strstr(err.msg, "': line 1 is longer than 8 MiB"), "%s", err.msg);
	} else {
		ck_assert_uint_eq(l.len, longest);
		ck_assert_mem_eq(l.line, text, longest);
		ck_assert_int_eq(infile_line(&l, &err), 1);
		ck_assert_str_eq(l.line, "y");
		ck_assert_int_eq(infile_line(&l, &err), 0);
	}
	infile_lines_release(&l);
	free(text);
}
END_TEST

int main(void)
{
	Suite *s = suite_create("infile");
	TCase *t = tcase_create("files");

	tcase_add_checked_fixture(t, setup, teardown);
	tcase_add_loop_test(t, test_formats, 0, ARRAY_SIZE(files) * HOWS);
	tcase_add_loop_test(t, test_long, 0, HOWS);
	tcase_add_test(t, test_missing);
	tcase_add_test(t, test_cut);
	tcase_add_loop_test(t, test_folder, 0, ARRAY_SIZE(folders));
	tcase_add_loop_test(t, test_copy, 0, HOWS);
	tcase_add_loop_test(t, test_lines, 0, ARRAY_SIZE(lines));
	tcase_add_loop_test(t, test_long_lines, 0, 3);
	suite_add_tcase(s, t);
	return unit_main(s);
}
