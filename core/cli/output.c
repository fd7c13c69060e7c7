// SPDX-License-Identifier: Apache-2.0
#include "core/cli/output.h"

#include "compat/files.h"
#include "core/base/begins.h"
#include "core/base/number.h"
#include "core/host/privileges.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (64 * 1024)

/* glibc ignores the size for setvbuf(3) if there is no buffer. */
static void give_buffer(FILE *stream, char *buffer)
{
	if (buffer)
		setvbuf(stream, buffer, _IOFBF, BUFFER_BYTES);
}

/* These buffers are static, because they are in use until the process ends. */
static void buffer_standard(FILE *standard)
{
	static char of_stdout[BUFFER_BYTES], of_stderr[BUFFER_BYTES];

	give_buffer(standard, standard == stderr ? of_stderr : of_stdout);
}

static int adopt(struct output *o, int fd, const char *path, struct err *err)
{
	int mode = fcntl(fd, F_GETFL), code = -EBADF;

	if (mode >= 0 && (mode & O_ACCMODE) != O_RDONLY) {
		o->stream = fdopen(fd, "w");
		code = -ENOMEM;
	}
	if (!o->stream) {
		close(fd);
		return err_sys(err, code, "cannot write '%s'", path);
	}
	o->buffer = malloc(BUFFER_BYTES);
	give_buffer(o->stream, o->buffer);
	return 0;
}

/* The directory that contains @path. */
static char *folder_of(const char *path)
{
	char *copy = strdup(path), *folder = copy ? strdup(dirname(copy)) : NULL;

	free(copy);
	return folder;
}

static mode_t wanted_mode(const struct stat *old)
{
	mode_t mask = umask(0);

	umask(mask);
	return old ? old->st_mode & 0777 : 0666 & ~mask;
}

static void set_owner_and_mode(int fd, const struct stat *old)
{
	fchmod(fd, wanted_mode(old));
	if (old && fchown(fd, old->st_uid, old->st_gid))
		return; /* only root can give files away; otherwise the report belongs to us */
}

/*
 * Create a new file o->temp, in the directory of o->path, with a random name that no other user can create before.
 * Return: its descriptor, or -errno.
 */
static int open_temp(struct output *o)
{
	char *folder = folder_of(o->path);
	int fd;

	if (!folder || asprintf(&o->temp, "%s/.profile-XXXXXX", folder) < 0)
		o->temp = NULL;
	free(folder);
	if (!o->temp)
		return -ENOMEM;
	fd = mkostemp(o->temp, O_CLOEXEC);
	if (fd >= 0)
		return fd;
	fd = -errno;
	free(o->temp); /* this file, if it exists, is not ours: output_discard() must not remove it */
	o->temp = NULL;
	return fd;
}

/* Open a file without a name, or with a temporary one, in the directory of o->path. */
static int open_unnamed(struct output *o, const struct stat *old, struct err *err)
{
	char *folder = folder_of(o->path);
	int fd = -EOPNOTSUPP;

	if (!folder)
		return err_sys(err, -ENOMEM, "cannot write '%s'", o->path);
	/* Without /proc the file could not get its name. */
	if (!access("/proc/self/fd", F_OK))
		fd = file_without_name(folder);
	free(folder);
	if (fd == -EOPNOTSUPP)
		fd = open_temp(o);
	if (fd < 0)
		return err_sys(err, fd, "cannot write '%s'", o->path);
	set_owner_and_mode(fd, old);
	return adopt(o, fd, o->path, err);
}

/* The descriptor that @path names, like /dev/stdout or /dev/fd/3; -1: it names none. */
static int named_fd(const char *path)
{
	static const char *const folders[] = { "/dev/fd/", "/proc/self/fd/" };
	uint64_t fd;
	size_t i;

	if (!strcmp(path, "/dev/stdout"))
		return STDOUT_FILENO;
	if (!strcmp(path, "/dev/stderr"))
		return STDERR_FILENO;
	for (i = 0; i < ARRAY_SIZE(folders); i++) {
		if (!begins(path, folders[i]))
			continue;
		path += strlen(folders[i]);
		return parse_digits(&path, 10, INT_MAX, &fd) || *path ? -1 : (int)fd;
	}
	return -1;
}

static int open_in_place(struct output *o, const char *path, struct err *err)
{
	int named = named_fd(path);
	int fd = named < 0 ? open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY) : fcntl(named, F_DUPFD_CLOEXEC, 0);

	return fd < 0 ? err_sys(err, -errno, "cannot write '%s'", path) : adopt(o, fd, path, err);
}

