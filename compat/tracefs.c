// SPDX-License-Identifier: Apache-2.0
#include "compat/tracefs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_fsopen /* since 5.2; the same numbers on all architectures */
#define SYS_fsopen   430
#define SYS_fsconfig 431
#define SYS_fsmount  432
#endif

/* From linux/mount.h, which older systems do not have, and which some cannot include together with sys/mount.h. */
enum { FSOPEN_CLOSE_ON_EXEC = 1, FSMOUNT_CLOSE_ON_EXEC = 1, FSCONFIG_CREATE = 6 };

#define EVENT "events/sched/sched_switch"

/* struct search - the result so far. */
struct search {
	const struct host *host;
	struct tracefs_event *event;
	int rc; /* 0: found; -ENOENT: nowhere; else the first other error, described in @err */
	struct err err;
};

/* Return: -EBADMSG: the file does not fit into @buf. */
static int read_file(int at, const char *folder, const char *file, char *buf, size_t size)
{
	char path[PATH_MAX];
	size_t len = 0;
	ssize_t n;
	int fd;

	if (snprintf(path, sizeof(path), "%s%s" EVENT "/%s", folder, *folder ? "/" : "", file) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	fd = openat(at, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	while (len < size - 1 && (n = read(fd, buf + len, size - 1 - len)) > 0)
		len += (size_t)n;
	n = len == size - 1 ? -EBADMSG : n < 0 ? -errno : 0;
	close(fd);
	buf[len] = 0;
	return (int)n;
}

static int read_event(int at, const char *folder, struct tracefs_event *out)
{
	int rc = read_file(at, folder, "id", out->id, sizeof(out->id));

	return rc ? rc : read_file(at, folder, "format", out->format, sizeof(out->format));
}

/* Note the result of trying a place. Return: found. */
static bool found(struct search *s, int rc, const char *place)
{
	if (!rc)
		s->rc = 0;
	else if (rc != -ENOENT && rc != -ENOTDIR && s->rc == -ENOENT)
		s->rc = err_sys(&s->err, rc, "cannot read the tracepoint sched:sched_switch in '%s'", place);
	return !rc;
}

static bool look_below(struct search *s, const char *top, const char *folder)
{
	char path[PATH_MAX];

	if (snprintf(path, sizeof(path), "%s/%s", top, folder) >= (int)sizeof(path))
		return false;
	return found(s, read_event(AT_FDCWD, path, s->event), path);
}

/* "\040" means a blank; tab, newline and backslash are written alike (mangle_path() of fs/seq_file.c). */
static void unescape(char *s)
{
	char *to = s;

	for (; *s; s++, to++) {
		*to = *s;
		if (*s == '\\' && s[1] >= '0' && s[1] <= '3' && s[2] >= '0' && s[2] <= '7' && s[3] >= '0' &&
		    s[3] <= '7') {
			*to = (char)((s[1] - '0') << 6 | (s[2] - '0') << 3 | (s[3] - '0'));
			s += 3;
		}
	}
	*to = 0;
}

/* Try other mounts: "tracefs /mnt/a\040b tracefs rw,relatime 0 0". @below: the directory for tracing there, or "." */
static bool look_at_mounts(struct search *s, const char *type, const char *below)
{
	char path[PATH_MAX], line[4 * PATH_MAX];
	char *rest, *where, *what;
	bool done = false;
	FILE *f;

	if (snprintf(path, sizeof(path), "%s/self/mounts", s->host->proc) >= (int)sizeof(path))
		return false;
	f = fopen(path, "re");
	if (!f)
		return false;
	while (!done && fgets(line, sizeof(line), f)) {
		rest = line;
		strsep(&rest, " ");
		where = strsep(&rest, " ");
		what = strsep(&rest, " ");
		if (!where || *where != '/' || !what || strcmp(what, type))
			continue;
		unescape(where);
		done = look_below(s, where, below);
	}
	fclose(f);
	return done;
}

/* Make a mount that is attached to no directory, and ends when its descriptor is closed. -EPERM: we may not. */
static int mount_detached(const char *type)
{
	int rc, fs = (int)syscall(SYS_fsopen, type, FSOPEN_CLOSE_ON_EXEC);

	if (fs < 0)
		return -errno;
	rc = (int)syscall(SYS_fsconfig, fs, FSCONFIG_CREATE, NULL, NULL, 0);
	if (!rc)
		rc = (int)syscall(SYS_fsmount, fs, FSMOUNT_CLOSE_ON_EXEC, 0);
	if (rc < 0)
		rc = -errno;
	close(fs);
	return rc;
}

/*
 * In the child: use a mount namespace that ends with the child. Mount over "/", which exists on every host; the mount
 * is then at "/..". First make "/" private: otherwise all processes of the host would see the mount.
 */
static int read_in_namespace(struct tracefs_event *out)
{
	if (unshare(CLONE_NEWNS) || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		return -errno;
	if (!mount("tracefs", "/", "tracefs", 0, NULL))
		return read_event(AT_FDCWD, "/..", out);
	if (errno != ENODEV || mount("debugfs", "/", "debugfs", 0, NULL)) /* tracefs exists since 4.1 */
		return -errno;
	return read_event(AT_FDCWD, "/../tracing", out);
}

static void write_and_exit(int fd, struct tracefs_event *event)
{
	size_t len = 0;
	ssize_t n;

	event->rc = read_in_namespace(event);
	while (len < sizeof(*event) && (n = write(fd, (char *)event + len, sizeof(*event) - len)) > 0)
		len += (size_t)n;
	_exit(0);
}

/* Use clone(2) without a signal at the child's end: the SIGCHLD of fork(2) would be taken for that of a command. */
static int read_in_child(struct tracefs_event *event)
{
	size_t len = 0;
	int fds[2];
	ssize_t n;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC))
		return -errno;
	pid = (pid_t)syscall(SYS_clone, 0, NULL, NULL, NULL, NULL);
	if (pid < 0) {
		n = -errno;
		close(fds[0]);
		close(fds[1]);
		return (int)n;
	}
	if (!pid)
		write_and_exit(fds[1], event);
	close(fds[1]);
	while ((n = read(fds[0], (char *)event + len, sizeof(*event) - len)) > 0 || (n < 0 && errno == EINTR))
		len += n > 0 ? (size_t)n : 0;
	close(fds[0]);
	while (waitpid(pid, NULL, __WALL) < 0 && errno == EINTR)
		;
	if (len < sizeof(*event))
		return -EIO; /* killed */
	event->id[sizeof(event->id) - 1] = event->format[sizeof(event->format) - 1] = 0;
	return event->rc;
}

/* There is no need to try debugfs like this: a kernel without tracefs has no fsopen(2) either, or no tracepoints. */
static bool look_in_detached(struct search *s)
{
	int rc, fd = mount_detached("tracefs");

	if (fd < 0)
		return false;
	rc = read_event(fd, "", s->event);
	close(fd);
	return found(s, rc, "tracefs");
}

static bool look_in_child(struct search *s)
{
	int rc = read_in_child(s->event);

	if (rc && rc != -ENOENT && rc != -ENODEV && s->rc == -ENOENT)
		s->rc = err_sys(&s->err, rc, "cannot mount tracefs to find the tracepoint sched:sched_switch");
	else if (!rc)
		s->rc = 0;
	return !rc;
}

/*
 * Try first what leaves no trace: on a kernel with tracefs, the first access to debugfs' directory for tracing mounts
 * tracefs there for all processes. If @s->host is a copy, make no mount: it would show the tracepoints of this host.
 */
static bool look_everywhere(struct search *s)
{
	bool here = !strcmp(s->host->sys, host_here.sys);

	return look_below(s, s->host->sys, "kernel/tracing") || look_at_mounts(s, "tracefs", ".") ||
	       (here && look_in_detached(s)) || look_below(s, s->host->sys, "kernel/debug/tracing") ||
	       look_at_mounts(s, "debugfs", "tracing") || (here && look_in_child(s));
}

int tracefs_read(const struct host *host, struct tracefs_event *out, struct err *err)
{
	struct search s = { .host = host, .event = out, .rc = -ENOENT };

	memset(out, 0, sizeof(*out));
	if (look_everywhere(&s))
		return 0;
	if (s.rc == -ENOENT)
		return err_set(err, s.rc, "this kernel has no tracepoint sched:sched_switch");
	return err_set(err, s.rc, "%s", s.err.msg);
}
