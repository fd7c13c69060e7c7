// SPDX-License-Identifier: Apache-2.0
#include "core/formats/infile.h"

#include "compat/files.h"
#include "core/base/printable.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

#define PEEKED   512        /* bytes; the beginning of a page needs most of them */
#define CHUNK    (1 << 16)  /* bytes */
#define COPY_MAX (2u << 30) /* bytes, in memory */

struct infile {
	char name[NAME_SHOWN + 1];
	int fd;      /* -1: @gz owns it */
	gzFile gz;   /* also for uncompressed files; NULL: nothing was read except @begin */
	int copy_fd; /* for infile_copy(); -1: none */
	char copy_path[32];
	enum infile_format format;
	bool in_directory;  /* it is the file "data" of a directory */
	char begin[PEEKED]; /* uncompressed */
	size_t nr_begin;
	bool consumed; /* @begin was consumed from the file */
	size_t taken;  /* bytes of @begin that infile_read() has returned since */
};

const char *infile_format_name(enum infile_format format)
{
	static const char *const names[] = {
		[INFILE_RECORDING] = "a perf.data recording",
		[INFILE_PPROF] = "a pprof profile",
		[INFILE_JSON] = "JSON lines",
		[INFILE_PAGE] = "a page",
		[INFILE_FOLDED] = "folded stacks",
	};

	return names[format];
}

enum infile_format infile_format(const struct infile *in)
{
	return in->format;
}

const char *infile_name(const struct infile *in)
{
	return in->name;
}

void infile_close(struct infile *in)
{
	if (!in)
		return;
	if (in->gz)
		gzclose_r(in->gz);
	if (in->fd >= 0)
		close(in->fd);
	if (in->copy_fd >= 0)
		close(in->copy_fd);
	free(in);
}

/*
 * Read the first bytes of @fd without consuming them: of a file, of a pipe (tee(2)), of a socket. Return: how many;
 * -ESPIPE: it is none of these.
 */
static ssize_t peek(int fd, void *to, size_t len)
{
	off_t at = lseek(fd, 0, SEEK_CUR);
	ssize_t n = pread(fd, to, len, at < 0 ? 0 : at);
	int ends[2];

	if (n >= 0 || errno != ESPIPE)
		return n < 0 ? -errno : n;
	n = recv(fd, to, len, MSG_PEEK);
	if (n >= 0 || errno != ENOTSOCK)
		return n < 0 ? -errno : n;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	n = tee(fd, ends[1], len, 0);
	if (n > 0)
		n = read(ends[0], to, (size_t)n);
	n = n < 0 ? -errno : n;
	close(ends[0]);
	close(ends[1]);
	return n == -EINVAL ? -ESPIPE : n;
}

static int failed(const struct infile *in, int rc, struct err *err)
{
	return err_sys(err, rc, "cannot read '%s'", in->name);
}

static int damaged(const struct infile *in, struct err *err)
{
	int code;
	const char *why = gzerror(in->gz, &code);

	if (code == Z_ERRNO)
		return failed(in, errno ? -errno : -EIO, err);
	if (code == Z_MEM_ERROR)
		return failed(in, -ENOMEM, err);
	return err_set(err, -EBADMSG, "cannot read '%s': %s", in->name,
		       code == Z_BUF_ERROR ? "the compressed file ends too early" : why);
}

/* Read from the position of the file: behind @begin, if that was consumed, otherwise from the beginning. */
static ssize_t read_on(struct infile *in, char *to, size_t len, struct err *err)
{
	size_t done = 0;
	int n = 1, code;

	while (done < len && n > 0) {
		errno = 0;
		n = gzread(in->gz, to + done, len - done < CHUNK ? (unsigned int)(len - done) : CHUNK);
		if (n > 0)
			done += (size_t)n;
	}
	gzerror(in->gz, &code);
	/* For a truncated file, gzread() returns the data before the end, and only this code shows it (zlib.h). */
	if (n < 0 || (done < len && code == Z_BUF_ERROR))
		return damaged(in, err);
	return (ssize_t)done;
}

static int begin_reading(struct infile *in, struct err *err)
{
	in->gz = gzdopen(in->fd, "r");
	if (!in->gz)
		return failed(in, -ENOMEM, err);
	in->fd = -1;
	gzbuffer(in->gz, CHUNK);
	return 0;
}

ssize_t infile_read(struct infile *in, void *to, size_t len, struct err *err)
{
	size_t left = in->consumed ? in->nr_begin - in->taken : 0, first = left < len ? left : len;
	int rc = in->gz ? 0 : begin_reading(in, err);
	ssize_t n;

	if (rc)
		return rc;
	memcpy(to, in->begin + in->taken, first);
	in->taken += first;
	if (first == len)
		return (ssize_t)len;
	n = read_on(in, (char *)to + first, len - first, err);
	return n < 0 ? n : n + (ssize_t)first;
}

static bool has_bytes(const struct infile *in, const char *bytes, size_t len)
{
	return memmem(in->begin, in->nr_begin, bytes, len);
}

