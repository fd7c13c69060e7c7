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
#include <sys/stat.h>
#include <unistd.h>

#define BUFFER_BYTES (64 * 1024)
#define NAME_TRIES   100

/* glibc takes a size from setvbuf(3) only with a buffer. Those of stdout and stderr are used to the end. */
static void give_buffer(FILE *stream, char *buffer)
{
	if (buffer)
		setvbuf(stream, buffer, _IOFBF, BUFFER_BYTES);
}

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

/* The folder that holds @path. */
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

/* A file without a name, or with a temporary one, in the folder of o->path. */
static int open_unnamed(struct output *o, const struct stat *old, struct err *err)
{
	char *folder = folder_of(o->path);
	int fd = -1, code = -EOPNOTSUPP;

	if (!folder)
		return err_sys(err, -ENOMEM, "cannot write '%s'", o->path);
	/* Without /proc nothing could give it a name. */
	if (!access("/proc/self/fd", F_OK))
		code = fd = file_without_name(folder);
	if (code == -EOPNOTSUPP) {
		if (asprintf(&o->temp, "%s/.profile-XXXXXX", folder) < 0)
			o->temp = NULL;
		fd = o->temp ? mkostemp(o->temp, O_CLOEXEC) : -1;
		code = o->temp ? -errno : -ENOMEM;
		if (fd < 0) {
			free(o->temp);
			o->temp = NULL;
		}
	}
	free(folder);
	if (fd < 0)
		return err_sys(err, code, "cannot write '%s'", o->path);
	fchmod(fd, wanted_mode(old));
	if (old && fchown(fd, old->st_uid, old->st_gid))
		code = 0; /* only root can give files away; the report is ours then */
	return adopt(o, fd, o->path, err);
}

/* The descriptor that @path is a name of, as the shell's /dev/stdout and /dev/fd/3 are; else -1. */
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
	/* What cannot be given to the report in the end is refused now: sampling may take hours. */
	if (!exists && (errno != ENOENT || !*path || path[strlen(path) - 1] == '/'))
		return err_sys(err, -errno, "cannot write '%s'", path);
	if (!exists && !lstat(path, &link))
		return err_sys(err, -ENOENT, "cannot write '%s', a link to what is not there", path);
	if (exists && !S_ISREG(st.st_mode))
		return open_in_place(o, path, err);
	/* A file that may not be written is not replaced either, though its folder would allow it. */
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

/* Link the unnamed file to a name that nobody has yet; a killed run of the same pid may have left one. */
static int link_temp(struct output *o)
{
	char self[64], *folder = folder_of(o->path);
	int code = folder ? -EEXIST : -ENOMEM;
	unsigned int i;

	snprintf(self, sizeof(self), "/proc/self/fd/%d", fileno(o->stream));
	for (i = 0; code == -EEXIST && i < NAME_TRIES; i++) {
		if (asprintf(&o->temp, "%s/.profile-%d-%u", folder, (int)getpid(), i) < 0) {
			o->temp = NULL;
			code = -ENOMEM;
			break;
		}
		code = linkat(AT_FDCWD, self, AT_FDCWD, o->temp, AT_SYMLINK_FOLLOW) ? -errno : 0;
		if (code) {
			free(o->temp); /* not ours to remove */
			o->temp = NULL;
		}
	}
	free(folder);
	return code;
}

/* linkat() does not replace a file: link under a name of our own first, then rename that. */
static int give_name(struct output *o)
{
	uint64_t effective = privileges_as_caller();
	int rc = o->temp ? 0 : link_temp(o);

	if (!rc && rename(o->temp, o->path))
		rc = -errno;
	privileges_back(effective);
	if (rc)
		return rc;
	free(o->temp);
	o->temp = NULL;
	return 0;
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

	errno = 0; /* of a write that failed before, nothing but ferror() is left */
	if (fflush(o->stream) || ferror(o->stream))
		rc = errno ? -errno : -EIO;
	/* Some file systems say only here that the disk is full. */
	if (!rc && o->path && fsync(fileno(o->stream)) && errno != EINVAL)
		rc = -errno;
	if (!rc && o->path)
		rc = give_name(o);
	if (rc)
		output_error(o, rc, err);
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