int output_open(struct output *o, const char *path, FILE *standard, struct err *err)
{
	struct stat st, link;
	int exists, fd;

	*o = (struct output){ .asked = path };
	if (!path) {
		o->stream = standard;
		buffer_standard(standard);
		return 0;
	}
	if (named_fd(path) >= 0)
		return open_in_place(o, path, err);
	exists = !stat(path, &st);
	/* If the report could not get this name at the end, fail at once: sampling may take hours. */
	if (!exists && (errno != ENOENT || !*path || path[strlen(path) - 1] == '/'))
		return err_sys(err, -errno, "cannot write '%s'", path);
	if (!exists && !lstat(path, &link))
		return err_sys(err, -ENOENT, "cannot write '%s', a link to a file that does not exist", path);
	if (exists && !S_ISREG(st.st_mode))
		return open_in_place(o, path, err);
	/* A file that is not writable is not replaced either, even if its directory permits that. */
	if (exists && access(path, W_OK))
		return err_sys(err, -errno, "cannot write '%s'", path);
	o->path = exists ? realpath(path, NULL) : strdup(path);
	if (!o->path)
		return err_sys(err, -errno, "cannot write '%s'", path);
	fd = open_unnamed(o, exists ? &st : NULL, err);
	if (fd)
		output_discard(o);
	return fd;
}

/* Link the unnamed file to a random name. Before Linux 3.17 there is no getrandom(2). */
static int link_temp(struct output *o)
{
	char self[64], *folder = folder_of(o->path);
	unsigned long long number;
	int rc = folder ? 0 : -ENOMEM;

	if (!rc && getrandom(&number, sizeof(number), GRND_NONBLOCK) != (ssize_t)sizeof(number))
		rc = -ENOSYS;
	if (!rc && asprintf(&o->temp, "%s/.profile-%016llx", folder, number) < 0) {
		o->temp = NULL;
		rc = -ENOMEM;
	}
	free(folder);
	if (rc)
		return rc;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(o->stream));
	if (!linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW))
		return 0;
	rc = -errno;
	free(o->temp); /* this file, if it exists, is not ours: output_discard() must not remove it */
	o->temp = NULL;
	return rc;
}

/* Some file systems and security modules permit files without a name, but no link to them. */
static int copy_to_temp(struct output *o)
{
	int from = fileno(o->stream), to = open_temp(o), rc;
	struct stat st;
	off_t at = 0;
	ssize_t n;

	if (to < 0)
		return to;
	rc = fstat(from, &st) ? -errno : 0;
	if (!rc)
		set_owner_and_mode(to, &st);
	while (!rc && at < st.st_size) {
		n = sendfile(to, from, &at, (size_t)(st.st_size - at));
		rc = n < 0 ? -errno : n ? 0 : -EIO;
	}
	if (!rc && fsync(to) && errno != EINVAL)
		rc = -errno;
	close(to);
	return rc;
}

/*
 * rename(2) may fail, for example because another program has made a directory called o->path by now. Then the report
 * keeps its temporary name.
 */
static int rename_temp(struct output *o, struct err *err)
{
	int rc = rename(o->temp, o->path) ? -errno : 0;

	if (rc && access(o->temp, F_OK))
		return output_error(o, rc, err);
	if (rc)
		err_sys(err, rc, "cannot write '%s', the report is in '%s'", o->asked, o->temp);
	free(o->temp);
	o->temp = NULL;
	return rc;
}

/* linkat() does not replace a file: link under a name of our own first, then rename that. */
static int give_name(struct output *o, struct err *err)
{
	uint64_t effective = privileges_as_caller();
	int rc = o->temp || !link_temp(o) ? 0 : copy_to_temp(o);

	rc = rc ? output_error(o, rc, err) : rename_temp(o, err);
	privileges_back(effective);
	return rc;
}

static void remove_temp(struct output *o)
{
	uint64_t effective = privileges_as_caller();

	unlink(o->temp);
	privileges_back(effective);
}

int output_error(const struct output *o, int code, struct err *err)
{
	return o->asked ? err_sys(err, code, "cannot write '%s'", o->asked)
			: err_sys(err, code, "cannot write standard %s", o->stream == stderr ? "error" : "output");
}

int output_commit(struct output *o, struct err *err)
{
	int rc = 0;

	errno = 0; /* if only an earlier write failed, ferror() shows that, but errno is not of that write */
	if (fflush(o->stream) || ferror(o->stream))
		rc = errno ? -errno : -EIO;
	/* Some file systems report a full disk only here. */
	if (!rc && o->path && fsync(fileno(o->stream)) && errno != EINVAL)
		rc = -errno;
	if (rc)
		output_error(o, rc, err);
	else if (o->path)
		rc = give_name(o, err);
	output_discard(o);
	return rc;
}

void output_discard(struct output *o)
{
	if (o->temp)
		remove_temp(o);
	if (o->stream && o->asked)
		fclose(o->stream);
	free(o->buffer);
	free(o->temp);
	free(o->path);
	*o = (struct output){ 0 };
}
