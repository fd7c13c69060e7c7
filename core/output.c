// SPDX-License-Identifier: Apache-2.0
#include "core/output.h"

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

static int adopt(struct output *o, int fd, const char *path, struct err *err)
{
	o->stream = fdopen(fd, "w");
	if (!o->stream) {
		close(fd);
		return err_sys(err, -ENOMEM, "cannot write '%s'", path);
	}
	setvbuf(o->stream, NULL, _IOFBF, BUFFER_BYTES);
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
	int fd = -1, code;

	if (!folder)
		return err_sys(err, -ENOMEM, "cannot write '%s'", o->path);
	fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	code = -errno;
	/* Not every file system has it (EOPNOTSUPP), and kernels before 3.11 take it for O_DIRECTORY (EISDIR). */
	if (fd < 0 && (code == -EOPNOTSUPP || code == -EISDIR || code == -ENOENT)) {
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

int output_open(struct output *o, const char *path, FILE *standard, struct err *err)
{
	struct stat st;
	int exists, fd;

	*o = (struct output){ 0 };
	if (!path) {
		o->stream = standard;
		o->borrowed = true;
		return 0;
	}
	exists = !stat(path, &st);
	/* What cannot be given to the report in the end is refused now: sampling may take hours. */
	if (!exists && (errno != ENOENT || !*path || path[strlen(path) - 1] == '/'))
		return err_sys(err, -errno, "cannot write '%s'", path);
	if (exists && !S_ISREG(st.st_mode)) {
		fd = open(path, O_WRONLY | O_CLOEXEC | O_NOCTTY);
		return fd < 0 ? err_sys(err, -errno, "cannot write '%s'", path) : adopt(o, fd, path, err);
	}
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
	int rc = o->temp ? 0 : link_temp(o);

	if (rc)
		return rc;
	if (rename(o->temp, o->path))
		return -errno;
	free(o->temp);
	o->temp = NULL;
	return 0;
}

int output_error(const struct output *o, int code, struct err *err)
{
	return o->path ? err_sys(err, code, "cannot write the report to '%s'", o->path) :
			 err_sys(err, code, "cannot write the report");
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
		unlink(o->temp);
	if (o->stream && !o->borrowed)
		fclose(o->stream);
	free(o->temp);
	free(o->path);
	*o = (struct output){ 0 };
}