static bool starts(const struct infile *in, const char *bytes, size_t len)
{
	return in->nr_begin >= len && !memcmp(in->begin, bytes, len);
}

/*
 * The first bytes of a profile.proto, which are tags of fields and small numbers, include control characters. Lines of
 * text have none except tabs and the ends of lines.
 */
static bool is_binary(const struct infile *in)
{
	size_t i;

	for (i = 0; i < in->nr_begin; i++)
		if ((unsigned char)in->begin[i] < ' ' && !memchr("\t\n\r", in->begin[i], 3))
			return true;
	return false;
}

static enum infile_format format_of(const struct infile *in)
{
	if (starts(in, "PERFILE2", 8) || starts(in, "2ELIFREP", 8))
		return INFILE_RECORDING;
	if (starts(in, "{", 1))
		return INFILE_JSON;
	if (starts(in, "<!DOCTYPE html>", 15) || has_bytes(in, "<html", 5))
		return INFILE_PAGE;
	return is_binary(in) ? INFILE_PPROF : INFILE_FOLDED;
}

/* If the beginning cannot be read without consuming it, or is compressed, consume it. */
static int read_beginning(struct infile *in, struct err *err)
{
	ssize_t n = peek(in->fd, in->begin, PEEKED);
	int rc;

	if (n < 0 && n != -ESPIPE)
		return failed(in, (int)n, err);
	in->nr_begin = n < 0 ? 0 : (size_t)n;
	/* A pipe may not have all these bytes yet: consume them, except of a recording, which has its own reader. */
	in->consumed = n == -ESPIPE || starts(in, "\x1f\x8b", 2) ||
		       (lseek(in->fd, 0, SEEK_CUR) < 0 && format_of(in) != INFILE_RECORDING);
	if (in->consumed) {
		rc = begin_reading(in, err);
		n = rc ? rc : read_on(in, in->begin, PEEKED, err);
		if (n < 0)
			return (int)n;
		in->nr_begin = (size_t)n;
	}
	in->format = format_of(in);
	return 0;
}

/* perf record --kcore and --threads write a directory, whose file "data" has the header of the recording. */
static int enter_directory(struct infile *in, struct err *err)
{
	struct stat st;
	int fd;

	if (fstat(in->fd, &st) || !S_ISDIR(st.st_mode))
		return 0;
	in->in_directory = true;
	fd = openat(in->fd, "data", O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW);
	close(in->fd);
	in->fd = fd;
	return fd < 0 ? err_set(err, -errno, "cannot read '%s': it is a directory without a recording (a file 'data')",
				in->name)
		      : 0;
}

static int open_file(struct infile *in, const char *path, struct err *err)
{
	int rc;

	in->fd = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY)
				   : fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0);
	if (in->fd < 0)
		return failed(in, -errno, err);
	rc = enter_directory(in, err);
	if (!rc)
		rc = read_beginning(in, err);
	if (!rc && in->in_directory && (in->format != INFILE_RECORDING || in->consumed))
		rc = err_set(err, -EINVAL, "cannot read '%s': 'data' in this directory is no recording", in->name);
	return rc;
}

int infile_open(const char *path, struct infile **out, struct err *err)
{
	struct infile *in = calloc(1, sizeof(*in));
	bool standard = !strcmp(path, "-");
	int rc;

	if (!in)
		return err_sys(err, -ENOMEM, "cannot read '%s'", path);
	in->copy_fd = -1;
	name_shown(standard ? "standard input" : path, in->name);
	in->fd = -1;
	rc = open_file(in, path, err);
	if (rc) {
		infile_close(in);
		return rc;
	}
	*out = in;
	return 0;
}

static int copy_all(struct infile *in, struct err *err)
{
	char *chunk = malloc(CHUNK);
	ssize_t n = chunk ? 1 : failed(in, -ENOMEM, err);
	uint64_t left = COPY_MAX;

	while (n > 0) {
		n = infile_read(in, chunk, CHUNK, err);
		if (n > 0 && (uint64_t)n > left)
			n = err_set(err, -EFBIG, "cannot read '%s': it has more than %u GiB when it is not compressed",
				    in->name, COPY_MAX >> 30);
		else if (n > 0 && write(in->copy_fd, chunk, (size_t)n) != n)
			n = err_sys(err, errno ? -errno : -EIO, "cannot copy '%s'", in->name);
		left -= n > 0 ? (uint64_t)n : 0;
	}
	free(chunk);
	return (int)n;
}

int infile_copy(struct infile *in, const char **path, struct err *err)
{
	int rc;

	*path = NULL;
	if (!in->consumed)
		return 0;
	in->copy_fd = file_in_memory("recording");
	if (in->copy_fd < 0)
		return err_sys(err, in->copy_fd, "cannot copy '%s'", in->name);
	rc = copy_all(in, err);
	if (rc)
		return rc;
	snprintf(in->copy_path, sizeof(in->copy_path), "/proc/self/fd/%d", in->copy_fd);
	*path = in->copy_path;
	return 0;
}
